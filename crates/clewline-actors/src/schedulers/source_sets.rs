//! The common part of the four reductions: source sets, sleep sets, and happens-before.
//!
//! Schedules that differ only in the order of independent steps have the same history. First, one
//! schedule is executed to its end. Whenever a step races with an earlier one, their order can be
//! reversed: a first step of such a continuation, an *initial*, is to be tried before the earlier
//! step, unless one is tried there anyway (the backtrack set). A step that has been tried at a node
//! *sleeps* in the branches tried there later, until a dependent step is executed: before that, it
//! could only lead to equivalent schedules. If all enabled steps sleep, the execution is redundant.
//!
//! A step happens before another if it sent the message that the other received, or if it came
//! first and the two are dependent; and transitively. The event that sent a message is known
//! exactly, so a race is distinguished from a cause.
//!
//! Three extensions go beyond messages that are all received in the end. A step with several
//! outcomes is tried with each of them, and sleeps as one. A step that the last step permanently
//! disables, such as the receipt of a lost message, is tried in its place. If ignored messages stay
//! in flight, a message that is never received is in no race, so all steps are tried, and only
//! sleep sets reduce.
//!
//! With several threads, any worker explores steps of a backtrack set: the subtree below a step
//! depends only on its sleep set, which is known as soon as the step is added. The backtrack
//! requests of its races at nodes above are recorded, and applied when sequential exploration would
//! have made them.
//!
//! Source: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic partial order
//! reduction", 2014, section 5.
//!
//! Invariants: `events` are those of the execution, and there is one node more. A step that sleeps
//! at a node has not been woken since it was tried at that node or at one above it.

use std::ops::ControlFlow;

use clewline_explore::{Coverage, Limit};
use rustc_hash::FxHashSet;

use super::{
    entry::MessageScheduler,
    parallel::{self, BranchTask, SUBMIT_EXECUTIONS_MIN, SubmittedTasks, Workers},
};
use crate::{
    dependence::{Dependence, StepFootprint},
    execution::{EnabledStep, Execution, StepIdentity},
    schedule::MessageSchedule,
    settings::MessageSchedulerSettings,
    statistics::{Flow, Statistics},
    world::Ignored,
};

// A task has at most this fraction of the executions left until a limit is reached.
const REMAINING_SHARE_DIVISOR: u64 = 4;

/// The parameters of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Reduction<'a> {
    /// Which steps do not commute.
    pub dependence: &'a dyn Dependence,
    /// Picks one of the candidates of a race.
    pub choose: fn(&ReversibleRace<'_>) -> StepIdentity,
}

/// Two steps whose order can be reversed.
#[derive(Clone, Copy, Debug)]
pub struct ReversibleRace<'a> {
    /// The initials of the reversal, in execution order. Not empty, and enabled before the earlier
    /// step.
    pub candidates: &'a [StepIdentity],
    /// The later step.
    pub later: StepIdentity,
    /// The first message of the causal chain to the later step, among those after the earlier one;
    /// it may be the later step itself.
    pub root: StepIdentity,
}

/// Explores one or few schedules of every equivalence class of the reduction.
///
/// # Errors
///
/// Breaks if the statistics do.
pub fn explore(
    execution: &mut Execution,
    reduction: Reduction<'_>,
    settings: &MessageSchedulerSettings,
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
    pub(super) settings: MessageSchedulerSettings,
}

impl MessageScheduler for ReductionScheduler {
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        explore(execution, self.reduction, &self.settings, statistics)?;
        // A message that is delivered at once has no order that could be reversed alone.
        if execution.engine().has_immediate {
            let why = "the reduction does not know the orders around messages that are delivered at once: \
                       `states` and `exhaustive` do";
            return ControlFlow::Break(Coverage::Limited(Limit::Other(why.to_owned())));
        }
        ControlFlow::Continue(())
    }
}

struct SourceSetSearch<'a> {
    reduction: Reduction<'a>,
    nodes: Vec<Node>,
    events: Vec<Event>,
    // The number of nodes above this branch: requests at these are returned to the leader.
    foreign_nodes: usize,
    requests: Vec<BacktrackRequest>,
    requested: FxHashSet<BacktrackRequest>,
    // The number of executions below the last step that was tried, by the depth of its node. 0 if
    // unknown.
    subtree_sizes: Vec<u64>,
}

/// A request to try steps at a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum BacktrackRequest {
    /// All of these.
    All { node: usize, step: Vec<StepIdentity> },
    /// The first of these, unless one of the others is in the backtrack set, or sleeps.
    OneOf { node: usize, chosen: StepIdentity, candidates: Vec<StepIdentity> },
}

#[derive(Default)]
struct Node {
    // The steps to be tried, and the number of steps tried.
    backtrack: Vec<StepIdentity>,
    tried: usize,
    // The outcomes of the next step, as far as they were tried.
    outcomes: Vec<StepFootprint>,
    // One entry for each outcome.
    sleep_set: Vec<SleepingStep>,
    // The number of executions before the first of those outcomes.
    before: u64,
    submitted: SubmittedTasks,
}

#[derive(Clone, Copy, Debug)]
struct SleepingStep {
    step: StepIdentity,
    footprint: StepFootprint,
}

