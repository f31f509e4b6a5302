//! Shards of `clewline stress`: each makes a share of the executions.
//!
//! The calls of an execution follow from the seed and its number, so those of all shards together
//! are those of one process. The schedules of real threads follow from nothing: an execution that
//! fails in a shard need not fail in another process. So the shard keeps its whole report.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use clewline_core::is_interrupted;
use clewline_methods::stress::{Stress, StressOutcome};
use clewline_report::render::{Proposal, Publish};
use clewline_threads::{ClockKind, Pinning};
use serde_json::{Value as Json, json};

use super::{Args, Limit, NOUNS, SHARD_ROUND_TIME, configure, kept_rounds, report};
use crate::commands::{
    journal::Journal,
    kept_report,
    merge::Outputs,
    merged::Merged,
    output::Stdout,
    shard::{Shard, ShardDone},
    status::{Failure, Status},
};

/// Makes the executions of a shard.
pub(in crate::commands) fn run(args: &Args, shard: Shard) -> Result<Status, Failure> {
    args.shard.refuse([
        ("--html", args.drawings.have_page()),
        ("--svg", args.drawings.have_picture()),
        ("--junit, --markdown or --annotations", args.summaries.are_asked_for()),
    ])?;
    let needed = |what: &str, why: &str| Failure::Message(format!("--shard needs {what}: {why}"));
    let all = args.executions.ok_or_else(|| needed("--executions", "they are divided"))? as u64;
    let seed = args.seed.ok_or_else(|| needed("--seed", "the calls of all shards follow from it"))?;
    let stress = configure(args)?;
    let mut journal = args.journal.open_shard(Some(seed), shard)?;
    let (done, violated) = make(args, &stress, &mut journal, executions(shard, all))?;
    let done = ShardDone {
        shard,
        units: (done, ("execution", "executions")),
        violated,
        is_fail_fast: args.shard.fail_fast,
    };
    journal.end(json!({"violated": violated}))?;
    Stdout::new().print(done.line().as_bytes())?;
    Ok(done.status())
}

/// The numbers of the executions of a shard.
fn executions(shard: Shard, all: u64) -> Range<u64> {
    let bound = |index: u64| (u128::from(all) * u128::from(index) / u128::from(shard.count)) as u64;
    bound(shard.index)..bound(shard.index + 1)
}

/// Makes these executions, in rounds. Returns how many were made, and how many are violated.
fn make(
    args: &Args,
    stress: &Stress,
    journal: &mut Journal,
    numbers: Range<u64>,
) -> Result<(u64, u64), Failure> {
    let begun = Instant::now();
    let before = journal.before();
    let limit = Limit::of(args).timeout;
    let mut done = journal.take_last().unwrap_or_default();
    loop {
        let runs = done["executions"].as_u64().unwrap_or(0);
        let left = limit.map(|it| it.saturating_sub(before).saturating_sub(begun.elapsed()));
        let is_over = numbers.end <= numbers.start + runs || left == Some(Duration::ZERO);
        if is_over || done["finding"].is_object() || is_interrupted() {
            return Ok((runs, u64::from(done["finding"].is_object())));
        }
        let round = stress.clone().executions(numbers.end).round(numbers.start + runs, SHARD_ROUND_TIME);
        let round = left.map_or(round.clone(), |it| round.timeout(it));
        let mut outcome = round.run()?;
        kept_rounds::add(&mut outcome, &done);
        let mut unit = kept_rounds::to_json(&outcome);
        if let Some(finding) = &outcome.finding {
            unit["execution"] = finding.execution.into();
            unit["finding"] = kept(&mut outcome);
        }
        journal.add(unit.clone())?;
        done = unit;
    }
}

/// The report on a finding.
fn kept(outcome: &mut StressOutcome) -> Json {
    let svg = outcome.svg();
    let alone = kept_report::of(outcome);
    outcome.next = Proposal::beside_page(std::mem::take(&mut outcome.next));
    kept_report::to_json(&alone, &kept_report::of(outcome), &outcome.page(), svg)
}

/// Joins the work of shards.
pub(in crate::commands) fn merge(
    mut args: Args,
    outputs: Outputs,
    merged: &Merged,
) -> Result<Status, Failure> {
    (args.drawings, args.summaries) = (outputs.drawings, outputs.summaries);
    args.format = outputs.format.unwrap_or(args.format);
    let found = merged.shards.iter().filter_map(|it| it.units.last()).filter(|it| it["finding"].is_object());
    if let Some(first) = found.min_by_key(|it| it["execution"].as_u64()) {
        return kept_report::show(
            &first["finding"],
            (args.format, &args.drawings, &args.summaries),
            NOUNS,
            merged,
        );
    }
    // No execution is left, so the outcome has none; those of the shards are added.
    let all = args.executions.unwrap_or(0) as u64;
    let stress = configure(&args)?;
    let mut outcome = stress.clone().round(all, Duration::ZERO).run()?;
    for unit in merged.shards.iter().filter_map(|it| it.units.last()) {
        kept_rounds::add(&mut outcome, unit);
        let clock = ClockKind::ALL.into_iter().find(|it| unit["clock"] == it.name());
        outcome.clock = clock.unwrap_or(outcome.clock);
        if unit["pinned"] == false {
            outcome.pinning = Pinning::Free;
        }
    }
    outcome.next = stress.next_commands(&outcome);
    report(&args, &outcome)
}
