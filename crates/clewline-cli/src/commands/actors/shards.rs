//! Shards of `clewline actors`: each explores some of the fault budgets, or some of the schedules
//! that a random scheduler draws with the only one.
//!
//! One process explores the budgets one after the other until one shows a violation, or is not
//! complete; its report is about that one. So a shard keeps the report of each budget with which
//! that may happen, and the first of them all is the report of the whole.

use std::{ops::Range, path::Path, sync::atomic::Ordering, time::Instant};

use clewline_core::Verdict;
use clewline_lab::systems::{NamedSystem, find_system};
use clewline_report::render::{Proposal, Publish};
use clewline_systems::{
    ExploreContext, ExploreOptions, ExploreOutcome, ExploreProgress, NO_RESULT, PresentedExploration,
    SampledPart, SampledSchedules, StopCondition, explore, sample,
};
use serde_json::{Value as Json, json};

use super::{Args, failure, named, next, nouns, options};
use crate::commands::{
    journal::{Journal, fingerprint},
    kept_report,
    merge::Outputs,
    merged::Merged,
    output::Stdout,
    shard::{Shard, ShardDone},
    status::{Failure, Status},
    summaries::Nouns,
};

/// Explores the fault budgets of a shard.
pub(in crate::commands) fn run(args: &Args, shard: Shard) -> Result<Status, Failure> {
    args.check_outputs()?;
    refuse(args)?;
    let found = find_system(&args.system).map_err(|it| Failure::Message(it.to_string()))?;
    let (named, harness) = named(args, found)?;
    let options = options(args, &named, &found)?;
    let budgets = options.rules.faults.budgets();
    let file = file(args);
    if budgets.len() == 1 {
        return run_sampled(args, shard, &named, &options, &file);
    }
    let mut journal = args.journal.open_shard(None, shard)?;
    let (mut units, mut violated) = (0, 0);
    let before = journal.before();
    let begun = Instant::now();
    let shown = Shown { args, spec: named.spec(), harness: &harness };
    for number in (0..budgets.len()).filter(|it| shard.has(*it as u64)) {
        let unit = match journal.take() {
            Some(unit) if unit["harness"] == file => unit,
            Some(_) => return Err(journal.mismatch("the calls have changed since")),
            None => {
                let spent = before + begun.elapsed();
                let mut options = options.clone();
                options.rules.faults = budgets[number];
                options.timeout = options.timeout.map(|it| it.saturating_sub(spent));
                let is_last = number + 1 == budgets.len();
                explored(&shown, &named, &options, is_last, &file, &mut journal)?
            }
        };
        (units, violated) = (units + 1, violated + u64::from(unit["violated"] == true));
        if unit["decisive"] == true {
            break;
        }
    }
    let done = ShardDone {
        shard,
        units: (units, ("fault budget", "fault budgets")),
        violated,
        is_fail_fast: args.shard.fail_fast,
    };
    journal.end(json!({"violated": violated}))?;
    Stdout::new().print(done.line().as_bytes())?;
    Ok(done.status())
}

// How many parts of the schedules there are for each shard.
const PARTS_PER_SHARD: u64 = 16;

/// The numbers of the schedules in each part: as many in each, but for the last.
fn parts(executions: u64, shards: u64) -> impl Iterator<Item = Range<u64>> {
    let length = executions.div_ceil(shards.saturating_mul(PARTS_PER_SHARD).max(1)).max(1);
    (0..executions.div_ceil(length)).map(move |it| it * length..((it + 1) * length).min(executions))
}

