//! DS2's schedulers by the rules as published, to reproduce its tables. **Unsound**: they omit
//! histories.
//!
//! Their rules, which differ from the sound ones in [`schedulers`](clewline_actors::schedulers):
//!
//! * Two messages are dependent if they have one receiver; what clients observe does not count.
//! * A race is detected with the last such message alone, even if that one caused the other.
//! * [`Ired`](Published::Ired) and [`LiViola`](Published::LiViola) take any message for a cause
//!   whose receiver is the sender of the next, and add nothing if that leads nowhere.
//! * In [`LiViola`](Published::LiViola) a message without a key depends on nothing.
//! * With [aliased snapshots](Snapshots::Aliased), which is the effect of some of its systems, the
//!   states of actors are not restored.
//! * [`Random`](Published::Random) picks an actor or a client, and not a message.
//! * [`DelayBounded`](Published::DelayBounded) draws delays that change the order in which
//!   schedules come, and leaves none out.
//! * A set of more than four messages has the order of a [`HashSet`](SetOrder::Hashed) of objects,
//!   which is another in every run.
//! * Incomplete histories are not judged: see [`Statistics::unique_complete_violated`].
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking
//! for actor-based systems", 2021, sections 2 and 3; the order in which receivers take turns, and
//! the rules where text and tables differ, follow the tables.

mod backtrack;
mod harness;
mod order;
mod random;

use std::ops::ControlFlow;

use clewline_actors::{
    EnabledStep, Execution, Flow, Snapshots, Statistics, StepIdentity,
    schedulers::{
        MessageScheduler, MessageSchedulerEntry, MessageSchedulerSettings, Soundness, delay_bounded::DELAYS,
    },
};
use clewline_core::Random;
use clewline_explore::{Bound, Coverage, Limit};

pub use harness::AsPublished;
pub use order::SetOrder;

/// One of DS2's schedulers, by the rules as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// Every schedule (EX).
    Exhaustive,
    /// Dynamic partial-order reduction (DP).
    Dpor,
    /// TransDPOR (TD).
    TransDpor,
    /// IRed (IR).
    Ired,
    /// LiViola (LV).
    LiViola,
    /// Systematic random (SR).
    Random,
    /// Every schedule, in an order that depends on random delays (DB).
    DelayBounded,
}

impl Published {
    /// All of them.
    pub const ALL: [Published; 7] = [
        Published::Exhaustive,
        Published::Dpor,
        Published::TransDpor,
        Published::Ired,
        Published::LiViola,
        Published::Random,
        Published::DelayBounded,
    ];

    /// What the tables call it.
    #[must_use]
    pub fn column(self) -> &'static str {
        match self {
            Published::Exhaustive => "EX",
            Published::Dpor => "DP",
            Published::TransDpor => "TD",
            Published::Ired => "IR",
            Published::LiViola => "LV",
            Published::Random => "SR",
            Published::DelayBounded => "DB",
        }
    }

    /// The name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Published::Exhaustive => "exhaustive",
            Published::Dpor => "dpor",
            Published::TransDpor => "transdpor",
            Published::Ired => "ired",
            Published::LiViola => "liviola",
            Published::Random => "random",
            Published::DelayBounded => "delay-bounded",
        }
    }

    /// Whether it draws random numbers.
    #[must_use]
    pub const fn is_random(self) -> bool {
        matches!(self, Published::Random | Published::DelayBounded)
    }

    const fn bounds(self) -> &'static [Bound] {
        match self {
            Published::DelayBounded => &[DELAYS],
            Published::Exhaustive
            | Published::Dpor
            | Published::TransDpor
            | Published::Ired
            | Published::LiViola
            | Published::Random => &[],
        }
    }

    /// Whether every enabled message is tried at every node.
    const fn tries_all(self) -> bool {
        matches!(self, Published::Exhaustive | Published::Random | Published::DelayBounded)
    }
}

/// A scheduler of DS2, exploring the schedules of one system.
struct Ds2 {
    published: Published,
    snapshots: Snapshots,
    settings: MessageSchedulerSettings,
}

