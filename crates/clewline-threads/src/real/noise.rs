//! Noise: threads are disturbed where that may expose a bug.
//!
//! A bug that needs a thread to be interrupted between two instructions shows rarely on a quiet
//! machine. Noise delays a thread there: it spins for a moment, or lets another thread run.
//! *Between* operations the recorder does so itself. *Inside* them it needs help: the subject calls
//! [`point`] where it may be disturbed. The primitives of [`sync`](crate::sync) do so before each
//! access.
//!
//! When no run in the process is noisy, [`point`] reads one word that is never written.

use std::{
    cell::RefCell,
    panic::{self, Location},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

use clewline_core::Random;

/// How often threads are disturbed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// The share of operations before which the thread is disturbed.
    pub between: f64,
    /// The share of [points](point) inside operations at which it is disturbed.
    pub inside: f64,
}

impl Noise {
    /// No noise.
    pub const NONE: Noise = Noise { between: 0.0, inside: 0.0 };

    /// Whether there is no noise.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Noise::NONE
    }
}

/// A point inside an operation at which a thread may be disturbed.
///
/// Does nothing on threads that are not [workers](crate::Workers), and nothing unless noise was
/// requested. A thread that was abandoned, because its run got stuck, ends here.
#[inline(always)]
#[track_caller]
pub fn point() {
    if is_hook_active() {
        run_hook();
    }
}

/// Whether any run of this process needs [`point`] to do something.
#[inline(always)]
pub(crate) fn is_hook_active() -> bool {
    ACTIVE_HOOKS.load(Ordering::Relaxed) != 0
}

/// The number of runs of this process that need [`point`] to do something.
static ACTIVE_HOOKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static WORKER: RefCell<Option<WorkerNoise>> = const { RefCell::new(None) };
}

/// The flags shared between a worker thread and the watchdog.
#[derive(Debug, Default)]
pub(crate) struct StopFlag {
    /// The thread is abandoned.
    pub(crate) is_abandoned: AtomicBool,
    /// The watchdog wants to know where the thread is.
    pub(crate) is_place_requested: AtomicBool,
    place: Mutex<Option<&'static Location<'static>>>,
}

impl StopFlag {
    /// The last point that the thread passed since the request.
    pub(crate) fn place(&self) -> Option<&'static Location<'static>> {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The noise state of a worker thread.
pub(crate) struct WorkerNoise {
    stop_flag: Arc<StopFlag>,
    noise: Noise,
    random: Random,
}

/// The panic payload of an abandoned thread.
pub(crate) struct Abandoned;

#[cold]
#[track_caller]
pub(crate) fn run_hook() {
    let place = Location::caller();
    let disturbance = WORKER.try_with(|worker| {
        // Other threads have no worker state, and a thread that is ending has none any more.
        let mut worker = worker.try_borrow_mut().ok()?;
        let worker = worker.as_mut()?;
        if worker.stop_flag.is_place_requested.load(Ordering::Relaxed) {
            *worker.stop_flag.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
        }
        if worker.stop_flag.is_abandoned.load(Ordering::Relaxed) && !thread::panicking() {
            return Some(None);
        }
        let noise = worker.noise.inside;
        (0.0 < noise && worker.random.chance(noise)).then(|| Some(worker.random.next()))
    });
    // Destructors that run when the thread has ended, after `WORKER` is destroyed, may come here as
    // well.
    match disturbance.ok().flatten() {
        None => (),
        Some(Some(random)) => disturb(random),
        // This panic is not reported.
        Some(None) => panic::resume_unwind(Box::new(Abandoned)),
    }
}

/// Delays the thread, as the bits of `random` select.
fn disturb(random: u64) {
    match random & 3 {
        // Other threads run, if there are any.
        0 | 1 => thread::yield_now(),
        _ => {
            let spins = 1_u64 << (2 + (random >> 2) % 10);
            (0..spins).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// Noise between operations.
pub(crate) struct BetweenCallsNoise {
    probability: f64,
    random: Random,
}

impl BetweenCallsNoise {
    pub(crate) fn new(noise: Noise, seed: u64) -> BetweenCallsNoise {
        BetweenCallsNoise { probability: noise.between, random: Random::new(seed) }
    }

    /// Disturbs the thread, or not; returns whether it did.
    #[inline(always)]
    pub(crate) fn disturb(&mut self) -> bool {
        let does = 0.0 < self.probability && self.random.chance(self.probability);
        if does {
            disturb(self.random.next());
        }
        does
    }
}

/// Registers the run of this thread, until it is dropped.
pub(crate) struct WorkerRegistration;

impl WorkerRegistration {
    pub(crate) fn new(stop_flag: Arc<StopFlag>, noise: Noise, seed: u64) -> WorkerRegistration {
        let random = Random::new(seed ^ 0x0015_E1DE);
        WORKER.with(|worker| *worker.borrow_mut() = Some(WorkerNoise { stop_flag, noise, random }));
        WorkerRegistration
    }
}

impl Drop for WorkerRegistration {
    fn drop(&mut self) {
        WORKER.with(|worker| worker.borrow_mut().take());
    }
}

/// While one exists, [`point`] checks the flags of its thread.
#[derive(Debug)]
pub(crate) struct NoiseHook;

impl NoiseHook {
    pub(crate) fn new() -> NoiseHook {
        ACTIVE_HOOKS.fetch_add(1, Ordering::Relaxed);
        NoiseHook
    }
}

impl Drop for NoiseHook {
    fn drop(&mut self) {
        ACTIVE_HOOKS.fetch_sub(1, Ordering::Relaxed);
    }
}
