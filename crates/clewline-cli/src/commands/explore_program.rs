//! `clewline explore` for a subject that is not in the table: a program that is started for it.

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use clap::{CommandFactory, FromArgMatches, Parser};
use clewline_core::{Reason, is_interrupted};
use clewline_report::render::{
    summary::{Entry, Word},
    text::shell_word,
};
use clewline_unmodified::{
    BlindSpot, BlindSpots, Error, GaveUp, Points, Remote, RunOptions, Session, read_places, show_places,
};
use serde_json::json;

use super::{
    explore::{self, Explored},
    output::{Output, Stdout},
    registered::{NotSeen, Registered},
    status::{Failure, Status, print_note, print_usage},
    summaries::Nouns,
};

// Parsed here and not by clap: other explorations do not have them.
const OWN: &str = "\
Options for unmodified code:
  --points <racing|all|atomics>  Non-atomic accesses that are scheduling points: those that race, all, or
                                 none [default: racing]
  --reuse <never|any>            Whether malloc may return freed memory again; the scheduler chooses
                                 [default: never]
  --isolate                      Run each execution in its own process (about 100 times slower)
  --trust <NAME>                 Code that need not be seen: a function, a module or namespace, a library, an
                                 object file, a source file or the program; may be repeated
  --racing <ADDRESS,…>           Addresses of racing accesses, for a replay; reports print them

Exit codes: 0 no violation found, 1 violated, 2 invalid arguments, 3 unknown.";

#[derive(Debug, Parser)]
struct ExploreCommand {
    #[command(flatten)]
    args: explore::Args,
}

/// A program to explore.
pub(super) struct StartedProgram<'a> {
    /// Its name, in reports.
    pub(super) name: &'a str,
    /// The prefix of the commands in a report.
    pub(super) typed: String,
    /// Its number among the programs that the command explores, if there may be several.
    pub(super) number: Option<usize>,
    /// The files it is made of. No output may be one of these.
    pub(super) inputs: &'a [PathBuf],
    /// The parts of it that are not seen.
    pub(super) blind_spots: &'a BlindSpots,
}

/// The given arguments of `clewline explore`, for a program; or the status with which the command
/// ends, after help or an error was printed.
pub(super) fn parse(
    name: &str,
    arguments: &[OsString],
) -> Result<Result<(RunOptions, explore::Args), Status>, Failure> {
    let (wanted, arguments) = own_options(arguments).map_err(Failure::Message)?;
    let command = ExploreCommand::command().mut_arg("subject", |it| it.hide(true)).after_help(OWN);
    let all = [name.into(), name.into()].into_iter().chain(arguments);
    let parsed = command.try_get_matches_from(all).and_then(|it| ExploreCommand::from_arg_matches(&it));
    Ok(match parsed {
        Ok(parsed) => Ok((wanted, parsed.args)),
        Err(error) => Err(print_usage(&error)?),
    })
}

/// Starts a program and explores it with the given arguments of `clewline explore`.
pub(super) fn explore_started(
    StartedProgram { name, typed, number, inputs, blind_spots }: StartedProgram<'_>,
    arguments: &[OsString],
    start: impl FnOnce(&RunOptions) -> Result<Session, Error>,
) -> Result<Explored, Failure> {
    let ended = |status| Ok(Explored { status, entry: None });
    let (wanted, args) = match parse(name, arguments)? {
        Ok(parsed) => parsed,
        Err(status) => return ended(status),
    };
    args.check_outputs(inputs)?;
    let session = match start(&wanted) {
        Err(Error::GaveUp { why, message }) => return given_up((name, number), arguments, why, message),
        Err(_) if is_interrupted() => return Err(Failure::Message(Reason::Interrupted.to_string())),
        other => other?,
    };
    let remote = Arc::clone(session.remote());
    let offer = remote.offer().clone();
    // Of the rest it is not yet known whether it runs.
    print_notes(&remote.unseen().sentences);
    let (lost, asked) = (Arc::clone(&remote), Arc::clone(&remote));
    let (spots, trust) = (blind_spots.clone(), wanted.trust.clone());
    let unseen = move || {
        let unseen = asked.unseen();
        // Trusted code may be all there is.
        let is_everything = unseen.is_everything && trust.0.is_empty();
        NotSeen { sentences: spots.sentences(&unseen, &trust), is_everything }
    };
    let given = Registered {
        name: name.to_owned(),
        explorable: Arc::clone(&remote) as _,
        command: Box::new(move || command_of(&typed, &wanted, &remote)),
        is_lost: Box::new(move || lost.is_lost()),
        unseen: Box::new(unseen),
        is_body: offer.is_body,
        number,
        // A whole program has one matrix.
        matrices: if offer.is_body { offer.invocations } else { offer.matrices },
        spec: offer.spec,
        quasi: offer.quasi,
    };
    let explored = explore::run_registered(args, given);
    match session.finish() {
        Ok(()) => explored,
        // It may have been killed because it did not stop by itself.
        Err(_) if is_interrupted() => explored,
        Err(Error::GaveUp { why, message }) => given_up((name, number), arguments, why, message),
        Err(error) => Err(error.into()),
    }
}

