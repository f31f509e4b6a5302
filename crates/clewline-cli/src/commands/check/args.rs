//! The arguments of `clewline check`.

use std::{path::PathBuf, time::Duration};

use clewline_check::checkers;
use clewline_core::{Criterion, MayFail};
use clewline_formats::formats;

use crate::commands::{
    drawings::Drawings,
    journal::JournalFlag,
    known::KnownFlags,
    output::Output,
    shard::{Shard, ShardFlags},
    summaries::Summaries,
    units::{self, Passes},
};

/// Check recorded histories for linearizability
///
/// A history contains the invocations and responses of concurrent operations. It is checked against
/// a sequential specification. The verdict is `holds` if a linearization exists: a sequential order
/// of the operations that respects real-time order and in which the specification permits every
/// result. It is `violated` if no linearization exists, and `unknown` if a limit (time, memory) was
/// reached first.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// History files to check; `-` is standard input. A pattern in quotes ('run/*.jsonl') is one
    /// history, of all files that match
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Sequential specification to check against; `clewline specs` lists them; or a Starlark file
    #[arg(long, value_name = "NAME|FILE.star")]
    pub(super) spec: String,

    // Documented from the table of formats.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "auto",
        help = "Format of the history files",
        long_help = input_format_help()
    )]
    pub(super) input_format: String,

    /// Treat Jepsen values as [key value] pairs; each key is a separate object
    #[arg(long)]
    pub(super) keyed: bool,

    #[command(flatten)]
    pub(super) known: KnownFlags,

    // Documented from the table of searches.
    #[arg(long, value_name = "NAME", default_value = "auto", help = "Checking algorithm", long_help = algorithm_help())]
    pub(super) algorithm: String,

    // Documented from the table of criteria.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "linearizable",
        value_parser = str::parse::<Criterion>,
        help = "Correctness criterion",
        long_help = criterion_help()
    )]
    pub(super) criterion: Criterion,

    /// Check quasi-linearizability with these factors: how far each method may be out of order
    ///
    /// Examples: deq=2; enq=0,deq=2; all=1 (all methods together); deq=? (find the smallest
    /// factor).
    #[arg(long, value_name = "METHOD=K,…")]
    pub(super) quasi: Option<String>,

    /// Definition of "out of order": relaxed or displacement [default: relaxed if the specification
    /// has a relaxed version]
    ///
    /// relaxed: a removal may skip up to K elements, and an element may be skipped up to K times;
    /// real-time order is kept (queues, stacks, priority queues). displacement: the position of an
    /// operation in an order that respects real time and its position in a legal sequential history
    /// differ by at most K.
    #[arg(long, value_name = "READING", requires = "quasi")]
    pub(super) reading: Option<String>,

    /// Results that operations may return with no effect while another operation overlaps, for
    /// example deq=null,enq=false; `:always` after a result: at any time
    ///
    /// For structures that may report "full", "empty" or "retry" while an operation is in flight.
    /// The result is written as reports write it; `*` in it stands for any text: push=Err(*).
    #[arg(long, value_name = "METHOD=RESULT,…", value_parser = str::parse::<MayFail>, conflicts_with = "quasi")]
    pub(super) may_fail: Option<MayFail>,

    /// Time limit per file, for example 500ms, 10s, 1m30s [default: none]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub(super) timeout: Option<Duration>,

    /// Memory limit per file, for example 512MiB, 4GiB [default: most of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(super) memory: Option<usize>,

    /// Number of worker threads [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,

    /// Read each file N times, and judge a share of its objects each time: the memory is divided by
    /// N. `auto`: as often as its size requires
    ///
    /// For JSON lines, Parquet and Arrow files in which operations name their objects, or are on
    /// keys of a map or a multiset.
    #[arg(long, value_name = "N|auto", default_value = "1", hide_default_value = true)]
    pub(super) passes: Passes,

    /// Show a linearization (the witness), if one exists
    #[arg(long)]
    pub(super) witness: bool,

    /// Stop at the first violated object or key; without this flag all of them are reported, but
    /// standard input is read only until a violation is certain
    #[arg(long)]
    pub(super) stop_at_first: bool,

    /// Standard input is sorted by invocation time, so report a violation immediately
    ///
    /// Standard input is checked while it is read, and only the operations that are still needed
    /// are kept in memory. Events are always in order. Operations (one per line) may be out of
    /// order: a late line can change the verdict. Without this flag a violation in such input is
    /// therefore reported only at the end of the input.
    #[arg(long)]
    pub(super) ordered: bool,

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
    /// The share of the work to do, if it is not all.
    pub(in crate::commands) fn shard(&self) -> Option<Shard> {
        self.shard.shard
    }
}

const EXAMPLES: &str = "\
Examples:
  clewline check recorded.jsonl --spec queue
  clewline check runs/*.jsonl --spec map --timeout 30s --format json
  clewline check 'run/*.jsonl' --spec map
  clewline check 'run/*.parquet' --spec map --passes auto
  clewline check etcd.log --spec cas-register --algorithm jit-graph+wg-graph
  clewline check k-fifo.jsonl --spec queue --quasi deq=?
  clewline check ring.jsonl --spec queue:8 --may-fail enq=false,deq=null
  clewline check replica.jsonl --spec register --criterion strongest
  clewline generate --spec stack --violate swap | clewline check - --spec stack
  tail -n +1 -f live.jsonl | clewline check - --spec queue
  clewline check recorded.jsonl --spec queue --html report.html
  clewline check runs/*.jsonl --spec map --html runs.html --junit runs.xml

Exit codes: 0 all histories hold, 1 a violation, 2 invalid arguments or unreadable input, 3 unknown\n(a limit was reached, and no violation).";

fn input_format_help() -> String {
    let mut help = "Format of the history files:\n  auto: detect the format".to_owned();
    for format in &formats::FORMATS {
        help.push_str(&format!("\n  {}: {}", format.name(), format.about()));
    }
    help
}

fn criterion_help() -> String {
    "Correctness criterion:\n  \
     linearizable: each operation takes effect between its call and its return\n  \
     strict: linearizable, and an interrupted operation takes effect before the crash, or never\n  \
     durable: linearizable without the crashes; an interrupted operation may take effect later\n  \
     buffered-durable: the last operations before a crash may be lost\n  \
     sequential: one order of all operations that keeps the order of each process\n  \
     regular: a read returns the last value written before it, or one being written\n  \
     strongest: find the strongest of these that holds"
        .to_owned()
}

fn algorithm_help() -> String {
    let mut help = "Checking algorithm:\n  auto: choose by specification and history".to_owned();
    for checker in checkers() {
        help.push_str(&format!("\n  {}: {}", checker.name(), checker.about()));
    }
    help.push_str("\n  A+B: run A and B in parallel; the first verdict counts");
    help
}
