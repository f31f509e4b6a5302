//! Common parts of the tables of the DS2 paper: seven schedulers on one system, by the paper's
//! rules and by sound ones.
//!
//! The paper's rules are run as its tables need them, including their defects, and counted as it
//! counts: incomplete histories are not judged, and histories differ if their events come in
//! another order. Beside them are the results of sound rules, which count canonical histories and
//! judge them all.

use std::time::Duration;

use super::entry::{Options, Outcome, Progress, Size, Step, figures};
use crate::{
    ds2,
    systems::{NamedSystem, Shape, find_system},
};
use clewline_actors::schedulers::MessageSchedulerEntry;
use clewline_report::render::table::{self, Cell, Column};

use clewline_systems::{ActorScheduler, Coverage, ExploreOptions, Metrics, PhaseTimes};

pub(super) const PAPER: &str = "M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, Efficient Linearizability Checking for \
                                Actor-based Systems, 2021, appendix";

/// One of the tables.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) system: &'static str,
    pub(super) harness: &'static str,
    pub(super) cells: &'static [PaperFigures; 7],
    /// Notes on its figures.
    pub(super) notes: &'static [&'static str],
}

/// The paper's figures for one scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaperFigures {
    pub(super) schedules: u64,
    pub(super) incomplete: u64,
    pub(super) unique: u64,
    pub(super) violated: u64,
    pub(super) before_violated: Option<u64>,
    /// TS, ST, TC, TT and TF, in minutes and seconds.
    pub(super) times: [&'static str; 5],
}

