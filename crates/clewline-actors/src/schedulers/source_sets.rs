//! What the four reductions have in common: source sets, sleep sets, and which event happened before which.
//!
//! Schedules that differ in the order of independent steps alone have the same history. At first one schedule is followed to
//! its end. Whenever a step raced with an earlier one, the two can change places: something that can begin what is needed for
//! that, an *initial*, is to be tried where the earlier step was made, unless one is tried there anyway. What has been
//! tried at a node *sleeps* in what is tried there later, until a step is made that depends on it: before that, it could only
//! lead to schedules that were seen. If everything sleeps, nothing new can come.
//!
//! A step happened before another if it sent what the other received, or if it came first and the two are dependent, or through
//! others. Which event sent a message is known exactly, so that a race can be told from a cause.
//!
//! Three things go beyond messages that are all received in the end. A step that can go in several ways is tried in all of them,
//! and sleeps as one. What a step keeps from happening for ever, such as a loss the receipt, is tried in its place. Where ignored
//! messages stay in flight, one that is never received is in no race, so everything is tried, and only sleep sets reduce.
//!
//! With several threads, what is wanted at a node is explored by whoever has time: what is below a step follows from what sleeps there
//! alone, and that is known as soon as the step is wanted. What its races want at nodes above is remembered, and
//! asked for when it would have been.
//!
//! Source: P. Abdulla, S. Aronsson, B. Jonsson, K. Sagonas, "Optimal dynamic partial order reduction", 2014, section 5.
//!
//! Invariants: `events` are those of the walk, and there is one node more. What sleeps at a node has not been woken since it was
//! tried at that node or at one above it.

use std::ops::ControlFlow;

use clewline_explore::Coverage;
use rustc_hash::FxHashSet;

use super::{
    entry::MessageScheduler,
    parallel::{self, Errand, Given, WORTH, Workers},
};
use crate::{
    dependence::{Dependence, Footprint},
    execution::{Execution, Identity, Receive},
    schedule::Schedule,
    settings::Settings,
    statistics::{Flow, Statistics},
    world::Ignored,
};

// What is handed out has at most such a part of the executions that are left until a limit is hit.
const SHARES: u64 = 4;

/// How a reduction goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Reduction<'a> {
    /// Which steps may not change places.
    pub dependence: &'a dyn Dependence,
    /// Picks one of the candidates of a race.
    pub choose: fn(&Race<'_>) -> Identity,
}

/// Two steps that can change places.
#[derive(Clone, Copy, Debug)]
pub struct Race<'a> {
    /// What can begin what is needed for that, in the order it happened. Not empty, and enabled where the earlier step was made.
    pub candidates: &'a [Identity],
    /// The later step.
    pub later: Identity,
    /// The first in the chain of messages that led to the later step, of those after the earlier one; it may be that step itself.
    pub root: Identity,
}

/// Explores one schedule of every class that the reduction tells apart, or few.
///
/// # Errors
///
/// Breaks if the tally does.
pub fn explore(
    walk: &mut Execution,
    reduction: Reduction<'_>,
    settings: &Settings,
    tally: &mut Statistics<'_>,
) -> Flow {
    parallel::lead(walk, settings, tally, |walk, tally, crew| {
        let mut search = Search::new(reduction);
        search.arrive(walk, Vec::new(), tally)?;
        search.run(walk, tally, crew)
    })
}

/// The scheduler that a reduction makes.
pub(super) struct Reducing {
    pub(super) reduction: Reduction<'static>,
    pub(super) settings: Settings,
}

impl MessageScheduler for Reducing {
    fn explore(&mut self, walk: &mut Execution, tally: &mut Statistics<'_>) -> Flow {
        explore(walk, self.reduction, &self.settings, tally)
    }
}

struct Search<'a> {
    reduction: Reduction<'a>,
    nodes: Vec<Node>,
    events: Vec<Event>,
    // How many of the nodes are someone else's, who is told what is wanted there.
    foreign: usize,
    wishes: Vec<Wish>,
    wished: FxHashSet<Wish>,
    // How many executions were below the last step that was tried, by the depth of its node. 0 where that is not known.
    sizes: Vec<u64>,
}

/// What is wanted at a node of someone else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Wish {
    /// All of these.
    All { node: usize, who: Vec<Identity> },
    /// The first of these, unless one of the others is wanted, or sleeps.
    OneOf { node: usize, chosen: Identity, candidates: Vec<Identity> },
}

