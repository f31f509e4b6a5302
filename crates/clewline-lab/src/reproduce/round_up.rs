//! Common parts of the tables of the Round-Up paper: its test programs, and all histories of each,
//! counted.
//!
//! `a*b+c` denotes two child threads with a and b calls and a main thread with c. The paper does
//! not state which calls these are. Here the main thread inserts before the others begin, as far as
//! possible; the others insert the rest and then remove, with equal numbers of insertions and
//! removals ([`ElementCalls::shape`]). In the pairs of Table V each child thread makes one call,
//! and the main thread inserts before and removes after, so that there are seven of both
//! ([`ElementCalls::pair`]).

use std::{cell::RefCell, cmp::Reverse, collections::BinaryHeap, time::Duration};

use super::entry::{Progress, Size, Step, caution, count_of, figures, text_of, time_of};
use crate::{
    census::{Census, CensusRequest, census},
    enumeration::{Counting, Counts, Enumeration, EnumerationPlan, SerialCalls},
    find::find_explorable,
};
use clewline_explore::{Coverage, Diverged, Limit};
use clewline_matrix::{Component, Explorable};
use clewline_report::render::table::{Cell, Column, ReportTable};

use clewline_methods::{
    line_up::{LineUpOptions, Matrix, count_serial},
    relaxed::ElementCalls,
};

pub(super) const PAPER: &str = "L. Zhang, A. Chattopadhyay, C. Wang, Round-Up: Runtime Checking Quasi Linearizability of \
                                Concurrent Data Structures, ASE 2013";

/// A row of one of the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The test program, as the paper calls it.
    pub(super) program: &'static str,
    pub(super) subject: &'static str,
    pub(super) spec: &'static str,
    pub(super) factor: u32,
    pub(super) calls: Calls,
    pub(super) paper: PaperFigures,
}

/// Which calls are made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Calls {
    /// By two child threads and the main thread.
    Shape(usize, usize, usize),
    /// Two child threads make one call each, and the main thread twelve; the numbers it inserts and
    /// removes before them, if it does not insert all.
    Pair([&'static str; 2], Option<[usize; 2]>),
    /// Of the kind of the paper's Figure 1: one child thread makes one call, the other two.
    OneAndTwo,
}

/// The paper's figures for a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaperFigures {
    pub(super) is_violated: bool,
    pub(super) serial: u64,
    pub(super) serial_s: f64,
    pub(super) buggy: u64,
    pub(super) histories: u64,
    /// Sequentializations in Table II, and permutations in the others.
    pub(super) tried: u64,
    pub(super) seconds: f64,
}

/// A row of Tables II and III.
#[rustfmt::skip]
pub(super) const fn row(
    program: &'static str, subject: &'static str, spec: &'static str, factor: u32,
    (a, b, c): (usize, usize, usize),
    (is_violated, serial, serial_s): (bool, u64, f64),
    (buggy, histories, tried, seconds): (u64, u64, u64, f64),
) -> Row {
    let paper = PaperFigures { is_violated, serial, serial_s, buggy, histories, tried, seconds };
    Row { program, subject, spec, factor, calls: Calls::Shape(a, b, c), paper }
}

impl Row {
    pub(super) fn roles(&self) -> ElementCalls {
        ElementCalls::of(self.spec).expect("what is in the tables has roles")
    }

    pub(super) fn matrix(&self) -> Matrix {
        match self.calls {
            Calls::Shape(a, b, c) => self.roles().shape(a, b, c),
            Calls::Pair(calls, before) => self.roles().pair(calls, 7, before),
            Calls::OneAndTwo => {
                let (add, remove) = (self.roles().add().to_owned(), self.roles().remove().to_owned());
                let columns = vec![vec![add.clone()], vec![add, remove.clone()]];
                self.roles().complete(Matrix { initial: Vec::new(), columns, last: vec![remove] })
            }
        }
    }

    fn shape(&self) -> String {
        match self.calls {
            Calls::Shape(a, b, c) => format!("{a}*{b}+{c}"),
            Calls::Pair(..) => "1*1+12".to_owned(),
            Calls::OneAndTwo => "1*2+1".to_owned(),
        }
    }

    /// The quasi-linearizability query for its histories.
    pub(super) fn asked(&self) -> CensusRequest {
        let (roles, factor) = (self.roles(), self.factor);
        let relaxed = roles.relaxed().expect("what is in the tables can be relaxed");
        let factors = |add: u32| format!("{}={add},{}={factor}", roles.add(), roles.remove());
        CensusRequest {
            matrix: self.matrix(),
            plain: self.spec.to_owned(),
            relaxed: format!("{relaxed}:{factor}"),
            factors: factors(0),
            // Both classes are permuted, as in the paper.
            enumerated: factors(factor),
            executions_max: u64::MAX,
            time: None,
        }
    }
}

