//! Switching between tasks alone: our own fibers beside those of corosensei, with 2 to 16 of them,
//! as many as there may be.
//!
//! `to the root and back` is one turn: the root resumes a fiber, and it suspends itself. `to the
//! next one` is what the engine asks for whenever a scheduler picks another task: ours hand their
//! turn on, those of corosensei go by way of the root. `a life` is to make a fiber on a stack that
//! is at hand, to run its empty body, and to have the stack back. Each figure is the best of
//! several rounds in which both take turns, processor time of one thread.

use std::time::Duration;

use clewline_bench::{best, digits, ratio};
use clewline_threads::control::bench::{direct, portable};

const ROUNDS: usize = 15;
const TURNS: u64 = 1_000_000;

fn main() {
    println!("| what | fibers | ours, ns | corosensei, ns | corosensei / ours |");
    println!("|---|---|---|---|---|");
    for fibers in [2, 4, 8, 16] {
        let rounds = TURNS / fibers;
        let (mut ours, mut theirs) =
            (direct::Ring::new(fibers as usize), portable::Ring::new(fibers as usize));
        show(
            "to the root and back",
            fibers,
            [&mut || ours.resume_each(rounds), &mut || theirs.resume_each(rounds)],
        );
        show("to the next one", fibers, [&mut || ours.hand_on(TURNS), &mut || theirs.hand_on(TURNS)]);
        drop((ours, theirs));
        let lives = |begin_and_end: fn(u64)| move || (0..rounds).for_each(|_| begin_and_end(fibers));
        show("a life", fibers, [&mut lives(direct::begin_and_end), &mut lives(portable::begin_and_end)]);
    }
}

fn show(what: &str, fibers: u64, runs: [&mut dyn FnMut(); 2]) {
    let [ours, theirs] = best(ROUNDS, runs);
    let each = |time: Duration| digits(time.as_secs_f64() * 1e9 / TURNS as f64);
    println!("| {what} | {fibers} | {} | {} | {} |", each(ours), each(theirs), ratio(theirs, ours));
}
