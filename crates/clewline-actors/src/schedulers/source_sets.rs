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
    parallel::{self, BranchTask, SUBMIT_EXECUTIONS_MIN, SubmittedTasks, Workers},
};
use crate::{
    dependence::{Dependence, Footprint},
    execution::{EnabledStep, Execution, StepIdentity},
    schedule::Schedule,
    settings::Settings,
    statistics::{Flow, Statistics},
    world::Ignored,
};

// What is handed out has at most such a part of the executions that are left until a limit is hit.
const REMAINING_SHARE_DIVISOR: u64 = 4;

/// How a reduction goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Reduction<'a> {
    /// Which steps may not change places.
    pub dependence: &'a dyn Dependence,
    /// Picks one of the candidates of a race.
    pub choose: fn(&Race<'_>) -> StepIdentity,
}

/// Two steps that can change places.
#[derive(Clone, Copy, Debug)]
pub struct Race<'a> {
    /// What can begin what is needed for that, in the order it happened. Not empty, and enabled where the earlier step was made.
    pub candidates: &'a [StepIdentity],
    /// The later step.
    pub later: StepIdentity,
    /// The first in the chain of messages that led to the later step, of those after the earlier one; it may be that step itself.
    pub root: StepIdentity,
}

/// Explores one schedule of every class that the reduction tells apart, or few.
///
/// # Errors
///
/// Breaks if the tally does.
pub fn explore(
    execution: &mut Execution,
    reduction: Reduction<'_>,
    settings: &Settings,
    statistics: &mut Statistics<'_>,
) -> Flow {
    parallel::run_with_workers(execution, settings, statistics, |execution, statistics, workers| {
        let mut search = SourceSetSearch::new(reduction);
        search.arrive(execution, Vec::new(), statistics)?;
        search.run(execution, statistics, workers)
    })
}

/// The scheduler that a reduction makes.
pub(super) struct ReductionScheduler {
    pub(super) reduction: Reduction<'static>,
    pub(super) settings: Settings,
}

impl MessageScheduler for ReductionScheduler {
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        explore(execution, self.reduction, &self.settings, statistics)
    }
}

struct SourceSetSearch<'a> {
    reduction: Reduction<'a>,
    nodes: Vec<Node>,
    events: Vec<Event>,
    // How many of the nodes are someone else's, who is told what is wanted there.
    foreign_nodes: usize,
    requests: Vec<BacktrackRequest>,
    requested: FxHashSet<BacktrackRequest>,
    // How many executions were below the last step that was tried, by the depth of its node. 0 where that is not known.
    subtree_sizes: Vec<u64>,
}

/// What is wanted at a node of someone else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum BacktrackRequest {
    /// All of these.
    All { node: usize, who: Vec<StepIdentity> },
    /// The first of these, unless one of the others is wanted, or sleeps.
    OneOf { node: usize, chosen: StepIdentity, candidates: Vec<StepIdentity> },
}

#[derive(Default)]
struct Node {
    // What is to be tried, and how many of them have been.
    backtrack: Vec<StepIdentity>,
    tried: usize,
    // The ways in which the next of them can go, as far as they were tried.
    outcomes: Vec<Footprint>,
    // There is one for each way.
    sleep_set: Vec<SleepingStep>,
    // How many executions there were before the first of those ways.
    before: u64,
    submitted: SubmittedTasks,
}

#[derive(Clone, Copy, Debug)]
struct SleepingStep {
    who: StepIdentity,
    footprint: Footprint,
}

struct Event {
    who: StepIdentity,
    sent_by: Option<u32>,
    footprint: Footprint,
    // The events that happened before.
    happens_before: EventSet,
}

impl Node {
    // Which of what is enabled is to be tried next.
    fn next(&mut self, enabled: &[EnabledStep]) -> Option<usize> {
        loop {
            let who = *self.backtrack.get(self.tried)?;
            if !self.is_asleep(who) {
                let mut ways = enabled.iter().enumerate().filter(|(_, it)| it.origin() == who);
                if let Some((at, _)) = ways.nth(self.outcomes.len()) {
                    return Some(at);
                }
                let sleepers = self.outcomes.drain(..).map(|footprint| SleepingStep { who, footprint });
                self.sleep_set.extend(sleepers);
            }
            self.tried += 1;
        }
    }

