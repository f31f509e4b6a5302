//! Shards of `clewline check`: each judges a share of the independent parts of every file.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Instant};

use clewline_check::{PartsJudged, Selection};
use clewline_core::{Reason, Verdict};
use clewline_methods::{Check, Error, Report, given_up};
use serde_json::{Value as Json, json};

use super::{
    Reading, VerdictCounts, args::Args, changed, check_file, configure, finish, inputs_fingerprint, name,
    report, violations_max,
};
use crate::commands::{
    journal::{ShardJournal, milliseconds},
    merge::Outputs,
    merged::Merged,
    output::Stdout,
    shard::{Shard, ShardDone},
    status::{Failure, Status, print_error},
};

/// Judges the parts of a shard, file by file.
pub(in crate::commands) fn run(args: &Args, shard: Shard) -> Result<Status, Failure> {
    let check = configure(args)?;
    refuse(args)?;
    let mut journal = args.journal.open_shard(None, shard)?;
    let selection = Selection::Share { index: shard.index as usize, count: shard.count as usize };
    let check = check.parts(selection, violations_max(args));
    let (mut violated, mut parts) = (0, 0);
    let mut files = args.files.iter();
    for path in files.by_ref() {
        let file = inputs_fingerprint(args, path);
        let unit = match journal.take() {
            Some(unit) if unit["file"] == file => unit,
            Some(_) => return Err(journal.mismatch(&changed(args, path))),
            None => {
                let unit = to_json(&file, &check_file(args, &check, path, Reading::Whole))?;
                unit["error"].as_str().into_iter().for_each(print_error);
                journal.add(unit.clone())?;
                unit
            }
        };
        violated += unit["violated"].as_array().map_or(0, Vec::len) as u64;
        parts += unit["judged"].as_u64().unwrap_or(0);
        if args.shard.fail_fast && violated != 0 {
            break;
        }
    }
    let done = ShardDone {
        shard,
        units: (parts, ("object or key", "objects and keys")),
        violated,
        is_fail_fast: args.shard.fail_fast,
    };
    if files.as_slice().is_empty() {
        journal.end(json!({"violated": violated}))?;
    }
    Stdout::new().print(done.line().as_bytes())?;
    Ok(done.status())
}

fn refuse(args: &Args) -> Result<(), Failure> {
    args.shard.refuse([
        ("--html", args.drawings.have_page()),
        ("--svg", args.drawings.have_picture()),
        ("--junit, --markdown or --annotations", args.summaries.are_asked_for()),
        ("--witness", args.witness),
        ("--stop-at-first", args.stop_at_first),
        ("--quasi", args.quasi.is_some()),
    ])
}

/// Joins the work of shards.
pub(in crate::commands) fn merge(
    mut args: Args,
    outputs: Outputs,
    merged: &Merged,
) -> Result<Status, Failure> {
    (args.drawings, args.summaries) = (outputs.drawings, outputs.summaries);
    args.format = outputs.format.unwrap_or(args.format);
    let check = configure(&args)?;
    let mut stdout = Stdout::new();
    let mut counts = VerdictCounts::default();
    let mut entries = Vec::new();
    for (number, path) in args.files.iter().enumerate() {
        let check_file = |check: &Check| check_file(&args, check, path, Reading::Whole);
        let is_drawn = args.drawings.have_page();
        let outcome = match joined(&args, merged, number, path)? {
            // It is read again, and so the error is found again.
            Joined::Unreadable => check_file(&check),
            Joined::GivenUp(reason) => {
                Ok(given_up(&check, &name(&args, path), &args.spec, Instant::now(), reason))
            }
            // The page of a history that holds shows its linearization.
            Joined::Parts(_, found) if is_drawn && found.violated.is_empty() && found.unknown.is_empty() => {
                check_file(&check)
            }
            Joined::Parts(parts, found) => {
                let judged = Selection::Judged(Arc::new(found));
                let outcome = check_file(&check.clone().parts(judged, violations_max(&args)));
                if outcome.as_ref().is_ok_and(|it| it.parts().0 != parts) {
                    return Err(merged.first().mismatch(&changed(&args, path)));
                }
                outcome
            }
        };
        let (_, _, entry) = report(&args, &mut stdout, number, path, outcome)?;
        counts.count(entry.verdict);
        entries.push(entry);
    }
    finish(&args, &mut stdout, &counts, entries)
}

/// What all shards have found out about a file.
enum Joined {
    /// It could not be read.
    Unreadable,
    /// A limit was reached before it was read, in every shard.
    GivenUp(Reason),
    /// The number of its parts, and the verdicts on them.
    Parts(usize, PartsJudged),
}

