//! Checkers: they take a problem and return a verdict with evidence.

mod auto;
mod by_monitor;
mod checkers;
mod competition;
mod criteria;
mod decided_by;
mod failure;
mod holds_if;
mod judge;
mod minimize;
mod options;
pub mod relaxed;
mod stream;

pub use by_monitor::ByMonitor;
pub use checkers::checkers;
pub use clewline_search::{self as search, Checker, check};
pub use competition::compete;
pub use criteria::judge_by;
pub use decided_by::DecidedBy;
pub use failure::{Stuck, dead_ends, failure_point, stuck};
pub use holds_if::{has_effect, judge_history, looks_like_failure};
pub use judge::{Judgement, judge, parts};
pub use options::{Algorithm, JudgeOptions, PartsJudged, Selection};
pub use stream::{Compaction, StreamState};
