//! Figure 5 of Lowe's paper, on the right: testers on a queue, by the share of enqueues.

use clewline_report::render::table::Column;

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size},
    lowe,
    lowe_comparison::{self, Comparison, Point, XAxis},
    plot::Scale,
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-fig5-queue",
    about: "testers on a queue: time against the share of enqueues",
    paper: lowe::PAPER,
    form: Form::Plot,
    run,
};

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let (step, operations, runs) = match options.size {
        Size::Full => (5, 1 << 11, 1 << 7),
        Size::Quick => (25, 1 << 5, 1 << 2),
    };
    let point = |enqueues: u32| {
        let stress = lowe_comparison::queue(enqueues, operations, options);
        Point { x: enqueues, stress, runs }
    };
    let comparison = Comparison {
        title: "Time to test a queue, by the share of enqueues (Lowe 2017, Figure 5, right)",
        testers: lowe_comparison::QUEUE_TESTERS,
        x: XAxis {
            column: Column { key: "enqueues_percent", heading: "enqueues, %" },
            label: "% enqueues",
            scale: Scale::Linear,
        },
        points: (step..100).step_by(step as usize).map(point).collect(),
        claim: "the generic testers each reached their limit on some run at a probability of about 0.4; the queue-oriented one \
                reached none, and was slowest at intermediate probabilities.",
    };
    lowe_comparison::run(&comparison, options, progress)
}