#[derive(Default)]
struct Node {
    // What is to be tried, and how many of them have been.
    wanted: Vec<Identity>,
    tried: usize,
    // The ways in which the next of them can go, as far as they were tried.
    ways: Vec<Footprint>,
    // There is one for each way.
    asleep: Vec<Sleeper>,
    // How many executions there were before the first of those ways.
    before: u64,
    given: Given,
}

#[derive(Clone, Copy, Debug)]
struct Sleeper {
    who: Identity,
    footprint: Footprint,
}

struct Event {
    who: Identity,
    sent_by: Option<u32>,
    footprint: Footprint,
    // The events that happened before.
    past: Bits,
}

impl Node {
    // Which of what is enabled is to be tried next.
    fn next(&mut self, enabled: &[Receive]) -> Option<usize> {
        loop {
            let who = *self.wanted.get(self.tried)?;
            if !self.is_asleep(who) {
                let mut ways = enabled.iter().enumerate().filter(|(_, it)| it.origin() == who);
                if let Some((at, _)) = ways.nth(self.ways.len()) {
                    return Some(at);
                }
                let sleepers = self.ways.drain(..).map(|footprint| Sleeper { who, footprint });
                self.asleep.extend(sleepers);
            }
            self.tried += 1;
        }
    }

    fn is_asleep(&self, who: Identity) -> bool {
        self.asleep.iter().any(|it| it.who == who)
    }

    fn want(&mut self, who: Identity) {
        if !self.wanted.contains(&who) {
            self.wanted.push(who);
        }
    }
}

impl<'a> Search<'a> {
    fn new(reduction: Reduction<'a>) -> Self {
        Search {
            reduction,
            nodes: Vec::new(),
            events: Vec::new(),
            foreign: 0,
            wishes: Vec::new(),
            wished: FxHashSet::default(),
            sizes: Vec::new(),
        }
    }

    /// Tries what is wanted, until nothing is left at nodes of its own.
    fn run(
        &mut self,
        walk: &mut Execution,
        tally: &mut Statistics<'_>,
        crew: &Workers<'_, Branch<'a>>,
    ) -> Flow {
        while let Some(top) = self.nodes.last_mut() {
            if let Some(at) = top.next(walk.enabled()) {
                if top.ways.is_empty() {
                    top.before = tally.executions();
                    if let Some(ticket) = top.given.take(top.tried)
                        && let Some((seen, answer)) = crew.collect(ticket)
                        && tally.add(walk, seen)
                    {
                        self.believe(answer);
                        self.learn(tally);
                        continue;
                    }
                }
                walk.take(at);
                let asleep = self.happened(walk);
                self.arrive(walk, asleep, tally)?;
                if crew.is_hungry() {
                    self.give(walk, tally, crew);
                }
            } else if self.nodes.len() <= self.foreign {
                break;
            } else {
                self.nodes.pop();
                if self.events.pop().is_some() {
                    walk.back();
                }
                self.learn(tally);
            }
        }
        ControlFlow::Continue(())
    }

    /// A step that was made at the last node was tried.
    fn learn(&mut self, tally: &Statistics<'_>) {
        let Some(node) = self.nodes.last() else { return };
        if self.sizes.len() < self.nodes.len() {
            self.sizes.resize(self.nodes.len(), 0);
        }
        self.sizes[self.nodes.len() - 1] = tally.executions() - node.before;
    }

    /// Hands out the next step that is wanted with much below it, if there is one: going by what was below the last one at that
    /// depth. If it is more than a limit allows, it would be for nothing.
    fn give(&mut self, walk: &Execution, tally: &Statistics<'_>, crew: &Workers<'_, Branch<'a>>) {
        let most = tally.left();
        for (depth, node) in self.nodes.iter_mut().enumerate().rev() {
            let size = self.sizes.get(depth).copied().unwrap_or(0);
            if node.ways.is_empty() || !(WORTH..=most / SHARES).contains(&size) {
                continue;
            }
            let next = node.given.last().unwrap_or(node.tried) + 1;
            let Some(&who) = node.wanted.get(next).filter(|it| !node.is_asleep(**it)) else { continue };
            let mut prefix = walk.schedule();
            prefix.0.truncate(depth);
            let (asleep, before) = (node.asleep.clone(), node.wanted[node.tried..next].to_vec());
            let ticket = crew.give(Branch { reduction: self.reduction, prefix, asleep, before, who, most });
            node.given.add(next, ticket);
            return;
        }
    }

