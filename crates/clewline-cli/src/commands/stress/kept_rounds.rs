//! The counts of a stress test, as a journal keeps them.

use clewline_core::Reason;
use clewline_methods::{relaxed::FactorHistogram, stress::StressOutcome};
use clewline_threads::Pinning;
use serde_json::{Value as Json, json};

use crate::commands::journal::milliseconds;

/// The counts of all rounds until now.
pub(super) fn to_json(outcome: &StressOutcome) -> Json {
    let reason = outcome.reason.as_ref().map(|it| match it {
        Reason::Configurations(most) => json!(["configurations", most]),
        Reason::Memory(most) => json!(["memory", most]),
        other => json!(["refused", other.to_string()]),
    });
    json!({
        "executions": outcome.executions,
        "operations": outcome.operations,
        "unknown": outcome.unknown,
        "reason": reason,
        "needed": outcome.needed.as_ref().map(|it| it.histories.iter().collect::<Vec<_>>()),
        "elapsed_ms": outcome.elapsed.as_millis() as u64,
        "worked_ms": outcome.worked.as_millis() as u64,
        "clock": outcome.clock.name(),
        "pinned": outcome.pinning != Pinning::Free,
    })
}

/// Adds the counts of earlier rounds, if there are any, to those of the last one.
pub(super) fn add(outcome: &mut StressOutcome, before: &Json) {
    let number = |name: &str| before[name].as_u64().unwrap_or(0);
    outcome.executions += number("executions");
    outcome.operations += number("operations");
    outcome.unknown += number("unknown");
    let limit = before["reason"][1].as_u64().unwrap_or(0);
    let reason = before["reason"][0].as_str().map(|it| match it {
        "configurations" => Reason::Configurations(limit),
        "memory" => Reason::Memory(limit as usize),
        _ => Reason::Refused(before["reason"][1].as_str().unwrap_or_default().to_owned()),
    });
    outcome.reason = reason.or(outcome.reason.take());
    if let (Some(needed), Some(pairs)) = (&mut outcome.needed, before["needed"].as_array()) {
        let pair = |it: &Json| Some((u32::try_from(it[0].as_u64()?).ok()?, it[1].as_u64()?));
        needed.add(&FactorHistogram { histories: pairs.iter().filter_map(pair).collect() });
    }
    let elapsed = milliseconds(&before["elapsed_ms"]);
    outcome.elapsed += elapsed;
    outcome.worked += milliseconds(&before["worked_ms"]);
    if let Some(finding) = &mut outcome.finding {
        finding.after += elapsed;
    }
}
