//! Helpers of a scheduler: threads that explore branches ahead of it.
//!
//! Where executions are gone through one after the other, their order decides which violation is the first, and what was counted
//! when a limit is hit. So one thread, the *leader*, goes through them as if it were alone. It hands out branches that it will come
//! to later. When it comes to one that was explored, what was seen there is added at once; while someone is still at it, the leader
//! helps with another. What must be seen execution by execution, the leader explores once more: where a limit is hit,
//! and where the first violation is.
//!
//! So what is counted is the same for any number of threads, and so is the first violation.
//!
//! Where it is known which branches there will be, they are handed out [in line](in_line), each soon before the leader comes to
//! it: what was explored ahead when a limit is hit was explored for nothing.
//!
//! Requires: what a branch has to show depends on the errand alone, and not on who runs it or when.

use std::{
    cell::RefCell,
    collections::VecDeque,
    ops::ControlFlow,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

use clewline_core::{Budget, Reason, parallel};
use clewline_explore::Coverage;
use rustc_hash::FxHashMap;

use crate::{
    execution::{Execution, Snapshots},
    interned::BadHandler,
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// Branches are worth handing out if the one beside them had so many executions. Tests have small systems.
pub(super) const SUBMIT_EXECUTIONS_MIN: u64 = if cfg!(test) { 1 } else { 256 };

/// Whether the leader waits even for branches that nobody has begun. In tests it does, so that helpers have their share.
const WAITS_FOR_UNSTARTED_TASKS: bool = cfg!(test);

/// A branch to be explored by whoever has time.
pub(super) trait BranchTask: Send {
    /// What the leader is told, beside what was counted.
    type Output: Send;

    /// Explores the branch. Where `walk` is at first means nothing.
    fn run(
        self,
        execution: &mut Execution,
        statistics: &mut Statistics<'_>,
    ) -> ControlFlow<Coverage, Self::Output>;
}

/// Names a branch that was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TaskId(u64);

/// Branches of one node that were handed out, in order.
#[derive(Debug, Default)]
pub(super) struct SubmittedTasks(VecDeque<(usize, TaskId)>);

impl SubmittedTasks {
    /// The place of the last of them.
    pub(super) fn last(&self) -> Option<usize> {
        self.0.back().map(|it| it.0)
    }

    /// The branch at this place was handed out.
    pub(super) fn add(&mut self, at: usize, ticket: Option<TaskId>) {
        self.0.extend(ticket.map(|it| (at, it)));
    }

    /// The ticket of the branch at this place, if it was handed out. Those before it were asked for.
    pub(super) fn take(&mut self, at: usize) -> Option<TaskId> {
        if self.0.front()?.0 == at { self.0.pop_front().map(|it| it.1) } else { None }
    }
}

/// The helpers, as their leader sees them. There may be none.
pub(super) struct Workers<'b, E: BranchTask>(Option<Leader<'b, E>>);

struct Leader<'b, E: BranchTask> {
    queue: &'b TaskQueue<E>,
    // The leader, when it helps.
    worker: RefCell<Worker<'b>>,
}

/// Branches in the order in which the leader comes to them.
pub(super) trait TaskSource<E> {
    /// The next one. `ahead` were told of to which the leader has not come, beyond what is in `tally`. `None` if there is no other, or if
    /// the next one depends on what comes of those.
    fn next(&mut self, ahead: usize, statistics: &Statistics<'_>) -> Option<E>;

    /// The leader has gone through one of them, which had so many executions.
    fn finished(&mut self, errand: &E, executions: u64);
}

/// What was counted in a branch, and what else there is to tell.
type TaskResult<E> = (Statistics<'static>, <E as BranchTask>::Output);

struct TaskQueue<E: BranchTask> {
    state: Mutex<State<E>>,
    // Helpers wait for the one, the leader for the other.
    submitted: Condvar,
    done: Condvar,
    // How many branches nobody has begun.
    waiting: AtomicUsize,
    waiting_max: usize,
    // Stopped when nobody needs an answer any more.
    budget: Budget,
}

struct State<E: BranchTask> {
    waiting: VecDeque<(TaskId, E)>,
    // `None` for a branch that was not explored to its end.
    done: FxHashMap<TaskId, Option<TaskResult<E>>>,
    submitted: u64,
    is_closed: bool,
    // Outweighs everything.
    bad_handler: Option<BadHandler>,
}

/// Calls `lead` with a walk, a tally, and a crew for as many threads as `settings` say, the leader among them.
pub(super) fn run_with_workers<'v, E: BranchTask>(
    execution: &mut Execution,
    settings: &Settings,
    statistics: &mut Statistics<'v>,
    lead: impl FnOnce(&mut Execution, &mut Statistics<'v>, &Workers<'_, E>) -> Flow,
) -> Flow {
    if settings.jobs <= 1 {
        return lead(execution, statistics, &Workers::none());
    }
    let state = State {
        waiting: VecDeque::new(),
        done: FxHashMap::default(),
        submitted: 0,
        is_closed: false,
        bad_handler: None,
    };
    let board = TaskQueue {
        state: Mutex::new(state),
        submitted: Condvar::new(),
        done: Condvar::new(),
        waiting: AtomicUsize::new(0),
        waiting_max: 2 * settings.jobs,
        budget: statistics.budget().child(),
    };
    let helpers: Vec<Worker<'_>> = (1..settings.jobs).map(|_| Worker::new(execution, settings)).collect();
    let here = || {
        let _close = CloseOnDrop(&board);
        let helper = RefCell::new(Worker::new(execution, settings));
        lead(execution, statistics, &Workers(Some(Leader { queue: &board, worker: helper })))
    };
    let (flow, _) = parallel::beside(helpers, |it| run_worker(&board, it), here);
    match board.lock().bad_handler.take() {
        Some(bad_handler) => ControlFlow::Break(statistics.record_bad_handler(&bad_handler)),
        None => flow,
    }
}

/// Goes through all branches of a line.
pub(super) fn run_in_order<E: BranchTask<Output = ()> + Clone>(
    execution: &mut Execution,
    statistics: &mut Statistics<'_>,
    workers: &Workers<'_, E>,
    line: &mut dyn TaskSource<E>,
) -> Flow {
    let mut ahead = VecDeque::new();
    loop {
        while ahead.len() < workers.ahead_max()
            && let Some(errand) = line.next(ahead.len(), statistics)
        {
            let ticket = workers.submit(errand.clone());
            ahead.push_back((errand, ticket));
        }
        let Some((errand, ticket)) = ahead.pop_front() else { return ControlFlow::Continue(()) };
        let before = statistics.executions();
        let seen = ticket.and_then(|it| workers.collect(it));
        if !seen.is_some_and(|(seen, ())| statistics.add(execution, seen)) {
            errand.clone().run(execution, statistics)?;
        }
        line.finished(&errand, statistics.executions() - before);
    }
}

struct Worker<'s> {
    execution: Execution,
    settings: &'s Settings,
}

