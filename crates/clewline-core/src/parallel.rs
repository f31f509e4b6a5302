//! Work on several threads whose results do not depend on the number of threads.
//!
//! The rest of this crate starts no thread. These functions start threads and join them before they
//! return; a panic on one of the threads is resumed in the caller.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use crate::budget::{Budget, Reason};

/// How many threads the machine can run at once.
#[must_use]
pub fn jobs_available() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `there` with each of `others`, each on its own thread, while this thread calls `here`.
/// Returns the result of `here`, and those of the others in their order.
///
/// # Panics
///
/// If one of them does.
pub fn run_alongside<T: Send, R: Send, H>(
    others: impl IntoIterator<Item = T>,
    there: impl Fn(T) -> R + Sync,
    here: impl FnOnce() -> H,
) -> (H, Vec<R>) {
    thread::scope(|scope| {
        let there = &there;
        let threads: Vec<_> = others.into_iter().map(|it| scope.spawn(move || there(it))).collect();
        let here = here();
        let results = threads.into_iter().map(|it| it.join().unwrap_or_else(|it| panic::resume_unwind(it)));
        (here, results.collect())
    })
}

// For each thread, how many results may be buffered while an earlier task is still running.
const RESULTS_AHEAD_PER_JOB_MAX: usize = 16;

/// Runs `work` on each of `tasks`, on `jobs` threads, and passes the results to `visit` in the
/// order of the tasks until it breaks. Up to `waiting` tasks are created before a thread is free
/// for them.
///
/// Tasks are created, and results visited, on this thread. With one job everything runs on this
/// thread, in order.
///
/// # Panics
///
/// If `work` does.
pub fn map_in_order<T: Send, R: Send, B>(
    jobs: usize,
    waiting: usize,
    mut tasks: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut visit: impl FnMut(R) -> ControlFlow<B>,
) -> ControlFlow<B> {
    map_in_order_erased(jobs, waiting, &mut tasks, &work, &mut visit)
}

// Not generic over iterators and closures: otherwise the name of each would be in the debug
// information of every function below, up to 23 kB per function.
fn map_in_order_erased<T: Send, R: Send, B>(
    jobs: usize,
    waiting: usize,
    tasks: &mut dyn Iterator<Item = T>,
    work: &(dyn Fn(T) -> R + Sync),
    visit: &mut dyn FnMut(R) -> ControlFlow<B>,
) -> ControlFlow<B> {
    if jobs <= 1 {
        for task in tasks {
            visit(work(task))?;
        }
        return ControlFlow::Continue(());
    }
    let (task_sender, task_receiver) = mpsc::channel::<(usize, T)>();
    let (result_sender, result_receiver) = mpsc::channel::<(usize, thread::Result<R>)>();
    let (task_receiver, is_over) = (Mutex::new(task_receiver), AtomicBool::new(false));
    let help = |result_sender: mpsc::Sender<(usize, thread::Result<R>)>| {
        loop {
            let next = lock(&task_receiver).recv();
            let Ok((number, task)) = next else { return };
            // No further result is visited.
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let result = panic::catch_unwind(AssertUnwindSafe(|| work(task)));
            if result_sender.send((number, result)).is_err() {
                return;
            }
        }
    };
    let lead = move || {
        // Dropped before the threads are joined, however this ends: they wait for tasks.
        let (task_sender, result_receiver) = (task_sender, result_receiver);
        let mut early = BTreeMap::new();
        let (mut made, mut done, mut visited, mut has_more) = (0, 0, 0, true);
        loop {
            while has_more
                && made - done < jobs + waiting
                && made - visited < RESULTS_AHEAD_PER_JOB_MAX * jobs + waiting
            {
                let Some(task) = tasks.next() else {
                    has_more = false;
                    break;
                };
                task_sender.send((made, task)).expect("threads end only when told to");
                made += 1;
            }
            if visited == made {
                return ControlFlow::Continue(());
            }
            let (number, result) = result_receiver.recv().expect("threads end only when told to");
            done += 1;
            early.insert(number, result);
            while let Some(result) = early.remove(&visited) {
                visited += 1;
                let result = result.unwrap_or_else(|it| panic::resume_unwind(it));
                if let broken @ ControlFlow::Break(_) = visit(result) {
                    return broken;
                }
            }
        }
    };
    let result_senders: Vec<_> = (0..jobs).map(|_| result_sender.clone()).collect();
    drop(result_sender);
    let here = || {
        let _end = SetOnDrop(&is_over);
        lead()
    };
    run_alongside(result_senders, help, here).0
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs tasks `0..count` on `jobs` threads including this one, each with its own child of `budget`.
/// After a task breaks, later tasks are not started any more, and the budgets of those that are
/// running are stopped.
///
/// Returns the result of each task that finished. All tasks before the first that breaks are among
/// them.
pub fn map_until_break<R: Send>(
    jobs: usize,
    count: usize,
    budget: &Budget,
    work: impl Fn(usize, &Budget) -> ControlFlow<R, R> + Sync,
) -> Vec<Option<R>> {
    let jobs = jobs.clamp(1, count.max(1));
    let results: Vec<Option<R>> = (0..count).map(|_| None).collect();
    let queue = TaskQueue {
        next: AtomicUsize::new(0),
        broken: AtomicUsize::new(usize::MAX),
        busy: (0..jobs).map(|_| Mutex::new(None)).collect(),
        results: Mutex::new(results),
    };
    run_alongside(1..jobs, |worker| queue.work(worker, budget, &work), || queue.work(0, budget, &work));
    queue.results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct TaskQueue<R> {
    next: AtomicUsize,
    // The first task known to break.
    broken: AtomicUsize,
    // The task that each thread is running, so that it can be stopped.
    busy: Vec<Mutex<Option<(usize, Budget)>>>,
    results: Mutex<Vec<Option<R>>>,
}

impl<R> TaskQueue<R> {
    /// Runs tasks until none is left whose result is needed.
    fn work(&self, worker: usize, budget: &Budget, work: &impl Fn(usize, &Budget) -> ControlFlow<R, R>) {
        let count = lock(&self.results).len();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if count <= number || self.broken.load(Ordering::Acquire) < number {
                return;
            }
            let budget = budget.child();
            *lock(&self.busy[worker]) = Some((number, budget.clone()));
            // A task that broke in the meantime may have checked `busy` too early to stop this one.
            if self.broken.load(Ordering::Acquire) < number {
                return;
            }
            let flow = work(number, &budget);
            *lock(&self.busy[worker]) = None;
            if flow.is_break() {
                self.broken.fetch_min(number, Ordering::AcqRel);
                self.stop_after(number);
            }
            let (ControlFlow::Break(result) | ControlFlow::Continue(result)) = flow;
            lock(&self.results)[number] = Some(result);
        }
    }

    fn stop_after(&self, number: usize) {
        for busy in &self.busy {
            if let Some((other, budget)) = &*lock(busy)
                && number < *other
            {
                budget.stop(Reason::Cancelled);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The locked data are consistent whenever the lock is free, so a panic on another thread does
    // no harm.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
