//! Timers and cancellation: what may interrupt a task that waits.
//!
//! In an exploration each task has a clock of its own, which stands still until the schedule moves
//! it to the deadline of one of the task's timers. It may do so whenever the task waits, also if
//! the task has been woken meanwhile. So of two timers of one task the later one never fires
//! first; between tasks nothing is known about time.

use std::{
    cell::RefCell,
    error::Error,
    fmt,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use clewline_threads::{
    awaiting::{has_interruptions, is_explored, note},
    choose, thread_local,
};

thread_local! {
    static TIMERS: RefCell<Timers> = const { RefCell::new(Timers::new()) };
}

/// The timers of a task.
#[derive(Debug)]
struct Timers {
    /// The time of the task's clock, in an exploration.
    now: Duration,
    armed: Vec<Armed>,
}

#[derive(Debug)]
struct Armed {
    id: u64,
    fires: Fires,
    waker: Waker,
}

/// When a timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fires {
    /// When the clock of the task shows this.
    Virtual(Duration),
    /// When that of the system does.
    Real(Instant),
    /// At any time, which only a schedule chooses: a cancellation.
    Anytime,
}

impl Timers {
    const fn new() -> Timers {
        Timers { now: Duration::ZERO, armed: Vec::new() }
    }

    fn is_due(&self, fires: Fires) -> bool {
        match fires {
            Fires::Virtual(deadline) => deadline <= self.now,
            Fires::Real(deadline) => deadline <= Instant::now(),
            Fires::Anytime => false,
        }
    }

    /// The interruptions that may come next: a deadline for all timers that have it, and each
    /// cancellation.
    fn interruptions(&self) -> Vec<(Fires, u64)> {
        let mut found: Vec<(Fires, u64)> = Vec::new();
        let may_come = |it: &&Armed| match it.fires {
            Fires::Virtual(_) => true,
            Fires::Real(_) => false,
            Fires::Anytime => has_interruptions(),
        };
        for armed in self.armed.iter().filter(may_come) {
            if armed.fires == Fires::Anytime || found.iter().all(|it| it.0 != armed.fires) {
                found.push((armed.fires, armed.id));
            }
        }
        found
    }
}

/// How long the task may wait for its waker, if it has timers.
pub(crate) fn next_timeout() -> Option<Duration> {
    TIMERS.with(|timers| {
        let timers = timers.borrow();
        let left = timers.armed.iter().filter_map(|it| match it.fires {
            Fires::Real(deadline) => Some(deadline.saturating_duration_since(Instant::now())),
            // Only whether there is a timeout matters in an exploration.
            Fires::Virtual(_) => is_explored().then_some(Duration::ZERO),
            Fires::Anytime => has_interruptions().then_some(Duration::ZERO),
        });
        left.min()
    })
}

/// The task has waited. Timers that are due call their wakers, except for `own`, which is that of
/// the task itself.
pub(crate) fn fire(is_woken: bool, own: &Waker) {
    let interruptions = TIMERS.with(|it| it.borrow().interruptions());
    let chosen = match (interruptions.len(), is_woken) {
        (0, _) => None,
        (_, true) if !has_interruptions() => None,
        (n, true) => choose(n + 1).checked_sub(1),
        (1, false) => Some(0),
        (n, false) => Some(choose(n)),
    };
    match chosen.map(|it| interruptions[it].0) {
        Some(Fires::Anytime) => note("cancelled"),
        Some(Fires::Virtual(_)) => note("time is up"),
        Some(Fires::Real(_)) | None => (),
    }
    let due = TIMERS.with(|timers| {
        let mut timers = timers.borrow_mut();
        let cancelled = match chosen.map(|it| interruptions[it]) {
            Some((Fires::Virtual(deadline), _)) => {
                timers.now = timers.now.max(deadline);
                None
            }
            Some((Fires::Anytime, id)) => Some(id),
            Some((Fires::Real(_), _)) | None => None,
        };
        let all = std::mem::take(&mut timers.armed);
        let (due, armed) =
            all.into_iter().partition(|it| cancelled == Some(it.id) || timers.is_due(it.fires));
        timers.armed = armed;
        due
    });
    let due: Vec<Armed> = due;
    due.iter().filter(|it| !it.waker.will_wake(own)).for_each(|it| it.waker.wake_by_ref());
}