    /// What is wanted next at the last node was tried elsewhere.
    fn believe(&mut self, Answer { ways, wishes }: Answer) {
        for wish in wishes {
            self.want(wish);
        }
        let top = self.nodes.last_mut().expect("a step is made at a node");
        top.asleep.extend(ways);
        top.tried += 1;
    }

    fn want(&mut self, wish: Wish) {
        let (Wish::All { node: at, .. } | Wish::OneOf { node: at, .. }) = wish;
        if at < self.foreign {
            if self.wished.insert(wish.clone()) {
                self.wishes.push(wish);
            }
            return;
        }
        let node = &mut self.nodes[at];
        match wish {
            Wish::All { who, .. } => who.into_iter().for_each(|it| node.want(it)),
            Wish::OneOf { chosen, candidates, .. } => {
                if !candidates.iter().any(|it| node.wanted.contains(it) || node.is_asleep(*it)) {
                    node.wanted.push(chosen);
                }
            }
        }
    }

    fn arrive(&mut self, walk: &Execution, asleep: Vec<Sleeper>, tally: &mut Statistics<'_>) -> Flow {
        let mut node = Node { asleep, ..Node::default() };
        if !tally.is_end(walk)? {
            let awake = walk.enabled().iter().map(Receive::origin).filter(|it| !node.is_asleep(*it));
            let all: Vec<Identity> = awake.collect();
            let wanted = match walk.engine().rules().ignored {
                Ignored::Gone => all.len().min(1),
                Ignored::Stays => all.len(),
            };
            node.wanted.extend(&all[..wanted]);
            if all.is_empty() {
                tally.give_up(walk)?;
            }
        }
        self.nodes.push(node);
        ControlFlow::Continue(())
    }

    /// The last step of `walk` was made at the last node: finds its races. Answers what sleeps afterwards.
    fn happened(&mut self, walk: &Execution) -> Vec<Sleeper> {
        let index = self.events.len();
        let receive = &walk.events()[index].receive;
        let footprint = Footprint::of_last(walk);
        let rules = walk.engine().rules();
        let depends = |it: &Footprint| self.reduction.dependence.is_dependent(it, &footprint, &rules);
        let dependent: Vec<usize> = (0..index).filter(|&it| depends(&self.events[it].footprint)).collect();
        let node = self.nodes.last().expect("a step is made at a node");
        let asleep = node.asleep.iter().filter(|sleeper| {
            // If one way in which it can go depends on this step, it wakes.
            let ways = node.asleep.iter().filter(|it| it.who == sleeper.who);
            !ways.into_iter().any(|it| depends(&it.footprint))
        });
        let asleep = asleep.copied().collect();
        let mut past = Bits::default();
        for event in dependent.iter().copied().chain(receive.sent_by.map(|it| it as usize)) {
            past.add_all(&self.events[event].past);
            past.add(event);
        }
        self.events.push(Event { who: receive.origin(), sent_by: receive.sent_by, footprint, past });
        for earlier in dependent {
            self.race(walk, earlier);
        }
        self.want_rivals(walk);
        self.nodes.last_mut().expect("a step is made at a node").ways.push(footprint);
        asleep
    }

    /// If the last event races with `earlier`, wants what lets them change places.
    fn race(&mut self, walk: &Execution, earlier: usize) {
        let last = self.events.len() - 1;
        let event = &self.events[last];
        let led_to = |it: usize| it == earlier || self.events[it].past.has(earlier);
        if event.sent_by.is_some_and(|it| led_to(it as usize)) {
            return;
        }
        let mut between = earlier + 1..last;
        if between.any(|it| event.past.has(it) && self.events[it].past.has(earlier)) {
            return;
        }
        let others: Vec<usize> =
            (earlier + 1..=last).filter(|&it| it == last || !self.events[it].past.has(earlier)).collect();
        let is_initial = |it: usize| !others.iter().any(|&other| self.events[it].past.has(other));
        let enabled = walk.enabled_before(earlier);
        let is_enabled = |who: &Identity| enabled.iter().any(|it| it.origin() == *who);
        let initials = others.iter().filter(|&&it| is_initial(it)).map(|&it| self.events[it].who);
        let candidates: Vec<Identity> = initials.filter(is_enabled).collect();
        if candidates.is_empty() {
            // Either the earlier step made the later one possible, or something did that is not known here.
            if 1 < others.len() {
                let who = enabled.iter().map(Receive::origin).collect();
                self.want(Wish::All { node: earlier, who });
            }
            return;
        }
        let root = root(&self.events, earlier, last);
        let race = Race { candidates: &candidates, later: self.events[last].who, root };
        let chosen = (self.reduction.choose)(&race);
        self.want(Wish::OneOf { node: earlier, chosen, candidates });
    }

