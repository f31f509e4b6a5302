//! Figure 4 of Lowe's paper, on the right: testers on a queue, by the length of the runs.

use super::{
    entry::{Entry, Form, Options, Outcome, Progress},
    lowe,
    lowe_comparison::{self, Comparison},
    lowe_fig4_map::{X, points},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-fig4-queue",
    about: "testers on a queue, 30 % enqueues: time against the operations in a run",
    paper: lowe::PAPER,
    form: Form::Plot,
    run,
};

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let comparison = Comparison {
        title: "Time to test a queue, by the operations per worker in a run (Lowe 2017, Figure 4, right)",
        testers: lowe_comparison::QUEUE_TESTERS,
        x: X,
        points: points(options, |operations| lowe_comparison::queue(30, operations, options)),
        claim: "lines have the shape of a U; the queue-oriented algorithm outperformed all others; of the generic ones, the \
                JIT-JIT competition was slightly faster at the minima, and its tree search was first in about 98 % of runs; the JIT \
                graph outperformed the WG graph.",
    };
    lowe_comparison::run(&comparison, options, progress)
}