/// Executes the schedules of a shard, which a random scheduler draws.
fn run_sampled(
    args: &Args,
    shard: Shard,
    named: &NamedSystem,
    options: &ExploreOptions,
    file: &Json,
) -> Result<Status, Failure> {
    let refused = || {
        Failure::Message(
            "--shard needs several fault budgets (--lose, --duplicate, --crash, --partition), or a scheduler that \
             draws schedules by their numbers (random, pct, pos): other states or schedules of one budget are not divided"
                .to_owned(),
        )
    };
    if !options.scheduler.is_random() {
        return Err(refused());
    }
    let mut journal = args.journal.open_shard(None, shard)?;
    let before = journal.before();
    let begun = Instant::now();
    let (mut units, mut violated) = (0, 0);
    let own = parts(options.executions, shard.count).enumerate().filter(|it| shard.has(it.0 as u64));
    for (number, numbers) in own {
        let unit = match journal.take() {
            Some(unit) if unit["harness"] == *file => unit,
            Some(_) => return Err(journal.mismatch("the calls have changed since")),
            None => {
                let mut options = options.clone();
                options.timeout = options.timeout.map(|it| it.saturating_sub(before + begun.elapsed()));
                options.part = SampledPart::Numbers(numbers);
                let progress = ExploreProgress::default();
                let sampled = named.harness(&options).and_then(|it| sample(&it, &options, &progress));
                let sampled = sampled.map_err(|it| failure(args, &args.system, it))?;
                let unit = part_to_json(number, &sampled.ok_or_else(refused)?, file);
                journal.add(unit.clone())?;
                unit
            }
        };
        (units, violated) = (units + 1, violated + u64::from(unit["violated"] == true));
        // Schedules after the first violation, or after a limit, are not needed.
        let is_first = unit["violated"] == true && options.wanted == StopCondition::First;
        if is_first || unit["ended"].is_string() {
            break;
        }
    }
    let done = ShardDone {
        shard,
        units: (units, ("part of the schedules", "parts of the schedules")),
        violated,
        is_fail_fast: args.shard.fail_fast,
    };
    journal.end(json!({"violated": violated}))?;
    Stdout::new().print(done.line().as_bytes())?;
    Ok(done.status())
}

fn part_to_json(number: usize, sampled: &SampledSchedules, file: &Json) -> Json {
    json!({
        "part": number,
        "harness": file,
        "schedules": [sampled.numbers.start, sampled.numbers.end],
        "new": sampled.new,
        "others": [sampled.schedules, sampled.incomplete, sampled.cut, sampled.steps],
        "violated": sampled.is_violated,
        "ended": sampled.ended,
    })
}

/// The part that was written as `json`; `None` if none was.
fn part_from_json(json: &Json) -> Option<SampledSchedules> {
    let number = |list: &str, at: usize| json[list][at].as_u64();
    Some(SampledSchedules {
        numbers: number("schedules", 0)?..number("schedules", 1)?,
        new: json["new"].as_array()?.iter().map(Json::as_u64).collect::<Option<_>>()?,
        schedules: number("others", 0)?,
        incomplete: number("others", 1)?,
        cut: number("others", 2)?,
        steps: number("others", 3)?,
        is_violated: json["violated"].as_bool()?,
        ended: json["ended"].as_str().map(str::to_owned),
    })
}

/// Joins the schedules of shards, up to the first violation if that ends the exploration. What
/// showed something new in its part is executed again.
fn merge_sampled(
    args: &Args,
    (named, harness): (&NamedSystem, &str),
    options: &ExploreOptions,
    merged: &Merged,
) -> Result<ExploreOutcome, Failure> {
    let file = file(args);
    let mut known = Vec::new();
    for (number, numbers) in parts(options.executions, merged.shards.len() as u64).enumerate() {
        let (shard, unit) = merged.unit(number as u64);
        let missing = || shard.mismatch(&format!("part {number} of the schedules is missing"));
        let unit = unit.ok_or_else(missing)?;
        if unit["harness"] != file {
            return Err(shard.mismatch("the calls have changed since"));
        }
        let part = part_from_json(unit).filter(|it| it.numbers.start == numbers.start).ok_or_else(missing)?;
        let is_end = part.ended.is_some() || part.is_violated && options.wanted == StopCondition::First;
        if !is_end && part.numbers != numbers {
            return Err(missing());
        }
        known.push(part);
        if is_end {
            break;
        }
    }
    let options = ExploreOptions { part: SampledPart::Known(known.into()), ..options.clone() };
    let progress = ExploreProgress::default();
    let outcome = named.harness(&options).and_then(|it| explore(&it, &options, &progress));
    outcome.map_err(|it| failure(args, harness, it))
}

/// Whose outcomes are reported.
struct Shown<'a> {
    args: &'a Args,
    spec: &'a str,
    harness: &'a str,
}