/// As [`explore_started`], for `tool`, which explores one program. If that ends without a verdict,
/// the requested summaries say so.
pub(super) fn explore_only(
    tool: &'static str,
    started: StartedProgram<'_>,
    arguments: &[OsString],
    start: impl FnOnce(&RunOptions) -> Result<Session, Error>,
) -> Result<Status, Failure> {
    let args = match parse(started.name, arguments)? {
        Ok((_, args)) => args,
        Err(status) => return Ok(status),
    };
    let (name, command) = (started.name.to_owned(), started.typed.clone());
    let explored = explore_started(started, arguments, start);
    let entry = match &explored {
        Err(Failure::Killed(message)) => lost(name, message.clone(), command),
        Ok(Explored { entry: None, .. }) => {
            let headline = format!("{name} was not explored to the end");
            lost(name, headline, command)
        }
        Ok(Explored { entry: Some(_), .. }) | Err(_) => return explored.map(|it| it.status),
    };
    let nouns = Nouns { tool, nouns: ("program", "programs"), work: "executions" };
    args.write_of_all(nouns.summary(vec![entry]))?;
    explored.map(|it| it.status)
}

/// The entry of a program, explored by `command`, that ended without a verdict.
pub(super) fn lost(name: String, headline: String, command: String) -> Entry {
    Entry { next: vec![command], ..Entry::new(name, Word::Unknown, headline) }
}

/// A program that cannot be explored to its end, and has printed why. If the verdict is unknown for
/// that reason, JSON and summaries say so, too.
fn given_up(
    (name, number): (&str, Option<usize>),
    arguments: &[OsString],
    why: GaveUp,
    message: String,
) -> Result<Explored, Failure> {
    let status = Status::from(why);
    let Ok((_, args)) = parse(name, arguments)? else { return Ok(Explored { status, entry: None }) };
    if why != GaveUp::Unknown || message.is_empty() {
        return Ok(Explored { status, entry: None });
    }
    if args.format() == Output::Json {
        let line = json!({ "subject": name, "verdict": Word::Unknown.as_str(), "reason": message });
        Stdout::new().print(format!("{line}\n").as_bytes())?;
    }
    let entry = Entry::new(name.to_owned(), Word::Unknown, message);
    // A program that is alone has a summary of its own.
    if number.is_none() {
        args.write_of_all(explore::NOUNS.summary(vec![entry.clone()]))?;
    }
    Ok(Explored { status, entry: Some(entry) })
}

/// Prints what the instrumentation does not see, and is not trusted.
pub(super) fn print_blind_spots(all: &[BlindSpot], arguments: &[OsString]) -> Result<(), Failure> {
    let trust = own_options(arguments).map_err(Failure::Message)?.0.trust;
    let all: Vec<&BlindSpot> = all.iter().filter(|it| !it.is_trusted(&trust)).collect();
    print_notes(&all);
    Ok(())
}

