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
//! and sleeps as one. What a step keeps from happening for ever, such as a loss the receipt, is tried in its place. Where an actor
//! crashes, or a partition begins, everything is tried: what is sent later may never be received, and would be in no race. For
//! the same reason everything is tried everywhere where ignored messages stay in flight; then only sleep sets reduce.
//!
//! Source: P. Abdulla, S. Aronsson, B. Jonsson, K. Sagonas, "Optimal dynamic partial order reduction", 2014, section 5.
//!
//! Invariants: `events` are those of the walk, and there is one node more. What sleeps at a node has not been woken since it was
//! tried at that node or at one above it.

use std::ops::ControlFlow;

use crate::actors::{Dependence, Flow, Footprint, Identity, Ignored, Kind, Receive, Tally, Walk};

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
pub fn explore(walk: &mut Walk, reduction: Reduction<'_>, tally: &mut Tally<'_>) -> Flow {
    let mut search = Search { reduction, nodes: Vec::new(), events: Vec::new() };
    search.arrive(walk, Vec::new(), tally)?;
    while let Some(top) = search.nodes.last_mut() {
        if let Some(at) = top.next(walk.enabled()) {
            walk.take(at);
            let asleep = search.happened(walk);
            search.arrive(walk, asleep, tally)?;
        } else {
            search.nodes.pop();
            if search.events.pop().is_some() {
                walk.back();
            }
        }
    }
    ControlFlow::Continue(())
}

struct Search<'a> {
    reduction: Reduction<'a>,
    nodes: Vec<Node>,
    events: Vec<Event>,
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
}

#[derive(Clone, Copy)]
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

impl Search<'_> {
    fn arrive(&mut self, walk: &Walk, asleep: Vec<Sleeper>, tally: &mut Tally<'_>) -> Flow {
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
    fn happened(&mut self, walk: &Walk) -> Vec<Sleeper> {
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
    fn race(&mut self, walk: &Walk, earlier: usize) {
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
        let node = &mut self.nodes[earlier];
        if candidates.is_empty() {
            // Either the earlier step made the later one possible, or something did that is not known here.
            if 1 < others.len() {
                enabled.iter().for_each(|it| node.want(it.origin()));
            }
            return;
        }
        if candidates.iter().any(|it| node.wanted.contains(it) || node.is_asleep(*it)) {
            return;
        }
        let root = root(&self.events, earlier, last);
        let race = Race { candidates: &candidates, later: self.events[last].who, root };
        node.wanted.push((self.reduction.choose)(&race));
    }

    /// Wants, in place of the last event, what can no longer happen because of it.
    fn want_rivals(&mut self, walk: &Walk) {
        let last = self.events.len() - 1;
        let strikes = matches!(self.events[last].footprint.kind, Kind::Crash | Kind::Cut);
        let node = &mut self.nodes[last];
        for before in walk.enabled_before(last) {
            let who = before.origin();
            if strikes || !walk.enabled().iter().any(|it| it.origin() == who) {
                node.want(who);
            }
        }
    }
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