/// Explores one fault budget, and adds it to the journal.
fn explored(
    shown: &Shown<'_>,
    named: &NamedSystem,
    options: &ExploreOptions,
    is_last: bool,
    file: &Json,
    journal: &mut Journal,
) -> Result<Json, Failure> {
    let progress = ExploreProgress::default();
    // Smaller budgets are not explored.
    progress.fault_budgets.store(usize::MAX, Ordering::Relaxed);
    let outcome = named.harness(options).and_then(|it| explore(&it, options, &progress));
    let outcome = outcome.map_err(|it| failure(shown.args, &shown.args.system, it))?;
    // After a violation, and after a limit, larger budgets are not explored.
    let is_decisive = match &outcome.verdict {
        Verdict::Holds(()) => false,
        Verdict::Violated(_) => true,
        Verdict::Unknown(why) => why != NO_RESULT,
    };
    let report = (is_decisive || is_last).then(|| kept(shown, options, &outcome));
    let unit = json!({
        "faults": format!("{:?}", options.rules.faults),
        "harness": file,
        "violated": matches!(outcome.verdict, Verdict::Violated(_)),
        "decisive": is_decisive,
        "work": nouns(&outcome).work,
        "report": report,
    });
    journal.add(unit.clone())?;
    Ok(unit)
}

fn refuse(args: &Args) -> Result<(), Failure> {
    args.shard.refuse([
        ("--html", args.drawings.have_page()),
        ("--svg", args.drawings.have_picture()),
        ("--junit, --markdown or --annotations", args.summaries.are_asked_for()),
        ("--dot", args.dot.is_some()),
        ("--replay", args.replay.is_some()),
        ("--histories", args.histories),
    ])
}

/// The file of the calls, if they are in one.
fn file(args: &Args) -> Json {
    let path = args.harness.as_deref().map(Path::new).filter(|it| it.exists());
    json!(path.map(|it| fingerprint(it).unwrap_or_default()))
}

/// The report on an outcome.
fn kept(shown: &Shown<'_>, options: &ExploreOptions, outcome: &ExploreOutcome) -> Json {
    let Shown { args, spec, harness } = shown;
    let next = next(args, outcome);
    let (next, beside) = (Proposal::commands(&next), Proposal::commands(&Proposal::beside_page(next)));
    let context = |next| ExploreContext {
        system: &args.system,
        harness,
        spec,
        scheduler: options.scheduler,
        is_replay: false,
        next,
    };
    let alone = PresentedExploration { context: context(&next), outcome };
    let beside = PresentedExploration { context: context(&beside), outcome };
    let texts = (kept_report::of(&alone), kept_report::of(&beside));
    kept_report::to_json(&texts.0, &texts.1, &beside.page(), beside.svg())
}

/// Joins the work of shards.
pub(in crate::commands) fn merge(args: Args, outputs: Outputs, merged: &Merged) -> Result<Status, Failure> {
    let format = outputs.format.unwrap_or(args.format);
    let file = file(&args);
    let found = find_system(&args.system).map_err(|it| Failure::Message(it.to_string()))?;
    let (named, harness) = named(&args, found)?;
    let options = options(&args, &named, &found)?;
    if options.rules.faults.budgets().len() == 1 {
        let outcome = merge_sampled(&args, (&named, &harness), &options, merged)?;
        let report = kept(&Shown { args: &args, spec: named.spec(), harness: &harness }, &options, &outcome);
        let shown = (format, &outputs.drawings, &outputs.summaries);
        return kept_report::show(&report, shown, nouns(&outcome), merged);
    }
    let mut number = 0;
    loop {
        let (shard, unit) = merged.unit(number);
        let Some(unit) = unit else {
            return Err(shard.mismatch(&format!("fault budget {number} is missing")));
        };
        if unit["harness"] != file {
            return Err(shard.mismatch("the calls have changed since"));
        }
        if unit["report"].is_object() {
            let work = if unit["work"] == "states" { "states" } else { "executions" };
            let nouns = Nouns { tool: "clewline actors", nouns: ("system", "systems"), work };
            return kept_report::show(
                &unit["report"],
                (format, &outputs.drawings, &outputs.summaries),
                nouns,
                merged,
            );
        }
        number += 1;
    }
}