fn joined(args: &Args, merged: &Merged, number: usize, path: &Path) -> Result<Joined, Failure> {
    let file = inputs_fingerprint(args, path);
    let mut units = Vec::new();
    for shard in &merged.shards {
        let unit = shard.units.get(number).ok_or_else(|| {
            shard.mismatch(&format!("it says nothing about {}, and is said to be finished", path.display()))
        })?;
        if unit["file"] != file {
            return Err(shard.mismatch(&changed(args, path)));
        }
        units.push((shard, unit));
    }
    if units.iter().all(|it| it.1["error"].is_string()) {
        return Ok(Joined::Unreadable);
    }
    let given_up = |unit: &Json| reason_of(&unit["given_up"]);
    let mut parts = None;
    for (shard, unit) in units.iter().filter(|it| given_up(it.1).is_none()) {
        let found = number_of(shard, unit, "parts")?;
        let (other, first) = *parts.get_or_insert((shard, found));
        if first != found {
            let (other, path) = (other.path.display(), path.display());
            let why = format!("it contradicts {other}: {path} has {found} parts, and {first} there");
            return Err(shard.mismatch(&why));
        }
    }
    let Some((_, parts)) = parts else {
        return Ok(units.iter().find_map(|it| given_up(it.1)).map_or(Joined::Unreadable, Joined::GivenUp));
    };
    let mut all = PartsJudged::default();
    for (shard, unit) in units {
        let mut found = match given_up(unit) {
            None => from_json(shard, unit)?,
            Some(_) => PartsJudged::default(),
        };
        if let Some(reason) = given_up(unit) {
            let own = (shard.shard.index as usize..parts).step_by(shard.shard.count as usize);
            found.unknown.extend(own.map(|it| (it, reason.clone())));
            found.judged = found.unknown.len();
        }
        all.absorb(found);
    }
    if all.judged != parts {
        let (judged, path) = (all.judged, path.display());
        return Err(merged
            .first()
            .mismatch(&format!("{judged} of {parts} parts of {path} were judged, by all shards together")));
    }
    Ok(Joined::Parts(parts, all))
}

/// The outcome of a shard about a file.
fn to_json(file: &Json, outcome: &Result<Report<'static>, Error>) -> Result<Json, Failure> {
    let report = match outcome {
        Ok(report) => report,
        Err(error) if error.is_input() => return Ok(json!({"file": file, "error": error.to_string()})),
        Err(error) => return Err(Failure::Message(error.to_string())),
    };
    let (parts, found) = report.parts();
    if let (0, Verdict::Unknown(reason)) = (parts, report.verdict()) {
        // It was not even read.
        return Ok(json!({"file": file, "given_up": reason_json(reason)}));
    }
    let unknown = found.unknown.iter().map(|(number, reason)| json!([number, reason_json(reason)]));
    Ok(json!({
        "file": file,
        "parts": parts,
        "judged": found.judged,
        "violated": found.violated,
        "unknown": unknown.collect::<Json>(),
        "monitors": found.decided_by.monitors,
        "searches": found.decided_by.searches,
        "configurations": found.configurations,
    }))
}

fn number_of(shard: &ShardJournal, unit: &Json, name: &str) -> Result<usize, Failure> {
    let number = unit[name].as_u64().map(|it| it as usize);
    number.ok_or_else(|| shard.mismatch(&format!("a unit has no number `{name}`")))
}

fn from_json(shard: &ShardJournal, unit: &Json) -> Result<PartsJudged, Failure> {
    let wrong = || shard.mismatch("a unit is not one of `check`");
    let mut found = PartsJudged::default();
    found.judged = number_of(shard, unit, "judged")?;
    for number in unit["violated"].as_array().ok_or_else(wrong)? {
        found.violated.push(number.as_u64().ok_or_else(wrong)? as usize);
    }
    let unknown = |it: &Json| Some((it[0].as_u64()? as usize, reason_of(&it[1])?));
    let unknowns = unit["unknown"].as_array().ok_or_else(wrong)?;
    found.unknown = unknowns.iter().map(unknown).collect::<Option<BTreeMap<_, _>>>().ok_or_else(wrong)?;
    for name in unit["monitors"].as_array().ok_or_else(wrong)? {
        found.decided_by.monitors.insert(name.as_str().ok_or_else(wrong)?.to_owned().into());
    }
    for (name, operations) in unit["searches"].as_object().ok_or_else(wrong)? {
        let operations = operations.as_u64().ok_or_else(wrong)? as usize;
        found.decided_by.searches.insert(name.clone().into(), operations);
    }
    found.configurations = number_of(shard, unit, "configurations")? as u64;
    Ok(found)
}

fn reason_json(reason: &Reason) -> Json {
    match reason {
        Reason::Configurations(most) => json!(["configurations", most]),
        Reason::Memory(most) => json!(["memory", most]),
        Reason::Time(limit) => json!(["time", limit.as_millis() as u64]),
        Reason::Internal(what) => json!(["internal", what]),
        other => json!(["refused", other.to_string()]),
    }
}

fn reason_of(json: &Json) -> Option<Reason> {
    let text = || json[1].as_str().map(str::to_owned);
    Some(match json[0].as_str()? {
        "configurations" => Reason::Configurations(json[1].as_u64()?),
        "memory" => Reason::Memory(json[1].as_u64()? as usize),
        "time" => Reason::Time(milliseconds(&json[1])),
        "internal" => Reason::Internal(text()?),
        "refused" => Reason::Refused(text()?),
        _ => return None,
    })
}
