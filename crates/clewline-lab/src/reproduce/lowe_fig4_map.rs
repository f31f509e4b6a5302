//! Figure 4 of Lowe's paper, on the left: testers on a map, by the length of the runs.
//!
//! The number of runs is chosen such that the total number of operations is the same for all
//! lengths.

use clewline_report::render::table::Column;

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size},
    lowe,
    lowe_comparison::{self, Comparison, Point, XAxis},
    plot::Scale,
};
use clewline_methods::stress::Stress;

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-fig4-map",
    about: "testers on a map of 20 keys: time against the operations in a run",
    paper: lowe::PAPER,
    form: Form::Plot,
    run,
};

/// The axis of both halves of the figure.
pub(super) const X: XAxis = XAxis {
    column: Column { key: "operations_per_worker", heading: "operations" },
    label: "operations per worker in a run",
    scale: Scale::Binary,
};

/// The points of both halves: as many operations everywhere, in longer and longer runs.
pub(super) fn points(options: &Options, stress: impl Fn(usize) -> Stress) -> Vec<Point> {
    let (powers, all) = match options.size {
        Size::Full => (4..=14, 18),
        Size::Quick => (3..=6, 8),
    };
    let point = |power: u32| Point { x: 1 << power, stress: stress(1 << power), runs: 1 << (all - power) };
    powers.map(point).collect()
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let comparison = Comparison {
        title: "Time to test a map, by the operations per worker in a run (Lowe 2017, Figure 4, left)",
        testers: lowe_comparison::MAP_TESTERS,
        x: X,
        points: points(options, |operations| lowe_comparison::map(20, operations, options)),
        claim: "lines have the shape of a U; at the minima the JIT-JIT competition was slightly faster than the others, and its \
                tree search was first in about 50 % of runs; the JIT graph was better than the WG graph on long runs.",
    };
    lowe_comparison::run(&comparison, options, progress)
}
