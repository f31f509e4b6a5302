//! Noise: threads that are disturbed where that may bring a bug to light.
//!
//! A bug that needs a thread to be interrupted between two instructions shows rarely on a quiet machine. Noise makes a
//! thread lose time there: it spins for a moment, or lets another thread run. *Between* operations the recorder does so
//! itself. *Inside* them it needs help: the subject calls [`point`] where it may be disturbed. The [facade](crate::sync)
//! does so before each access.
//!
//! When no run in the process is noisy, [`point`] reads one word that nobody writes.

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
    /// The share of operations before which the thread is.
    pub between: f64,
    /// The share of [points](point) inside operations at which it is.
    pub inside: f64,
}

impl Noise {
    /// None at all.
    pub const NONE: Noise = Noise { between: 0.0, inside: 0.0 };

    /// Whether there is any.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Noise::NONE
    }
}

/// A point inside an operation at which a thread may be disturbed.
///
/// Does nothing on threads that are not a [crew](crate::Workers)'s, and nothing unless noise was asked for. A thread that has been given
/// up, because nothing moved for too long, ends worker.
#[inline(always)]
#[track_caller]
pub fn point() {
    if is_hook_active() {
        run_hook();
    }
}

/// Whether any thread of this process is to look at what it is told.
#[inline(always)]
pub(crate) fn is_hook_active() -> bool {
    ACTIVE_HOOKS.load(Ordering::Relaxed) != 0
}

/// How many runs of this process want [`point`] to do something.
static ACTIVE_HOOKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static WORKER: RefCell<Option<WorkerNoise>> = const { RefCell::new(None) };
}

/// What a thread of a crew is told, and tells.
#[derive(Debug, Default)]
pub(crate) struct StopFlag {
    /// Nobody waits for the thread any more.
    pub(crate) is_abandoned: AtomicBool,
    /// Somebody wants to know where it is.
    pub(crate) is_place_requested: AtomicBool,
    place: Mutex<Option<&'static Location<'static>>>,
}

impl StopFlag {
    /// The last point that the thread came by since it was asked.
    pub(crate) fn place(&self) -> Option<&'static Location<'static>> {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a thread of a crew knows of its run.
pub(crate) struct WorkerNoise {
    stop_flag: Arc<StopFlag>,
    noise: Noise,
    random: Random,
}

/// Told to a thread that has been given up.
pub(crate) struct Abandoned;

#[cold]
#[track_caller]
pub(crate) fn run_hook() {
    let place = Location::caller();
    let disturbance = WORKER.try_with(|worker| {
        // Nobody is here on other threads; and a thread that is ending keeps its last words to itself.
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
    // What a thread drops when it has ended, and `HERE` is gone, may come by as well.
    match disturbance.ok().flatten() {
        None => (),
        Some(Some(random)) => disturb(random),
        // Not a panic that anyone needs to hear of.
        Some(None) => panic::resume_unwind(Box::new(Abandoned)),
    }
}

/// Loses some time, as the bits of `random` have it.
fn disturb(random: u64) {
    match random & 3 {
        // Others run, if there are any.
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

    /// Disturbs the thread, or not; answers whether it did.
    #[inline(always)]
    pub(crate) fn disturb(&mut self) -> bool {
        let does = 0.0 < self.probability && self.random.chance(self.probability);
        if does {
            disturb(self.random.next());
        }
        does
    }
}

/// Tells this thread which run it is in, until it is dropped.
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

/// While there is one, [`point`] looks at what its thread is told.
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
