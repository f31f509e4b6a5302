//! Section 5.6 of the Line-Up paper, as a table: conflict serializability and data races beside the
//! verdicts of Line-Up, class by class.
//!
//! An execution is conflict-serializable if its operations can be ordered such that conflicting
//! accesses are in their order. The same random matrices as for Table 2 are explored twice: once
//! for verdicts and conflict serializability, of every execution; once for data races.

use std::ops::ControlFlow;

use clewline_core::{Verdict, parallel};
use clewline_report::render::table::{Cell, Column, ReportTable};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, caution, figures},
    line_up_table_2::{Line, Plan, drawn, lines, options_of, variant},
};
use crate::explorable::FoundExplorable;
use clewline_methods::line_up::{Cause, Checked, LineUpOptions, check_all};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "line-up-comparisons",
    about: "conflict serializability and data races beside the verdicts of Line-Up, class by class",
    paper: "S. Burckhardt, C. Dern, M. Musuvathi, R. Tan, Line-Up: A Complete and Automatic Linearizability Checker, PLDI 2010, \
            Section 5.6",
    form: Form::Table,
    run,
};

/// The paper's reasons why a class has executions that are not conflict-serializable, by class or
/// subject.
const REASONS: [(&str, &str); 5] = [
    ("concurrent-stack", "1: a failed CAS is retried"),
    ("concurrent-queue", "1: a failed CAS is retried"),
    ("semaphore-slim", "2: a check before locking, for speed"),
    ("cancellation-token-source", "3: a comparison that commutes"),
    ("concurrent-bag:any", "4: a list is made when it is first needed"),
];

const COLUMNS: [Column; 9] = [
    Column { key: "subject", heading: "subject" },
    Column { key: "root_cause", heading: "cause" },
    Column { key: "matrices", heading: "matrices" },
    Column { key: "violated", heading: "Line-Up" },
    Column { key: "unserializable", heading: "not serializable" },
    Column { key: "false_alarms", heading: "but holds" },
    Column { key: "missed", heading: "missed" },
    Column { key: "races", heading: "races" },
    Column { key: "paper_reason", heading: "reason, paper" },
];

const NOTES: [&str; 4] = [
    "Of the random matrices of each subject: how many Line-Up finds violated; how many have an execution that is not conflict-serializable; \
     how many of those hold (false alarms of that criterion); how many violated ones have none (missed by it); and how many have a data race.",
    "The paper gives no figures here. It reports hundreds of warnings about conflict serializability, of which the first ten were false alarms, \
     with four reasons; and a low number of data races, all benign, left where C# has no volatile elements.",
    "Our classes are in Rust, in which a data race does not compile without unsafe code: what they share is a lock, an atomic, or behind a lock. \
     So there are none, which agrees with the paper's remark that declarations avoid races and prohibit no mistake in the logic.",
    "An execution that is cut at the first violation leaves others unseen, so that `missed` is of the executions until then.",
];

/// How many matrices there are of each kind.
#[derive(Default)]
struct Compared {
    matrices: u64,
    violated: u64,
    unserializable: u64,
    false_alarms: u64,
    missed: u64,
    races: u64,
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let lines = lines();
    let mut rows = Vec::with_capacity(lines.len());
    for (done, line) in lines.iter().enumerate() {
        let step = Step { done, of: lines.len(), what: line.row.paper };
        let row = figures(progress, step, || cells(line, options));
        progress.row(&COLUMNS, &row);
        rows.push(row);
    }
    let title =
        "Line-Up, conflict serializability and data races (Burckhardt et al. 2010, Section 5.6)".to_owned();
    let notes = NOTES.map(str::to_owned).into_iter().chain(caution()).collect();
    Outcome { table: ReportTable { title, columns: COLUMNS.to_vec(), rows, notes }, plots: Vec::new() }
}

fn cells(line: &Line, options: &Options) -> Vec<Cell> {
    let found = variant(line.row, line.cause.map(|it| it.0));
    let text = |it: Option<String>| it.map_or(Cell::Missing, Cell::Text);
    let Some((class, variant)) = found else { return COLUMNS.map(|_| Cell::Missing).into() };
    let compared = compare(line, options);
    let counts = [
        compared.matrices,
        compared.violated,
        compared.unserializable,
        compared.false_alarms,
        compared.missed,
        compared.races,
    ];
    let name = FoundExplorable::Class(class, variant).name();
    let reason = REASONS.into_iter().find(|it| it.0 == class.name || it.0 == name);
    let mut cells = vec![Cell::Text(name), text(line.cause.map(|it| it.0.to_string()))];
    cells.extend(counts.map(Cell::Count));
    cells.push(text(reason.map(|it| it.1.to_owned())));
    cells
}

fn compare(line: &Line, options: &Options) -> Compared {
    let mut compared = Compared::default();
    let Some((_, variant)) = variant(line.row, line.cause.map(|it| it.0)) else { return compared };
    let plan = plan(options.size);
    let serial = LineUpOptions { counts_unserializable: true, ..options_of(line.row, &plan) };
    let mut races = options_of(line.row, &plan);
    races.memory.races = true;
    let subject = (variant.build)();
    let all = |options: &LineUpOptions, seed: u64, visit: &mut dyn FnMut(Checked)| {
        let mut visit = |checked: Checked| {
            visit(checked);
            ControlFlow::Continue(())
        };
        let drawn = drawn(&*subject, &plan, seed);
        check_all(&*subject, &mut drawn.matrices(), options, parallel::jobs_available(), &mut visit)
            .expect("a class knows what it says can be called");
    };
    all(&serial, options.seed, &mut |checked| {
        let is_violated = matches!(checked.verdict, Verdict::Violated(_));
        let is_unserializable = checked.unserializable.as_ref().is_some_and(|it| 0 < it.executions);
        compared.matrices += 1;
        compared.violated += u64::from(is_violated);
        compared.unserializable += u64::from(is_unserializable);
        compared.false_alarms += u64::from(is_unserializable && !is_violated);
        compared.missed += u64::from(!is_unserializable && is_violated);
    });
    let mut races_found = 0;
    all(&races, options.seed, &mut |checked| {
        let is_race = checked.finding().is_some_and(|it| it.cause == Cause::DataRace);
        races_found += u64::from(is_race);
    });
    Compared { races: races_found, ..compared }
}

/// As Table 2, but with fewer executions of each matrix: every one is kept and looked at.
fn plan(size: Size) -> Plan {
    Plan { executions: Plan::new(size).executions.min(100_000), ..Plan::new(size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_of_a_class_or_a_subject() {
        let names: Vec<String> = lines()
            .iter()
            .filter_map(|it| variant(it.row, it.cause.map(|it| it.0)))
            .map(|(class, variant)| FoundExplorable::Class(class, variant).name())
            .collect();
        assert!(REASONS.iter().all(|it| names.iter().any(|name| name == it.0)), "{names:?}");
    }
}
