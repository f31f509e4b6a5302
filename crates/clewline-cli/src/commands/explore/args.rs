//! The arguments of `clewline explore`.

use std::{path::PathBuf, time::Duration};

use clewline_core::ParseError;
use clewline_explore::schedulers::SCHEDULERS;

use crate::commands::{
    bounds::{BoundFlags, OfThreads},
    drawings::Drawings,
    generate,
    output::Output,
    summaries::Summaries,
    units,
};

/// Explore a subject under every interleaving of a few calls
///
/// First the calls are made one at a time, in every order: what the subject does then is taken for right, so that nobody
/// has to write a specification. Then they are made at the same time, under every schedule within a bound, and every history
/// that is seen needs a serial one with the same answers; a call that waits for ever must wait there, too. The first matrix
/// in which something is wrong is made as small as can be, and shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// What to explore; `clewline subjects` lists what there is
    #[arg(value_name = "SUBJECT")]
    pub(super) subject: String,

    /// The calls: columns run at the same time, as in "push(1) pop | push(2) pop" [default: random matrices]
    #[arg(long, value_name = "CALLS | …", conflicts_with_all = ["rows", "columns", "samples", "auto"])]
    pub(super) matrix: Option<String>,

    /// Calls that are made before all others
    #[arg(long, value_name = "CALLS", default_value = "", hide_default_value = true)]
    pub(super) initial: String,

    /// Calls that are made after all others
    #[arg(long = "final", value_name = "CALLS", default_value = "", hide_default_value = true)]
    pub(super) last: String,

    /// How many calls are in a column of a random matrix [default: 3]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) rows: Option<usize>,

    /// How many columns a random matrix has: threads [default: 3]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) columns: Option<usize>,

    /// How many random matrices are checked [default: 100]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) samples: Option<usize>,

    /// Check all matrices of the first n calls with n columns and rows, for n = 1, 2, … up to N
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "3",
        value_parser = generate::at_least_one,
        conflicts_with_all = ["rows", "columns", "samples"]
    )]
    pub(super) auto: Option<usize>,

    /// What matrices are made of, as in "push(1), push(2), pop" [default: what suits the subject]
    #[arg(long, value_name = "CALL, …")]
    pub(super) invocations: Option<String>,

    /// Calls that are always made one after the other, as one entry of a matrix; may be given several times
    #[arg(long, value_name = "CALLS")]
    pub(super) sequence: Vec<String>,

    /// What everything random follows from [default: a new one]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    #[command(flatten)]
    pub(super) bounds: BoundFlags<OfThreads>,

    /// Who picks the schedules; `--help` lists who can
    #[arg(long, value_name = "NAME", default_value = "bounded", long_help = schedulers())]
    pub(super) scheduler: String,

    /// What is right: what the subject does one call at a time, or a specification that `clewline specs` lists
    #[arg(long, value_name = "serial|NAME", default_value = "serial")]
    pub(super) spec: String,

    /// What is right is what another subject does one call at a time
    #[arg(long, value_name = "SUBJECT", conflicts_with = "spec")]
    pub(super) golden: Option<String>,

    /// How far out of order answers may be: `deq=2`, `enq=0,deq=2`, `all=1`; `deq=?` finds out
    #[arg(long, value_name = "METHOD=N, …", conflicts_with_all = ["from_observations", "observations"])]
    pub(super) quasi: Option<String>,

    /// What that means: `relaxed` (the specification lets values be overtaken) or `displacement` (calls change places)
    #[arg(long, value_name = "READING", requires = "quasi")]
    pub(super) reading: Option<String>,

    /// Take matrices that do not take out as much as they put in, with calls that change places
    #[arg(long, value_name = "forbid|allow", default_value = "forbid", value_parser = ["forbid", "allow"])]
    pub(super) ill_formed: String,

    /// Let the subject answer now this and now that, one call at a time
    #[arg(long, value_name = "forbid|allow", default_value = "forbid", value_parser = nondeterminism)]
    pub(super) nondeterminism: Nondeterminism,

    /// Run one execution again, that a report names
    #[arg(long, value_name = "TOKEN", requires = "matrix")]
    pub(super) replay: Option<String>,

    /// How many matrices are checked at once [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) jobs: Option<usize>,

    /// Stop each phase of a matrix after so many executions [default: 20,000,000; random schedulers: 10,000]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) executions: Option<usize>,

    /// Stop after so long
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub(super) timeout: Option<Duration>,

    /// What loads may see: `sc`, `tso` (stores wait in buffers, as on x86) or `release-acquire` (as Rust says, but for the future)
    #[arg(long, value_name = "MODEL", default_value = "sc", value_parser = ["sc", "tso", "release-acquire"])]
    pub(super) memory: String,

    /// Look for data races from the start, and not only once a cell is accessed
    #[arg(long)]
    pub(super) races: bool,

    /// Let `compare_exchange_weak` fail for no reason, once in each operation and place
    #[arg(long)]
    pub(super) weak_failures: bool,

    /// Let each thread wake up for no reason so many times, from a condition variable or `park`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) spurious: u32,

    /// Cut an execution after so many steps
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) steps: u32,

    /// Whether a matrix that fails is made smaller
    #[arg(long, value_name = "auto|none", default_value = "auto", value_parser = shrinking)]
    pub(super) shrink: Shrinking,

    /// Go on after the first matrix that fails
    #[arg(long)]
    pub(super) all: bool,

    /// Count executions that are not conflict-serializable, too, which many right subjects have
    #[arg(long)]
    pub(super) serializability: bool,

    /// Show every step of an interleaving
    #[arg(long)]
    pub(super) full: bool,

    /// Write what the subject does one call at a time to a file
    #[arg(long, value_name = "FILE", requires = "matrix")]
    pub(super) observations: Option<PathBuf>,

    /// Read such a file instead of making the calls one at a time
    #[arg(long, value_name = "FILE", requires = "matrix", conflicts_with_all = ["spec", "golden"])]
    pub(super) from_observations: Option<PathBuf>,

    /// Write the history that has no witness to a file, in the same notation
    #[arg(long, value_name = "FILE")]
    pub(super) violation: Option<PathBuf>,

    /// How to write the outcome
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Output,

    #[command(flatten)]
    pub(super) drawings: Drawings,

    #[command(flatten)]
    pub(super) summaries: Summaries,
}