impl MessageScheduler for Ds2 {
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        let mut execution = Execution::new(execution.engine().fork(), self.snapshots);
        let flow = match self.published {
            Published::Random => random::explore(&mut execution, &self.settings, statistics),
            published @ (Published::Exhaustive
            | Published::Dpor
            | Published::TransDpor
            | Published::Ired
            | Published::LiViola
            | Published::DelayBounded) => {
                Search::new(published, &self.settings).run(&mut execution, statistics)
            }
        };
        statistics.executed += execution.taken();
        flow?;
        ControlFlow::Break(Coverage::Limited(Limit::Unsound))
    }
}

/// Entries of all of them, with snapshots of one kind.
macro_rules! entries {
    ($snapshots:expr; $($published:ident),+) => {
        [$(MessageSchedulerEntry {
            name: Published::$published.name(),
            about: "DS2's rules as published",
            is_exhaustive: false,
            is_random: matches!(Published::$published, Published::Random),
            soundness: Soundness::Never,
            bounds: Published::$published.bounds(),
            make: |settings| {
                let (published, snapshots) = (Published::$published, $snapshots);
                Box::new(Ds2 { published, snapshots, settings: settings.clone() })
            },
        }),+]
    };
}

/// As [`Published::ALL`].
static SOUND: [MessageSchedulerEntry; 7] =
    entries!(Snapshots::Sound; Exhaustive, Dpor, TransDpor, Ired, LiViola, Random, DelayBounded);
static ALIASED: [MessageSchedulerEntry; 7] =
    entries!(Snapshots::Aliased; Exhaustive, Dpor, TransDpor, Ired, LiViola, Random, DelayBounded);

/// The scheduler of that name, as the tables use it on the system of that name.
///
/// The registers change their state in place, so that backtracking does not restore it
/// ([`Snapshots::Aliased`]). To have the keys of the harnesses, LiViola needs the system [as
/// published](AsPublished).
///
/// # Errors
///
/// If there is no such scheduler.
pub fn find(system: &str, scheduler: &str) -> Result<&'static MessageSchedulerEntry, String> {
    let snapshots = match system {
        "dr" | "edr" => Snapshots::Aliased,
        _ => Snapshots::Sound,
    };
    let published = Published::ALL.into_iter().find(|it| it.name() == scheduler).ok_or_else(|| {
        let names: Vec<&str> = Published::ALL.iter().map(|it| it.name()).collect();
        format!("expected --scheduler to be one of {}; found `{scheduler}`", names.join(", "))
    })?;
    Ok(entry(published, snapshots))
}

/// The scheduler with snapshots of one kind.
#[must_use]
pub fn entry(published: Published, snapshots: Snapshots) -> &'static MessageSchedulerEntry {
    let table = match snapshots {
        Snapshots::Sound => &SOUND,
        Snapshots::Aliased => &ALIASED,
    };
    &table[published as usize]
}

struct Search {
    published: Published,
    sets: SetOrder,
    random: Random,
    // The maximum sum of the delays of a schedule.
    delays: usize,
    nodes: Vec<Node>,
}

// Lists of messages are in the order in which they were added, unless the set is hashed.
#[derive(Debug, Default)]
struct Node {
    enabled: Vec<EnabledStep>,
    // Once a set is hashed it stays so, however few messages it has.
    is_hashed: bool,
    explored: Vec<StepIdentity>,
    backtrack: Vec<StepIdentity>,
    // What was received last from here.
    taken: Option<EnabledStep>,
    is_frozen: bool,
    is_leaf: bool,
    // The delays that the schedules below may still have.
    delays: usize,
}

impl Node {
    fn add(&mut self, identity: StepIdentity) {
        if !self.backtrack.contains(&identity) {
            self.backtrack.push(identity);
        }
    }

    fn find(&self, identity: StepIdentity) -> Option<&EnabledStep> {
        self.enabled.iter().find(|it| it.identity() == identity)
    }
}

impl Search {
    fn new(published: Published, settings: &MessageSchedulerSettings) -> Search {
        let is_delayed = published == Published::DelayBounded;
        Search {
            published,
            sets: SetOrder::of_seed(settings.seed),
            random: Random::new(settings.seed),
            delays: settings.bounds.get(&DELAYS).filter(|_| is_delayed).unwrap_or(0) as usize,
            nodes: Vec::new(),
        }
    }

