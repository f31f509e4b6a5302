//! The recorder for running systems: what a call and its return cost one client, beside two reads
//! of the system's monotonic clock, which a log with times of its own would need at least.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use clewline_bench::{best, digits, ratio};
use clewline_core::Value;
use clewline_methods::Recorder;
use clewline_specs::register::{Call, Register};

const ROUNDS: usize = 7;

fn main() {
    println!("| operations | recorder, ns a pair | clock, ns a pair | recorder / clock |");
    println!("|---|---|---|---|");
    for operations in [1_000_u64, 10_000, 100_000, 1_000_000] {
        // Enough of them that a round takes some milliseconds.
        let repeats = 1_000_000 / operations;
        let value = Value::from(7);
        let mut record = || {
            for _ in 0..repeats {
                let recorder = Recorder::new(Register::new());
                for client in 0..operations {
                    recorder.call((client % 8) as usize, Call::Write(value)).returned(Value::TRUE);
                }
                black_box(&recorder);
            }
        };
        let mut clock = || {
            for _ in 0..2 * repeats * operations {
                black_box(Instant::now());
            }
        };
        let [recorder, clock] = best(ROUNDS, [&mut record, &mut clock]);
        let each = |it: Duration| digits(it.as_secs_f64() * 1e9 / (repeats * operations) as f64);
        println!("| {operations} | {} | {} | {} |", each(recorder), each(clock), ratio(recorder, clock));
    }
}
