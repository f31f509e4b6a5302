//! Shards of `clewline actors`: each explores some of the fault budgets.
//!
//! One process explores the budgets one after the other until one shows a violation, or is not
//! complete; its report is about that one. So a shard keeps the report of each budget with which
//! that may happen, and the first of them all is the report of the whole.

use std::{path::Path, sync::atomic::Ordering, time::Instant};

use clewline_core::Verdict;
use clewline_lab::systems::{NamedSystem, find_system};
use clewline_report::render::{Proposal, Publish};
use clewline_systems::{
    ExploreContext, ExploreOptions, ExploreOutcome, ExploreProgress, NO_RESULT, PresentedExploration, explore,
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
    if budgets.len() == 1 {
        return Err(Failure::Message(
            "--shard needs several fault budgets (--lose, --duplicate, --crash, --partition): the states or schedules of one are not divided"
                .to_owned(),
        ));
    }
    let file = file(args);
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