    fn node(&self, execution: &Execution, was_hashed: bool, delays: usize) -> Node {
        let mut enabled = execution.enabled().to_vec();
        // Requests come before what actors sent when they started.
        enabled.sort_by_key(|it| (it.sent_by.is_some(), it.sent_by.is_none() && !it.from.is_client()));
        let is_hashed = was_hashed || SetOrder::is_hashed(enabled.len());
        if is_hashed {
            self.sets.sort(&mut enabled);
        }
        Node { enabled, is_hashed, delays, ..Node::default() }
    }

    fn run(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        let mut root = self.node(execution, false, self.delays);
        let requests = root.enabled.iter().filter(|it| it.from.is_client()).map(EnabledStep::identity);
        root.backtrack = match self.published {
            Published::Exhaustive | Published::Random | Published::DelayBounded => Vec::new(),
            Published::Dpor => requests.collect(),
            Published::TransDpor | Published::Ired | Published::LiViola => requests.take(1).collect(),
        };
        self.nodes.push(root);
        let mut turns = self.sets.turns(execution.engine().roots() as u32);
        // The delay that was drawn for the next message, and what is left of it.
        let mut delay: Option<(usize, usize)> = None;
        while !self.nodes.is_empty() {
            let turn = turns.next().expect("there are actors");
            let top = self.nodes.last().expect("there is one");
            let to_explore = self.to_explore(top);
            let next = to_explore.iter().find(|it| !it.to.is_client() && it.to.index() == turn);
            if let Some(&step) = next {
                let most = top.delays;
                let (drawn, left) = *delay.get_or_insert_with(|| {
                    let drawn = self.random.below(most + 1);
                    (drawn, drawn)
                });
                if 0 < left {
                    delay = Some((drawn, left - 1));
                    continue;
                }
                delay = None;
                self.step(execution, step, most - drawn);
            }
            let top = self.nodes.last().expect("there is one");
            if self.to_explore(top).is_empty() {
                if top.is_leaf {
                    statistics.is_end(execution)?;
                }
                self.nodes.pop();
                if let Some(node) = self.nodes.last_mut() {
                    execution.back();
                    node.is_frozen = false;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn to_explore(&self, node: &Node) -> Vec<EnabledStep> {
        let is_new = |it: &EnabledStep| !node.explored.contains(&it.identity());
        if self.published.tries_all() {
            return node.enabled.iter().copied().filter(is_new).collect();
        }
        let mut wanted: Vec<EnabledStep> =
            node.backtrack.iter().filter_map(|it| node.find(*it)).copied().collect();
        if SetOrder::is_hashed(wanted.len()) {
            self.sets.sort(&mut wanted);
        }
        wanted.retain(is_new);
        wanted
    }

    fn step(&mut self, execution: &mut Execution, step: EnabledStep, delays: usize) {
        let top = self.nodes.last_mut().expect("something is received at a node");
        top.explored.push(step.identity());
        top.taken = Some(step);
        let was_hashed = top.is_hashed;
        let at = execution.enabled().iter().position(|it| *it == step).expect("it is enabled");
        execution.take(at);
        let mut node = self.node(execution, was_hashed, delays);
        if !self.published.tries_all() {
            self.add_races(&step);
            node.backtrack.extend(node.enabled.first().map(EnabledStep::identity));
        }
        node.is_leaf = self.to_explore(&node).is_empty();
        self.nodes.push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheduler_is_found_by_its_name() {
        for published in Published::ALL {
            for snapshots in [Snapshots::Sound, Snapshots::Aliased] {
                assert_eq!(entry(published, snapshots).name, published.name());
            }
            let found = find("dr", published.name()).expect("one of them");
            assert!(std::ptr::eq(found, entry(published, Snapshots::Aliased)));
            assert_eq!(found.is_random, published == Published::Random);
        }
        assert!(find("dr", "states").is_err_and(|it| it.contains("one of exhaustive, dpor")));
    }

    #[test]
    fn a_seed_other_than_one_is_another_order_of_sets() {
        assert_eq!(SetOrder::of_seed(1), SetOrder::Insertion);
        assert_ne!(SetOrder::of_seed(2), SetOrder::of_seed(4));
        let turns = |order: SetOrder| order.turns(3).take(4).collect::<Vec<_>>();
        assert_eq!(turns(SetOrder::Insertion), [2, 1, 0, 2]);
        assert_eq!(turns(SetOrder::Hashed(2)), [2, 1, 0, 2]);
        assert_eq!(turns(SetOrder::Hashed(3)), [0, 1, 2, 0]);
    }
}
