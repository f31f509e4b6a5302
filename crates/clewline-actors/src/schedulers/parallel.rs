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
    settings::MessageSchedulerSettings,
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
    pub(super) fn add(&mut self, at: usize, task_id: Option<TaskId>) {
        self.0.extend(task_id.map(|it| (at, it)));
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
    fn finished(&mut self, task: &E, executions: u64);
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

/// Calls `leader` with as many threads as `settings` say, the leader included.
pub(super) fn run_with_workers<'v, E: BranchTask>(
    execution: &mut Execution,
    settings: &MessageSchedulerSettings,
    statistics: &mut Statistics<'v>,
    leader: impl FnOnce(&mut Execution, &mut Statistics<'v>, &Workers<'_, E>) -> Flow,
) -> Flow {
    if settings.jobs <= 1 {
        return leader(execution, statistics, &Workers::none());
    }
    let state = State {
        waiting: VecDeque::new(),
        done: FxHashMap::default(),
        submitted: 0,
        is_closed: false,
        bad_handler: None,
    };
    let queue = TaskQueue {
        state: Mutex::new(state),
        submitted: Condvar::new(),
        done: Condvar::new(),
        waiting: AtomicUsize::new(0),
        waiting_max: 2 * settings.jobs,
        budget: statistics.budget().child(),
    };
    let threads: Vec<Worker<'_>> = (1..settings.jobs).map(|_| Worker::new(execution, settings)).collect();
    let here = || {
        let _close = CloseOnDrop(&queue);
        let worker = RefCell::new(Worker::new(execution, settings));
        leader(execution, statistics, &Workers(Some(Leader { queue: &queue, worker })))
    };
    let (flow, _) = parallel::run_alongside(threads, |it| run_worker(&queue, it), here);
    match queue.lock().bad_handler.take() {
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
            && let Some(task) = line.next(ahead.len(), statistics)
        {
            let task_id = workers.submit(task.clone());
            ahead.push_back((task, task_id));
        }
        let Some((task, task_id)) = ahead.pop_front() else { return ControlFlow::Continue(()) };
        let before = statistics.executions();
        let result = task_id.and_then(|it| workers.collect(it));
        if !result.is_some_and(|(result, ())| statistics.add(execution, result)) {
            task.clone().run(execution, statistics)?;
        }
        line.finished(&task, statistics.executions() - before);
    }
}

struct Worker<'s> {
    execution: Execution,
    settings: &'s MessageSchedulerSettings,
}

impl<'s> Worker<'s> {
    fn new(execution: &Execution, settings: &'s MessageSchedulerSettings) -> Self {
        Worker { execution: Execution::new(execution.engine().fork(), Snapshots::Sound), settings }
    }

    fn run<E: BranchTask>(&mut self, queue: &TaskQueue<E>, task_id: TaskId, task: E) {
        let execution = &mut self.execution;
        let mut statistics = Statistics::unjudged(self.settings, &queue.budget);
        let taken = execution.taken();
        let flow = task.run(execution, &mut statistics);
        statistics.executed = execution.taken() - taken;
        statistics.report_to_budget();
        if let Some(bad_handler) = execution.bad_handler() {
            queue.lock().bad_handler = Some(bad_handler.clone());
        }
        queue.finish(task_id, flow.continue_value().map(|output| (statistics, output)));
    }
}

fn run_worker<E: BranchTask>(queue: &TaskQueue<E>, mut worker: Worker<'_>) {
    // The result of a task whose worker panicked would never arrive: closes the queue.
    let _close = CloseOnDrop(queue);
    while let Some((task_id, task)) = queue.next() {
        worker.run(queue, task_id, task);
    }
}

impl<E: BranchTask> Workers<'_, E> {
    /// No workers.
    pub(super) fn none() -> Self {
        Workers(None)
    }

    /// Whether more tasks are useful.
    pub(super) fn wants_tasks(&self) -> bool {
        let queue = self.0.as_ref().map(|it| it.queue);
        queue.is_some_and(|it| it.waiting.load(Ordering::Relaxed) < it.waiting_max)
    }

    // The maximum number of tasks ahead of the leader.
    fn ahead_max(&self) -> usize {
        self.0.as_ref().map_or(1, |it| 2 * it.queue.waiting_max)
    }

    /// Submits a branch; `None` if there are no workers.
    pub(super) fn submit(&self, task: E) -> Option<TaskId> {
        let queue = self.0.as_ref()?.queue;
        let mut state = queue.lock();
        let task_id = TaskId(state.submitted);
        state.submitted += 1;
        state.waiting.push_back((task_id, task));
        queue.waiting.store(state.waiting.len(), Ordering::Relaxed);
        drop(state);
        queue.submitted.notify_one();
        Some(task_id)
    }

    /// The result of a branch; `None` if the leader has to explore it.
    pub(super) fn collect(&self, task_id: TaskId) -> Option<TaskResult<E>> {
        let Leader { queue, worker } = self.0.as_ref()?;
        let mut state = queue.lock();
        let waiting = state.waiting.iter().position(|it| it.0 == task_id);
        if let Some(at) = waiting.filter(|_| !WAITS_FOR_UNSTARTED_TASKS) {
            state.waiting.remove(at);
            queue.waiting.store(state.waiting.len(), Ordering::Relaxed);
            return None;
        }
        loop {
            if let Some(done) = state.done.remove(&task_id) {
                return done;
            }
            if state.is_closed {
                return None;
            }
            state = match queue.take(&mut state) {
                Some((other, task)) => {
                    drop(state);
                    worker.borrow_mut().run(queue, other, task);
                    queue.lock()
                }
                None => queue.done.wait(state).expect("nothing panics while this is locked"),
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

    fn finish(&self, task_id: TaskId, result: Option<TaskResult<E>>) {
        self.lock().done.insert(task_id, result);
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
