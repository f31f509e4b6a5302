//! `clewline explore` for a subject that is not in the table: a program that is started for it.

use std::{
    cell::LazyCell,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{CommandFactory, FromArgMatches, Parser};
use clewline_core::{Reason, is_interrupted};
use clewline_methods::line_up::{Checked, LineUpOptions, replay};
use clewline_report::render::{
    summary::{SummaryEntry, Word},
    text::shell_word,
};
use clewline_unmodified::{
    BlindSpot, BlindSpots, Functions, GaveUp, OutputMode, Points, ProgramError, Remote, RunOptions,
    RunningProgram, StartOptions, Trust, Unseen, read_places, show_address, show_places,
};
use serde_json::{Value as Json, json};

use super::{
    explore::{self, Explored},
    journal::Journal,
    output::{Output, Stdout, save},
    registered::{NotSeen, Registered},
    status::{Failure, Status, print_note, print_unknown, print_usage},
    summaries::Nouns,
};

const EXIT_CODES: &str = "Exit codes: 0 no violation found, 1 violated, 2 invalid arguments, 3 unknown.";

// The options of `cc`, `run` and `cargo test` that `explore` does not have. A doc comment would be
// the description of these commands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options for unmodified code")]
pub(super) struct ProgramOptions {
    /// Non-atomic accesses that are scheduling points: those that race, all, or none
    #[arg(long, value_name = "racing|all|atomics", default_value = "racing", value_parser = points)]
    points: Points,

    /// Whether malloc may return freed memory again; the scheduler chooses
    #[arg(long, value_name = "never|any", default_value = "never", value_parser = ["never", "any"])]
    reuse: String,

    /// Do not report data races, only the failures that follow from them
    #[arg(long)]
    no_races: bool,

    /// Run each execution in its own process (about 100 times slower)
    #[arg(long)]
    isolate: bool,

    /// Code that you vouch for, so that it need not be seen: a function, a module or namespace, a
    /// library, an object file, a source file or the program; may be repeated
    #[arg(long, value_name = "NAME")]
    trust: Vec<String>,

    /// Racing accesses, for a replay: where their calls end, as `push+0x1f`, or an address; reports
    /// print them, and write long lists to `target/clewline`
    #[arg(long, value_name = "FUNCTION+OFFSET,…|FILE", value_parser = racing)]
    racing: Option<RacingPlaces>,
}

/// Racing accesses, by functions that are not known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RacingPlaces(String);

impl RacingPlaces {
    /// In a program whose functions begin there.
    fn of(&self, begin: impl Fn(&str) -> Option<usize>) -> Result<Vec<usize>, Failure> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let failed = |it| {
            Failure::Message(format!(
                "--racing: `{it}` is not in the program: was it changed since the report?"
            ))
        };
        read_places(&self.0, begin).map_err(failed)
    }
}

impl ProgramOptions {
    fn run_options(&self) -> RunOptions {
        RunOptions {
            points: self.points,
            reuses_memory: self.reuse == "any",
            ignores_races: self.no_races,
            isolates_executions: self.isolate,
            trust: Trust(self.trust.clone()),
            ..RunOptions::default()
        }
    }
}

#[derive(Debug, Parser)]
struct ExploreCommand {
    #[command(flatten)]
    args: explore::Args,

    #[command(flatten)]
    program: ProgramOptions,
}

/// A program to explore.
pub(super) struct StartedProgram<'a> {
    /// Its name, in reports.
    pub(super) name: &'a str,
    /// The prefix of the commands in a report.
    pub(super) typed: String,
    /// Its number among the programs that the command explores, if there may be several.
    pub(super) number: Option<usize>,
    /// Its file.
    pub(super) executable: &'a Path,
    /// The files it is made of. No output may be one of these.
    pub(super) inputs: &'a [PathBuf],
    /// The parts of it that are not seen.
    pub(super) blind_spots: &'a BlindSpots,
    /// Whether its `main` shows nothing if it starts no thread. Many tests of a crate need none.
    pub(super) needs_threads: bool,
    /// By which its journal knows it; `None` if the journal is not its own.
    pub(super) fingerprint: Option<u64>,
}

/// What earlier processes of the same command have found out about the program.
#[derive(Default)]
struct Earlier {
    racing: Vec<usize>,
    sentences: Vec<String>,
    /// Whether something was interleaved, and if not, why.
    has_seen: bool,
    nothing: Option<&'static str>,
}