struct Event {
    step: StepIdentity,
    sent_by: Option<u32>,
    footprint: StepFootprint,
    // The events that happened before.
    happens_before: EventSet,
}

impl Node {
    // The index of the enabled step that is to be tried next.
    fn next(&mut self, enabled: &[EnabledStep]) -> Option<usize> {
        loop {
            let step = *self.backtrack.get(self.tried)?;
            if !self.is_asleep(step) {
                let mut outcomes = enabled.iter().enumerate().filter(|(_, it)| it.origin() == step);
                if let Some((at, _)) = outcomes.nth(self.outcomes.len()) {
                    return Some(at);
                }
                let sleeping_steps =
                    self.outcomes.drain(..).map(|footprint| SleepingStep { step, footprint });
                self.sleep_set.extend(sleeping_steps);
            }
            self.tried += 1;
        }
    }

    fn is_asleep(&self, step: StepIdentity) -> bool {
        self.sleep_set.iter().any(|it| it.step == step)
    }

    fn add_backtrack(&mut self, step: StepIdentity) {
        if !self.backtrack.contains(&step) {
            self.backtrack.push(step);
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

    /// Tries the steps of the backtrack sets, until none is left at its own nodes.
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
                    if let Some(task) = top.submitted.take(top.tried)
                        && let Some((seen, explored)) = workers.collect(task)
                        && statistics.add(execution, seen)
                    {
                        self.merge_explored_branch(explored);
                        self.record_subtree_size(statistics);
                        continue;
                    }
                }
                execution.take(at);
                let sleep_set = self.on_step(execution);
                self.arrive(execution, sleep_set, statistics)?;
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

    /// Submits the next step of a backtrack set with a large subtree, if there is one. The estimate
    /// is the size below the last step at that depth. A subtree that exceeds a limit would be
    /// wasted.
    fn submit_branch(
        &mut self,
        execution: &Execution,
        statistics: &Statistics<'_>,
        workers: &Workers<'_, Branch<'a>>,
    ) {
        let schedules_max = statistics.schedules_left();
        for (depth, node) in self.nodes.iter_mut().enumerate().rev() {
            let size = self.subtree_sizes.get(depth).copied().unwrap_or(0);
            if node.outcomes.is_empty()
                || !(SUBMIT_EXECUTIONS_MIN..=schedules_max / REMAINING_SHARE_DIVISOR).contains(&size)
            {
                continue;
            }
            let next = node.submitted.last().unwrap_or(node.tried) + 1;
            let Some(&step) = node.backtrack.get(next).filter(|it| !node.is_asleep(**it)) else { continue };
            let mut prefix = execution.schedule();
            prefix.0.truncate(depth);
            let (sleep_set, before) = (node.sleep_set.clone(), node.backtrack[node.tried..next].to_vec());
            let task = workers.submit(Branch {
                reduction: self.reduction,
                prefix,
                sleep_set,
                before,
                step,
                schedules_max,
            });
            node.submitted.add(next, task);
            return;
        }
    }

    /// Merges the result of a worker that tried the next step of the last node.
    fn merge_explored_branch(&mut self, ExploredBranch { outcomes, requests }: ExploredBranch) {
        for request in requests {
            self.request_backtrack(request);
        }
        let top = self.nodes.last_mut().expect("a step is made at a node");
        top.sleep_set.extend(outcomes);
        top.tried += 1;
    }

    fn request_backtrack(&mut self, request: BacktrackRequest) {
        let (BacktrackRequest::All { node: at, .. } | BacktrackRequest::OneOf { node: at, .. }) = request;
        if at < self.foreign_nodes {
            if self.requested.insert(request.clone()) {
                self.requests.push(request);
            }
            return;
        }
        let node = &mut self.nodes[at];
        match request {
            BacktrackRequest::All { step, .. } => step.into_iter().for_each(|it| node.add_backtrack(it)),
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
        sleep_set: Vec<SleepingStep>,
        statistics: &mut Statistics<'_>,
    ) -> Flow {
        let mut node = Node { sleep_set, ..Node::default() };
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

    /// The last step of `execution` was executed at the last node: finds its races. Returns the
    /// sleep set of the next node.
    fn on_step(&mut self, execution: &Execution) -> Vec<SleepingStep> {
        let index = self.events.len();
        let executed = &execution.events()[index].step;
        let footprint = StepFootprint::of_last(execution);
        let rules = execution.engine().rules();
        let depends = |it: &StepFootprint| self.reduction.dependence.is_dependent(it, &footprint, &rules);
        let dependent: Vec<usize> = (0..index).filter(|&it| depends(&self.events[it].footprint)).collect();
        let node = self.nodes.last().expect("a step is made at a node");
        let sleep_set = node.sleep_set.iter().filter(|sleeping| {
            // If one of its outcomes depends on this step, the step wakes.
            let outcomes = node.sleep_set.iter().filter(|it| it.step == sleeping.step);
            !outcomes.into_iter().any(|it| depends(&it.footprint))
        });
        let sleep_set = sleep_set.copied().collect();
        let mut past = EventSet::default();
        for event in dependent.iter().copied().chain(executed.sent_by.map(|it| it as usize)) {
            past.add_all(&self.events[event].happens_before);
            past.add(event);
        }
        self.events.push(Event {
            step: executed.origin(),
            sent_by: executed.sent_by,
            footprint,
            happens_before: past,
        });
        for earlier in dependent {
            self.request_reversal(execution, earlier);
        }
        self.request_disabled_steps(execution);
        self.nodes.last_mut().expect("a step is made at a node").outcomes.push(footprint);
        sleep_set
    }

    /// If the last event races with `earlier`, requests a step that reverses their order.
    fn request_reversal(&mut self, execution: &Execution, earlier: usize) {
        let last = self.events.len() - 1;
        let event = &self.events[last];
        let is_caused_by_earlier = |it: usize| it == earlier || self.events[it].happens_before.has(earlier);
        if event.sent_by.is_some_and(|it| is_caused_by_earlier(it as usize)) {
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
        let is_enabled = |step: &StepIdentity| enabled.iter().any(|it| it.origin() == *step);
        let initials = others.iter().filter(|&&it| is_initial(it)).map(|&it| self.events[it].step);
        let candidates: Vec<StepIdentity> = initials.filter(is_enabled).collect();
        if candidates.is_empty() {
            // Either the earlier step enabled the later one, or an unknown step did.
            if 1 < others.len() {
                let step = enabled.iter().map(EnabledStep::origin).collect();
                self.request_backtrack(BacktrackRequest::All { node: earlier, step });
            }
            return;
        }
        let root = chain_root(&self.events, earlier, last);
        let race = ReversibleRace { candidates: &candidates, later: self.events[last].step, root };
        let chosen = (self.reduction.choose)(&race);
        self.request_backtrack(BacktrackRequest::OneOf { node: earlier, chosen, candidates });
    }

    /// Requests, in place of the last event, the steps that it disabled.
    fn request_disabled_steps(&mut self, execution: &Execution) {
        let last = self.events.len() - 1;
        let before = execution.enabled_before(last).iter().map(EnabledStep::origin);
        let is_gone = |step: &StepIdentity| !execution.enabled().iter().any(|it| it.origin() == *step);
        let step = before.filter(is_gone).collect();
        self.request_backtrack(BacktrackRequest::All { node: last, step });
    }
}

/// A step of a backtrack set, as a task.
struct Branch<'a> {
    reduction: Reduction<'a>,
    // The schedule that leads to its node.
    prefix: MessageSchedule,
    // The sleep set there, and the steps tried there before it.
    sleep_set: Vec<SleepingStep>,
    before: Vec<StepIdentity>,
    step: StepIdentity,
    // The number of schedules left until a limit is reached.
    schedules_max: u64,
}

/// The result of trying a step in a worker.
struct ExploredBranch {
    // The step, with all its outcomes.
    outcomes: Vec<SleepingStep>,
    // The requests at its node and above, in order.
    requests: Vec<BacktrackRequest>,
}

impl BranchTask for Branch<'_> {
    type Output = ExploredBranch;

    fn run(
        self,
        execution: &mut Execution,
        statistics: &mut Statistics<'_>,
    ) -> ControlFlow<Coverage, ExploredBranch> {
        let Branch { reduction, prefix, sleep_set, before, step, schedules_max } = self;
        statistics.limit_schedules(schedules_max);
        let mut search = SourceSetSearch::new(reduction);
        search.foreign_nodes = prefix.0.len() + 1;
        execution.rewind();
        for &pick in &prefix.0 {
            search.nodes.push(Node::default());
            execution.take(pick as usize);
            search.on_step(execution);
        }
        // The leader handles the races of the prefix.
        search.requests.clear();
        search.requested.clear();
        let mut node = Node { sleep_set, ..Node::default() };
        for earlier in before {
            if !node.is_asleep(earlier) {
                node.sleep_set.extend(all_outcomes(execution, earlier));
            }
        }
        node.backtrack.push(step);
        search.nodes.push(node);
        search.run(execution, statistics, &Workers::none())?;
        let node = search.nodes.last().expect("its own node is left");
        let outcomes = node.sleep_set.iter().filter(|it| it.step == step).copied().collect();
        ControlFlow::Continue(ExploredBranch { outcomes, requests: search.requests })
    }
}

/// An enabled step with all its outcomes.
fn all_outcomes(execution: &mut Execution, step: StepIdentity) -> Vec<SleepingStep> {
    let enabled = execution.enabled().iter().enumerate();
    let outcomes: Vec<usize> = enabled.filter(|(_, it)| it.origin() == step).map(|(at, _)| at).collect();
    let footprint = |at: usize| {
        execution.take(at);
        let footprint = StepFootprint::of_last(execution);
        execution.back();
        SleepingStep { step, footprint }
    };
    outcomes.into_iter().map(footprint).collect()
}

fn chain_root(events: &[Event], earlier: usize, last: usize) -> StepIdentity {
    let mut at = last;
    while let Some(sender) = events[at].sent_by.map(|it| it as usize)
        && earlier < sender
    {
        at = sender;
    }
    events[at].step
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