/// The extent to which each row is run.
pub(super) fn check_options(size: Size) -> LineUpOptions {
    let (executions_max, time) = match size {
        Size::Full => (20_000_000, Duration::from_secs(60)),
        Size::Quick => (300, Duration::from_millis(300)),
    };
    LineUpOptions { executions_max, time: Some(time), ..LineUpOptions::default() }
}

/// Counts the histories of each row.
pub(super) fn measure<'a>(
    rows: &'a [Row],
    counting: Counting,
    check: &LineUpOptions,
    progress: &dyn Progress,
) -> Vec<(&'a Row, Census)> {
    let one = |(number, row): (usize, &'a Row)| {
        let step = Step { done: number, of: rows.len(), what: row.program };
        let figures = figures(progress, step, || figures_of(&counted(row, counting, check)));
        (row, census_of(&figures))
    };
    rows.iter().enumerate().map(one).collect()
}

/// Counts the histories of a row.
fn counted(row: &Row, counting: Counting, check: &LineUpOptions) -> Census {
    let subject = find_explorable(row.subject).expect("what is in the tables is a subject").build();
    let asked = row.asked();
    let readings = asked.readings().expect("factors are read as they are written");
    let golden = golden(row.spec, &asked.matrix);
    let mut enumeration = enumeration(&asked.matrix, counting);
    census(&*subject, &*golden, &asked.matrix, &readings, counting, check, &mut enumeration)
        .expect("subjects know the calls of their specification")
}

/// The paper's enumeration, of a program whose golden model makes the calls of `matrix` one at a
/// time.
pub(super) fn enumeration(matrix: &Matrix, counting: Counting) -> Enumeration {
    let serial = SerialCalls::of(&matrix.initial, &matrix.columns, &matrix.last);
    Enumeration::among(EnumerationPlan::counting(counting), serial)
}

/// The figures of a census that the tables show.
pub(super) fn figures_of(census: &Census) -> Vec<Cell> {
    let Census { serial_histories, executions, histories, not_linearizable, not_relaxed, .. } = *census;
    let Census { not_displaced, broken, counts, .. } = census;
    let counts = [
        serial_histories as u64,
        executions,
        histories,
        not_linearizable,
        not_relaxed,
        *not_displaced,
        *broken,
        counts.sequentializations,
        counts.permutations,
        u64::from(census.is_bounded),
        census.not_enumerated,
    ];
    let times = [census.elapsed[0], census.elapsed[1], census.enumerated];
    let (word, number) = match &census.coverage {
        Coverage::Exhausted => ("all", 0),
        Coverage::Limited(Limit::Cut(number)) => ("cut", *number),
        Coverage::Limited(Limit::Diverged(it)) => ("diverged", it.step as u64),
        Coverage::Limited(_) => ("limit", 0),
    };
    let mut figures: Vec<Cell> = counts.map(Cell::Count).into();
    figures.extend(times.map(|it| Cell::Number(it.as_secs_f64())));
    figures.push(census.unknown.clone().map_or(Cell::Missing, Cell::Text));
    figures.extend([Cell::Text(word.to_owned()), Cell::Count(number)]);
    figures
}

/// The census with these figures.
pub(super) fn census_of(figures: &[Cell]) -> Census {
    let count = |place| count_of(figures, place);
    let time = |place| time_of(figures, place).unwrap_or_default();
    let coverage = match text_of(figures, 15).as_deref() {
        Some("all") => Coverage::Exhausted,
        Some("cut") => Coverage::Limited(Limit::Cut(count(16))),
        Some("diverged") => {
            let step = count(16) as usize;
            let (expected, found) = (Vec::new(), Vec::new());
            Coverage::Limited(Limit::Diverged(Box::new(Diverged {
                step,
                expected,
                found,
                is_foreign: false,
            })))
        }
        _ => Coverage::Limited(Limit::Bound),
    };
    Census {
        serial_histories: count(0) as usize,
        executions: count(1),
        histories: count(2),
        not_linearizable: count(3),
        not_relaxed: count(4),
        not_displaced: count(5),
        not_enumerated: count(10),
        broken: count(6),
        unknown: text_of(figures, 14),
        counts: Counts { sequentializations: count(7), permutations: count(8), ..Counts::default() },
        coverage,
        is_bounded: count(9) != 0,
        elapsed: [time(11), time(12)],
        enumerated: time(13),
        first_not_enumerated: None,
    }
}

