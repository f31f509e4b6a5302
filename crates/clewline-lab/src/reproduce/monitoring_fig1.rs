//! Figure 1 of the paper on monitors: time against the number of operations.
//!
//! "Histories of 100,000 to over 1,000,000 operations are generated via a routine of 50 consumers
//! and 50 producers, and time taken for our algorithms to verify their linearizability is recorded"
//! (section 8). The figure's caption claims O(n log n) in practice; we fit the power of n by which
//! time grows, which would be a little above 1.

use clewline_report::render::table::{ReportTable, digits};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size},
    monitoring::{self, Point},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "monitoring-fig1",
    about: "monitors: time against the number of operations, 100,000 to 1,000,000",
    paper: monitoring::PAPER,
    form: Form::Plot,
    run,
};

// 50 producers and 50 consumers.
const PROCESSES: usize = 100;

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let step = match options.size {
        Size::Full => 100_000,
        Size::Quick => 1_000,
    };
    let points: Vec<Point> =
        (1..=10).map(|it| Point { operations: it * step, processes: PROCESSES }).collect();
    let measured = monitoring::measure(&points, options, progress);
    let powers = monitoring::of_both(&measured, |_, times| {
        let power = power(times.iter().map(|(point, seconds)| (point.operations as f64, *seconds)))?;
        Some(format!("n^{}", digits(power)))
    });
    let finding = format!(
        "The paper: \"All algorithms run in O(n log n) in practice\". Ours: time grows with the number of operations n as \
         follows (fitted; n log n would be about n^1.08 here). {powers}."
    );
    Outcome {
        table: ReportTable {
            title: "Time to judge a history, by the number of operations (Lee and Mathur 2024, Figure 1)"
                .to_owned(),
            columns: monitoring::COLUMNS.to_vec(),
            rows: monitoring::rows(&measured),
            notes: monitoring::notes(finding, &measured),
        },
        plots: monitoring::plots(
            "Monitors: time by number of operations, 100 processes",
            "operations",
            |it| it.operations,
            &measured,
        ),
    }
}

/// The exponent with which y grows in x: the slope of the least-squares line through the
/// logarithms.
fn power(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0 / count, sum.1 + it.1 / count));
    let both: f64 = points.iter().map(|it| (it.0 - x) * (it.1 - y)).sum();
    let alone: f64 = points.iter().map(|it| (it.0 - x).powi(2)).sum();
    Some(both / alone).filter(|it| it.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_is_fitted() {
        for expected in [0.5, 1.0, 2.0] {
            let points = (1..10).map(|it| (f64::from(it), 3.0 * f64::from(it).powf(expected)));
            let found = power(points).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        }
        assert_eq!(power([(2.0, 2.0)].into_iter()), None);
        assert_eq!(power(std::iter::empty()), None);
    }

    #[test]
    fn n_log_n_is_close_to_the_stated_exponent() {
        let points = (1..=10).map(|it| f64::from(it) * 1e5).map(|it| (it, it * it.ln()));
        let found = power(points).unwrap();
        assert!((1.07..1.09).contains(&found), "{found}");
    }
}
