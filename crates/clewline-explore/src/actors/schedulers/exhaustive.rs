//! Every schedule, one after the other.
//!
//! Two messages that say the same are two, so schedules are as many as there are paths through the system.

use std::ops::ControlFlow;

use super::{Entry, Settings};
use crate::actors::{Coverage, Flow, Tally, Walk};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "exhaustive",
    about: "every schedule",
    is_exhaustive: true,
    explore: |walk, _: &Settings, tally| explore(walk, tally),
};

fn explore(walk: &mut Walk, tally: &mut Tally<'_>) -> Flow {
    // For each node on the way here: which of what is enabled there is to be tried next.
    let mut next = vec![first(walk, tally)?];
    while let Some(at) = next.last_mut() {
        if *at < walk.enabled().len() {
            *at += 1;
            walk.take(*at - 1);
            next.push(first(walk, tally)?);
        } else {
            next.pop();
            if !next.is_empty() {
                walk.back();
            }
        }
    }
    ControlFlow::Continue(())
}

fn first(walk: &Walk, tally: &mut Tally<'_>) -> ControlFlow<Coverage, usize> {
    ControlFlow::Continue(if tally.is_end(walk)? { usize::MAX } else { 0 })
}
