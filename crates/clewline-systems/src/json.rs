//! Outcomes for programs: one JSON object.
//!
//! The names of the fields are stable: scripts depend on them. A figure that a scheduler cannot
//! determine is null.

use std::time::Duration;

use clewline_actors::FaultPlacement;
use clewline_core::{OperationId, Verdict};
use clewline_report::render::json::{Object, arrays_of_lines};
use serde_json::{Map, Value as Json, json};

use crate::{
    finding::ActorFinding,
    outcome::{ExploreOutcome, Metrics, PhaseTimes},
    text::ExploreContext,
};
use clewline_explore::Coverage;

/// The object.
pub(super) fn object(context: &ExploreContext<'_>, outcome: &ExploreOutcome) -> Object {
    let Metrics { incomplete, unique, canonical, violated, .. } = outcome.metrics;
    let metrics = &outcome.metrics;
    let faults = outcome.faults;
    let mut object = Map::new();
    let mut add = |name: &str, value: Json| object.insert(name.to_owned(), value);
    add("system", context.system.into());
    add("harness", context.harness.into());
    add("scheduler", context.scheduler.name().into());
    if context.scheduler.unsound().is_some() {
        add("compat", "ds2".into());
    }
    add("verdict", outcome.verdict.word().into());
    if let Verdict::Unknown(reason) = &outcome.verdict {
        add("reason", reason.as_str().into());
    }
    if let Some(finding) = outcome.finding() {
        add("cause", finding.why.cause().name().into());
    }
    add("executions", metrics.schedules.map_or(Json::Null, big));
    if let Some(states) = &metrics.states {
        add("states", states.unique.into());
        add("edges", states.edges.into());
        add("ends", states.ends.into());
        add("stuck", states.stuck.into());
        add("undelivered", states.undelivered.into());
        if states.places == FaultPlacement::Few {
            add("places", "few".into());
        }
    }
    add("incomplete", incomplete.into());
    add("unique", unique.into());
    add("canonical", canonical.into());
    add("violated", violated.into());
    add("quality", metrics.quality().into());
    add("progression", metrics.progression().into());
    add("precision", metrics.precision().into());
    if let Some((canonical, violated)) = metrics.existing {
        add("existing", json!({"canonical": canonical, "violated": violated}));
    }
    if let Some(spent) = metrics.times {
        add("times_ms", times(spent));
    }
    add("coverage", outcome.coverage.word().into());
    if let Coverage::Limited(why) = &outcome.coverage {
        add("limit", why.to_string().into());
    }
    add(
        "faults",
        json!({
            "lose": faults.lose,
            "duplicate": faults.duplicate,
            "crash": faults.crash,
            "partition": faults.partition,
        }),
    );
    if let Some(finding) = outcome.finding() {
        add("first_violation", first(finding, metrics));
        if !finding.steps.is_empty() {
            add("replay", finding.token.to_string().into());
        }
    }
    if let Some(histories) = &outcome.listed {
        add("all_histories", arrays_of_lines(histories));
    }
    add("elapsed_ms", u64::try_from(outcome.elapsed.as_millis()).unwrap_or(u64::MAX).into());
    object.into()
}

fn times(PhaseTimes { exploring, from_scratch, judging, first_violation }: PhaseTimes) -> Json {
    let ms = |it: Duration| 1e3 * it.as_secs_f64();
    json!({
        "exploring": ms(exploring),
        "from_scratch": ms(from_scratch),
        "judging": ms(judging),
        "until_violation": first_violation.map(ms),
    })
}

/// The violation, shrunk. `execution` is the number of the first execution that showed one, where
/// executions are counted.
fn first(finding: &ActorFinding, metrics: &Metrics) -> Json {
    let operation = |id: OperationId| {
        let (shown, span) = (finding.case.shown(id), finding.case.spans()[id.index()]);
        let result = || shown.ret.as_ref().map_or_else(String::new, ToString::to_string);
        json!({
            "process": finding.case.process(id).0,
            "call": shown.call(),
            "called": span.call(),
            "returned": span.ret(),
            "result": span.ret().map(|_| result()),
        })
    };
    let operations = (0..finding.case.spans().len()).map(OperationId::from_index);
    let history: Vec<Json> = operations.map(operation).collect();
    let counterexample: Vec<usize> = match &finding.judgement.verdict {
        Verdict::Violated(violation) => violation.counterexample.iter().map(|it| it.index()).collect(),
        Verdict::Holds(_) | Verdict::Unknown(_) => Vec::new(),
    };
    json!({
        "execution": metrics.first_violation,
        "steps": finding.steps.len(),
        "calls": finding.program,
        "history": history,
        "counterexample": counterexample,
    })
}

/// A number; as a text if it exceeds what programs read exactly.
fn big(number: u128) -> Json {
    u64::try_from(number).map_or_else(|_| number.to_string().into(), Json::from)
}
