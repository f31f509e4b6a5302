//! What every checker owes. One binary, one module for each concern.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agreement;
mod breaking;
mod budgets;
mod cores;
mod frontier;
mod histories;
mod judging;
mod monitor_counting;
mod monitor_overtaking;
mod monitor_priority_queue;
mod monitor_quasi_queue;
mod monitor_queue;
mod monitor_register;
mod monitor_stack;
mod monitors;
mod partial;
mod plain;
mod quasi;
mod queue_oriented;
mod relaxed;
mod rulings;
mod stuck;
mod texts;
