//! Shards of `clewline check`: each judges a share of the independent parts of every file.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Instant};

use clewline_check::{PartsJudged, Selection};
use clewline_core::{Reason, Verdict};
use clewline_methods::{Check, Error, Report, given_up};
use serde_json::{Value as Json, json};

use super::{
    Reading, VerdictCounts,
    args::Args,
    changed, check_file, configure, finish, inputs_fingerprint, name,
    passes::{self, Found, Pass, Plan},
    report, violations_max,
};
use crate::commands::{
    journal::{Journal, ShardJournal, milliseconds},
    merge::Outputs,
    merged::Merged,
    output::Stdout,
    shard::{Shard, ShardDone},
    status::{Failure, Status, print_error},
    units::Passes,
};

/// Judges the parts of a shard, file by file. Of a file that is read in passes, it makes some.
pub(in crate::commands) fn run(args: &Args, shard: Shard) -> Result<Status, Failure> {
    let check = configure(args)?;
    refuse(args, shard)?;
    let journal = args.journal.open_shard(None, shard)?;
    let selection = Selection::Share { index: shard.index as usize, count: shard.count as usize };
    let selected = check.clone().parts(selection, violations_max(args));
    let mut units = Units { args, journal, violated: 0, parts: 0 };
    let mut is_whole = true;
    'files: for path in &args.files {
        let file = inputs_fingerprint(args, path);
        let (begun, plan) = (Instant::now(), plan(args, path, &check)?);
        for pass in own_passes(shard, plan.as_ref()) {
            if args.shard.fail_fast && units.violated != 0 {
                is_whole = false;
                break 'files;
            }
            units.next(path, &file, pass, || match &plan {
                None => to_json(&file, &check_file(args, &selected, path, Reading::Whole)),
                Some(plan) => {
                    pass_to_json(&file, pass, passes::run_one(plan, pass, begun, judge(args, path)))
                }
            })?;
        }
    }
    let Units { mut journal, violated, parts, .. } = units;
    let done = ShardDone {
        shard,
        units: (parts, ("object or key", "objects and keys")),
        violated,
        is_fail_fast: args.shard.fail_fast,
    };
    if is_whole {
        journal.end(json!({"violated": violated}))?;
    }
    Stdout::new().print(done.line().as_bytes())?;
    Ok(done.status())
}

fn refuse(args: &Args, shard: Shard) -> Result<(), Failure> {
    if let Passes::Count(passes @ 2..) = args.passes
        && passes < shard.count
    {
        let why = format!("--passes {passes}: expected a pass for each of {} shards, or more", shard.count);
        return Err(Failure::Message(why));
    }
    args.shard.refuse([
        ("--html", args.drawings.have_page()),
        ("--svg", args.drawings.have_picture()),
        ("--junit, --markdown or --annotations", args.summaries.are_asked_for()),
        ("--witness", args.witness),
        ("--stop-at-first", args.stop_at_first),
        ("--quasi", args.quasi.is_some()),
    ])
}

/// The passes over a file, if there are several.
fn plan(args: &Args, path: &Path, check: &Check) -> Result<Option<Plan>, Failure> {
    let plan = Plan::of(args, path, check, &name(args, path), violations_max(args));
    plan.map_err(|it| Failure::Message(it.to_string()))
}

/// The numbers of the passes of a shard. Where there are no passes, each shard reads the file once.
fn own_passes(shard: Shard, plan: Option<&Plan>) -> impl Iterator<Item = u64> + use<> {
    let (first, count) = plan.map_or((0, 1), |it| (shard.index, it.count()));
    (first..count).step_by(shard.count as usize)
}

/// Makes a pass over a file.
fn judge<'a>(args: &'a Args, path: &'a Path) -> impl Fn(Check) -> Result<Report<'static>, Error> + 'a {
    |check| check_file(args, &check, path, Reading::OnePass)
}

/// The units of a shard: a file, or a pass over one.
struct Units<'a> {
    args: &'a Args,
    journal: Journal,
    violated: u64,
    parts: u64,
}

