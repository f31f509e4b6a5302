//! Clocks: the source of stamps.
//!
//! A recorder is sound if no stamp is later than the beginning of the operation whose call it
//! marks, and none is earlier than the end of the operation whose return it marks, on one clock
//! that all threads share.
//!
//! * [`ClockKind::Counter`]: the processor's time-stamp counter, read by `lfence; rdtsc; lfence`.
//!   The first fence waits for every load of the operation before it, the second keeps every
//!   instruction of the next operation behind it. *Assumption*: the counters of all processors show
//!   the same time, or at least never a time behind one that another processor has already
//!   communicated. Hardware promises it ("invariant TSC"), the kernel checks it at boot and chooses
//!   another clock source if it fails; we check both, and let two threads pass the time back and
//!   forth before we trust it.
//! * [`ClockKind::Monotonic`]: the system's monotonic clock, between fences. *Assumption*: the
//!   system's, that it is monotonic across processors.
//! * [`ClockKind::Shared`]: a counter in memory that every stamp increments. No assumption; but
//!   every stamp synchronizes with every other, which hides bugs in the order of memory accesses,
//!   and serializes the threads.
//!
//! None of them is ever compared with a time of day. Equal stamps of different threads count as
//! overlapping ([`History::merge`](clewline_core::History::merge)).
//!
//! No fence here drains a store buffer, except the shared counter's and on processors that are not
//! x86: see the crate's documentation.

use std::{
    fmt,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering, fence},
    time::Instant,
};

use clewline_core::NotFound;

/// The kind of clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockKind {
    /// The processor's time-stamp counter.
    Counter,
    /// The system's monotonic clock.
    Monotonic,
    /// A counter in memory that all threads share.
    Shared,
}

impl ClockKind {
    /// Every clock, best first.
    pub const ALL: [ClockKind; 3] = [ClockKind::Counter, ClockKind::Monotonic, ClockKind::Shared];

    /// The name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ClockKind::Counter => "counter",
            ClockKind::Monotonic => "monotonic",
            ClockKind::Shared => "shared",
        }
    }
}

impl FromStr for ClockKind {
    type Err = NotFound;

    /// The clock of that name.
    fn from_str(name: &str) -> Result<ClockKind, NotFound> {
        let found = ClockKind::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| NotFound::new("clock", name, ClockKind::ALL.map(ClockKind::name)))
    }
}

impl fmt::Display for ClockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClockKind::Counter => "the processor's time-stamp counter",
            ClockKind::Monotonic => "the system's monotonic clock",
            ClockKind::Shared => "a counter that the threads share",
        })
    }
}

/// A clock that may be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    kind: ClockKind,
}

impl Clock {
    /// The best clock of this machine: its counter if that can be trusted, else the system's clock.
    #[must_use]
    pub fn best() -> Clock {
        Clock::of(ClockKind::Counter).unwrap_or(Clock { kind: ClockKind::Monotonic })
    }

    /// The clock of that kind.
    ///
    /// # Errors
    ///
    /// If the machine has none that can be trusted.
    pub fn of(kind: ClockKind) -> Result<Clock, UntrustedClock> {
        if kind == ClockKind::Counter {
            counter::trust()?;
        }
        Ok(Clock { kind })
    }

    /// The kind of the clock.
    #[must_use]
    pub fn kind(self) -> ClockKind {
        self.kind
    }
}

/// The machine has no time-stamp counter that can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedClock(pub(crate) String);

impl fmt::Display for UntrustedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the time-stamp counter cannot be trusted here: {}", self.0)
    }
}

impl std::error::Error for UntrustedClock {}

/// Reads a clock between two operations of a thread.
pub(crate) trait Stamp: Copy {
    /// The time between the preceding code, which is complete, and the following code, which has
    /// not begun.
    fn now(self) -> u64;
}

/// Waits for the preceding loads, and keeps the following instructions behind it.
#[inline(always)]
fn order() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has `lfence`; it touches no memory.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    fence(Ordering::SeqCst);
}

/// The time-stamp counter. Made only where it is trusted.
#[derive(Clone, Copy)]
pub(crate) struct Counter;

impl Stamp for Counter {
    #[inline(always)]
    fn now(self) -> u64 {
        order();
        let now = counter::read();
        order();
        now
    }
}

/// The monotonic clock, in nanoseconds since it was made.
#[derive(Clone, Copy)]
pub(crate) struct Monotonic(pub(crate) Instant);

impl Stamp for Monotonic {
    #[inline(always)]
    fn now(self) -> u64 {
        order();
        let now = self.0.elapsed().as_nanos() as u64;
        order();
        now
    }
}

/// The shared counter.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a>(pub(crate) &'a AtomicU64);