/// A timer of the task that polls it.
#[derive(Debug)]
struct Timer {
    fires: Fires,
    /// Its number, if it was armed.
    armed: Option<u64>,
}

impl Timer {
    fn new(fires: Fires) -> Timer {
        Timer { fires, armed: None }
    }

    /// Whether it has fired; if not, it is armed.
    fn poll(&mut self, context: &Context<'_>) -> bool {
        let waker = context.waker().clone();
        let replaced = TIMERS.with(|timers| {
            let mut timers = timers.borrow_mut();
            if timers.is_due(self.fires) {
                return Err(());
            }
            match self.armed {
                // It is armed no more: it fired.
                Some(id) => match timers.armed.iter_mut().find(|it| it.id == id) {
                    Some(armed) => Ok(Some(std::mem::replace(&mut armed.waker, waker))),
                    None if self.fires == Fires::Anytime => Err(()),
                    // Another task polls it now.
                    None => Ok(self.arm(&mut timers, waker)),
                },
                None => Ok(self.arm(&mut timers, waker)),
            }
        });
        replaced.is_err()
    }

    fn arm(&mut self, timers: &mut Timers, waker: Waker) -> Option<Waker> {
        // Unique in the process: a timer may be polled by several tasks in turn.
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed);
        timers.armed.push(Armed { id, fires: self.fires, waker });
        self.armed = Some(id);
        None
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let Some(id) = self.armed else { return };
        // A task that has ended has no timers any more.
        let removed = TIMERS.try_with(|timers| {
            let mut timers = timers.borrow_mut();
            let at = timers.armed.iter().position(|it| it.id == id)?;
            Some(timers.armed.remove(at))
        });
        drop(removed);
    }
}

/// The future of [`sleep`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep(Timer);

/// Waits for some time. In an exploration no time passes: it ends at any moment, but not before an
/// earlier timer of the same task.
///
/// Timers fire in tasks of [`block_on`](crate::block_on) and [`spawn`](crate::spawn); another
/// runtime does not know of them.
pub fn sleep(duration: Duration) -> Sleep {
    let fires = if is_explored() {
        Fires::Virtual(TIMERS.with(|it| it.borrow().now).saturating_add(duration))
    } else {
        // A deadline that no clock reaches is far away.
        let far = || Instant::now() + Duration::from_secs(1 << 30);
        Fires::Real(Instant::now().checked_add(duration).unwrap_or_else(far))
    };
    Sleep(Timer::new(fires))
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0.poll(context) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// The time of a [`timeout`] is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("time is up")
    }
}

impl Error for Elapsed {}

/// Awaits a future for some time. It is polled before the clock is read, so a result that is there
/// is not lost.
///
/// # Errors
///
/// If the time is up first; the future is dropped.
pub async fn timeout<F: Future>(duration: Duration, future: F) -> Result<F::Output, Elapsed> {
    let (mut future, mut timer) = (pin!(future), sleep(duration));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Ok(result)),
        Poll::Pending if timer.0.poll(context) => Poll::Ready(Err(Elapsed)),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// Awaits a future that may be cancelled: in an exploration it is dropped at any moment at which it
/// waits, or not at all. Returns `None` if it was dropped. Outside of an exploration it is not, and
/// neither are operations that are called one at a time, to learn what is right.
///
/// This is what `timeout`, `select!` and `abort` do to the futures in them. A future that loses
/// something then is not *cancellation-safe*.
pub async fn may_cancel<F: Future>(future: F) -> Option<F::Output> {
    let (mut future, mut timer) = (pin!(future), Timer::new(Fires::Anytime));
    poll_fn(|context| {
        // Not polled again: what it was woken for is lost with it.
        if timer.armed.is_some() && timer.poll(context) {
            return Poll::Ready(None);
        }
        match future.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(Some(result)),
            Poll::Pending => {
                timer.poll(context);
                Poll::Pending
            }
        }
    })
    .await
}