impl Units<'_> {
    /// The next unit, which is made if it is not in the journal.
    fn next(
        &mut self,
        path: &Path,
        file: &Json,
        pass: u64,
        make: impl FnOnce() -> Result<Json, Failure>,
    ) -> Result<(), Failure> {
        let unit = match self.journal.take() {
            Some(unit) if unit["file"] == *file && unit["pass"].as_u64().unwrap_or(0) == pass => unit,
            Some(_) => return Err(self.journal.mismatch(&changed(self.args, path))),
            None => {
                let unit = make()?;
                unit["error"].as_str().into_iter().for_each(print_error);
                self.journal.add(unit.clone())?;
                unit
            }
        };
        self.violated += unit["violated"].as_array().map_or(0, Vec::len) as u64;
        self.parts += unit["judged"].as_u64().unwrap_or(0);
        Ok(())
    }
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
        let joined = match plan(&args, path, &check)? {
            None => joined(&args, merged, number, path)?,
            Some(plan) => joined_passes(&args, merged, number, path, plan)?,
        };
        let outcome = match joined {
            // It is read again, and so the error is found again.
            Joined::Unreadable => check_file(&check),
            Joined::GivenUp(reason) => {
                Ok(given_up(&check, &name(&args, path), &args.spec, Instant::now(), reason))
            }
            Joined::Passes(passes) => {
                let (plan, found) = *passes;
                passes::finish(&plan, found, Instant::now(), judge(&args, path))
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
    /// The passes over it, and what they have found out.
    Passes(Box<(Plan, Found)>),
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

/// What the passes of all shards have found out about a file.
fn joined_passes(
    args: &Args,
    merged: &Merged,
    number: usize,
    path: &Path,
    plan: Plan,
) -> Result<Joined, Failure> {
    let (file, shards) = (inputs_fingerprint(args, path), merged.shards.len() as u64);
    let mut all = Found::default();
    for pass in 0..plan.count() {
        let shard = &merged.shards[(pass % shards) as usize];
        let own = own_passes(shard.shard, Some(&plan)).count();
        let unit = shard.units.get(number * own + (pass / shards) as usize).ok_or_else(|| {
            let path = path.display();
            shard.mismatch(&format!(
                "it says nothing about pass {pass} over {path}, and is said to be finished"
            ))
        })?;
        if unit["file"] != file {
            return Err(shard.mismatch(&changed(args, path)));
        }
        if unit["pass"] != pass {
            return Err(shard.mismatch(&format!("expected pass {pass}, found {}", unit["pass"])));
        }
        if unit["error"].is_string() {
            return Ok(Joined::Unreadable);
        }
        if unit["is_empty"] != true {
            all.absorb(pass_from_json(shard, unit)?);
        }
    }
    let is_nothing = all.operations == 0 && all.unknown_count == 0;
    Ok(if is_nothing { Joined::Unreadable } else { Joined::Passes(Box::new((plan, all))) })
}

/// The outcome of a pass over a file.
fn pass_to_json(file: &Json, pass: u64, outcome: Result<Pass, Error>) -> Result<Json, Failure> {
    let found = match outcome {
        Ok(Pass::Found(found)) => found,
        Ok(Pass::Empty(_)) => return Ok(json!({"file": file, "pass": pass, "is_empty": true})),
        Err(error) if error.is_input() => {
            return Ok(json!({"file": file, "pass": pass, "error": error.to_string()}));
        }
        Err(error) => return Err(Failure::Message(error.to_string())),
    };
    let unknown = found.unknown.iter().map(|(length, reason)| json!([length, reason_json(reason)]));
    Ok(json!({
        "file": file,
        "pass": pass,
        "operations": found.operations,
        "named": found.named,
        "has_unnamed": found.has_unnamed,
        "parts": found.parts,
        "judged": found.judged.judged,
        "violated": found.violated,
        "unknown": unknown.collect::<Json>(),
        "unknown_count": found.unknown_count,
        "monitors": found.judged.decided_by.monitors,
        "searches": found.judged.decided_by.searches,
        "configurations": found.judged.configurations,
    }))
}

fn pass_from_json(shard: &ShardJournal, unit: &Json) -> Result<Found, Failure> {
    let wrong = || shard.mismatch("a unit is not one of `check --passes`");
    let violated = |it: &Json| Some((it[0].as_u64()? as usize, it[1].as_u64()?));
    let violated = unit["violated"].as_array().and_then(|it| it.iter().map(violated).collect());
    let mut found = Found {
        operations: number_of(shard, unit, "operations")?,
        named: number_of(shard, unit, "named")?,
        has_unnamed: unit["has_unnamed"].as_bool().ok_or_else(wrong)?,
        parts: number_of(shard, unit, "parts")?,
        judged: PartsJudged::default(),
        violated: violated.ok_or_else(wrong)?,
        unknown: unknown_from_json(unit).ok_or_else(wrong)?,
        unknown_count: number_of(shard, unit, "unknown_count")?,
    };
    work_from_json(shard, unit, &mut found.judged)?;
    Ok(found)
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
    for number in unit["violated"].as_array().ok_or_else(wrong)? {
        found.violated.push(number.as_u64().ok_or_else(wrong)? as usize);
    }
    found.unknown = unknown_from_json(unit).ok_or_else(wrong)?;
    work_from_json(shard, unit, &mut found)?;
    Ok(found)
}

/// Why parts have no verdict, by a number.
fn unknown_from_json(unit: &Json) -> Option<BTreeMap<usize, Reason>> {
    let unknown = |it: &Json| Some((it[0].as_u64()? as usize, reason_of(&it[1])?));
    unit["unknown"].as_array()?.iter().map(unknown).collect()
}

/// How many parts were judged, by which checkers.
fn work_from_json(shard: &ShardJournal, unit: &Json, found: &mut PartsJudged) -> Result<(), Failure> {
    let wrong = || shard.mismatch("a unit does not say who judged");
    found.judged = number_of(shard, unit, "judged")?;
    for name in unit["monitors"].as_array().ok_or_else(wrong)? {
        found.decided_by.monitors.insert(name.as_str().ok_or_else(wrong)?.to_owned().into());
    }
    for (name, operations) in unit["searches"].as_object().ok_or_else(wrong)? {
        let operations = operations.as_u64().ok_or_else(wrong)? as usize;
        found.decided_by.searches.insert(name.clone().into(), operations);
    }
    found.configurations = number_of(shard, unit, "configurations")? as u64;
    Ok(())
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