impl Stamp for Shared<'_> {
    #[inline(always)]
    fn now(self) -> u64 {
        // The preceding code stays before the increment and the following code behind it, in the
        // order that all threads observe.
        fence(Ordering::SeqCst);
        let now = self.0.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        now
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod counter {
    //! The time-stamp counter of x86-64.

    use std::{
        arch::x86_64::{__cpuid, _rdtsc},
        fs,
        sync::{
            OnceLock,
            atomic::{AtomicU64, Ordering},
        },
        thread,
    };

    use super::{Counter, Stamp, UntrustedClock};

    #[inline(always)]
    pub(super) fn read() -> u64 {
        // SAFETY: every x86-64 processor has `rdtsc`; it touches no memory.
        unsafe { _rdtsc() }
    }

    /// Whether the counter can be trusted. Determined once.
    pub(super) fn trust() -> Result<(), UntrustedClock> {
        static TRUSTED: OnceLock<Result<(), UntrustedClock>> = OnceLock::new();
        TRUSTED
            .get_or_init(|| {
                if !is_invariant() {
                    return Err(UntrustedClock(
                        "the processor does not promise that it is invariant".to_owned(),
                    ));
                }
                if let Some(source) = doubtful_kernel_source() {
                    return Err(UntrustedClock(format!("the kernel prefers the clock source `{source}`")));
                }
                if has_gone_back() {
                    return Err(UntrustedClock("it went back between two threads".to_owned()));
                }
                Ok(())
            })
            .clone()
    }

    /// Runs at one rate in all states of all processors: CPUID leaf 8000_0007, EDX bit 8.
    fn is_invariant() -> bool {
        const POWER_MANAGEMENT_LEAF: u32 = 0x8000_0007;
        // SAFETY: every x86-64 processor has `cpuid`.
        #[allow(unused_unsafe, reason = "safe in later versions of Rust")]
        unsafe {
            POWER_MANAGEMENT_LEAF <= __cpuid(0x8000_0000).eax
                && __cpuid(POWER_MANAGEMENT_LEAF).edx & (1 << 8) != 0
        }
    }

    /// The kernel's clock source, if it is known and does not confirm this counter.
    fn doubtful_kernel_source() -> Option<String> {
        let folder = "/sys/devices/system/clocksource/clocksource0";
        let read = |which: &str| fs::read_to_string(format!("{folder}/{which}_clocksource")).ok();
        doubtful_source(&read("current")?, read("available").as_deref()).map(str::to_owned)
    }

    /// The clock source in use, unless it confirms the counter.
    pub(super) fn doubtful_source<'s>(current: &'s str, available: Option<&str>) -> Option<&'s str> {
        let current = current.trim();
        let vouches = match current {
            "tsc" | "hyperv_clocksource_tsc_page" => true,
            // It reads the counter, but corrects it for each processor. A kernel that has found the
            // counters to differ no longer offers them.
            "kvm-clock" => available.is_none_or(|it| it.split_whitespace().any(|it| it == "tsc")),
            _ => false,
        };
        (!vouches).then_some(current)
    }

    /// Two threads pass the time back and forth; each receiver of a time compares it with its own
    /// clock.
    fn has_gone_back() -> bool {
        const CLOCK_EXCHANGES: u64 = 2_000;
        let ball = AtomicU64::new(0);
        // One thread has the even turns, the other the odd ones. The low half of a time is the
        // turn.
        let play = |me: u64| {
            let mut has_gone_back = false;
            for round in 0..CLOCK_EXCHANGES {
                let turn = 2 * round + me;
                let mut waited = 0_u32;
                let last = loop {
                    let seen = ball.load(Ordering::Acquire);
                    if seen & 0xFFFF == turn & 0xFFFF {
                        break seen >> 16;
                    }
                    waited += 1;
                    if waited.is_multiple_of(1 << 10) { thread::yield_now() } else { std::hint::spin_loop() }
                };
                // 48 bits of a counter of some gigahertz last for a day.
                let now = Counter.now() & (u64::MAX >> 16);
                has_gone_back |= now.wrapping_sub(last) & (u64::MAX >> 16) > u64::MAX >> 17;
                ball.store((now << 16) | ((turn + 1) & 0xFFFF), Ordering::Release);
            }
            has_gone_back
        };
        ball.store((Counter.now() & (u64::MAX >> 16)) << 16, Ordering::Release);
        thread::scope(|scope| {
            let other = thread::Builder::new().spawn_scoped(scope, || play(1));
            match other {
                Ok(other) => play(0) | other.join().unwrap_or(true),
                // Without a second thread the counter cannot be checked, so it is not trusted.
                Err(_) => true,
            }
        })
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod counter {
    //! No counter that we can read in order.

    use super::UntrustedClock;

    pub(super) fn read() -> u64 {
        unreachable!("made only where it is trusted")
    }

    pub(super) fn trust() -> Result<(), UntrustedClock> {
        Err(UntrustedClock("it is read only on x86-64".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never_goes_back(stamp: impl Stamp) {
        let mut last = stamp.now();
        for _ in 0..10_000 {
            let now = stamp.now();
            assert!(last <= now);
            last = now;
        }
    }

    #[test]
    fn clocks_do_not_go_back() {
        never_goes_back(Monotonic(Instant::now()));
        never_goes_back(Shared(&AtomicU64::new(0)));
        if Clock::of(ClockKind::Counter).is_ok() {
            never_goes_back(Counter);
        }
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn a_counter_that_the_kernel_rejects_is_not_trusted() {
        use counter::doubtful_source;
        assert_eq!(doubtful_source("tsc\n", Some("tsc kvm-clock \n")), None);
        assert_eq!(doubtful_source("kvm-clock\n", Some("kvm-clock tsc acpi_pm \n")), None);
        assert_eq!(doubtful_source("kvm-clock\n", Some("kvm-clock acpi_pm \n")), Some("kvm-clock"));
        assert_eq!(doubtful_source("hpet\n", Some("tsc hpet \n")), Some("hpet"));
    }

    #[test]
    fn the_best_clock_needs_nothing_shared() {
        assert_ne!(Clock::best().kind(), ClockKind::Shared);
    }
}
