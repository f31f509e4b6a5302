//! What the tables of the DS2 paper have in common: seven schedulers on one system, by the paper's rules and by sound ones.
//!
//! The paper's rules are run as its tables need them, defects and all, and counted as it counts: incomplete histories are not judged,
//! and histories differ if their events come in another order. Beside that stands what sound rules see, which count canonical
//! histories and judge them all.

use clewline_report::render::table::{self, Cell, Column};
use clewline_subjects::actors::{Shape, find_system};

use super::{Options, Outcome, Size, Step};
use crate::methods::actors::{Coverage, Metrics, Named, Options as Explore, Scheduler, count_named, ds2};

pub(super) const PAPER: &str = "M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, Efficient Linearizability Checking for \
                                Actor-based Systems, 2021, appendix";

/// One of the tables.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) system: &'static str,
    pub(super) harness: &'static str,
    pub(super) cells: &'static [Paper; 7],
    /// What is to be known about its figures.
    pub(super) notes: &'static [&'static str],
}

/// What the paper has about one scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paper {
    schedules: u64,
    incomplete: u64,
    unique: u64,
    violated: u64,
}

pub(super) const fn paper(schedules: u64, incomplete: u64, unique: u64, violated: u64) -> Paper {
    Paper { schedules, incomplete, unique, violated }
}

/// The paper's columns: what they are called, which of its rules ours follow, and which sound scheduler stands beside them.
const SCHEDULERS: [(&str, Option<&str>, &str); 7] = [
    ("EX", Some("exhaustive"), "states"),
    ("SR", None, "random"),
    // Delays only change the order there, and nothing is ever left out.
    ("DB", Some("exhaustive"), "delay-bounded"),
    ("DP", Some("dpor"), "dpor"),
    ("TD", Some("transdpor"), "transdpor"),
    ("IR", Some("ired"), "ired"),
    ("LV", Some("liviola"), "liviola"),
];

const COLUMNS: [(&str, &str); 13] = [
    ("scheduler", ""),
    ("paper_schedules", "#S"),
    ("published_schedules", "ours"),
    ("paper_incomplete", "#IH"),
    ("published_incomplete", "ours"),
    ("paper_unique", "#UH"),
    ("published_unique", "ours"),
    ("paper_violated", "#NL"),
    ("published_violated", "ours"),
    ("sound", "sound"),
    ("sound_schedules", "#S"),
    ("sound_canonical", "#CH"),
    ("sound_violated", "#NL"),
];

const NOTES: &[&str] = &[
    "#S schedules, #IH those in which some call never returns, #UH histories that differ in the order of events, #NL those of them that \
     are not linearizable. Left of `sound`: the paper and, as ours, its rules as published, which are unsound. Right of it: sound \
     rules, which judge pending calls as well and count canonical histories (#CH), that differ in operations, results or \
     precedence.",
    "A figure after `>` was counted when a limit was hit, in the paper at 50,000 schedules (SR: 100,000). `states` visits every state once and \
     counts schedules as paths. SR of the paper picks a random agent and takes its first message, and starts later runs from where earlier \
     ones ended: it is not run again. DB of the paper never leaves anything out, so that it is its EX; the sound one allows 3 \
     delays.",
];

/// Runs a table.
pub(super) fn run_table(table: &Table, options: &Options, progress: &dyn Fn(Step<'_>)) -> Outcome {
    let mut rows = Vec::new();
    for (at, ((name, published, sound), paper)) in SCHEDULERS.into_iter().zip(table.cells).enumerate() {
        let step = |half: usize, what| progress(Step { done: 2 * at + half, of: 2 * SCHEDULERS.len(), what });
        step(0, name);
        let compat = published.map(|it| {
            let scheduler = ds2(table.system, it).expect("the names are DS2's");
            counted(table, options, Scheduler::Published(scheduler))
        });
        step(1, sound);
        let found = Scheduler::find(sound).expect("it is in the table");
        let ours = counted(table, options, found);
        rows.push(row(name, paper, compat.as_ref(), sound, &ours));
    }
    let columns = COLUMNS.map(|(key, heading)| Column { key, heading });
    let notes = NOTES.iter().chain(table.notes).map(|it| (*it).to_owned()).collect();
    let title = format!("Schedulers on {} {} (DS2, Table {})", table.system, table.harness, table.name);
    Outcome { table: table::Table { title, columns: columns.into(), rows, notes }, plot: None }
}

fn counted(table: &Table, options: &Options, scheduler: Scheduler) -> (Metrics, Coverage) {
    let found = find_system(table.system).expect("the system is in the table");
    let shape: Shape = table.harness.parse().expect("harnesses of the paper are shapes");
    let schedules = match (options.size, &scheduler) {
        (Size::Quick, _) if table.harness == "2r+2w" => 500,
        (Size::Quick, Scheduler::Walk(_)) => 2_000,
        (Size::Quick, _) => 5_000,
        (Size::Full, it) if it.is_random() => 100_000,
        (Size::Full, Scheduler::Published(_)) => 50_000,
        (Size::Full, _) => 200_000,
    };
    let states = match options.size {
        Size::Quick => 20_000,
        Size::Full => 2_000_000,
    };
    let explore = Explore { scheduler, schedules, states, seed: options.seed, ..Explore::default() };
    count_named(&Named::new(found, shape), &explore).expect("harnesses of the paper fit its systems")
}

fn row(
    name: &str,
    paper: &Paper,
    compat: Option<&(Metrics, Coverage)>,
    sound: &str,
    (ours, coverage): &(Metrics, Coverage),
) -> Vec<Cell> {
    let published = |of: fn(&Metrics) -> Option<u64>| {
        let count = compat.and_then(|it| of(&it.0));
        count.map_or(Cell::Missing, Cell::Count)
    };
    let schedules = ours.schedules.and_then(|it| u64::try_from(it).ok());
    vec![
        Cell::Text(name.to_owned()),
        Cell::Count(paper.schedules),
        published(|it| it.schedules.and_then(|it| u64::try_from(it).ok())),
        Cell::Count(paper.incomplete),
        published(|it| it.incomplete),
        Cell::Count(paper.unique),
        published(|it| it.unique),
        Cell::Count(paper.violated),
        published(|it| it.unique_complete_violated),
        Cell::Text(sound.to_owned()),
        schedules.map_or(Cell::Missing, Cell::Count),
        told(ours.canonical, coverage, sound),
        told(ours.violated, coverage, sound),
    ]
}

/// A figure that is not final has a mark, except for schedulers that are not meant to see everything.
fn told(count: u64, coverage: &Coverage, sound: &str) -> Cell {
    match coverage {
        Coverage::Limited(_) if !["random", "delay-bounded"].contains(&sound) => {
            Cell::Text(format!("> {}", clewline_report::render::grouped(count)))
        }
        Coverage::Limited(_) | Coverage::Exhausted => Cell::Count(count),
    }
}