impl Earlier {
    fn of(journal: Option<&Journal>) -> Earlier {
        let Some(last) = journal.and_then(Journal::last) else { return Earlier::default() };
        let sentences = last["unseen"].as_array().into_iter().flatten().filter_map(Json::as_str);
        Earlier {
            racing: last["racing"].as_str().and_then(|it| read_places(it, |_| None).ok()).unwrap_or_default(),
            sentences: sentences.map(str::to_owned).collect(),
            has_seen: last["nothing"].is_null(),
            nothing: last["nothing"].is_string().then_some(NOTHING_SEEN),
        }
    }

    /// What was not seen, with that of this process.
    fn and(&self, mut now: Unseen, spots: &BlindSpots, trust: &Trust, needs_threads: bool) -> NotSeen {
        let is_new = |it: &String| !self.sentences.contains(it);
        let mut sentences = self.sentences.clone();
        let nothing = if self.has_seen {
            None
        } else if now.is_sequential {
            needs_threads.then_some(NO_THREADS).or(self.nothing)
        } else {
            // Trusted code may be all there is.
            (now.is_everything && trust.0.is_empty()).then_some(NOTHING_SEEN)
        };
        now.sentences.retain(is_new);
        sentences.extend(spots.sentences(&now, trust).into_iter().filter(is_new));
        NotSeen { sentences, nothing, orders: spots.orders(&now, trust) }
    }
}

/// Why a test that shares nothing shows nothing.
const NOTHING_SEEN: &str =
    "the threads made no access to memory that is seen, so there was nothing to interleave";

/// Why a program without threads shows nothing.
const NO_THREADS: &str = "main started no thread that ran, so there was nothing to interleave";

/// The arguments of `clewline explore`, for a program.
pub(super) struct ProgramArguments {
    /// How it is run, but for what it is known to race.
    pub(super) wanted: RunOptions,
    racing: RacingPlaces,
    /// How it is explored.
    pub(super) args: explore::Args,
}

/// The given arguments; or the status with which the command ends, after help or an error was
/// printed.
pub(super) fn parse(name: &str, arguments: &[OsString]) -> Result<Result<ProgramArguments, Status>, Failure> {
    let command = ExploreCommand::command().mut_arg("subject", |it| it.hide(true)).after_help(EXIT_CODES);
    let all = [name.into(), name.into()].into_iter().chain(arguments.iter().cloned());
    let parsed = command.try_get_matches_from(all).and_then(|it| ExploreCommand::from_arg_matches(&it));
    Ok(match parsed {
        Ok(ExploreCommand { args, program }) => {
            let wanted = program.run_options();
            Ok(ProgramArguments { wanted, racing: program.racing.unwrap_or_default(), args })
        }
        Err(error) => Err(print_usage(&error)?),
    })
}

/// Starts a program and explores it with the given arguments of `clewline explore`.
pub(super) fn explore_started(
    started: StartedProgram<'_>,
    arguments: &[OsString],
    start: impl Fn(&RunOptions, StartOptions) -> Result<RunningProgram, ProgramError>,
) -> Result<Explored, Failure> {
    let StartedProgram { name, typed, number, executable, inputs, blind_spots, needs_threads, fingerprint } =
        started;
    let ProgramArguments { mut wanted, racing, args } = match parse(name, arguments)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(Explored::without_entry(status)),
    };
    args.check_outputs(inputs)?;
    let journal = fingerprint.map(|it| args.open_journal(Some(it))).transpose()?.flatten();
    let earlier = Earlier::of(journal.as_ref());
    let functions = LazyCell::new({
        let executable = executable.to_owned();
        move || Functions::of(&executable)
    });
    wanted.racing = racing.of(|it| functions.begin(it))?;
    wanted.racing.extend(&earlier.racing);
    let options = StartOptions { output: OutputMode::Inherited, limit: args.timeout() };
    let session = match start(&wanted, options) {
        Err(error @ ProgramError::Late) => {
            print_unknown(&error);
            return given_up((name, number), arguments, GaveUp::Unknown, error.to_string());
        }
        Err(ProgramError::GaveUp { why, message }) => {
            return given_up((name, number), arguments, why, message);
        }
        Err(_) if is_interrupted() => return Err(Failure::Message(Reason::Interrupted.to_string())),
        other => other?,
    };
    let remote = Arc::clone(session.remote());
    let offer = remote.offer().clone();
    // Of the rest it is not yet known whether it runs.
    print_notes(&remote.unseen().sentences);
    let [lost, asked, points, first] = [(); 4].map(|()| Arc::clone(&remote));
    let (spots, trust) = (blind_spots.clone(), wanted.trust.clone());
    let needs_threads = needs_threads && offer.is_body;
    let wanted_points = wanted.points;
    let is_confirmed = confirms(wanted.clone(), first, move |it| start(it, options));
    let given = Registered {
        name: name.to_owned(),
        explorable: Arc::clone(&remote) as _,
        racing_flag: Box::new(move || racing_flag(wanted_points, &remote, &functions)),
        command: Box::new(move || command_of(&typed, &wanted)),
        is_lost: Box::new(move || lost.is_lost()),
        unseen: Box::new(move || earlier.and(asked.unseen(), &spots, &trust, needs_threads)),
        is_body: offer.is_body,
        number,
        // A whole program has one matrix.
        matrices: if offer.is_body { offer.invocations } else { offer.matrices },
        spec: offer.spec,
        quasi: offer.quasi,
        may_fail: offer.may_fail,
        roles: offer.roles,
        racing: Box::new(move || show_places(&points.racing(), show_address)),
        is_confirmed: Box::new(is_confirmed),
    };
    let explored = explore::run_registered(args, given, journal);
    match session.finish() {
        Ok(()) => explored,
        // It may have been killed because it did not stop by itself.
        Err(_) if is_interrupted() => explored,
        Err(ProgramError::GaveUp { why, message }) => given_up((name, number), arguments, why, message),
        Err(error) => Err(error.into()),
    }
}