impl<'s> Worker<'s> {
    fn new(execution: &Execution, settings: &'s Settings) -> Self {
        Worker { execution: Execution::new(execution.engine().fork(), Snapshots::Sound), settings }
    }

    fn run<E: BranchTask>(&mut self, board: &TaskQueue<E>, ticket: TaskId, errand: E) {
        let execution = &mut self.execution;
        let mut statistics = Statistics::unjudged(self.settings, &board.budget);
        let taken = execution.taken();
        let flow = errand.run(execution, &mut statistics);
        statistics.executed = execution.taken() - taken;
        statistics.report_to_budget();
        if let Some(bad_handler) = execution.bad_handler() {
            board.lock().bad_handler = Some(bad_handler.clone());
        }
        board.finish(ticket, flow.continue_value().map(|answer| (statistics, answer)));
    }
}

fn run_worker<E: BranchTask>(board: &TaskQueue<E>, mut helper: Worker<'_>) {
    // Nobody would ever be told that a branch was explored whose helper panicked.
    let _close = CloseOnDrop(board);
    while let Some((ticket, errand)) = board.next() {
        helper.run(board, ticket, errand);
    }
}

impl<E: BranchTask> Workers<'_, E> {
    /// No helpers.
    pub(super) fn none() -> Self {
        Workers(None)
    }

    /// Whether branches are wanted.
    pub(super) fn wants_tasks(&self) -> bool {
        let board = self.0.as_ref().map(|it| it.queue);
        board.is_some_and(|it| it.waiting.load(Ordering::Relaxed) < it.waiting_max)
    }

    // How far to be ahead of the leader.
    fn ahead_max(&self) -> usize {
        self.0.as_ref().map_or(1, |it| 2 * it.queue.waiting_max)
    }

    /// Hands out a branch; `None` if there is nobody to take it.
    pub(super) fn submit(&self, errand: E) -> Option<TaskId> {
        let board = self.0.as_ref()?.queue;
        let mut state = board.lock();
        let ticket = TaskId(state.submitted);
        state.submitted += 1;
        state.waiting.push_back((ticket, errand));
        board.waiting.store(state.waiting.len(), Ordering::Relaxed);
        drop(state);
        board.submitted.notify_one();
        Some(ticket)
    }

    /// What came of a branch; `None` if the leader has to go there.
    pub(super) fn collect(&self, ticket: TaskId) -> Option<TaskResult<E>> {
        let Leader { queue: board, worker: helper } = self.0.as_ref()?;
        let mut state = board.lock();
        let waiting = state.waiting.iter().position(|it| it.0 == ticket);
        if let Some(at) = waiting.filter(|_| !WAITS_FOR_UNSTARTED_TASKS) {
            state.waiting.remove(at);
            board.waiting.store(state.waiting.len(), Ordering::Relaxed);
            return None;
        }
        loop {
            if let Some(done) = state.done.remove(&ticket) {
                return done;
            }
            if state.is_closed {
                return None;
            }
            state = match board.take(&mut state) {
                Some((other, errand)) => {
                    drop(state);
                    helper.borrow_mut().run(board, other, errand);
                    board.lock()
                }
                None => board.done.wait(state).expect("nothing panics while this is locked"),
            };
        }
    }
}

impl<E: BranchTask> TaskQueue<E> {
    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().expect("nothing panics while this is locked")
    }

    fn take(&self, state: &mut State<E>) -> Option<(TaskId, E)> {
        let next = state.waiting.pop_front();
        self.waiting.store(state.waiting.len(), Ordering::Relaxed);
        next
    }

    fn next(&self) -> Option<(TaskId, E)> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(next) = self.take(&mut state) {
                return Some(next);
            }
            state = self.submitted.wait(state).expect("nothing panics while this is locked");
        }
    }

    fn finish(&self, ticket: TaskId, seen: Option<TaskResult<E>>) {
        self.lock().done.insert(ticket, seen);
        self.done.notify_one();
    }
}

struct CloseOnDrop<'b, E: BranchTask>(&'b TaskQueue<E>);

impl<E: BranchTask> Drop for CloseOnDrop<'_, E> {
    fn drop(&mut self) {
        self.0.budget.stop(Reason::Cancelled);
        self.0.lock().is_closed = true;
        self.0.submitted.notify_all();
        self.0.done.notify_all();
    }
}