fn print_notes(all: &[impl std::fmt::Display]) {
    // Code with inline assembly has many of them; a few lines are enough.
    const PRINTED_MAX: usize = 8;
    all.iter().take(PRINTED_MAX).for_each(print_note);
    if PRINTED_MAX < all.len() {
        print_note(format!("{} more of these notes are not shown", all.len() - PRINTED_MAX));
    }
}

/// The options for unmodified code, and all other options.
fn own_options(arguments: &[OsString]) -> Result<(RunOptions, Vec<OsString>), String> {
    let (mut wanted, mut others) = (RunOptions::default(), Vec::new());
    let mut all = arguments.iter();
    while let Some(argument) = all.next() {
        let text = argument.to_string_lossy().into_owned();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (text, None),
        };
        let mut value = || {
            let next = || all.next().map(|it| it.to_string_lossy().into_owned());
            value.clone().or_else(next).ok_or_else(|| format!("{name}: expected a value"))
        };
        match name.as_str() {
            "--points" => wanted.points = points(&value()?)?,
            "--reuse" => wanted.reuses_memory = reuse(&value()?)?,
            "--isolate" => wanted.isolates_executions = true,
            "--racing" => wanted.racing = racing(&value()?)?,
            "--trust" => wanted.trust.0.push(value()?),
            _ => others.push(argument.clone()),
        }
    }
    Ok((wanted, others))
}

fn points(text: &str) -> Result<Points, String> {
    let found = Points::ALL.into_iter().find(|it| it.name() == text);
    found.ok_or_else(|| format!("--points: expected `racing`, `all` or `atomics`; found `{text}`"))
}

fn reuse(text: &str) -> Result<bool, String> {
    match text {
        "never" => Ok(false),
        "any" => Ok(true),
        _ => Err(format!("--reuse: expected `never` or `any`; found `{text}`")),
    }
}

fn racing(text: &str) -> Result<Vec<usize>, String> {
    read_places(text).map_err(|it| format!("--racing: `{it}` is not an address"))
}

/// The command of this exploration, with the scheduling points that it has found.
fn command_of(typed: &str, wanted: &RunOptions, remote: &Remote) -> String {
    let mut command = typed.to_owned();
    match wanted.points {
        Points::Racing => {
            let places = remote.racing();
            if !places.is_empty() {
                command.push_str(&format!(" --racing {}", show_places(&places)));
            }
        }
        points @ (Points::All | Points::Atomics) => {
            command.push_str(&format!(" --points {}", points.name()));
        }
    }
    if wanted.isolates_executions {
        command.push_str(" --isolate");
    }
    for name in &wanted.trust.0 {
        command.push_str(&format!(" --trust {}", shell_word(name)));
    }
    if wanted.reuses_memory {
        command.push_str(" --reuse any");
    }
    command
}

#[cfg(test)]
mod tests {
    use clewline_unmodified::Trust;

    use super::*;

    fn read(words: &str) -> Result<(RunOptions, Vec<OsString>), String> {
        own_options(&words.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_for_unmodified_code_are_separated_from_others() {
        let (wanted, others) =
            read("--full --points all --reuse=any --isolate --racing 1f,a0 --trust f --matrix x --trust=g")
                .unwrap();
        let expected = RunOptions {
            points: Points::All,
            racing: vec![0x1f, 0xa0],
            reuses_memory: true,
            isolates_executions: true,
            trust: Trust(vec!["f".to_owned(), "g".to_owned()]),
            watched: Vec::new(),
        };
        assert_eq!(wanted, expected);
        assert_eq!(others, ["--full", "--matrix", "x"]);
        assert_eq!(read("--steps 9").unwrap().0, RunOptions::default());
    }

    #[test]
    fn invalid_values_are_named() {
        for (words, message) in [
            ("--points none", "--points: expected `racing`, `all` or `atomics`; found `none`"),
            ("--reuse=some", "--reuse: expected `never` or `any`; found `some`"),
            ("--racing 1f,xy", "--racing: `xy` is not an address"),
            ("--full --points", "--points: expected a value"),
        ] {
            assert_eq!(read(words).unwrap_err(), message);
        }
    }
}
