//! End-to-end tests of the binary and the library.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod actors;
mod around;
mod arrows;
mod browser;
mod causes;
mod check;
mod columns;
mod convert;
mod corpus;
#[cfg(feature = "crates")]
mod crates;
mod drawn;
mod edges;
mod explore;
mod foreign;
mod generate;
mod hostile;
mod html;
mod interrupts;
mod kills;
mod library;
mod limits;
mod line_up;
mod line_up_hard;
mod line_up_rules;
mod macros;
mod manual;
mod may_fail;
mod other;
mod outputs;
mod pages;
mod planted;
mod presenting;
mod probes;
mod proposals;
mod quasi;
mod recorded;
mod regressions;
mod reproduce;
mod roles;
mod round_up;
mod run;
mod rust_races;
mod shards;
mod silent;
mod streaming;
mod stress;
mod stress_report;
mod summaries;
mod tidy;
mod ties;
mod unmodified;
mod values;
mod widths;
