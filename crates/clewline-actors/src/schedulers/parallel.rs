//! Parallel exploration: worker threads explore branches ahead of a leader.
//!
//! The order of executions determines which violation is the first, and the counts when a limit is
//! reached. So one thread, the *leader*, processes them in sequential order. It submits branches
//! that it will reach later as tasks. When it reaches a branch that was explored, the results are
//! added at once; while a worker still explores it, the leader runs another task. Where results
//! depend on the order of single executions, at a limit and at the first violation, the leader
//! explores the branch again.
//!
//! So the counts and the first violation are the same for any number of threads.
//!
//! If the sequence of branches is known in advance, [`run_in_order`] submits each shortly before
//! the leader reaches it: tasks explored ahead when a limit is reached are wasted.
//!
//! Requires: the result of a branch depends on the task alone, not on the worker or the time.

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

/// Branches are submitted if the one beside them had at least this many executions. Smaller in
/// tests, which have small systems.
pub(super) const SUBMIT_EXECUTIONS_MIN: u64 = if cfg!(test) { 1 } else { 256 };

/// Whether the leader waits even for tasks that no worker has started. It does in tests, so that
/// workers get a share.
const WAITS_FOR_UNSTARTED_TASKS: bool = cfg!(test);

/// A branch that any worker can explore.
pub(super) trait BranchTask: Send {
    /// The result for the leader, besides the statistics.
    type Output: Send;

    /// Explores the branch. The initial position of `execution` is irrelevant.
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
    /// The position of the last of them.
    pub(super) fn last(&self) -> Option<usize> {
        self.0.back().map(|it| it.0)
    }

    /// Records that the branch at this position was submitted.
    pub(super) fn add(&mut self, at: usize, ticket: Option<TaskId>) {
        self.0.extend(ticket.map(|it| (at, it)));
    }

    /// The task of the branch at this position, if it was submitted. Those before it were
    /// collected.
    pub(super) fn take(&mut self, at: usize) -> Option<TaskId> {
        if self.0.front()?.0 == at { self.0.pop_front().map(|it| it.1) } else { None }
    }
}

/// The workers, as used by the leader. There may be none.
pub(super) struct Workers<'b, E: BranchTask>(Option<Leader<'b, E>>);

struct Leader<'b, E: BranchTask> {
    queue: &'b TaskQueue<E>,
    // The leader, when it helps.
    worker: RefCell<Worker<'b>>,
}

/// Branches in the order in which the leader comes to them.
pub(super) trait TaskSource<E> {
    /// The next branch. `ahead` branches were returned before that the leader has not reached, and
    /// that are not in `statistics`. `None` if there is no other, or if the next one depends on
    /// their results.
    fn next(&mut self, ahead: usize, statistics: &Statistics<'_>) -> Option<E>;

    /// The leader has processed a branch with this number of executions.
    fn finished(&mut self, errand: &E, executions: u64);
}

/// The statistics of a branch, and its other result.
type TaskResult<E> = (Statistics<'static>, <E as BranchTask>::Output);

struct TaskQueue<E: BranchTask> {
    state: Mutex<State<E>>,
    // Workers wait for the first, the leader for the second.
    submitted: Condvar,
    done: Condvar,
    // The number of tasks that no worker has started.
    waiting: AtomicUsize,
    waiting_max: usize,
    // Stopped when results are no longer needed.
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

/// Calls `lead` with as many threads as `settings` say, the leader included.
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

/// Processes all branches of a source in order.
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
    // The result of a task whose worker panicked would never arrive: closes the queue.
    let _close = CloseOnDrop(board);
    while let Some((ticket, errand)) = board.next() {
        helper.run(board, ticket, errand);
    }
}

impl<E: BranchTask> Workers<'_, E> {
    /// No workers.
    pub(super) fn none() -> Self {
        Workers(None)
    }

    /// Whether more tasks are useful.
    pub(super) fn wants_tasks(&self) -> bool {
        let board = self.0.as_ref().map(|it| it.queue);
        board.is_some_and(|it| it.waiting.load(Ordering::Relaxed) < it.waiting_max)
    }

    // How far to be ahead of the leader.
    fn ahead_max(&self) -> usize {
        self.0.as_ref().map_or(1, |it| 2 * it.queue.waiting_max)
    }

    /// Submits a branch; `None` if there are no workers.
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

    /// The result of a branch; `None` if the leader has to explore it.
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
