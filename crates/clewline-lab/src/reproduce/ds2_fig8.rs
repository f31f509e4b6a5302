//! Figure 8 of the DS2 paper: counts, progression, quality and precision.

use clewline_report::render::table::Column;

use super::{
    ds2::{COUNTS, PAPER, Runs},
    ds2_figures::{Measure, draw},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-fig8",
    about: "counts, progression, quality and precision, of seven schedulers of messages on five systems",
    paper: PAPER,
    form: Form::Plot,
    run,
};

const MEASURES: [Measure; 6] = [
    Measure {
        label: "#S (schedules)",
        columns: [
            Column { key: "schedules_paper", heading: "#S" },
            Column { key: "schedules_ours", heading: "ours" },
        ],
        paper: |it| Some(it.schedules as f64),
        ours: |it| it.mean(COUNTS[0]),
    },
    Measure {
        label: "#NL (violated histories)",
        columns: [
            Column { key: "violated_paper", heading: "#NL" },
            Column { key: "violated_ours", heading: "ours" },
        ],
        paper: |it| Some(it.violated as f64),
        ours: |it| it.mean(COUNTS[3]),
    },
    Measure {
        label: "#UH (unique histories)",
        columns: [
            Column { key: "unique_paper", heading: "#UH" },
            Column { key: "unique_ours", heading: "ours" },
        ],
        paper: |it| Some(it.unique as f64),
        ours: |it| it.mean(COUNTS[2]),
    },
    Measure {
        label: "UH/S (progression), %",
        columns: [
            Column { key: "progression_paper", heading: "UH/S" },
            Column { key: "progression_ours", heading: "ours" },
        ],
        paper: |it| percent(it.unique as f64, it.schedules as f64),
        ours: |it| share(it, 2, 0),
    },
    Measure {
        label: "NL/UH (quality), %",
        columns: [
            Column { key: "quality_paper", heading: "NL/UH" },
            Column { key: "quality_ours", heading: "ours" },
        ],
        paper: |it| percent(it.violated as f64, it.unique as f64),
        ours: |it| share(it, 3, 2),
    },
    Measure {
        label: "NL/S (precision), %",
        columns: [
            Column { key: "precision_paper", heading: "NL/S" },
            Column { key: "precision_ours", heading: "ours" },
        ],
        paper: |it| percent(it.violated as f64, it.schedules as f64),
        ours: |it| share(it, 3, 0),
    },
];

const NOTES: [&str; 2] = [
    "The text of the paper that we have lacks the drawings: it names (a) schedules, (b) violations, (c) unique histories, (d) progression and \
     (f) precision as parts of this figure, and (e) must be quality. The figures of the paper are those of its Tables A2 to A11.",
    "Ours are by its rules as published, as in `ds2-a2` to `ds2-a11`; of SR and DB, means of three runs. The scale is logarithmic, so a zero is \
     not drawn.",
];

fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole != 0.0).then(|| 100.0 * part / whole)
}

fn share(runs: &Runs, part: usize, whole: usize) -> Option<f64> {
    percent(runs.mean(COUNTS[part])?, runs.mean(COUNTS[whole])?)
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    draw("DS2, Figure 8", &MEASURES, &NOTES, options, progress)
}
