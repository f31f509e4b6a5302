//! Judging whole cases: objects and keys apart, parts in parallel, and a core for every violation.

use clewline_core::{Budget, Problem, Verdict};

/// How to judge.
#[derive(Clone, Debug)]
pub struct Options {
    /// `auto`, the name of a checker, or several joined by `+` for a competition.
    pub algorithm: String,
    /// How many threads may work at once.
    pub jobs: usize,
    /// What may be spent.
    pub budget: Budget,
}

impl Default for Options {
    fn default() -> Self {
        Options { algorithm: "auto".to_owned(), jobs: 1, budget: Budget::unlimited() }
    }
}

/// A verdict on a whole history, and how it was reached.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The verdict; its witness or core names operations of all objects.
    pub verdict: Verdict,
    /// How many independent parts (objects, and keys of each) were judged apart.
    pub parts: usize,
    /// What decided it: the checker, or those that were used.
    pub algorithm: String,
    /// How many configurations were visited in all.
    pub configurations: u64,
}

/// Judges the problems of one history; one for each object.
///
/// # Errors
///
/// If `options.algorithm` names no checker.
pub fn judge(problems: Vec<Problem<'_>>, options: &Options) -> Result<Judgement, String> {
    let _ = (problems, options);
    Err("not built yet".to_owned())
}
