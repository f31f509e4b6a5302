//! The arguments of `clewline explore`.

use std::{path::PathBuf, time::Duration};

use clewline_core::{MayFail, ParseError};
use clewline_explore::schedulers::SCHEDULERS;
use clewline_methods::relaxed::Matrices;
use clewline_threads::control::MemoryModel;

use crate::commands::{
    bounds::{BoundFlags, OfThreads},
    drawings::Drawings,
    generate,
    journal::JournalFlag,
    output::{Output, check_outputs},
    shard::ShardFlags,
    status::Failure,
    summaries::Summaries,
    units::{self, AtMost, Shrink},
};

/// The default of `--steps`.
pub(super) const STEPS_MAX: u32 = 20_000;

/// The default of `--stale-reads` for unmodified code.
pub(super) const STALE_READS_MAX: u32 = 2;

/// Explore every interleaving of a few calls (Line-Up)
///
/// Phase 1 runs the calls sequentially, in every order. The serial histories of phase 1 are the
/// reference, so no specification is needed. Phase 2 runs the calls concurrently, under every
/// schedule within the bound. Every concurrent history must have a serial history with the same
/// results that respects real-time order; a call that blocks in phase 2 must also block there. The
/// first failing matrix is shrunk and shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// Subject to explore; `clewline subjects` lists them
    #[arg(value_name = "SUBJECT")]
    pub(super) subject: String,

    /// Test matrix: the calls of each thread, separated by |, for example "push(1) pop | push(2)
    /// pop" [default: random matrices]
    #[arg(long, value_name = "CALLS | …", conflicts_with_all = ["threads", "operations", "samples", "auto"])]
    pub(super) matrix: Option<String>,

    /// Initial calls, executed before the threads start
    #[arg(long, value_name = "CALLS", default_value = "", hide_default_value = true)]
    pub(super) initial: String,

    /// Final calls, executed after all threads have ended
    #[arg(long = "final", value_name = "CALLS", default_value = "", hide_default_value = true)]
    pub(super) final_calls: String,

    /// Number of threads (columns) of a random matrix [default: 3]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) threads: Option<usize>,

    /// Operations per thread (rows) of a random matrix [default: 3]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) operations: Option<usize>,

    /// Number of random matrices [default: 100]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) samples: Option<usize>,

    /// Check all n x n matrices of the first n calls, for n = 1, 2, …, N
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "3",
        value_parser = generate::at_least_one,
        conflicts_with_all = ["threads", "operations", "samples"]
    )]
    pub(super) auto: Option<usize>,

    /// Calls to choose from for generated matrices, for example "push(1), push(2), pop" [default:
    /// depends on the subject]
    #[arg(long, value_name = "CALL, …")]
    pub(super) calls: Option<String>,

    /// Sequence of calls that is used as one entry of generated matrices; may be repeated
    #[arg(long, value_name = "CALLS")]
    pub(super) sequence: Vec<String>,

    /// Random seed [default: a new one]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    #[command(flatten)]
    pub(super) bounds: BoundFlags<OfThreads>,

    /// Scheduler (search strategy); `--help` lists them
    #[arg(long, value_name = "NAME", default_value = "bounded", long_help = schedulers())]
    pub(super) scheduler: String,

    /// Reference: `serial` (serial executions of the subject itself), or a sequential
    /// specification; `clewline specs` lists them; or a Starlark file
    #[arg(long, value_name = "serial|NAME|FILE.star", default_value = "serial")]
    pub(super) spec: String,

    /// Use the serial executions of another subject as reference
    #[arg(long, value_name = "SUBJECT", conflicts_with = "spec")]
    pub(super) golden: Option<String>,

    /// Check quasi-linearizability with these factors: how far each method may be out of order, for
    /// example deq=2; enq=0,deq=2; all=1; deq=? finds the smallest factor
    #[arg(long, value_name = "METHOD=K,…", conflicts_with_all = ["from_observations", "observations"])]
    pub(super) quasi: Option<String>,

    /// Results that operations may return with no effect while another operation overlaps, for
    /// example deq=null,enq=false; `:always` after a result: at any time
    ///
    /// For structures that may report "full", "empty" or "retry" while an operation is in flight.
    /// The result is written as reports write it; `*` in it stands for any text: push=Err(*).
    #[arg(long, value_name = "METHOD=RESULT,…", value_parser = str::parse::<MayFail>, conflicts_with_all = ["quasi", "from_observations"])]
    pub(super) may_fail: Option<MayFail>,

    /// Definition of "out of order": relaxed (a removal may skip elements) or displacement
    /// (operations may be reordered)
    #[arg(long, value_name = "READING", requires = "quasi")]
    pub(super) reading: Option<String>,

    /// How quasi-linearizability is decided: by `search`, or by `enumeration` as in the Round-Up
    /// paper, which looks up permutations among the serial histories (slow; needs --matrix)
    #[arg(long, value_name = "search|enumeration", default_value = "search", value_parser = ["search", "enumeration"])]
    pub(super) judge: String,

    /// Whether matrices may have unequal numbers of insertions and removals, for --reading
    /// displacement
    #[arg(long, value_name = "forbid|allow", default_value = "forbid", value_parser = ["forbid", "allow"])]
    pub(super) ill_formed: String,

    /// Whether serial executions may be nondeterministic
    #[arg(long, value_name = "forbid|allow", default_value = "forbid", value_parser = nondeterminism)]
    pub(super) nondeterminism: Nondeterminism,

    /// Replay the execution with this token; reports print tokens
    #[arg(long, value_name = "TOKEN", requires = "matrix")]
    pub(super) replay: Option<String>,

    /// Number of threads that check matrices, or the schedules of one matrix; the result does not
    /// depend on it [default: number of processors]
    ///
    /// Reductions (`dpor`, `bounded-dpor`, `graph`) use one thread for each matrix. Unmodified code
    /// has one process for each, which explore the schedules of one matrix at a time.
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) jobs: Option<usize>,

    /// Maximum executions per matrix and phase [default: 20,000,000; random schedulers: 10,000]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    pub(super) executions: Option<usize>,

    /// Time limit [default: none]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub(super) timeout: Option<Duration>,

    /// Memory model: sc (sequential consistency), tso (total store order, x86) or rc11 (C++20 and
    /// Rust atomics, without load buffering) [default: sc; unmodified code: sc, then rc11]
    #[arg(long, value_name = "sc|tso|rc11", value_parser = |it: &str| it.parse::<MemoryModel>())]
    pub(super) memory_model: Option<MemoryModel>,

    /// Under rc11, maximum accesses per execution that read a store other than the newest, or that
    /// store before the newest [default: no limit; unmodified code: 2]
    #[arg(long, value_name = "N|none", value_parser = units::at_most)]
    pub(super) stale_reads: Option<AtMost>,

    /// Under tso and rc11, an operation precedes another if it returned earlier in the execution,
    /// even if its return does not happen before the other's call
    #[arg(long)]
    pub(super) real_time: bool,

    /// Detect data races from the start, not only after the first access to an `UnsafeCell`
    #[arg(long)]
    pub(super) races: bool,

    /// Allow spurious failures of `compare_exchange_weak`, once per operation and code location
    #[arg(long)]
    pub(super) weak_failures: bool,

    /// Maximum spurious wakeups per thread, from condition variables and `park`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) spurious: u32,

    /// Maximum steps per execution
    #[arg(long, value_name = "N", default_value_t = STEPS_MAX, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) steps: u32,

    /// Shrink a failing matrix: `auto` (until no smaller one fails), `none`, or for at most this
    /// long
    #[arg(long, value_name = "auto|none|DURATION", default_value = "auto", value_parser = units::shrink)]
    pub(super) shrink: Shrink,

    /// Continue after the first failing matrix
    #[arg(long)]
    pub(super) all: bool,

    /// Also count executions that are not conflict-serializable (correct subjects may have them)
    #[arg(long)]
    pub(super) serializability: bool,

    /// List all histories, with `--format json`; exploration goes on after a violation
    #[arg(long)]
    pub(super) histories: bool,

    /// Show every step of the interleaving
    #[arg(long)]
    pub(super) full: bool,

    /// Write the serial histories (observations) to a file
    #[arg(long, value_name = "FILE", requires = "matrix")]
    pub(super) observations: Option<PathBuf>,

    /// Read the serial histories from a file instead of running phase 1
    #[arg(long, value_name = "FILE", requires = "matrix", conflicts_with_all = ["spec", "golden"])]
    pub(super) from_observations: Option<PathBuf>,

    /// Write the violating history to a file, in the format of --observations
    #[arg(long, value_name = "FILE")]
    pub(super) violation: Option<PathBuf>,

    /// Output format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Output,

    #[command(flatten)]
    pub(super) journal: JournalFlag,

    #[command(flatten)]
    pub(super) shard: ShardFlags,

    #[command(flatten)]
    pub(super) drawings: Drawings,

    #[command(flatten)]
    pub(super) summaries: Summaries,
}