    fn is_asleep(&self, who: StepIdentity) -> bool {
        self.sleep_set.iter().any(|it| it.who == who)
    }

    fn add_backtrack(&mut self, who: StepIdentity) {
        if !self.backtrack.contains(&who) {
            self.backtrack.push(who);
        }
    }
}

impl<'a> SourceSetSearch<'a> {
    fn new(reduction: Reduction<'a>) -> Self {
        SourceSetSearch {
            reduction,
            nodes: Vec::new(),
            events: Vec::new(),
            foreign_nodes: 0,
            requests: Vec::new(),
            requested: FxHashSet::default(),
            subtree_sizes: Vec::new(),
        }
    }

    /// Tries what is wanted, until nothing is left at nodes of its own.
    fn run(
        &mut self,
        execution: &mut Execution,
        statistics: &mut Statistics<'_>,
        workers: &Workers<'_, Branch<'a>>,
    ) -> Flow {
        while let Some(top) = self.nodes.last_mut() {
            if let Some(at) = top.next(execution.enabled()) {
                if top.outcomes.is_empty() {
                    top.before = statistics.executions();
                    if let Some(ticket) = top.submitted.take(top.tried)
                        && let Some((seen, answer)) = workers.collect(ticket)
                        && statistics.add(execution, seen)
                    {
                        self.merge_explored_branch(answer);
                        self.record_subtree_size(statistics);
                        continue;
                    }
                }
                execution.take(at);
                let asleep = self.on_step(execution);
                self.arrive(execution, asleep, statistics)?;
                if workers.wants_tasks() {
                    self.submit_branch(execution, statistics, workers);
                }
            } else if self.nodes.len() <= self.foreign_nodes {
                break;
            } else {
                self.nodes.pop();
                if self.events.pop().is_some() {
                    execution.back();
                }
                self.record_subtree_size(statistics);
            }
        }
        ControlFlow::Continue(())
    }

    /// A step that was made at the last node was tried.
    fn record_subtree_size(&mut self, statistics: &Statistics<'_>) {
        let Some(node) = self.nodes.last() else { return };
        if self.subtree_sizes.len() < self.nodes.len() {
            self.subtree_sizes.resize(self.nodes.len(), 0);
        }
        self.subtree_sizes[self.nodes.len() - 1] = statistics.executions() - node.before;
    }

    /// Hands out the next step that is wanted with much below it, if there is one: going by what was below the last one at that
    /// depth. If it is more than a limit allows, it would be for nothing.
    fn submit_branch(
        &mut self,
        execution: &Execution,
        statistics: &Statistics<'_>,
        workers: &Workers<'_, Branch<'a>>,
    ) {
        let most = statistics.schedules_left();
        for (depth, node) in self.nodes.iter_mut().enumerate().rev() {
            let size = self.subtree_sizes.get(depth).copied().unwrap_or(0);
            if node.outcomes.is_empty()
                || !(SUBMIT_EXECUTIONS_MIN..=most / REMAINING_SHARE_DIVISOR).contains(&size)
            {
                continue;
            }
            let next = node.submitted.last().unwrap_or(node.tried) + 1;
            let Some(&who) = node.backtrack.get(next).filter(|it| !node.is_asleep(**it)) else { continue };
            let mut prefix = execution.schedule();
            prefix.0.truncate(depth);
            let (asleep, before) = (node.sleep_set.clone(), node.backtrack[node.tried..next].to_vec());
            let ticket = workers.submit(Branch {
                reduction: self.reduction,
                prefix,
                asleep,
                before,
                who,
                schedules_max: most,
            });
            node.submitted.add(next, ticket);
            return;
        }
    }

    /// What is wanted next at the last node was tried elsewhere.
    fn merge_explored_branch(&mut self, ExploredBranch { ways, wishes }: ExploredBranch) {
        for wish in wishes {
            self.request_backtrack(wish);
        }
        let top = self.nodes.last_mut().expect("a step is made at a node");
        top.sleep_set.extend(ways);
        top.tried += 1;
    }

