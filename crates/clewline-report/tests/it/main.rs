//! Requirements of this crate on formats and reports.

#![allow(clippy::unwrap_used, reason = "in a test, that is what it is for")]

mod conformance;
mod data;
mod detect;
mod golden;
mod jepsen;
mod jepsen_log;
mod jsonl;
mod notes;
mod observations;
mod porcupine_kv;
mod support;
mod times;