/// The number of serial histories of the reference model.
pub(super) fn golden_histories(row: &Row, check: &LineUpOptions) -> usize {
    let matrix = row.matrix();
    let golden = golden(row.spec, &matrix);
    count_serial(&*golden, &matrix, check).expect("it knows the calls of the matrix").0
}

/// The golden model of the first phase: a sequential structure.
fn golden(spec: &str, matrix: &Matrix) -> Box<dyn Explorable> {
    let calls = matrix.initial.iter().chain(matrix.columns.iter().flatten()).chain(&matrix.last);
    let order: fn(&mut Vec<i64>) -> Option<i64> = match spec {
        "stack" => Vec::pop,
        "priority-queue" => |all| {
            let heap: BinaryHeap<(i64, Reverse<usize>)> =
                all.iter().enumerate().map(|(at, it)| (*it, Reverse(at))).collect();
            heap.peek().map(|it| all.remove(it.1.0))
        },
        _ => |all| (!all.is_empty()).then(|| all.remove(0)),
    };
    let mut golden = Component::new(|| RefCell::new(Vec::new()));
    for call in calls {
        let value = call.split_once('(').and_then(|it| it.1.trim_end_matches(')').parse().ok());
        golden = golden.call(call.clone(), move |it: &RefCell<Vec<i64>>| match value {
            Some(value) => {
                it.borrow_mut().push(value);
                None
            }
            None => order(&mut it.borrow_mut()),
        });
    }
    Box::new(golden)
}

/// The common first columns of all tables.
pub(super) const COLUMNS: [Column; 14] = [
    Column { key: "program", heading: "program" },
    Column { key: "subject", heading: "ours" },
    Column { key: "calls", heading: "calls" },
    Column { key: "paper_violation", heading: "violation, paper" },
    Column { key: "ours_violation", heading: "ours" },
    Column { key: "paper_serial", heading: "serial, paper" },
    Column { key: "ours_serial", heading: "ours" },
    Column { key: "paper_serial_s", heading: "phase 1 s, paper" },
    Column { key: "ours_serial_s", heading: "ours" },
    Column { key: "paper_buggy", heading: "buggy, paper" },
    Column { key: "ours_buggy", heading: "ours" },
    Column { key: "paper_histories", heading: "histories, paper" },
    Column { key: "ours_histories", heading: "ours" },
    Column { key: "coverage", heading: "explored" },
];

/// The cells of [`COLUMNS`]. `buggy` is how many histories are wrong.
pub(super) fn cells(row: &Row, census: &Census, buggy: u64) -> Vec<Cell> {
    let yes = |it: bool| Cell::Text(if it { "yes" } else { "no" }.to_owned());
    let explored = match census.coverage {
        Coverage::Exhausted => "all",
        Coverage::Limited(Limit::Cut(_)) => "cut",
        Coverage::Limited(Limit::Diverged(_)) => "diverged",
        Coverage::Limited(_) => "limit",
    };
    let ours = match (&census.unknown, buggy + census.broken) {
        (Some(_), 0) => Cell::Missing,
        // A limit that was reached gives no result.
        (None, 0) if census.coverage != Coverage::Exhausted => Cell::Text("none seen".to_owned()),
        (_, n) => yes(n != 0),
    };
    vec![
        Cell::Text(row.program.to_owned()),
        Cell::Text(row.subject.to_owned()),
        Cell::Text(row.shape()),
        yes(row.paper.is_violated),
        ours,
        Cell::Count(row.paper.serial),
        Cell::Count(census.serial_histories as u64),
        Cell::Number(row.paper.serial_s),
        Cell::Number(census.elapsed[0].as_secs_f64()),
        Cell::Count(row.paper.buggy),
        Cell::Count(buggy),
        Cell::Count(row.paper.histories),
        Cell::Count(census.histories),
        Cell::Text(explored.to_owned()),
    ]
}

