//! Requirements of this crate on formats and reports.

#![allow(clippy::unwrap_used, reason = "in a test, that is what it is for")]

mod conformance;
mod crashes;
mod data;
mod detect;
mod differential;
mod etcd;
mod golden;
#[allow(dead_code, reason = "others are for checkers")]
#[path = "../../../clewline-check/tests/it/histories.rs"]
mod histories;
mod jepsen;
mod jepsen_json;
mod jepsen_log;
mod jsonl;
mod notes;
mod observations;
mod otlp;
mod porcupine_kv;
mod support;
mod tables;
mod times;
