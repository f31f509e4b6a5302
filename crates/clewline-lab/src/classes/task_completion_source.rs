//! The producer's side of a task: it ends once, with a result, an exception, or canceled, and
//! others wait for that.
//!
//! An operation that ends the task reserves it by compare-and-swap, writes the outcome, and then
//! publishes that it has ended. A later operation returns that it is too late, but only once the
//! task has ended: otherwise its caller could still find that it has not.
//!
//! **pre** (root cause F) checks whether the task is reserved, and then reserves it, in two steps:
//! two operations may end it. **beta** (root cause G) does not wait for the operation that came
//! first.

use clewline_matrix::{Component, Explorable};
use clewline_methods::line_up::Cause;
use clewline_threads::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

use super::manual_reset_event::Event;
use crate::class::{Class, ClassVariant, Flaw};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "task-completion-source",
    about: "a task that ends once: with a result, an exception, or canceled",
    source: "TaskCompletionSource of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[
        ClassVariant { name: "", flaw: None, build: || component(Reserving::ByOneSwap, TooLate::Waits) },
        ClassVariant {
            name: "pre",
            flaw: Some(Flaw {
                letter: 'F',
                about: "whether the task is reserved is read in one step and written in another, and two may end it",
                cause: Cause::NotLinearizable,
                matrix: "try-set-canceled | try-set-result(10)",
                initial: "",
            }),
            build: || component(Reserving::InTwoSteps, TooLate::Waits),
        },
        ClassVariant {
            name: "beta",
            flaw: Some(Flaw {
                letter: 'G',
                about: "a call that is too late to end the task returns before the task has ended",
                cause: Cause::NotLinearizable,
                matrix: "try-set-result(10) | try-set-canceled try-result",
                initial: "",
            }),
            build: || component(Reserving::ByOneSwap, TooLate::Returns),
        },
    ],
};

/// How an operation reserves the task.
#[derive(Clone, Copy)]
enum Reserving {
    ByOneSwap,
    InTwoSteps,
}

/// What an operation does that finds the task reserved.
#[derive(Clone, Copy)]
enum TooLate {
    Waits,
    Returns,
}

struct Source {
    state: AtomicU32,
    result: AtomicU32,
    ended: Event,
    reserving: Reserving,
    too_late: TooLate,
}

// What the state may be, in the order in which it may change: the last three are ends.
const OPEN: u32 = 0;
const RESERVED: u32 = 1;
const RESULT: u32 = 2;
const EXCEPTION: u32 = 3;
const CANCELED: u32 = 4;

/// What a task ended with, other than a result.
#[derive(Debug)]
enum Failed {
    Exception(u32),
    Canceled,
}

/// It had ended before.
#[derive(Debug)]
struct AlreadyEnded;

impl Source {
    fn new(reserving: Reserving, too_late: TooLate) -> Self {
        Source {
            state: AtomicU32::new(OPEN),
            result: AtomicU32::new(0),
            ended: Event::new(),
            reserving,
            too_late,
        }
    }

    fn try_reserve(&self) -> bool {
        match self.reserving {
            Reserving::ByOneSwap => self.state.compare_exchange(OPEN, RESERVED, SeqCst, SeqCst).is_ok(),
            Reserving::InTwoSteps => {
                let is_open = self.state.load(SeqCst) == OPEN;
                if is_open {
                    self.state.store(RESERVED, SeqCst);
                }
                is_open
            }
        }
    }

    /// Ends the task, unless another operation does.
    fn try_end(&self, end: u32, result: u32) -> bool {
        let is_mine = self.try_reserve();
        if is_mine {
            self.result.store(result, SeqCst);
            self.state.store(end, SeqCst);
            self.ended.set();
        } else {
            match self.too_late {
                TooLate::Waits => {
                    while self.state.load(SeqCst) == RESERVED {
                        thread::yield_now();
                    }
                }
                TooLate::Returns => (),
            }
        }
        is_mine
    }

    fn end(&self, end: u32, result: u32) -> Result<(), AlreadyEnded> {
        if self.try_end(end, result) { Ok(()) } else { Err(AlreadyEnded) }
    }

    /// What it ended with, if it has.
    fn outcome(&self) -> Option<Result<u32, Failed>> {
        match self.state.load(SeqCst) {
            RESULT => Some(Ok(self.result.load(SeqCst))),
            EXCEPTION => Some(Err(Failed::Exception(self.result.load(SeqCst)))),
            CANCELED => Some(Err(Failed::Canceled)),
            _ => None,
        }
    }

    fn exception(&self) -> Option<u32> {
        match self.outcome()? {
            Err(Failed::Exception(number)) => Some(number),
            Err(Failed::Canceled) | Ok(_) => None,
        }
    }

    fn try_result(&self) -> Option<u32> {
        self.outcome()?.ok()
    }

    fn wait(&self) -> Result<u32, Failed> {
        loop {
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            self.ended.wait();
        }
    }
}

fn component(reserving: Reserving, too_late: TooLate) -> Box<dyn Explorable> {
    let component = Component::new(move || Source::new(reserving, too_late));
    Box::new(
        component
            .call("exception", Source::exception)
            .call("try-set-canceled", |it| it.try_end(CANCELED, 0))
            .call("try-set-exception(30)", |it| it.try_end(EXCEPTION, 30))
            .call("try-set-result(10)", |it| it.try_end(RESULT, 10))
            .call("set-canceled", |it| it.end(CANCELED, 0))
            .call("set-exception(40)", |it| it.end(EXCEPTION, 40))
            .call("set-result(20)", |it| it.end(RESULT, 20))
            .call("wait", Source::wait)
            .call("try-result", Source::try_result),
    )
}