/// Whether a violation fails in another process, too, each execution in its own. Beside a library
/// that keeps its state, executions before it may have caused it.
fn confirms(
    wanted: RunOptions,
    remote: Arc<Remote>,
    start: impl Fn(&RunOptions) -> Result<RunningProgram, ProgramError>,
) -> impl Fn(&Checked, &LineUpOptions) -> bool {
    move |checked, options| {
        if wanted.isolates_executions || !remote.unseen().keeps_state {
            return true;
        }
        let alone = RunOptions { isolates_executions: true, racing: remote.racing(), ..wanted.clone() };
        let Ok(session) = start(&alone) else { return false };
        let schedule = checked.finding().map(|it| &it.schedule);
        let again = schedule.map(|it| replay(&**session.remote(), &checked.matrix, it, options));
        let fails = again.is_some_and(|it| it.is_ok_and(|it| it.finding().is_some()));
        // What a process that has ended says of its execution is invalid.
        session.finish().is_ok() && fails
    }
}

/// As [`explore_started`], for `tool`, which explores one program. If that ends without a verdict,
/// the requested summaries say so.
pub(super) fn explore_only(
    tool: &'static str,
    started: StartedProgram<'_>,
    arguments: &[OsString],
    start: impl Fn(&RunOptions, StartOptions) -> Result<RunningProgram, ProgramError>,
) -> Result<Status, Failure> {
    let args = match parse(started.name, arguments)? {
        Ok(parsed) => parsed.args,
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
pub(super) fn lost(name: String, headline: String, command: String) -> SummaryEntry {
    SummaryEntry { next: vec![command], ..SummaryEntry::new(name, Word::Unknown, headline) }
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
    let Ok(parsed) = parse(name, arguments)? else { return Ok(Explored::without_entry(status)) };
    let args = parsed.args;
    if why != GaveUp::Unknown || message.is_empty() {
        return Ok(Explored::without_entry(status));
    }
    let line = (args.format() == Output::Json).then(|| {
        let line = json!({ "subject": name, "verdict": Word::Unknown.as_str(), "reason": message });
        format!("{line}\n")
    });
    if let Some(line) = &line {
        Stdout::new().print(line.as_bytes())?;
    }
    let entry = SummaryEntry::new(name.to_owned(), Word::Unknown, message);
    // A program that is alone has a summary of its own.
    if number.is_none() {
        args.write_of_all(explore::NOUNS.summary(vec![entry.clone()]))?;
    }
    Ok(Explored { status, entry: Some(entry), printed: line })
}

/// Prints what the instrumentation does not see, and is not trusted.
pub(super) fn print_blind_spots(all: &[BlindSpot], wanted: &RunOptions) {
    let all: Vec<&BlindSpot> = all.iter().filter(|it| !it.is_trusted(&wanted.trust)).collect();
    print_notes(&all);
}

fn print_notes(all: &[impl std::fmt::Display]) {
    // Code with inline assembly has many of them; a few lines are enough.
    const NOTES_SHOWN_MAX: usize = 8;
    all.iter().take(NOTES_SHOWN_MAX).for_each(print_note);
    if NOTES_SHOWN_MAX < all.len() {
        print_note(format!("{} more of these notes are not shown", all.len() - NOTES_SHOWN_MAX));
    }
}

fn points(text: &str) -> Result<Points, String> {
    let found = Points::ALL.into_iter().find(|it| it.name() == text);
    found.ok_or_else(|| "expected `racing`, `all` or `atomics`".to_owned())
}

fn racing(text: &str) -> Result<RacingPlaces, String> {
    let is_list = |text: &str| read_places(text, |_| Some(0)).map(drop);
    let listed = match is_list(text) {
        Ok(()) => return Ok(RacingPlaces(text.to_owned())),
        Err(_) => fs::read_to_string(text).unwrap_or_else(|_| text.to_owned()),
    };
    let listed = listed.trim_end();
    let is_one = is_list(listed).map_err(|it| format!("`{it}` is neither a place in a function nor a file"));
    is_one.map(|()| RacingPlaces(listed.to_owned()))
}

// More would not fit on a line beside the rest of the command.
const RACING_CHARACTERS_MAX: usize = 60;

/// The value of `--racing`: the list, or the name of a file that contains it.
fn racing_argument(places: &[usize], functions: &Functions) -> String {
    let listed = show_places(places, |it| functions.show(it));
    if listed.len() <= RACING_CHARACTERS_MAX {
        return listed;
    }
    // FNV-1a: a list always has the same file, so that older reports stay valid.
    let hash = |hash: u32, it: u8| (hash ^ u32::from(it)).wrapping_mul(0x0100_0193);
    let file = format!("target/clewline/racing-{:08x}", listed.bytes().fold(0x811c_9dc5, hash));
    let path = Path::new(&file);
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = made.is_ok() && save(path, &format!("{listed}\n")).is_ok();
    if written { file } else { listed }
}

/// The flag with the scheduling points that were found: only a replay needs them, because a
/// schedule counts them.
fn racing_flag(wanted: Points, remote: &Remote, functions: &Functions) -> String {
    let places = if wanted == Points::Racing { remote.racing() } else { Vec::new() };
    match &places[..] {
        [] => String::new(),
        _ => format!(" --racing {}", shell_word(&racing_argument(&places, functions))),
    }
}

/// The command of this exploration.
fn command_of(typed: &str, wanted: &RunOptions) -> String {
    let mut command = typed.to_owned();
    if wanted.points != Points::Racing {
        command.push_str(&format!(" --points {}", wanted.points.name()));
    }
    if wanted.isolates_executions {
        command.push_str(" --isolate");
    }
    if wanted.ignores_races {
        command.push_str(" --no-races");
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
    use super::*;

    fn read(words: &str) -> Result<(RunOptions, String), String> {
        let words = ["it", "it"].into_iter().chain(words.split(' '));
        let parsed = ExploreCommand::try_parse_from(words).map_err(|it| it.to_string())?;
        Ok((parsed.program.run_options(), parsed.program.racing.unwrap_or_default().0))
    }

    #[test]
    fn options_for_unmodified_code_are_among_others() {
        let wanted = read(
            "--full --points all --reuse=any --isolate --no-races --racing f+0x1f,a0 --trust f --matrix x --trust=g",
        );
        let expected = RunOptions {
            points: Points::All,
            racing: Vec::new(),
            reuses_memory: true,
            isolates_executions: true,
            ignores_races: true,
            trust: Trust(vec!["f".to_owned(), "g".to_owned()]),
            watched: Vec::new(),
        };
        assert_eq!(wanted, Ok((expected, "f+0x1f,a0".to_owned())));
        assert_eq!(read("--steps 9"), Ok((RunOptions::default(), String::new())));
    }

    #[test]
    fn invalid_values_are_named() {
        for (words, message) in [
            ("--points none", "'--points <racing|all|atomics>': expected `racing`, `all` or `atomics`"),
            ("--reuse=some", "invalid value 'some' for '--reuse <never|any>'"),
            (
                "--racing 1f,xy",
                "'--racing <FUNCTION+OFFSET,…|FILE>': `xy` is neither a place in a function nor a file",
            ),
            ("--full --points", "a value is required for '--points <racing|all|atomics>'"),
        ] {
            let error = read(words).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
