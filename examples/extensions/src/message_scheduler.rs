//! A scheduler of messages that lets the newest one arrive first: one schedule.

use std::ops::ControlFlow;

use clewline_actors::{Coverage, schedulers::Entry};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "newest-first",
    about: "the message that was sent last, every time: one schedule",
    is_exhaustive: false,
    explore: |walk, _settings, tally| {
        walk.rewind();
        while !tally.is_end(walk)? {
            walk.take(walk.enabled().len() - 1);
        }
        // To go on instead would say that nothing is left to see.
        ControlFlow::Break(Coverage::Schedules(1))
    },
};