/// A table of quasi linearizability. `sequentializations` are the paper's, row by row.
pub(super) fn quasi_table(
    title: &str,
    measured: &[(&Row, Census)],
    sequentializations: impl Iterator<Item = u64>,
    own: &[&str],
    check: &LineUpOptions,
) -> ReportTable {
    let mut columns = COLUMNS.to_vec();
    columns.extend([
        Column { key: "ours_buggy_displacement", heading: "by displacement" },
        Column { key: "ours_buggy_enumeration", heading: "by enumeration" },
        Column { key: "paper_permutations", heading: "permutations, paper" },
        Column { key: "ours_permutations", heading: "ours" },
        Column { key: "paper_per", heading: "per sequentialization, paper" },
        Column { key: "ours_per", heading: "ours" },
        Column { key: "ours_sequentializations", heading: "sequentializations, ours" },
        Column { key: "paper_s", heading: "phase 2 s, paper" },
        Column { key: "ours_s", heading: "ours, search" },
        Column { key: "ours_enumeration_s", heading: "ours, enumeration" },
    ]);
    let whole =
        |all: u64, n: u64| all.checked_div(n).filter(|it| it * n == all).map_or(Cell::Missing, Cell::Count);
    let rows = measured.iter().zip(sequentializations).map(|((row, census), theirs)| {
        let mut cells = cells(row, census, census.not_relaxed);
        cells.extend([
            Cell::Count(census.not_displaced),
            Cell::Count(census.not_enumerated),
            Cell::Count(row.paper.tried),
            Cell::Count(census.counts.permutations),
            whole(row.paper.tried, theirs),
            whole(census.counts.permutations, census.counts.sequentializations),
            Cell::Count(census.counts.sequentializations),
            Cell::Number(row.paper.seconds),
            Cell::Number(census.elapsed[1].as_secs_f64()),
            Cell::Number(census.enumerated.as_secs_f64()),
        ]);
        cells
    });
    let mut all_notes = own.to_vec();
    all_notes.push(
        "Buggy: histories that the relaxed specification does not allow. By displacement: those without two orders in which those that take \
         out differ by at most the factor among each other, and those that put in by nothing. Nothing ties the two classes to each other, so \
         that a call that finds nothing may be early: this reading sees less of bugs, and none of those of stacks and priority queues. Where a \
         call finds nothing, and so something is left, an additional call may take that out.",
    );
    all_notes.push(
        "By enumeration: those for which the paper's own decision finds nothing, with its algorithms corrected: no permutation of a \
         sequentialization, one class permuted at a time by at most the factor, is among the serial histories that the calls of the program have \
         on the golden model. `clewline explore SUBJECT --quasi add=K,remove=K --matrix … --judge enumeration` runs it. Where displacement sees \
         nothing and the paper finds bugs (Quasi Stack b1 and b2, Quasi Priority Queue b2), this is the reading that the paper must mean: a \
         class stays in the places that it has in the sequentialization, so that calls that put in and calls that take out remain tied to each other. \
         Sequentializations are all of them; the paper's algorithm has the same where two calls overlap at most, as here.",
    );
    all_notes.push(
        "Phase 2: time to explore and to judge every distinct history, in both readings, by search; and beside it the time of the \
         paper's enumeration of permutations.",
    );
    ReportTable { title: title.to_owned(), columns, rows: rows.collect(), notes: notes(&all_notes, check) }
}

/// The notes common to all tables, after those of this one.
pub(super) fn notes(own: &[&str], check: &LineUpOptions) -> Vec<String> {
    let mut notes: Vec<String> = own.iter().map(|it| (*it).to_owned()).collect();
    notes.push(format!(
        "Ours: every schedule with at most 2 preemptions, and every outcome of what a subject draws; explored is all of them, or limit where {} \
         executions or {:?} were reached. Histories are distinct if answers or what precedes what differ; the paper's explorer, its \
         subjects (in C and C++) and their calls are not known, so numbers of histories and what follows from them differ.",
        check.executions_max,
        check.time.unwrap_or_default()
    ));
    notes.push(
        "Calls: the main thread puts in before the two others begin, as far as it may; these put in the rest, taking turns, and then take \
         out; in pairs, each makes the one call, and the main thread puts in before and takes out after. There are as many of both."
            .to_owned(),
    );
    notes.extend(caution());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_models_return_in_their_order() {
        use crate::enumeration::Counting;
        for (spec, subject) in [("queue", "ms-queue"), ("stack", "treiber-stack")] {
            let paper = PaperFigures {
                is_violated: false,
                serial: 6,
                serial_s: 0.0,
                buggy: 0,
                histories: 0,
                tried: 0,
                seconds: 0.0,
            };
            let row = Row { program: "", subject, spec, factor: 2, calls: Calls::Shape(2, 2, 4), paper };
            let quick = check_options(Size::Quick);
            let rows = [row];
            let measured = measure(&rows, Counting::Distinct, &quick, &());
            let census = &measured[0].1;
            assert_eq!((census.serial_histories, census.not_linearizable, census.broken), (6, 0, 0));
            // 2 T(4, 2) for each sequentialization.
            assert_eq!(census.counts.permutations, 28 * census.counts.sequentializations);
            assert!(0 < census.histories);
        }
    }
}