    /// Wants, in place of the last event, what can no longer happen because of it.
    fn want_rivals(&mut self, walk: &Execution) {
        let last = self.events.len() - 1;
        let before = walk.enabled_before(last).iter().map(Receive::origin);
        let is_gone = |who: &Identity| !walk.enabled().iter().any(|it| it.origin() == *who);
        let who = before.filter(is_gone).collect();
        self.want(Wish::All { node: last, who });
    }
}

/// A step that is wanted, to be tried elsewhere.
struct Branch<'a> {
    reduction: Reduction<'a>,
    // What leads to its node.
    prefix: Schedule,
    // What sleeps there, and what is tried there before it.
    asleep: Vec<Sleeper>,
    before: Vec<Identity>,
    who: Identity,
    // How many schedules there may be until a limit is hit.
    most: u64,
}

/// What came of trying a step elsewhere.
struct Answer {
    // The step, in all the ways in which it can go.
    ways: Vec<Sleeper>,
    // What is wanted at its node and above, in order.
    wishes: Vec<Wish>,
}

impl Errand for Branch<'_> {
    type Answer = Answer;

    fn run(self, walk: &mut Execution, tally: &mut Statistics<'_>) -> ControlFlow<Coverage, Answer> {
        let Branch { reduction, prefix, asleep, before, who, most } = self;
        tally.allow(most);
        let mut search = Search::new(reduction);
        search.foreign = prefix.0.len() + 1;
        walk.rewind();
        for &pick in &prefix.0 {
            search.nodes.push(Node::default());
            walk.take(pick as usize);
            search.happened(walk);
        }
        // The leader knows what races there are on the way.
        search.wishes.clear();
        search.wished.clear();
        let mut node = Node { asleep, ..Node::default() };
        for earlier in before {
            if !node.is_asleep(earlier) {
                node.asleep.extend(all_ways(walk, earlier));
            }
        }
        node.wanted.push(who);
        search.nodes.push(node);
        search.run(walk, tally, &Workers::nobody())?;
        let node = search.nodes.last().expect("its own node is left");
        let ways = node.asleep.iter().filter(|it| it.who == who).copied().collect();
        ControlFlow::Continue(Answer { ways, wishes: search.wishes })
    }
}

/// A step that can happen next, in all the ways in which it can go.
fn all_ways(walk: &mut Execution, who: Identity) -> Vec<Sleeper> {
    let enabled = walk.enabled().iter().enumerate();
    let ways: Vec<usize> = enabled.filter(|(_, it)| it.origin() == who).map(|(at, _)| at).collect();
    let footprint = |at: usize| {
        walk.take(at);
        let footprint = Footprint::of_last(walk);
        walk.back();
        Sleeper { who, footprint }
    };
    ways.into_iter().map(footprint).collect()
}

fn root(events: &[Event], earlier: usize, last: usize) -> Identity {
    let mut at = last;
    while let Some(sender) = events[at].sent_by.map(|it| it as usize)
        && earlier < sender
    {
        at = sender;
    }
    events[at].who
}

// A set of events.
#[derive(Clone, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn has(&self, event: usize) -> bool {
        self.0.get(event / 64).is_some_and(|it| it >> (event % 64) & 1 == 1)
    }

    fn add(&mut self, event: usize) {
        if self.0.len() <= event / 64 {
            self.0.resize(event / 64 + 1, 0);
        }
        self.0[event / 64] |= 1 << (event % 64);
    }

    fn add_all(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, its) in self.0.iter_mut().zip(&other.0) {
            *mine |= its;
        }
    }
}
