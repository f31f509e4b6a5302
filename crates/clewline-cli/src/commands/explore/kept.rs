//! The counts of one matrix, as a journal keeps them.

use clewline_core::Reason;
use clewline_explore::Limit;
use clewline_methods::{
    line_up::{Matrix, text::MatrixSummary},
    relaxed::FactorHistogram,
};
use serde_json::{Value as Json, json};

use crate::commands::journal::milliseconds;

/// The summary of one matrix, without the matrix.
pub(super) fn to_json(one: &MatrixSummary) -> Json {
    let limit = one.limit.as_ref().map(|it| match it {
        Limit::Cut(n) => json!(["cut", n]),
        Limit::Executions(n) => json!(["executions", n]),
        Limit::Stopped => json!(["stopped"]),
        Limit::Budget(Reason::Time(limit)) => json!(["time", limit.as_millis() as u64]),
        other => json!(["other", other.to_string()]),
    });
    json!({
        "violated": one.violated,
        "unknown": one.unknown,
        "reason": one.reason,
        "limit": limit,
        "serial_histories": one.serial_histories,
        "serial_stuck": one.serial_stuck,
        "executions": one.executions,
        "histories": one.histories,
        "stuck": one.stuck,
        "bounded": one.bounded,
        "guess": one.guess,
        "unserializable": one.unserializable,
        "needed": one.needed.first().map(|it| it.1.histories.iter().collect::<Vec<_>>()),
        "elapsed_ms": one.elapsed.as_millis() as u64,
    })
}

/// The summary of `matrix` that was written as `json`; `None` if it was not.
pub(super) fn from_json(json: &Json, matrix: Matrix) -> Option<MatrixSummary> {
    let text = |it: &Json| it.as_str().map(str::to_owned);
    let number = |name: &str| json[name].as_u64();
    let limit = &json["limit"];
    let n = limit[1].as_u64().unwrap_or_default();
    let limit = limit[0].as_str().map(|it| match it {
        "cut" => Limit::Cut(n),
        "executions" => Limit::Executions(n),
        "stopped" => Limit::Stopped,
        "time" => Limit::Budget(Reason::Time(milliseconds(&limit[1]))),
        _ => Limit::Other(text(&limit[1]).unwrap_or_default()),
    });
    let needed = json["needed"].as_array().map(|it| {
        let pair = |it: &Json| Some((u32::try_from(it[0].as_u64()?).ok()?, it[1].as_u64()?));
        FactorHistogram { histories: it.iter().filter_map(pair).collect() }
    });
    Some(MatrixSummary {
        matrices: 1,
        violated: number("violated")?,
        unknown: number("unknown")?,
        reason: text(&json["reason"]),
        limit,
        serial_histories: number("serial_histories")?,
        serial_stuck: number("serial_stuck")?,
        executions: number("executions")?,
        histories: number("histories")?,
        stuck: number("stuck")?,
        bounded: number("bounded")?,
        guess: text(&json["guess"]),
        unserializable: number("unserializable"),
        needed: needed.into_iter().map(|it| (matrix.clone(), it)).collect(),
        first: Some(matrix),
        elapsed: milliseconds(&json["elapsed_ms"]),
        stopped: None,
    })
}

/// Adds the summary of one more matrix.
pub(super) fn add(all: &mut MatrixSummary, one: MatrixSummary) {
    all.matrices += one.matrices;
    all.first = all.first.take().or(one.first);
    all.violated += one.violated;
    all.unknown += one.unknown;
    if all.reason.is_none() {
        (all.reason, all.limit) = (one.reason, one.limit);
    }
    all.serial_histories += one.serial_histories;
    all.serial_stuck += one.serial_stuck;
    all.executions += one.executions;
    all.histories += one.histories;
    all.stuck += one.stuck;
    all.bounded += one.bounded;
    all.guess = all.guess.take().or(one.guess);
    if let Some(more) = one.unserializable {
        *all.unserializable.get_or_insert(0) += more;
    }
    all.needed.extend(one.needed);
    all.elapsed += one.elapsed;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_summary_is_read_as_it_was_written() {
        let matrix: Matrix = "enq(1) | deq".parse().unwrap();
        let mut needed = FactorHistogram::default();
        needed.histories.extend([(0, 3), (2, 1)]);
        let one = MatrixSummary {
            matrices: 1,
            first: Some(matrix.clone()),
            unknown: 1,
            reason: Some("it is long".to_owned()),
            limit: Some(Limit::Cut(3)),
            serial_histories: 2,
            executions: 5,
            guess: Some("here".to_owned()),
            unserializable: Some(4),
            needed: vec![(matrix.clone(), needed)],
            elapsed: Duration::from_millis(77),
            ..MatrixSummary::default()
        };
        let again = from_json(&to_json(&one), matrix).unwrap();
        assert_eq!(format!("{again:?}"), format!("{one:?}"));
        let mut all = MatrixSummary::default();
        add(&mut all, again.clone());
        assert_eq!(format!("{all:?}"), format!("{one:?}"));
        add(&mut all, again);
        assert_eq!((all.matrices, all.executions, all.unserializable), (2, 10, Some(8)));
    }
}
