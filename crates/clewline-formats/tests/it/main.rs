//! Requirements of this crate on formats.

#![allow(clippy::unwrap_used, reason = "in a test, that is what it is for")]

mod conformance;
mod crashes;
mod data;
mod detect;
mod etcd;
mod jepsen;
mod jepsen_json;
mod jepsen_log;
mod jsonl;
mod notes;
mod observations;
mod otlp;
mod otlp_proto;
mod porcupine_kv;
mod support;
mod tables;
mod times;