const EXAMPLES: &str = "\
Examples:
  clewline explore treiber-stack
  clewline explore manual-reset-event:pre --matrix \"wait | set reset set\"
  clewline explore ms-queue --rows 2 --columns 2 --scheduler dpor
  clewline explore treiber-stack --auto 2 --invocations \"push(1), pop\"
  clewline explore quasi-queue --quasi deq=?
  clewline explore manual-reset-event:pre --html report.html

Exit codes: 0 no violation found, 1 violated, 2 bad usage, 3 unknown (and nothing violated).";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nondeterminism {
    Forbid,
    Allow,
}

pub(super) fn nondeterminism(text: &str) -> Result<Nondeterminism, ParseError> {
    match text {
        "forbid" => Ok(Nondeterminism::Forbid),
        "allow" => Ok(Nondeterminism::Allow),
        _ => Err(ParseError::new("`forbid` or `allow`", text)),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shrinking {
    Auto,
    None,
}

pub(super) fn shrinking(text: &str) -> Result<Shrinking, ParseError> {
    match text {
        "auto" => Ok(Shrinking::Auto),
        "none" => Ok(Shrinking::None),
        _ => Err(ParseError::new("`auto` or `none`", text)),
    }
}

/// Who can pick the schedules, one a line.
pub(super) fn schedulers() -> String {
    let width = SCHEDULERS.iter().map(|it| it.name.len()).max().unwrap_or(0);
    let line = |it: &clewline_explore::schedulers::Entry| format!("\n  {:width$}  {}", it.name, it.about);
    format!("Who picks the schedules:{}", SCHEDULERS.iter().map(line).collect::<String>())
}
