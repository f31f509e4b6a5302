//! Work on several threads whose results do not depend on how many there are.
//!
//! The rest of this crate starts no thread. What is here starts some and waits for them: none is left when a
//! function returns, and a panic on one of them goes on in the caller.

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

/// Calls `there` with each of `others`, on a thread each, while this one calls `here`. Returns what came of
/// `here`, and of the others in their order.
///
/// # Panics
///
/// If one of them does.
pub fn beside<T: Send, R: Send, H>(
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

// How many results may wait for that of a task that takes long, for each thread.
const AHEAD: usize = 16;

/// Does each of `tasks` on one of `jobs` threads, and hands the results to `visit` in the order of the tasks,
/// until it breaks. `waiting` tasks may be made before a thread is free for them.
///
/// Tasks are made, and results visited, on this thread; with one job, all is done here, one after the other.
///
/// # Panics
///
/// If `work` does.
pub fn in_order<T: Send, R: Send, B>(
    jobs: usize,
    waiting: usize,
    mut tasks: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut visit: impl FnMut(R) -> ControlFlow<B>,
) -> ControlFlow<B> {
    erased(jobs, waiting, &mut tasks, &work, &mut visit)
}

// Were it generic over iterators and closures, the name of each would stand in the debug information of every
// function below: up to 23 kB a function.
fn erased<T: Send, R: Send, B>(
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
    let (give, given) = mpsc::channel::<(usize, T)>();
    let (tell, told) = mpsc::channel::<(usize, thread::Result<R>)>();
    let (given, is_over) = (Mutex::new(given), AtomicBool::new(false));
    let help = |tell: mpsc::Sender<(usize, thread::Result<R>)>| {
        loop {
            let next = lock(&given).recv();
            let Ok((number, task)) = next else { return };
            // Nothing more is visited.
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let result = panic::catch_unwind(AssertUnwindSafe(|| work(task)));
            if tell.send((number, result)).is_err() {
                return;
            }
        }
    };
    let lead = move || {
        // Dropped before the threads are waited for, however this ends: they wait for tasks.
        let (give, told) = (give, told);
        let mut early = BTreeMap::new();
        let (mut made, mut done, mut visited, mut has_more) = (0, 0, 0, true);
        loop {
            while has_more && made - done < jobs + waiting && made - visited < AHEAD * jobs + waiting {
                let Some(task) = tasks.next() else {
                    has_more = false;
                    break;
                };
                give.send((made, task)).expect("threads end only when told to");
                made += 1;
            }
            if visited == made {
                return ControlFlow::Continue(());
            }
            let (number, result) = told.recv().expect("threads end only when told to");
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
    let tells: Vec<_> = (0..jobs).map(|_| tell.clone()).collect();
    drop(tell);
    let here = || {
        let _end = SetOnDrop(&is_over);
        lead()
    };
    beside(tells, help, here).0
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does tasks `0..count` on `jobs` threads, of which this one is one, each with a budget of its own that draws on
/// `budget`. A task that breaks makes those behind it needless: they are not begun any more, and the budgets of
/// those that have begun are stopped.
///
/// Returns the result of each task that came to an end. All tasks before the first that breaks are among them.
pub fn until<R: Send>(
    jobs: usize,
    count: usize,
    budget: &Budget,
    work: impl Fn(usize, &Budget) -> ControlFlow<R, R> + Sync,
) -> Vec<Option<R>> {
    let jobs = jobs.clamp(1, count.max(1));
    let results: Vec<Option<R>> = (0..count).map(|_| None).collect();
    let race = Race {
        next: AtomicUsize::new(0),
        broken: AtomicUsize::new(usize::MAX),
        busy: (0..jobs).map(|_| Mutex::new(None)).collect(),
        results: Mutex::new(results),
    };
    beside(1..jobs, |worker| race.work(worker, budget, &work), || race.work(0, budget, &work));
    race.results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Race<R> {
    next: AtomicUsize,
    // The first task known to break.
    broken: AtomicUsize,
    // What each thread is busy with, so that it can be stopped.
    busy: Vec<Mutex<Option<(usize, Budget)>>>,
    results: Mutex<Vec<Option<R>>>,
}

impl<R> Race<R> {
    /// Does tasks until none is left that matters.
    fn work(&self, worker: usize, budget: &Budget, work: &impl Fn(usize, &Budget) -> ControlFlow<R, R>) {
        let count = lock(&self.results).len();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if count <= number || self.broken.load(Ordering::Acquire) < number {
                return;
            }
            let budget = budget.child();
            *lock(&self.busy[worker]) = Some((number, budget.clone()));
            // A task that broke since then may have looked here too early to stop this one.
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
    // What is locked is never left half changed, so a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