    fn request_backtrack(&mut self, wish: BacktrackRequest) {
        let (BacktrackRequest::All { node: at, .. } | BacktrackRequest::OneOf { node: at, .. }) = wish;
        if at < self.foreign_nodes {
            if self.requested.insert(wish.clone()) {
                self.requests.push(wish);
            }
            return;
        }
        let node = &mut self.nodes[at];
        match wish {
            BacktrackRequest::All { who, .. } => who.into_iter().for_each(|it| node.add_backtrack(it)),
            BacktrackRequest::OneOf { chosen, candidates, .. } => {
                if !candidates.iter().any(|it| node.backtrack.contains(it) || node.is_asleep(*it)) {
                    node.backtrack.push(chosen);
                }
            }
        }
    }

    fn arrive(
        &mut self,
        execution: &Execution,
        asleep: Vec<SleepingStep>,
        statistics: &mut Statistics<'_>,
    ) -> Flow {
        let mut node = Node { sleep_set: asleep, ..Node::default() };
        if !statistics.is_end(execution)? {
            let awake = execution.enabled().iter().map(EnabledStep::origin).filter(|it| !node.is_asleep(*it));
            let all: Vec<StepIdentity> = awake.collect();
            let wanted = match execution.engine().rules().ignored {
                Ignored::Gone => all.len().min(1),
                Ignored::Stays => all.len(),
            };
            node.backtrack.extend(&all[..wanted]);
            if all.is_empty() {
                statistics.count_redundant(execution)?;
            }
        }
        self.nodes.push(node);
        ControlFlow::Continue(())
    }

    /// The last step of `walk` was made at the last node: finds its races. Answers what sleeps afterwards.
    fn on_step(&mut self, execution: &Execution) -> Vec<SleepingStep> {
        let index = self.events.len();
        let receive = &execution.events()[index].receive;
        let footprint = Footprint::of_last(execution);
        let rules = execution.engine().rules();
        let depends = |it: &Footprint| self.reduction.dependence.is_dependent(it, &footprint, &rules);
        let dependent: Vec<usize> = (0..index).filter(|&it| depends(&self.events[it].footprint)).collect();
        let node = self.nodes.last().expect("a step is made at a node");
        let asleep = node.sleep_set.iter().filter(|sleeper| {
            // If one way in which it can go depends on this step, it wakes.
            let ways = node.sleep_set.iter().filter(|it| it.who == sleeper.who);
            !ways.into_iter().any(|it| depends(&it.footprint))
        });
        let asleep = asleep.copied().collect();
        let mut past = EventSet::default();
        for event in dependent.iter().copied().chain(receive.sent_by.map(|it| it as usize)) {
            past.add_all(&self.events[event].happens_before);
            past.add(event);
        }
        self.events.push(Event {
            who: receive.origin(),
            sent_by: receive.sent_by,
            footprint,
            happens_before: past,
        });
        for earlier in dependent {
            self.request_reversal(execution, earlier);
        }
        self.request_disabled_steps(execution);
        self.nodes.last_mut().expect("a step is made at a node").outcomes.push(footprint);
        asleep
    }

    /// If the last event races with `earlier`, wants what lets them change places.
    fn request_reversal(&mut self, execution: &Execution, earlier: usize) {
        let last = self.events.len() - 1;
        let event = &self.events[last];
        let led_to = |it: usize| it == earlier || self.events[it].happens_before.has(earlier);
        if event.sent_by.is_some_and(|it| led_to(it as usize)) {
            return;
        }
        let mut between = earlier + 1..last;
        if between.any(|it| event.happens_before.has(it) && self.events[it].happens_before.has(earlier)) {
            return;
        }
        let others: Vec<usize> = (earlier + 1..=last)
            .filter(|&it| it == last || !self.events[it].happens_before.has(earlier))
            .collect();
        let is_initial = |it: usize| !others.iter().any(|&other| self.events[it].happens_before.has(other));
        let enabled = execution.enabled_before(earlier);
        let is_enabled = |who: &StepIdentity| enabled.iter().any(|it| it.origin() == *who);
        let initials = others.iter().filter(|&&it| is_initial(it)).map(|&it| self.events[it].who);
        let candidates: Vec<StepIdentity> = initials.filter(is_enabled).collect();
        if candidates.is_empty() {
            // Either the earlier step made the later one possible, or something did that is not known here.
            if 1 < others.len() {
                let who = enabled.iter().map(EnabledStep::origin).collect();
                self.request_backtrack(BacktrackRequest::All { node: earlier, who });
            }
            return;
        }
        let root = chain_root(&self.events, earlier, last);
        let race = Race { candidates: &candidates, later: self.events[last].who, root };
        let chosen = (self.reduction.choose)(&race);
        self.request_backtrack(BacktrackRequest::OneOf { node: earlier, chosen, candidates });
    }

