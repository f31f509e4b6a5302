//! A stopwatch for one thread: processor time if the system provides it, else wall-clock time.
//!
//! Other load on the machine affects wall-clock time, and hardly processor time.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Runs from when it is made.
#[derive(Debug)]
pub(super) struct Stopwatch {
    wall: Instant,
    processor: Option<Duration>,
}

impl Stopwatch {
    pub(super) fn start() -> Stopwatch {
        let processor = processor_time();
        Stopwatch { wall: Instant::now(), processor }
    }

    /// The time that the creating thread has worked since.
    pub(super) fn elapsed(&self) -> Duration {
        let wall = self.wall.elapsed();
        let processor = self.processor.and_then(|start| processor_time()?.checked_sub(start));
        processor.filter(|it| !it.is_zero()).unwrap_or(wall)
    }

    /// The quantity measured.
    pub(super) fn unit() -> &'static str {
        if processor_time().is_some() { "processor time" } else { "time on the wall" }
    }
}

/// The processor time of this thread so far, if the system provides it.
fn processor_time() -> Option<Duration> {
    // The system adds up when it schedules, so that it must be given the occasion.
    thread::yield_now();
    // Linux: nanoseconds on a processor, nanoseconds waiting for one, times it got one.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split(' ').next()?.parse::<u64>().ok()?;
    (nanoseconds != 0).then(|| Duration::from_nanos(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_grows_while_a_thread_works() {
        let watch = Stopwatch::start();
        let mut last = Duration::ZERO;
        for round in 0_u64..3 {
            let sum = (0..1_000_000_u64).fold(round, |sum, it| std::hint::black_box(sum ^ it));
            std::hint::black_box(sum);
            let elapsed = watch.elapsed();
            assert!(last < elapsed, "{last:?} before {elapsed:?}");
            last = elapsed;
        }
    }
}
