//! Timers and cancellation: what may interrupt a task that waits.
//!
//! In an exploration each task has a clock of its own, which stands still until the schedule moves
//! it to the deadline of one of the task's timers. It may do so whenever the task waits, also if
//! the task has been woken meanwhile. So of two timers of one task the later one never fires
//! first; between tasks nothing is known about time.
//!
//! Whether a wait is cancelled is chosen before it. If it is not, it may last forever: a wait that
//! could be cancelled at any time would never be a deadlock, and hide a lost wake-up.

use std::{
    cell::RefCell,
    error::Error,
    fmt,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use clewline_threads::{
    awaiting::{interruption, is_explored, note},
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

/// A timer that a future of the task waits for.
#[derive(Debug)]
struct Armed {
    timer: Arc<State>,
    waker: Waker,
}

/// The part of a timer that the task shares, which may be polled by several tasks in turn.
#[derive(Debug)]
pub(crate) struct State {
    fires: Fires,
    /// Whether it was cancelled.
    is_cancelled: AtomicBool,
}

/// When a timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fires {
    /// When the clock of the task shows this.
    Virtual(Duration),
    /// When that of the system does.
    Real(Instant),
    /// When a schedule chooses so: a cancellation.
    Cancelled,
}

impl Timers {
    const fn new() -> Timers {
        Timers { now: Duration::ZERO, armed: Vec::new() }
    }

    fn is_due(&self, timer: &State) -> bool {
        match timer.fires {
            Fires::Virtual(deadline) => deadline <= self.now,
            Fires::Real(deadline) => deadline <= Instant::now(),
            Fires::Cancelled => timer.is_cancelled.load(Ordering::Relaxed),
        }
    }

    /// The futures that may be cancelled.
    fn cancellable(&self) -> Vec<Arc<State>> {
        let timers = self.armed.iter().map(|it| &it.timer);
        timers.filter(|it| it.fires == Fires::Cancelled).cloned().collect()
    }

    /// The deadlines on the task's clock, each once.
    fn deadlines(&self) -> Vec<Duration> {
        let mut found = Vec::new();
        for armed in &self.armed {
            if let Fires::Virtual(deadline) = armed.timer.fires
                && !found.contains(&deadline)
            {
                found.push(deadline);
            }
        }
        found
    }
}

/// Which future is cancelled during the next wait, if one is.
pub(crate) fn choose_cancellation() -> Option<Arc<State>> {
    let mut cancellable = TIMERS.with(|it| it.borrow().cancellable());
    interruption(cancellable.len()).map(|it| cancellable.swap_remove(it))
}

/// How long the task may wait for its waker, if it has timers.
pub(crate) fn next_timeout() -> Option<Duration> {
    TIMERS.with(|timers| {
        let timers = timers.borrow();
        let left = timers.armed.iter().filter_map(|it| match it.timer.fires {
            Fires::Real(deadline) => Some(deadline.saturating_duration_since(Instant::now())),
            // Only whether there is a timeout matters in an exploration.
            Fires::Virtual(_) => is_explored().then_some(Duration::ZERO),
            Fires::Cancelled => None,
        });
        left.min()
    })
}

/// The task has waited. Timers that are due call their wakers, except for `own`, which is that of
/// the task itself.
pub(crate) fn fire(is_woken: bool, cancelled: Option<Arc<State>>, own: &Waker) {
    if let Some(cancelled) = cancelled {
        cancelled.is_cancelled.store(true, Ordering::Relaxed);
        note("cancelled");
    } else {
        let deadlines = TIMERS.with(|it| it.borrow().deadlines());
        let next = match deadlines.len() {
            n if is_woken => interruption(n),
            0 => None,
            1 => Some(0),
            n => Some(choose(n)),
        };
        if let Some(next) = next {
            TIMERS.with(|it| it.borrow_mut().now = deadlines[next]);
            note("time is up");
        }
    }
    let due: Vec<Armed> = TIMERS.with(|timers| {
        let mut timers = timers.borrow_mut();
        let all = std::mem::take(&mut timers.armed);
        let (due, armed) = all.into_iter().partition(|it| timers.is_due(&it.timer));
        timers.armed = armed;
        due
    });
    due.iter().filter(|it| !it.waker.will_wake(own)).for_each(|it| it.waker.wake_by_ref());
}

/// A timer of the task that polls it.
#[derive(Debug)]
struct Timer(Arc<State>);

impl Timer {
    fn new(fires: Fires) -> Timer {
        Timer(Arc::new(State { fires, is_cancelled: AtomicBool::new(false) }))
    }

    /// Whether it has fired; if not, it is armed.
    fn poll(&self, context: &Context<'_>) -> bool {
        let waker = context.waker().clone();
        // Dropped at the end: that may be code of users.
        let (has_fired, _replaced) = TIMERS.with(|timers| {
            let mut timers = timers.borrow_mut();
            if timers.is_due(&self.0) {
                return (true, None);
            }
            let armed = timers.armed.iter_mut().find(|it| Arc::ptr_eq(&it.timer, &self.0));
            let replaced = match armed {
                Some(armed) => Some(std::mem::replace(&mut armed.waker, waker)),
                None => {
                    timers.armed.push(Armed { timer: Arc::clone(&self.0), waker });
                    None
                }
            };
            (false, replaced)
        });
        has_fired
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // A task that has ended has no timers any more.
        let removed = TIMERS.try_with(|timers| {
            let mut timers = timers.borrow_mut();
            let at = timers.armed.iter().position(|it| Arc::ptr_eq(&it.timer, &self.0))?;
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

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
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
    let (mut future, timer) = (pin!(future), sleep(duration));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Ok(result)),
        Poll::Pending if timer.0.poll(context) => Poll::Ready(Err(Elapsed)),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// Awaits a future that may be cancelled: in an exploration it is dropped at any moment at which it
/// waits, or not at all. Returns `None` if it was dropped. Outside of an exploration it is not, and
/// neither are operations that are called one at a time, to learn what is right. One operation, or
/// one task, is interrupted at most three times although it could go on: a loop that begins anew
/// would not end.
///
/// This is what `timeout`, `select!` and `abort` do to the futures in them. A future that loses
/// something then is not *cancellation-safe*.
pub async fn may_cancel<F: Future>(future: F) -> Option<F::Output> {
    let (mut future, timer) = (pin!(future), Timer::new(Fires::Cancelled));
    poll_fn(|context| {
        // Not polled again: what it was woken for is lost with it.
        if timer.0.is_cancelled.load(Ordering::Relaxed) {
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
