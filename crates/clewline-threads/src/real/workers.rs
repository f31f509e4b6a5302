//! Workers: threads that start together, and the watchdog that waits for them.
//!
//! The threads live through many runs. For each run every thread gets a log with its calls; all
//! wait at a barrier, then start. The watchdog looks at the logs from time to time: if nothing has
//! returned for too long, the run is *stuck*. The logs are read as they are, the threads are
//! abandoned, and the workers are not used again. A deadlock is proven if each thread has waited
//! for another one, without a time limit, and without running in between, for half of that time. A
//! thread that runs, or sleeps in another way, may be slow.
//!
//! The history of a stuck run is a real one. The counts of returned operations are read twice, all
//! of them before any is read again; if none has changed, there was a moment at which all of them
//! were correct. An operation that has not returned by then is pending.

use std::{
    any::Any,
    fmt, io,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use clewline_core::{History, Specification};

use super::{
    clock::{Clock, ClockKind, Counter, Monotonic, Shared, Stamp},
    log::Log,
    noise::{Abandoned, BetweenCallsNoise, Noise, NoiseHook, StopFlag, WorkerRegistration},
    pin::{self, Pinning},
    stuck_thread::{self, StuckThread, ThreadActivity},
};
use crate::subject::Subject;

/// The settings of workers.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// The number of threads.
    pub threads: usize,
    /// The source of stamps.
    pub clock: Clock,
    /// Whether threads stay on one processor each.
    pub pinning: Pinning,
    /// How often threads are disturbed.
    pub noise: Noise,
    /// A run is stuck after this time without any return.
    pub patience: Duration,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        WorkerSettings {
            threads: 4,
            clock: Clock::best(),
            pinning: Pinning::Pinned,
            noise: Noise::NONE,
            patience: Duration::from_secs(3),
        }
    }
}

/// The result of one run.
#[derive(Debug)]
pub struct Run<C, R> {
    /// The recorded logs, one per thread.
    pub logs: Logs<C, R>,
    /// How it ended.
    pub ending: RunEnding,
    /// How long the threads worked.
    pub elapsed: Duration,
    /// Whether each thread stayed on one processor.
    pub is_pinned: bool,
}

/// The logs of a run.
pub struct Logs<C, R> {
    logs: Vec<Arc<Log<C, R>>>,
    // How many operations of each log count as returned.
    full: Vec<usize>,
}

impl<C, R> Logs<C, R> {
    /// The number of operations that returned.
    #[must_use]
    pub fn returned(&self) -> usize {
        self.full.iter().sum()
    }
}

impl<C: Clone, R: Clone> Logs<C, R> {
    /// Merges the logs.
    #[must_use]
    pub fn merge(&self) -> History<C, R> {
        History::merge(self.logs.iter().zip(&self.full).map(|(log, &full)| log.operations(full)).collect())
    }
}

impl<C, R> fmt::Debug for Logs<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").field("returned", &self.full).finish_non_exhaustive()
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// Every operation has returned.
    Full,
    /// Nothing returned for this time; these threads did not return. Operations of other threads
    /// may have panicked before; they are pending, too.
    Stuck(Duration, Vec<StuckThread>, Vec<Panicked>),
    /// Operations panicked; they are pending.
    Panicked(Vec<Panicked>),
}

/// A panic in an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Panicked {
    /// The index of the worker thread, from 0: the process of the operation.
    pub thread: usize,
    /// The panic message.
    pub message: String,
}

/// Threads that make calls on subjects of the specification `S`.
pub struct Workers<S: Specification> {
    threads: Threads,
    // The logs of the current run.
    logs: Vec<Arc<Log<S::Call, S::Return>>>,
}

/// The worker threads and their watchdog, without the types of a specification: threads, channels
/// and the watchdog compile once.
struct Threads {
    settings: WorkerSettings,
    workers: Vec<Worker>,
    reports: Receiver<(usize, Outcome)>,
    run: Option<Running>,
    // Whether threads were abandoned.
    is_spent: bool,
}