    /// Wants, in place of the last event, what can no longer happen because of it.
    fn request_disabled_steps(&mut self, execution: &Execution) {
        let last = self.events.len() - 1;
        let before = execution.enabled_before(last).iter().map(EnabledStep::origin);
        let is_gone = |who: &StepIdentity| !execution.enabled().iter().any(|it| it.origin() == *who);
        let who = before.filter(is_gone).collect();
        self.request_backtrack(BacktrackRequest::All { node: last, who });
    }
}

/// A step that is wanted, to be tried elsewhere.
struct Branch<'a> {
    reduction: Reduction<'a>,
    // What leads to its node.
    prefix: Schedule,
    // What sleeps there, and what is tried there before it.
    asleep: Vec<SleepingStep>,
    before: Vec<StepIdentity>,
    who: StepIdentity,
    // How many schedules there may be until a limit is hit.
    schedules_max: u64,
}

/// What came of trying a step elsewhere.
struct ExploredBranch {
    // The step, in all the ways in which it can go.
    ways: Vec<SleepingStep>,
    // What is wanted at its node and above, in order.
    wishes: Vec<BacktrackRequest>,
}

impl BranchTask for Branch<'_> {
    type Output = ExploredBranch;

    fn run(
        self,
        execution: &mut Execution,
        statistics: &mut Statistics<'_>,
    ) -> ControlFlow<Coverage, ExploredBranch> {
        let Branch { reduction, prefix, asleep, before, who, schedules_max: most } = self;
        statistics.limit_schedules(most);
        let mut search = SourceSetSearch::new(reduction);
        search.foreign_nodes = prefix.0.len() + 1;
        execution.rewind();
        for &pick in &prefix.0 {
            search.nodes.push(Node::default());
            execution.take(pick as usize);
            search.on_step(execution);
        }
        // The leader knows what races there are on the way.
        search.requests.clear();
        search.requested.clear();
        let mut node = Node { sleep_set: asleep, ..Node::default() };
        for earlier in before {
            if !node.is_asleep(earlier) {
                node.sleep_set.extend(all_outcomes(execution, earlier));
            }
        }
        node.backtrack.push(who);
        search.nodes.push(node);
        search.run(execution, statistics, &Workers::none())?;
        let node = search.nodes.last().expect("its own node is left");
        let ways = node.sleep_set.iter().filter(|it| it.who == who).copied().collect();
        ControlFlow::Continue(ExploredBranch { ways, wishes: search.requests })
    }
}

/// A step that can happen next, in all the ways in which it can go.
fn all_outcomes(execution: &mut Execution, who: StepIdentity) -> Vec<SleepingStep> {
    let enabled = execution.enabled().iter().enumerate();
    let ways: Vec<usize> = enabled.filter(|(_, it)| it.origin() == who).map(|(at, _)| at).collect();
    let footprint = |at: usize| {
        execution.take(at);
        let footprint = Footprint::of_last(execution);
        execution.back();
        SleepingStep { who, footprint }
    };
    ways.into_iter().map(footprint).collect()
}

fn chain_root(events: &[Event], earlier: usize, last: usize) -> StepIdentity {
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
struct EventSet(Vec<u64>);

impl EventSet {
    fn has(&self, event: usize) -> bool {
        self.0.get(event / 64).is_some_and(|it| it >> (event % 64) & 1 == 1)
    }

    fn add(&mut self, event: usize) {
        if self.0.len() <= event / 64 {
            self.0.resize(event / 64 + 1, 0);
        }
        self.0[event / 64] |= 1 << (event % 64);
    }

    fn add_all(&mut self, other: &EventSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, its) in self.0.iter_mut().zip(&other.0) {
            *mine |= its;
        }
    }
}
