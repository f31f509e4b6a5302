//! A scheduler of messages that delivers the newest message first: one schedule.

use std::ops::ControlFlow;

use clewline_actors::{
    Execution, Flow, Statistics,
    schedulers::{MessageScheduler, MessageSchedulerEntry, Soundness},
};

/// The entry in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "newest-first",
    about: "the message that was sent last, every time: one schedule",
    is_exhaustive: false,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |_settings| Box::new(NewestFirst),
};

struct NewestFirst;

impl MessageScheduler for NewestFirst {
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        execution.rewind();
        while !statistics.is_end(execution)? {
            execution.take(execution.enabled().len() - 1);
        }
        // There are other schedules, which it leaves out.
        statistics.is_bounded = true;
        ControlFlow::Continue(())
    }
}