struct Worker {
    tasks: Sender<Task>,
    stop_flag: Arc<StopFlag>,
    // The system's number for the thread; 0 until it is known, or if it is unknown.
    thread_id: Arc<AtomicU32>,
    // Known after the thread has done something.
    is_pinned: Arc<AtomicBool>,
}

/// The work of a thread in one run.
struct Task {
    calls: Box<dyn Calls>,
    barrier: Arc<StartBarrier>,
    seed: u64,
}

/// The calls of one thread on a subject, whatever their types.
trait Calls: Send {
    /// Makes the calls, and writes the log.
    fn make(&self, task: &Task, settings: &WorkerSettings);
}

struct LoggedCalls<S: Specification> {
    subject: Arc<dyn Subject<S>>,
    log: Arc<Log<S::Call, S::Return>>,
}

type Outcome = Result<(), Box<dyn Any + Send>>;

/// The barrier at which the threads of a run start, and their shared state.
struct StartBarrier {
    awaited: AtomicUsize,
    begun: Instant,
    counter: AtomicU64,
}

impl StartBarrier {
    /// Waits until all threads have arrived.
    fn pass(&self) {
        self.awaited.fetch_sub(1, Ordering::AcqRel);
        let mut waited = 0_u32;
        while self.awaited.load(Ordering::Acquire) != 0 {
            waited += 1;
            // There may be fewer processors than threads.
            if waited.is_multiple_of(64) { thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

struct Running {
    begun: Instant,
    _noise_hook: Option<NoiseHook>,
}

/// A run that has ended: the number of returned operations per thread, and how it ended.
struct EndedRun {
    full: Vec<usize>,
    ending: RunEnding,
    elapsed: Duration,
    is_pinned: bool,
}

impl<S> Workers<S>
where
    S: Specification + 'static,
    S::Call: Send + Sync + 'static,
    S::Return: Send + Sync + 'static,
{
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// If the system cannot create the threads.
    pub fn new(settings: WorkerSettings) -> io::Result<Self> {
        Ok(Workers { threads: Threads::new(settings)?, logs: Vec::new() })
    }

    /// Lets every thread make its calls on `subject`. `seed` determines everything random.
    ///
    /// # Panics
    ///
    /// If there are not as many lists of calls as threads, or the previous run has not been waited
    /// for.
    pub fn launch(&mut self, subject: Arc<dyn Subject<S>>, calls: Vec<Vec<S::Call>>, seed: u64) {
        self.logs = calls.into_iter().map(|it| Arc::new(Log::new(it))).collect();
        // The last thread to finish drops the subject while the watchdog runs: so no reference is
        // kept here.
        let subjects = std::iter::repeat_n(subject, self.logs.len());
        let mut calls = self.logs.iter().zip(subjects).map(|(log, subject)| -> Box<dyn Calls> {
            Box::new(LoggedCalls { subject, log: Arc::clone(log) })
        });
        self.threads.launch(&mut calls, seed);
    }

    /// Waits until all threads are done, or the run is stuck. After a stuck run the workers cannot
    /// be used again.
    ///
    /// # Panics
    ///
    /// If no run was launched.
    pub fn wait(&mut self) -> Run<S::Call, S::Return> {
        let logs = std::mem::take(&mut self.logs);
        let ended = self.threads.wait(&|| logs.iter().map(|it| it.full()).collect());
        Run {
            logs: Logs { logs, full: ended.full },
            ending: ended.ending,
            elapsed: ended.elapsed,
            is_pinned: ended.is_pinned,
        }
    }
}

impl Threads {
    fn new(settings: WorkerSettings) -> io::Result<Threads> {
        let (sender, reports) = mpsc::channel();
        let start = |number| Worker::start(number, &settings, sender.clone());
        let workers = (0..settings.threads).map(start).collect::<io::Result<_>>()?;
        Ok(Threads { settings, workers, reports, run: None, is_spent: false })
    }

    fn launch(&mut self, calls: &mut dyn ExactSizeIterator<Item = Box<dyn Calls>>, seed: u64) {
        assert_eq!(calls.len(), self.workers.len(), "a list of calls for each thread");
        assert!(self.run.is_none() && !self.is_spent, "one run at a time, and none after one that got stuck");
        let begun = Instant::now();
        let barrier = Arc::new(StartBarrier {
            awaited: AtomicUsize::new(self.workers.len()),
            begun,
            // Not 0, so that no stamp is 0.
            counter: AtomicU64::new(1),
        });
        let attention = (0.0 < self.settings.noise.inside).then(NoiseHook::new);
        for (number, (worker, calls)) in self.workers.iter().zip(calls).enumerate() {
            let seed = seed.wrapping_add(number as u64);
            let task = Task { calls, barrier: Arc::clone(&barrier), seed };
            worker.tasks.send(task).expect("a thread lives as long as its workers");
        }
        self.run = Some(Running { begun, _noise_hook: attention });
    }

    /// `full` returns the number of returned operations of each thread.
    fn wait(&mut self, full: &dyn Fn() -> Vec<usize>) -> EndedRun {
        let running = self.run.take().expect("a run was launched");
        let mut waiting = PendingReports::new(self.workers.len());
        while waiting.is_waiting() {
            match self.reports.recv_timeout(self.settings.patience / 8) {
                Ok((thread, outcome)) => waiting.note(thread, outcome),
                Err(RecvTimeoutError::Timeout) => {
                    let (full, patience) = (full(), self.settings.patience);
                    if let Some(proof) = waiting.stuck(&full, &self.workers, patience) {
                        self.is_spent = true;
                        return self.give_up(waiting, &running, full, proof);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => unreachable!("a thread lives as long as its workers"),
            }
        }
        let ending = match waiting.panicked.is_empty() {
            true => RunEnding::Full,
            false => RunEnding::Panicked(waiting.panicked),
        };
        self.ended(&running, full(), ending)
    }

    fn ended(&self, running: &Running, full: Vec<usize>, ending: RunEnding) -> EndedRun {
        let is_pinned = self.workers.iter().all(|it| it.is_pinned.load(Ordering::Relaxed));
        EndedRun { full, ending, elapsed: running.begun.elapsed(), is_pinned }
    }

    /// Abandons the threads. Those that reach a [point](crate::point) end there.
    fn give_up(
        &self,
        mut waiting: PendingReports,
        running: &Running,
        full: Vec<usize>,
        proof: Proof,
    ) -> EndedRun {
        let missing: Vec<usize> = (0..self.workers.len()).filter(|&it| !waiting.done[it]).collect();
        let stop_flags = || missing.iter().map(|&it| &self.workers[it].stop_flag);
        // Kept as long as the process lives: the threads may reach a point at any time.
        std::mem::forget(NoiseHook::new());
        stop_flags().for_each(|it| it.is_place_requested.store(true, Ordering::Relaxed));
        let asked = Instant::now();
        let is_silent = |&thread: &usize| {
            let worker = &self.workers[thread];
            worker.stop_flag.place().is_none()
                && stuck_thread::activity_of(worker.thread_id()) == ThreadActivity::Running
        };
        while asked.elapsed() < PLACE_SEARCH_TIME && missing.iter().any(is_silent) {
            thread::sleep(PLACE_SEARCH_INTERVAL);
        }
        // A thread that was panicking may have finished.
        for (thread, outcome) in self.reports.try_iter().filter(|it| it.1.is_err()) {
            waiting.note(thread, outcome);
        }
        let standing = |&thread: &usize| {
            let worker = &self.workers[thread];
            let activity = match (proof, stuck_thread::activity_of(worker.thread_id())) {
                (Proof::Deadlock, _) => ThreadActivity::Waiting,
                // One moment is no proof.
                (Proof::None, ThreadActivity::Waiting) => ThreadActivity::Sleeping(None),
                (Proof::None, activity) => activity,
            };
            StuckThread { thread, activity, place: worker.stop_flag.place() }
        };
        let standings = missing.iter().filter(|&&it| !waiting.done[it]).map(standing).collect();
        stop_flags().for_each(|it| it.is_abandoned.store(true, Ordering::Relaxed));
        let ending = RunEnding::Stuck(self.settings.patience, standings, waiting.panicked);
        self.ended(running, full, ending)
    }
}

/// How long running threads are watched, at most, to see which points they pass.
const PLACE_SEARCH_TIME: Duration = Duration::from_millis(500);

/// The interval between two checks during that time.
const PLACE_SEARCH_INTERVAL: Duration = Duration::from_millis(5);

impl<S: Specification> fmt::Debug for Workers<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("settings", &self.threads.settings).finish_non_exhaustive()
    }
}

/// Which threads have reported so far.
struct PendingReports {
    done: Vec<bool>,
    panicked: Vec<Panicked>,
    // How many operations of each thread had returned at the last check.
    full: Vec<usize>,
    last_check: Instant,
    // How long none has returned, as far as this process was running.
    waited: Duration,
    // How long all threads that have not reported have waited for another thread, and not run.
    quiet: Duration,
    // The processor times of the threads when an operation returned last, and at the last check.
    times_at_return: Vec<Option<Duration>>,
    times_at_check: Vec<Option<Duration>>,
}

/// What is known of threads that do not return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// Each waits for another thread, and none can wake it.
    Deadlock,
    /// They may be slow.
    None,
}

impl PendingReports {
    fn new(threads: usize) -> PendingReports {
        PendingReports {
            done: vec![false; threads],
            panicked: Vec::new(),
            full: Vec::new(),
            last_check: Instant::now(),
            waited: Duration::ZERO,
            quiet: Duration::ZERO,
            times_at_return: vec![None; threads],
            times_at_check: vec![None; threads],
        }
    }

    fn is_waiting(&self) -> bool {
        self.done.iter().any(|it| !it)
    }

    fn note(&mut self, thread: usize, outcome: Outcome) {
        self.done[thread] = true;
        if let Err(payload) = outcome {
            let message = match payload.downcast::<String>() {
                Ok(message) => *message,
                Err(payload) => payload.downcast_ref::<&str>().copied().unwrap_or("a panic").to_owned(),
            };
            self.panicked.push(Panicked { thread, message });
        }
    }

    /// Returns what is known of the threads if `full`, the number of returned operations per
    /// thread, has not changed for `patience`.
    ///
    /// A thread that sleeps at two moments may have run in between; one that has used no processor
    /// time has not.
    fn stuck(&mut self, full: &[usize], workers: &[Worker], patience: Duration) -> Option<Proof> {
        let now = Instant::now();
        // If the whole process was stopped in between, nothing could return.
        let passed = (now - self.last_check).min(patience / 4);
        self.last_check = now;
        let times: Vec<_> = workers.iter().map(|it| stuck_thread::processor_time(it.thread_id())).collect();
        let before = std::mem::replace(&mut self.times_at_check, times);
        if full != self.full {
            self.full = full.to_vec();
            (self.waited, self.quiet) = (Duration::ZERO, Duration::ZERO);
            self.times_at_return.clone_from(&self.times_at_check);
            return None;
        }
        self.waited += passed;
        let mut missing = workers.iter().enumerate().filter(|it| !self.done[it.0]);
        let do_all_wait = missing.all(|(number, worker)| {
            before[number].is_some()
                && before[number] == self.times_at_check[number]
                && stuck_thread::activity_of(worker.thread_id()) == ThreadActivity::Waiting
        });
        self.quiet = if do_all_wait { self.quiet + passed } else { Duration::ZERO };
        match self.waited {
            waited if waited < patience => None,
            _ if patience / 2 <= self.quiet => Some(Proof::Deadlock),
            waited if patience * PATIENCE_FACTOR_MAX <= waited => Some(Proof::None),
            _ if do_all_wait || self.is_starved(workers, patience / STARVED_SHARE_DIVISOR) => None,
            _ => Some(Proof::None),
        }
    }

    /// Whether a runnable thread got hardly any processor time: the machine may be busy, and the
    /// thread not stuck.
    fn is_starved(&self, workers: &[Worker], least: Duration) -> bool {
        workers.iter().enumerate().filter(|it| !self.done[it.0]).any(|(number, worker)| {
            let times = self.times_at_check[number].zip(self.times_at_return[number]);
            stuck_thread::activity_of(worker.thread_id()) == ThreadActivity::Running
                && times.is_some_and(|(now, before)| now.saturating_sub(before) < least)
        })
    }
}

/// A runnable thread is waited for until it has run for the patience divided by this.
const STARVED_SHARE_DIVISOR: u32 = 20;

/// The wait is at most the patience times this.
const PATIENCE_FACTOR_MAX: u32 = 20;

impl Worker {
    /// The system's number for the thread, if known.
    fn thread_id(&self) -> Option<u32> {
        Some(self.thread_id.load(Ordering::Relaxed)).filter(|&it| it != 0)
    }

    fn start(
        number: usize,
        settings: &WorkerSettings,
        reports: Sender<(usize, Outcome)>,
    ) -> io::Result<Self> {
        let (tasks, inbox) = mpsc::channel::<Task>();
        let (stop_flag, thread_id) = (Arc::<StopFlag>::default(), Arc::<AtomicU32>::default());
        let is_pinned = Arc::<AtomicBool>::default();
        let work = {
            let (stop_flag, thread_id, settings) =
                (Arc::clone(&stop_flag), Arc::clone(&thread_id), settings.clone());
            let is_pinned = Arc::clone(&is_pinned);
            move || {
                thread_id.store(stuck_thread::current_thread_id().unwrap_or(0), Ordering::Relaxed);
                if settings.pinning == Pinning::Pinned {
                    is_pinned.store(pin::pin(number), Ordering::Relaxed);
                }
                for task in inbox {
                    let outcome = {
                        let _registration =
                            WorkerRegistration::new(Arc::clone(&stop_flag), settings.noise, task.seed);
                        let outcome =
                            panic::catch_unwind(AssertUnwindSafe(|| task.calls.make(&task, &settings)));
                        // This may drop the subject, which may panic as well.
                        let end = panic::catch_unwind(AssertUnwindSafe(|| drop(task)));
                        outcome.and(end)
                    };
                    if outcome.as_ref().is_err_and(|it| it.is::<Abandoned>()) {
                        return;
                    }
                    // The receiver is gone if the run was abandoned.
                    if reports.send((number, outcome)).is_err() {
                        return;
                    }
                }
            }
        };
        thread::Builder::new().name(format!("stress-{number}")).spawn(work)?;
        Ok(Worker { tasks, stop_flag, thread_id, is_pinned })
    }
}

impl<S> Calls for LoggedCalls<S>
where
    S: Specification + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn make(&self, task: &Task, settings: &WorkerSettings) {
        match settings.clock.kind() {
            ClockKind::Counter => make_calls(self, task, settings.noise, Counter),
            ClockKind::Monotonic => make_calls(self, task, settings.noise, Monotonic(task.barrier.begun)),
            ClockKind::Shared => make_calls(self, task, settings.noise, Shared(&task.barrier.counter)),
        }
    }
}

/// Makes the calls of a log, and records their results. One stamp is both the return of an
/// operation and the call of the next, unless the thread is disturbed in between.
fn make_calls<S: Specification + 'static>(
    calls: &LoggedCalls<S>,
    task: &Task,
    noise: Noise,
    stamp: impl Stamp,
) {
    let LoggedCalls { subject, log } = calls;
    let Task { barrier, seed, .. } = task;
    let mut noise = BetweenCallsNoise::new(noise, *seed);
    let mut writer = log.writer();
    barrier.pass();
    let mut called = stamp.now();
    for call in log.calls() {
        if noise.disturb() {
            called = stamp.now();
        }
        let ret = subject.call(call);
        let returned = stamp.now();
        writer.ret(called, returned, ret);
        called = returned;
    }
}

#[cfg(test)]
mod tests;
