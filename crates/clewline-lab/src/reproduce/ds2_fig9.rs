//! Figure 9 of the DS2 paper: times and histories before the first violation.

use clewline_report::render::table::Column;

use super::{
    ds2::{COUNTS, PAPER},
    ds2_figures::{Measure, draw, seconds},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-fig9",
    about: "times and histories before the first violation, of seven schedulers of messages on five systems",
    paper: PAPER,
    form: Form::Plot,
    run,
};

const MEASURES: [Measure; 4] = [
    Measure {
        label: "TS (time to schedule), s",
        columns: [
            Column { key: "exploring_paper", heading: "TS" },
            Column { key: "exploring_ours", heading: "ours" },
        ],
        paper: |it| seconds(it.times[0]),
        ours: |it| it.time(|it| Some(it.exploring)),
    },
    Measure {
        label: "ST (the same without snapshots), s",
        columns: [
            Column { key: "from_scratch_paper", heading: "ST" },
            Column { key: "from_scratch_ours", heading: "ours" },
        ],
        paper: |it| seconds(it.times[1]),
        ours: |it| it.time(|it| Some(it.from_scratch)),
    },
    Measure {
        label: "TT (time in all), s",
        columns: [
            Column { key: "total_paper", heading: "TT" },
            Column { key: "total_ours", heading: "ours" },
        ],
        paper: |it| seconds(it.times[3]),
        ours: |it| it.time(|it| Some(it.exploring + it.judging)),
    },
    Measure {
        label: "#HF (histories before the first violation)",
        columns: [
            Column { key: "before_violated_paper", heading: "#HF" },
            Column { key: "before_violated_ours", heading: "ours" },
        ],
        paper: |it| it.before_violated.map(|it| it as f64),
        ours: |it| it.mean(COUNTS[4]),
    },
];

const NOTES: [&str; 2] = [
    "The text of the paper that we have lacks the drawings, and names only (a), which is about the time of schedulers. The figures of the \
     paper are those of its Tables A2 to A11, whose times are whole seconds: less than one is not drawn. TC and TF are 0:00 in all of them.",
    "Ours are by its rules as published, as in `ds2-a2` to `ds2-a11`; of SR and DB, means of three runs. Times are from different machines: \
     compare only how schedulers differ from each other. The scale is logarithmic, so a zero is not drawn: in #HF, where the first history \
     is violated.",
];

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    draw("DS2, Figure 9", &MEASURES, &NOTES, options, progress)
}
