//! Figure 5 of Lowe's paper, on the left: testers on a map, by the number of keys.

use clewline_report::render::table::Column;

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size},
    lowe,
    lowe_comparison::{self, Comparison, Point, XAxis},
    plot::Scale,
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-fig5-map",
    about: "testers on a map: time against the number of keys",
    paper: lowe::PAPER,
    form: Form::Plot,
    run,
};

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let (powers, operations, runs) = match options.size {
        Size::Full => (1..=10, 1 << 11, 1 << 7),
        Size::Quick => (1..=4, 1 << 5, 1 << 2),
    };
    let point = |power: u32| {
        let stress = lowe_comparison::map(1 << power, operations, options);
        Point { x: 1 << power, stress, runs }
    };
    let comparison = Comparison {
        title: "Time to test a map, by the number of keys (Lowe 2017, Figure 5, left)",
        testers: lowe_comparison::MAP_TESTERS,
        x: XAxis { column: Column { key: "keys", heading: "keys" }, label: "keys", scale: Scale::Binary },
        points: powers.map(point).collect(),
        claim: "the graph searches slow down as there are more keys, because they clone the map; the two competitions do not, \
                because their tree searches clone nothing.",
    };
    lowe_comparison::run(&comparison, options, progress)
}