pub(super) const fn paper(
    counts: [u64; 4],
    before_violated: Option<u64>,
    times: [&'static str; 5],
) -> PaperFigures {
    let [schedules, incomplete, unique, violated] = counts;
    PaperFigures { schedules, incomplete, unique, violated, before_violated, times }
}

/// The paper's columns: their names, the rules that ours follow, and the sound scheduler beside
/// them.
pub(super) const SCHEDULERS: [(&str, &str, &str); 7] = [
    ("EX", "exhaustive", "states"),
    ("SR", "random", "random"),
    ("DB", "delay-bounded", "delay-bounded"),
    ("DP", "dpor", "dpor"),
    ("TD", "transdpor", "transdpor"),
    ("IR", "ired", "ired"),
    ("LV", "liviola", "liviola"),
];

/// For each scheduler, the paper's figure and ours.
const COLUMNS: [(&str, &str); 15] = [
    ("figure", ""),
    ("ex_paper", "EX"),
    ("ex_ours", "ours"),
    ("sr_paper", "SR"),
    ("sr_ours", "ours"),
    ("db_paper", "DB"),
    ("db_ours", "ours"),
    ("dp_paper", "DP"),
    ("dp_ours", "ours"),
    ("td_paper", "TD"),
    ("td_ours", "ours"),
    ("ir_paper", "IR"),
    ("ir_ours", "ours"),
    ("lv_paper", "LV"),
    ("lv_ours", "ours"),
];

const NOTES: &[&str] = &[
    "Beside each figure of the paper: ours, by its rules as published, which are unsound. #S schedules; #IH those in which some call never \
     returns; #UH histories that differ in the order of events; #NL those of them that are complete and not linearizable (incomplete ones \
     are not judged there); #HF how many complete ones came before the first of those. Shares are in percent. Times: TS to execute, \
     what schedules have in common once; ST if each were executed from its beginning; TC to judge; TT both; TF to the first violation; in minutes \
     and seconds in the paper, in seconds ours.",
    "Below, `sound` rules, which judge incomplete histories as well and count canonical ones (#CH), that differ in operations, \
     results or precedence. `states` visits every state once and counts schedules as paths. A figure after `>` was counted when a limit \
     was hit. The paper stops at 50,000 schedules (SR: 100,000).",
    "Defects in all of the paper's figures: #HF is a place in a set that has no order, and TF adds up nothing but judging; figures are of one run of \
     three, ours of SR and DB are means of three. DB draws up to 3 delays for a schedule, which only change the order in which schedules come: it \
     leaves none out and is EX where neither is cut; the sound one leaves out what needs more than 3. SR picks an actor and not a message, and \
     starts later runs from where earlier ones ended, which ours does not, so that figures differ where that shows.",
];

/// One of the paper's columns, and what stands beside it.
struct Run {
    paper: PaperFigures,
    published: Runs,
    sound: &'static str,
    ours: (Metrics, Coverage),
}

/// The counts of the runs that are averaged: three where random numbers are drawn.
pub(super) struct Runs(Vec<Metrics>);

impl Runs {
    /// The mean of a figure, of the runs that have it.
    pub(super) fn mean(&self, figure: impl Fn(&Metrics) -> Option<f64>) -> Option<f64> {
        let figures: Vec<f64> = self.0.iter().filter_map(figure).collect();
        (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
    }

    /// The mean of a time, in seconds.
    pub(super) fn time(&self, time: impl Fn(&PhaseTimes) -> Option<Duration>) -> Option<f64> {
        self.mean(|it| Some(time(it.times.as_ref()?)?.as_secs_f64()))
    }
}

/// #S, #IH, #UH, #NL and #HF.
pub(super) const COUNTS: [fn(&Metrics) -> Option<f64>; 5] = [
    |it| it.schedules.map(|it| it as f64),
    |it| it.incomplete.map(|it| it as f64),
    |it| it.unique.map(|it| it as f64),
    |it| it.unique_complete_violated.map(|it| it as f64),
    |it| it.before_violated.map(|it| it as f64),
];

/// The counts of one of the paper's schedulers, by its rules.
pub(super) fn published(table: &Table, scheduler: &str, options: &Options) -> Runs {
    let found = ds2::find(table.system, scheduler).expect("the names are DS2's");
    let is_random = ds2::Published::ALL.into_iter().any(|it| it.name() == scheduler && it.is_random());
    let seeds = if is_random { options.seed..options.seed.saturating_add(3) } else { 1..2 };
    Runs(seeds.map(|seed| run_once(table, found, &Options { seed, ..*options })).collect())
}

/// The counts of one run. If nothing random is drawn, the seed is an order of sets.
pub(super) fn run_once(
    table: &Table,
    scheduler: &'static MessageSchedulerEntry,
    options: &Options,
) -> Metrics {
    counted(table, options, ActorScheduler::Executions(scheduler)).0
}

/// Runs a table.
pub(super) fn run_table(table: &Table, options: &Options, progress: &dyn Progress) -> Outcome {
    let mut pairs = Vec::new();
    for (at, ((name, published, sound), &paper)) in SCHEDULERS.into_iter().zip(table.cells).enumerate() {
        let step = |half: usize, what| Step { done: 2 * at + half, of: 2 * SCHEDULERS.len(), what };
        pairs.push(figures(progress, step(0, name), || {
            let published = self::published(table, published, options);
            progress.step(step(1, sound));
            let found = sound.parse().expect("it is in the table");
            column(&Run { paper, published, sound, ours: counted(table, options, found) })
        }));
    }
    let columns = COLUMNS.map(|(key, heading)| Column { key, heading });
    let notes = NOTES.iter().chain(table.notes).map(|it| (*it).to_owned()).collect();
    let title = format!("Schedulers on {} {} (DS2, Table {})", table.system, table.harness, table.name);
    Outcome {
        table: table::ReportTable { title, columns: columns.into(), rows: rows(&pairs), notes },
        plots: Vec::new(),
    }
}

/// A figure of the paper, and ours.
type Pair = (Cell, Cell);
/// Extracts a pair from a run.
type FigurePair = fn(&Run) -> Pair;

/// The figures of the rows.
const FIGURES: [(&str, FigurePair); 17] = [
    ("#S", |it| (Cell::Count(it.paper.schedules), mean(it, 0))),
    ("#IH", |it| (Cell::Count(it.paper.incomplete), mean(it, 1))),
    ("#UH", |it| (Cell::Count(it.paper.unique), mean(it, 2))),
    ("#NL", |it| (Cell::Count(it.paper.violated), mean(it, 3))),
    ("NL/UH %", |it| shares(it, it.paper.violated, it.paper.unique, [3, 2])),
    ("UH/S %", |it| shares(it, it.paper.unique, it.paper.schedules, [2, 0])),
    ("NL/S %", |it| shares(it, it.paper.violated, it.paper.schedules, [3, 0])),
    ("#HF", |it| (count(it.paper.before_violated), mean(it, 4))),
    ("TS", |it| times(it, 0, |ours| Some(ours.exploring))),
    ("ST", |it| times(it, 1, |ours| Some(ours.from_scratch))),
    ("TC", |it| times(it, 2, |ours| Some(ours.judging))),
    ("TT", |it| times(it, 3, |ours| Some(ours.exploring + ours.judging))),
    ("TF", |it| times(it, 4, |ours| ours.first_violation)),
    ("sound", |it| (nothing(), Cell::Text(it.sound.to_owned()))),
    ("#S", |it| (nothing(), count(schedules(&it.ours.0)))),
    ("#CH", |it| (nothing(), count_cell(it.ours.0.canonical, &it.ours.1, it.sound))),
    ("#NL", |it| (nothing(), count_cell(it.ours.0.violated, &it.ours.1, it.sound))),
];

/// The figures of one of the paper's columns: for each row the paper's, and ours.
fn column(run: &Run) -> Vec<Cell> {
    FIGURES.iter().map(|it| it.1(run)).flat_map(|(paper, ours)| [paper, ours]).collect()
}

fn rows(columns: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let row = |(number, (name, _)): (usize, &(&str, FigurePair))| {
        let pairs = columns.iter().flat_map(|it| it.chunks(2).nth(number).unwrap_or_default());
        std::iter::once(Cell::Text((*name).to_owned())).chain(pairs.cloned()).collect()
    };
    FIGURES.iter().enumerate().map(row).collect()
}

fn nothing() -> Cell {
    Cell::Text(String::new())
}

fn count(number: Option<u64>) -> Cell {
    number.map_or(Cell::Missing, Cell::Count)
}

fn schedules(metrics: &Metrics) -> Option<u64> {
    metrics.schedules.and_then(|it| u64::try_from(it).ok())
}

/// The mean of one of [`COUNTS`]: a count if it is whole.
fn mean(run: &Run, which: usize) -> Cell {
    match run.published.mean(COUNTS[which]) {
        Some(mean) if mean.fract() == 0.0 => Cell::Count(mean as u64),
        mean => Cell::of(mean.map(|it| rounded(it, 1))),
    }
}

fn shares(run: &Run, part: u64, whole: u64, ours: [usize; 2]) -> Pair {
    let percent = |part: f64, whole: f64| (whole != 0.0).then(|| rounded(100.0 * part / whole, 2));
    let [our_part, our_whole] = ours.map(|it| run.published.mean(COUNTS[it]));
    let ours = our_part.zip(our_whole).and_then(|(part, whole)| percent(part, whole));
    (Cell::of(percent(part as f64, whole as f64)), Cell::of(ours))
}

fn times(run: &Run, place: usize, ours: fn(&PhaseTimes) -> Option<Duration>) -> Pair {
    let ours = run.published.time(ours).map(|it| rounded(it, 3));
    (Cell::Text(run.paper.times[place].to_owned()), Cell::of(ours))
}

fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (number * scale).round() / scale
}

fn counted(table: &Table, options: &Options, scheduler: ActorScheduler) -> (Metrics, Coverage) {
    let found = find_system(table.system).expect("the system is in the table");
    let shape: Shape = table.harness.parse().expect("harnesses of the paper are shapes");
    let schedules = match (options.size, &scheduler) {
        (Size::Quick, it) if it.is_random() => 5_000,
        (Size::Quick, _) if table.harness == "2r+2w" => 500,
        (Size::Quick, ActorScheduler::Executions(_)) if scheduler.unsound().is_none() => 2_000,
        (Size::Quick, _) => 5_000,
        (Size::Full, it) if it.is_random() => 100_000,
        (Size::Full, it) if it.unsound().is_some() => 50_000,
        (Size::Full, _) => 200_000,
    };
    let states = match options.size {
        Size::Quick => 20_000,
        Size::Full => 2_000_000,
    };
    let explore = ExploreOptions {
        scheduler,
        executions: schedules,
        states,
        seed: options.seed,
        ..ExploreOptions::default()
    };
    let harness = NamedSystem::new(found, shape).harness(&explore);
    harness
        .and_then(|it| clewline_systems::count(&it, &explore))
        .expect("harnesses of the paper fit its systems")
}

/// A figure that is not final has a mark, except for schedulers that are not exhaustive.
fn count_cell(count: u64, coverage: &Coverage, sound: &str) -> Cell {
    match coverage {
        Coverage::Limited(_) if !["random", "delay-bounded"].contains(&sound) => {
            Cell::Text(format!("> {}", clewline_report::render::grouped(count)))
        }
        Coverage::Limited(_) | Coverage::Exhausted => Cell::Count(count),
    }
}