impl Args {
    /// Which matrices are allowed in the displacement reading.
    pub(super) fn matrices(&self) -> Matrices {
        if self.ill_formed == "allow" { Matrices::Any } else { Matrices::WellFormed }
    }

    /// Refuses to write a file that is read: one of `inputs`, or of these arguments.
    pub(in crate::commands) fn check_outputs(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        let own = self.observations.iter().chain(&self.violation).map(PathBuf::as_path);
        let outputs = own.chain(self.drawings.files()).chain(self.summaries.files());
        let outputs = outputs.chain(self.journal.file());
        check_outputs(inputs.iter().chain(&self.from_observations).map(PathBuf::as_path), outputs)
    }
}

const EXAMPLES: &str = "\
Examples:
  clewline explore treiber-stack
  clewline explore manual-reset-event:pre --matrix \"wait | set reset set\"
  clewline explore ms-queue --threads 2 --operations 2 --scheduler dpor
  clewline explore treiber-stack --auto 2 --calls \"push(1), pop\"
  clewline explore quasi-queue --quasi deq=?
  clewline explore quasi-queue:b1 --quasi enq=2,deq=2 --matrix \"enq(3) deq | enq(4) deq\"
  clewline explore manual-reset-event:pre --html report.html

Exit codes: 0 no violation found, 1 violated, 2 invalid arguments, 3 unknown.";

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

/// The list of schedulers, one per line.
pub(super) fn schedulers() -> String {
    let line = |it: &clewline_explore::schedulers::SchedulerEntry| format!("\n  {}: {}", it.name, it.about);
    format!("Scheduler (search strategy):{}", SCHEDULERS.iter().map(line).collect::<String>())
}
