//! Limits that need a clock or the operating system: time, and the memory of the process.

use std::{
    io::{self, Read},
    sync::{
        LazyLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use clewline_core::{Budget, Reason};

/// Stops a budget when its time is up. Dropping the timer ends it at once.
#[derive(Debug)]
pub struct Timer {
    // Nothing is ever sent: the thread wakes when this is dropped.
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Timer {
    /// Begins to wait, if there is a limit.
    ///
    /// # Errors
    ///
    /// If no thread can be started: a limit must not be ignored silently.
    pub fn start(limit: Option<Duration>, budget: &Budget) -> io::Result<Timer> {
        let Some(limit) = limit else { return Ok(Timer { done: None, thread: None }) };
        let (done, waiting) = mpsc::channel::<()>();
        let budget = budget.clone();
        let wait = move || match waiting.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => budget.stop(Reason::Time(limit)),
            Err(RecvTimeoutError::Disconnected) | Ok(()) => (),
        };
        let thread = thread::Builder::new().name("time limit".to_owned()).spawn(wait)?;
        Ok(Timer { done: Some(done), thread: Some(thread) })
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ignored = thread.join();
        }
    }
}

/// `budget` with this memory limit for the whole process, where the system reports its memory.
pub fn with_process_memory(budget: Budget, bytes: usize) -> Budget {
    let budget = budget.with_memory(bytes);
    if cfg!(target_os = "linux") { budget.with_gauge(recent_resident_bytes) } else { budget }
}

// A process can touch only a few megabytes in that time.
const GAUGE_INTERVAL: Duration = Duration::from_millis(1);

/// The resident size of this process a moment ago. Streams of many objects make a short search
/// after each few lines, and each search asks: to measure takes longer than most of them.
fn recent_resident_bytes() -> usize {
    static BYTES: AtomicUsize = AtomicUsize::new(0);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let now = BEGUN.elapsed().as_micros() as u64;
    if NEXT.load(Ordering::Relaxed) <= now {
        NEXT.store(now + GAUGE_INTERVAL.as_micros() as u64, Ordering::Relaxed);
        BYTES.store(resident_bytes(), Ordering::Relaxed);
    }
    BYTES.load(Ordering::Relaxed)
}

/// The resident size of this process; 0 if the system does not report it.
#[must_use]
pub fn resident_bytes() -> usize {
    // Pages are assumed to be 4 KiB. Where they are larger, the limit takes effect late, by the
    // memory that searches do not account for themselves.
    const PAGE_BYTES: usize = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|it| it.parse::<usize>().ok());
    pages.unwrap_or(0).saturating_mul(PAGE_BYTES)
}

/// How much memory the process may take without exhausting the machine: most of the free memory,
/// plus what the process holds already. None if the system does not report it.
#[must_use]
pub fn available_memory() -> Option<usize> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|it| it.strip_prefix("MemAvailable:"))?;
    let free = line.trim().trim_end_matches(" kB").parse::<usize>().ok()?.saturating_mul(1 << 10);
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let allowed =
        container.iter().find_map(|it| std::fs::read_to_string(it).ok()?.trim().parse::<usize>().ok());
    let most = free.saturating_add(resident_bytes()).min(allowed.unwrap_or(usize::MAX)) / 5 * 4;
    // Rounded, since a report shows it.
    Some((most >> 20).max(1) << 20)
}

/// An input that ends with an error when its budget is exhausted.
#[derive(Debug)]
pub struct BudgetedReader<'b, R> {
    input: R,
    budget: &'b Budget,
    since: usize,
    hit: Option<Reason>,
}

// How many bytes are read between two checks of the budget.
const BUDGET_CHECK_INTERVAL_BYTES: usize = 4 << 20;

impl<'b, R: Read> BudgetedReader<'b, R> {
    /// `input`, for as long as `budget` allows.
    pub fn new(input: R, budget: &'b Budget) -> Self {
        BudgetedReader { input, budget, since: 0, hit: None }
    }

    /// The limit that ended the input early, if one did.
    pub fn into_limit_hit(self) -> Option<Reason> {
        self.hit
    }
}

impl<R: Read> Read for BudgetedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if BUDGET_CHECK_INTERVAL_BYTES <= self.since {
            self.since = 0;
            if let Err(reason) = self.budget.allow(0) {
                let error = io::Error::other(reason.to_string());
                self.hit = Some(reason);
                return Err(error);
            }
        }
        let read = self.input.read(buffer)?;
        self.since += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_is_dropped_stops_nothing() {
        let budget = Budget::unlimited();
        drop(Timer::start(Some(Duration::from_secs(1 << 40)), &budget).expect("a thread"));
        assert_eq!(budget.stopped(), None);
    }

    #[test]
    fn a_timer_stops_its_budget() {
        let budget = Budget::unlimited();
        let mut timer = Timer::start(Some(Duration::ZERO), &budget).expect("a thread");
        timer.thread.take().expect("a limit").join().expect("no panic");
        assert_eq!(budget.stopped(), Some(Reason::Time(Duration::ZERO)));
    }

    #[test]
    fn an_input_ends_with_its_budget() {
        let budget = Budget::unlimited();
        let mut input = BudgetedReader::new(io::repeat(0), &budget);
        let mut buffer = vec![0; BUDGET_CHECK_INTERVAL_BYTES];
        input.read_exact(&mut buffer).expect("within the budget");
        budget.stop(Reason::Cancelled);
        assert!(input.read(&mut buffer).is_err());
        assert_eq!(input.into_limit_hit(), Some(Reason::Cancelled));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_some_memory() {
        assert!(resident_bytes() > 100 << 10);
    }
}
