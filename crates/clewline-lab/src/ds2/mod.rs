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
//! * Incomplete histories are not judged: see [`Statistics::unique_complete_violated`].
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking
//! for actor-based systems", 2021, sections 2 and 3; the order in which receivers take turns, and
//! the rules where text and tables differ, follow the tables.

mod backtrack;
mod harness;
mod random;

use std::ops::ControlFlow;

use clewline_actors::{
    EnabledStep, Execution, Flow, Snapshots, Statistics, StepIdentity,
    schedulers::{Entry, MessageScheduler, Settings, Soundness},
};
use clewline_explore::{Coverage, Limit};

pub use harness::AsPublished;

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
}

impl Published {
    /// All of them.
    pub const ALL: [Published; 6] = [
        Published::Exhaustive,
        Published::Dpor,
        Published::TransDpor,
        Published::Ired,
        Published::LiViola,
        Published::Random,
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
        }
    }
}

/// A scheduler of DS2, exploring the schedules of one system.
struct Ds2 {
    published: Published,
    snapshots: Snapshots,
    settings: Settings,
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
            | Published::LiViola) => Search { published, nodes: Vec::new() }.run(&mut execution, statistics),
        };
        statistics.executed += execution.taken();
        flow?;
        ControlFlow::Break(Coverage::Limited(Limit::Unsound))
    }
}

/// Entries of all of them, with snapshots of one kind.
macro_rules! entries {
    ($snapshots:expr; $($published:ident),+) => {
        [$(Entry {
            name: Published::$published.name(),
            about: "DS2's rules as published",
            is_exhaustive: false,
            is_random: matches!(Published::$published, Published::Random),
            soundness: Soundness::Never,
            bounds: &[],
            make: |settings| {
                let (published, snapshots) = (Published::$published, $snapshots);
                Box::new(Ds2 { published, snapshots, settings: settings.clone() })
            },
        }),+]
    };
}

/// As [`Published::ALL`].
static SOUND: [Entry; 6] = entries!(Snapshots::Sound; Exhaustive, Dpor, TransDpor, Ired, LiViola, Random);
static ALIASED: [Entry; 6] = entries!(Snapshots::Aliased; Exhaustive, Dpor, TransDpor, Ired, LiViola, Random);

/// The scheduler of that name, as the tables use it on the system of that name.
///
/// The registers change their state in place, so that backtracking does not restore it
/// ([`Snapshots::Aliased`]). To have the keys of the harnesses, LiViola needs the system [as
/// published](AsPublished).
///
/// # Errors
///
/// If there is no such scheduler.
pub fn find(system: &str, scheduler: &str) -> Result<&'static Entry, String> {
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
pub fn entry(published: Published, snapshots: Snapshots) -> &'static Entry {
    let table = match snapshots {
        Snapshots::Sound => &SOUND,
        Snapshots::Aliased => &ALIASED,
    };
    &table[published as usize]
}

struct Search {
    published: Published,
    nodes: Vec<Node>,
}

// Lists of messages are in the order in which they were added.
#[derive(Debug, Default)]
struct Node {
    enabled: Vec<EnabledStep>,
    explored: Vec<StepIdentity>,
    backtrack: Vec<StepIdentity>,
    // What was received last from here.
    taken: Option<EnabledStep>,
    is_frozen: bool,
    is_leaf: bool,
}

impl Node {
    fn new(execution: &Execution) -> Self {
        let mut enabled = execution.enabled().to_vec();
        // Requests come before what actors sent when they started.
        enabled.sort_by_key(|it| (it.sent_by.is_some(), it.sent_by.is_none() && !it.from.is_client()));
        Node { enabled, ..Node::default() }
    }

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
    fn run(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        let mut root = Node::new(execution);
        let requests = root.enabled.iter().filter(|it| it.from.is_client()).map(EnabledStep::identity);
        root.backtrack = match self.published {
            Published::Exhaustive | Published::Random => Vec::new(),
            Published::Dpor => requests.collect(),
            Published::TransDpor | Published::Ired | Published::LiViola => requests.take(1).collect(),
        };
        self.nodes.push(root);
        // Receivers take turns, the last one first.
        let mut turns = (0..execution.engine().roots() as u32).rev().cycle();
        while !self.nodes.is_empty() {
            let turn = turns.next().expect("there are actors");
            let top = self.nodes.last().expect("there is one");
            let to_explore = self.to_explore(top);
            let next = to_explore.iter().find(|it| !it.to.is_client() && it.to.index() == turn);
            if let Some(&step) = next {
                self.step(execution, step);
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
        match self.published {
            Published::Exhaustive | Published::Random => {
                node.enabled.iter().copied().filter(is_new).collect()
            }
            Published::Dpor | Published::TransDpor | Published::Ired | Published::LiViola => {
                let wanted = node.backtrack.iter().filter_map(|it| node.find(*it));
                wanted.copied().filter(is_new).collect()
            }
        }
    }

    fn step(&mut self, execution: &mut Execution, step: EnabledStep) {
        let top = self.nodes.last_mut().expect("something is received at a node");
        top.explored.push(step.identity());
        top.taken = Some(step);
        let at = execution.enabled().iter().position(|it| *it == step).expect("it is enabled");
        execution.take(at);
        let mut node = Node::new(execution);
        if self.published != Published::Exhaustive {
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
}
