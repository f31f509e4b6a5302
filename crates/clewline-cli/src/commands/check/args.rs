//! The arguments of `clewline check`.

use std::{path::PathBuf, time::Duration};

use clewline_check::checkers;
use clewline_report::formats;

use crate::commands::{drawings::Drawings, output::Output, summaries::Summaries, units};

/// Judge recorded histories: did the object behave as if its operations happened one at a time?
///
/// A history is a record of what several processes called and what they were told, with times. It is judged
/// against a specification, which says what the object does when one process uses it. The verdict is `holds`
/// if some order of the operations explains every answer, each operation happening at one moment between its
/// call and its return; `violated` if no order does; and `unknown` if a limit was hit before that was clear.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// The histories; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// What the object should do; `clewline specs` lists what there is
    #[arg(long, value_name = "NAME")]
    pub(super) spec: String,

    // Documented from the table of formats.
    #[arg(long, value_name = "FORMAT", default_value = "auto", help = "The format of the files", long_help = input_help())]
    pub(super) input: String,

    /// Jepsen values are [key value] pairs, each key an object of its own
    #[arg(long)]
    pub(super) keyed: bool,

    // Documented from the table of searches.
    #[arg(long, value_name = "NAME", default_value = "auto", help = "Who decides", long_help = algorithm_help())]
    pub(super) algorithm: String,

    /// Judge quasi linearizability: by how many places which operations may be out of order
    ///
    /// As in deq=2; enq=0,deq=2; all=1, for all operations together; deq=?, for the least factor that is enough.
    #[arg(long, value_name = "METHOD=K,…")]
    pub(super) quasi: Option<String>,

    /// What out of order means: relaxed or displacement [default: relaxed where there is such a specification]
    ///
    /// relaxed: a removal may pass over K elements, and an element may be passed K times; real-time order is kept. For
    /// queues, stacks and priority queues. displacement: places in an order that real time allows, and in one that
    /// the specification allows, differ by at most K.
    #[arg(long, value_name = "READING", requires = "quasi")]
    pub(super) reading: Option<String>,

    /// Give up on a file after this long, as in 500ms, 10s, 1m30s [default: never]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub(super) timeout: Option<Duration>,

    /// Give up on a file beyond this much memory, as in 512MiB, 4GiB [default: most of what is free]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(super) memory: Option<usize>,

    /// How many threads may work at once [default: one a processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,

    /// Show an order of the operations that explains every answer, if there is one
    #[arg(long)]
    pub(super) witness: bool,

    /// The lines of standard input come in the order of calls, so a violation can be told at once
    ///
    /// Standard input is judged as it comes, and only what may still matter is held. Lines that are events are in
    /// order anyway. Lines that are operations need not be, and if one comes too late a violation may turn out to be
    /// none; so unless this is said, it is told when the input ends.
    #[arg(long)]
    pub(super) ordered: bool,

    /// How to write verdicts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Output,

    #[command(flatten)]
    pub(super) drawings: Drawings,

    #[command(flatten)]
    pub(super) summaries: Summaries,
}

const EXAMPLES: &str = "\
Examples:
  clewline check recorded.jsonl --spec queue
  clewline check runs/*.jsonl --spec map --timeout 30s --format json
  clewline check etcd.log --spec cas-register --algorithm jit-graph+wg-graph
  clewline check k-fifo.jsonl --spec queue --quasi deq=?
  clewline generate --spec stack --violate swap | clewline check - --spec stack
  tail -n +1 -f live.jsonl | clewline check - --spec queue
  clewline check recorded.jsonl --spec queue --html report.html
  clewline check runs/*.jsonl --spec map --html runs.html --junit runs.xml

Exit codes: 0 all hold, 1 one is violated, 2 bad usage or unreadable input, 3 unknown (and nothing violated).";

fn input_help() -> String {
    let mut help = "The format of the files:\n  auto: what the file looks like".to_owned();
    for format in &formats::FORMATS {
        help.push_str(&format!("\n  {}: {}", format.name(), format.about()));
    }
    help
}

fn algorithm_help() -> String {
    let mut help = "Who decides:\n  auto: what suits the history".to_owned();
    for checker in checkers() {
        help.push_str(&format!("\n  {}: {}", checker.name(), checker.about()));
    }
    help.push_str("\n  A+B: A and B in competition; the first to know answers");
    help
}
