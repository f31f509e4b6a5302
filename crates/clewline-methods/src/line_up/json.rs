//! Results for programs: one JSON object a matrix.
//!
//! The names of the fields are stable: scripts depend on them.

use std::time::Duration;

use clewline_core::Verdict;
use clewline_matrix::Matrix;
use clewline_report::render::json::{Object, arrays_of_lines};
use clewline_threads::{control::DataRace, source_place};
use serde_json::{Map, Value as Json, json};

use super::{
    drawing::blocked_threads,
    finding::{Checked, LineUpFinding, ObservedOperation, is_stuck},
    text::{LineUpContext, MatrixSummary, is_complete},
};

/// The object. `smallest` is the matrix after shrinking.
pub(super) fn object(context: &LineUpContext<'_>, checked: &Checked, smallest: Option<&Checked>) -> Object {
    let mut object = Map::new();
    object.insert("subject".to_owned(), context.subject.into());
    calls(&mut object, &checked.matrix);
    object.insert("verdict".to_owned(), checked.verdict.word().into());
    match &checked.verdict {
        Verdict::Holds(()) => (),
        Verdict::Violated(finding) => found(&mut object, context, &checked.matrix, finding),
        Verdict::Unknown(reason) => {
            object.insert("reason".to_owned(), reason.as_str().into());
        }
    }
    if !context.options.may_fail.is_empty() {
        object.insert("may_fail".to_owned(), context.options.may_fail.to_string().into());
    }
    let elapsed_ms: u128 = checked.elapsed.iter().map(Duration::as_millis).sum();
    let counts = json!({
        "serial_histories": checked.serial_histories(),
        "executions": checked.executions,
        "histories": checked.histories,
        "stuck": checked.stuck,
        "memory_model": context.options.memory.model.name(),
        "coverage": if is_complete(context.options, checked) { "exhausted" } else { "limited" },
        "elapsed_ms": u64::try_from(elapsed_ms).unwrap_or(u64::MAX),
    });
    if let Json::Object(counts) = counts {
        object.extend(counts);
    }
    if let Some(it) = &checked.unserializable {
        object.insert("unserializable".to_owned(), it.executions.into());
    }
    if let Some(needed) = &checked.needed {
        // None if some history needs more than any factor, or the factor is unknown.
        let least = matches!(checked.verdict, Verdict::Holds(())).then(|| needed.factor());
        object.insert("least_factor".to_owned(), least.into());
        let histories = needed.histories.iter().map(|(factor, n)| (factor.to_string(), (*n).into()));
        object.insert("histories_by_factor".to_owned(), Json::Object(histories.collect()));
    }
    if let Some(histories) = &checked.listed {
        object.insert("all_histories".to_owned(), arrays_of_lines(histories));
    }
    if let Some((smallest, finding)) = smallest.and_then(|it| Some((it, it.finding()?))) {
        let mut less = Map::new();
        calls(&mut less, &smallest.matrix);
        found(&mut less, context, &smallest.matrix, finding);
        object.insert("smallest".to_owned(), less.into());
    }
    object.into()
}

/// The results of all matrices.
pub(super) fn summary(subject: &str, summary: &MatrixSummary) -> Object {
    let mut object = Object::new();
    object.add("subject", subject);
    object.add("verdict", summary.verdict().word());
    let reasons: Vec<&str> = summary.reason.iter().chain(&summary.stopped).map(String::as_str).collect();
    if !reasons.is_empty() {
        object.add("reason", reasons.join("; "));
    }
    object.add("matrices", summary.matrices);
    object.add("violated", summary.violated);
    object.add("unknown", summary.unknown);
    object.add("serial_histories", summary.serial_histories);
    object.add("executions", summary.executions);
    object.add("histories", summary.histories);
    object.add("stuck", summary.stuck);
    object.add("elapsed_ms", summary.elapsed.as_millis() as u64);
    object
}

fn calls(object: &mut Map<String, Json>, matrix: &Matrix) {
    object.insert("matrix".to_owned(), matrix.to_string().into());
    for (name, calls) in [("initial", &matrix.initial), ("final", &matrix.last)] {
        if !calls.is_empty() {
            object.insert(name.to_owned(), calls.join(" ").into());
        }
    }
}

fn found(
    object: &mut Map<String, Json>,
    context: &LineUpContext<'_>,
    matrix: &Matrix,
    finding: &LineUpFinding,
) {
    let token = context.options.memory.model.token(&finding.schedule);
    object.insert("cause".to_owned(), finding.cause.name().into());
    object.insert("replay".to_owned(), token.into());
    object.insert("preemptions".to_owned(), finding.preemptions.into());
    object.insert("history".to_owned(), finding.operations.iter().map(operation).collect());
    let old_reads: Vec<Json> = old_reads(finding).collect();
    if !old_reads.is_empty() {
        object.insert("old_reads".to_owned(), old_reads.into());
    }
    if is_stuck(finding) {
        object.insert("blocked".to_owned(), blocked_threads(matrix, finding).into());
    }
    if let Some((_, panic)) = &finding.panic {
        object.insert("message".to_owned(), panic.message.as_str().into());
        object.insert("place".to_owned(), panic.place.as_deref().map(source_place).into());
    }
    if let Some(it) = finding.race.as_ref().filter(|_| finding.cause.name() == "data-race") {
        object.insert("race".to_owned(), race(it));
    }
    let mut explanation = Map::new();
    if let Some(text) = &finding.explanation {
        explanation.insert("text".to_owned(), text.as_str().into());
    }
    if let Some(may_fail) = &finding.holds_if {
        explanation.insert("holds_if".to_owned(), may_fail.to_string().into());
    }
    if !explanation.is_empty() {
        object.insert("explanation".to_owned(), explanation.into());
    }
}

/// The steps that read an older store than the newest one, and the steps that made the two; 0 for
/// what was there before.
fn old_reads(finding: &LineUpFinding) -> impl Iterator<Item = Json> + '_ {
    let numbered = finding.moments.iter().zip(1..).filter_map(|(it, step)| Some((step, it.old_read?)));
    numbered.map(|(step, it): (usize, _)| json!({ "step": step, "read": it.from, "missed": it.missed }))
}

fn race(it: &DataRace) -> Json {
    let accesses = [it.first, it.second].map(|it| {
        let (thread, place) = (it.task.index(), it.place.to_string());
        json!({ "thread": thread, "access": it.access.name(), "place": place, "bytes": it.size })
    });
    let remedies =
        it.remedies.iter().map(|it| json!({ "kind": it.kind.name(), "place": it.place.to_string() }));
    json!({ "accesses": accesses, "remedies": remedies.collect::<Vec<_>>() })
}

fn operation(seen: &ObservedOperation) -> Json {
    let (returned, result) = seen.returned.as_ref().map(|(step, result)| (*step, result.as_str())).unzip();
    json!({
        "process": seen.process,
        "call": seen.call,
        "called": seen.called,
        "returned": returned,
        "result": result,
    })
}
