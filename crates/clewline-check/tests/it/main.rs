//! What every checker must satisfy. One binary, one module for each concern.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod abstraction;
mod agreement;
mod budgets;
mod capacities;
mod counterexamples;
mod criteria;
mod dead_ends;
mod definition;
mod empty_moments;
mod failure_point;
mod grow_only_set;
mod hints;
mod histories;
mod judging;
mod late_pushes;
mod limits;
mod may_fail;
mod monitor_counting;
mod monitor_overtaking;
mod monitor_priority_queue;
mod monitor_quasi_queue;
mod monitor_queue;
mod monitor_register;
mod monitor_stack;
mod monitor_verdicts;
mod monitors;
mod pending;
mod pushdown;
mod quasi;
mod queue_oriented;
mod queues;
mod relaxed;
mod relaxed_pushdown;
#[cfg(feature = "sat")]
mod sat;
mod stuck;
mod texts;
mod two_frontiers;
mod undoing;
mod values;
