//! The matrices to check, the options, and the next commands.

use std::{sync::Arc, time::Duration};

use clewline_core::VerdictKind;
use clewline_explore::{Bound, Limit, TaskId, schedulers};
use clewline_formats::{ReadOptions, formats};
use clewline_methods::{
    line_up::{
        Checked, LineUpFinding, LineUpOptions, Matrix, MatrixEntry, Plan, Reference, TOO_MANY_THREADS,
        ThreadScheduler, calls, text::MatrixSummary,
    },
    relaxed::{ElementCalls, Matrices, QuasiQuery},
};
use clewline_report::render::text::shell_word;
use clewline_specs as specs;
use clewline_threads::control::MemoryModel;

use super::{
    args::{Args, Nondeterminism, STALE_READS_MAX, STEPS_MAX},
    observations,
    subject::{self, Subject},
};
use crate::commands::{
    journal::Journal,
    quasi,
    status::Failure,
    units::{self, AtMost, Shrink},
};

// Initial and final calls need a task each.
const MATRIX_COLUMNS_MAX: usize = TaskId::MAX - 2;

/// The matrices to check. A seed that is not given is that of the journal, or a new one.
pub(super) fn of(args: &Args, subject: &Subject<'_>, journal: Option<&Journal>) -> Result<Plan, Failure> {
    let plan = Plan {
        initial: calls(&args.initial).map_err(|it| Failure::at("--initial", it))?,
        last: calls(&args.final_calls).map_err(|it| Failure::at("--final", it))?,
        seed: args.seed.unwrap_or_default(),
        ..Plan::default()
    };
    if let Some(text) = &args.matrix {
        let matrix: Matrix = text.parse().map_err(|it| Failure::at("--matrix", it))?;
        check_columns(matrix.columns.len())?;
        return Ok(Plan { matrices: vec![matrix], ..plan });
    }
    if args.wants_usual_matrices() && !subject.matrices().is_empty() {
        return Ok(Plan { matrices: subject.matrices().to_vec(), ..plan });
    }
    let entry = |calls: Vec<String>| {
        let group = calls.first().and_then(|it| subject.role(it));
        MatrixEntry { group, ..MatrixEntry::new(calls) }
    };
    let entries = entries(args, subject)?.into_iter().map(entry).collect();
    if let Some(most) = args.auto {
        return Ok(Plan { entries, auto: Some(check_columns(most)?), ..plan });
    }
    let seed = args.seed.unwrap_or_else(|| {
        let seed = journal.and_then(Journal::seed).unwrap_or_else(new_seed);
        // Printed first, so that it is known even if the subject ends the process.
        eprintln!("note: random seed {seed}");
        seed
    });
    Ok(Plan {
        entries,
        rows: args.operations.unwrap_or(plan.rows),
        columns: check_columns(args.threads.unwrap_or(plan.columns))?,
        samples: args.samples.map(|it| it as u64),
        seed,
        ..plan
    })
}

fn check_columns(columns: usize) -> Result<usize, Failure> {
    if columns <= MATRIX_COLUMNS_MAX {
        return Ok(columns);
    }
    Err(Failure::Message(format!("a matrix has at most {MATRIX_COLUMNS_MAX} threads; found {columns}")))
}

pub(super) fn new_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // Short, because users type it.
    std::hash::RandomState::new().build_hasher().finish() >> 40
}

/// The entries of generated matrices.
fn entries(args: &Args, subject: &Subject<'_>) -> Result<Vec<Vec<String>>, Failure> {
    let mut entries = Vec::new();
    if let Some(text) = &args.calls {
        for call in parse_calls(text)? {
            entries.push(vec![call]);
        }
    }
    for text in &args.sequence {
        let sequence = calls(text).map_err(|it| Failure::at("--sequence", it))?;
        if sequence.is_empty() {
            return Err(Failure::Message("--sequence: expected at least one call".to_owned()));
        }
        entries.push(sequence);
    }
    if entries.is_empty() {
        entries = subject.invocations().into_iter().map(|it| vec![it]).collect();
    }
    Ok(entries)
}

/// Calls separated by commas or blanks outside of brackets.
fn parse_calls(text: &str) -> Result<Vec<String>, Failure> {
    let mut depth = 0_usize;
    let apart: String = text
        .chars()
        .map(|it| {
            match it {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => (),
            }
            if it == ',' && depth == 0 { ' ' } else { it }
        })
        .collect();
    calls(&apart).map_err(|it| Failure::at("--calls", it))
}

/// The options with which each matrix is checked.
pub(super) fn options(args: &Args, subject: &Subject<'_>, plan: &Plan) -> Result<LineUpOptions, Failure> {
    let mut options = LineUpOptions {
        scheduler: args
            .scheduler
            .parse::<ThreadScheduler>()
            .map_err(|it| Failure::at("--scheduler", it))?
            .entry(),
        time: args.timeout,
        against: reference(args, subject, plan)?,
        allows_nondeterminism: args.nondeterminism == Nondeterminism::Allow,
        counts_unserializable: args.serializability,
        lists_histories: args.lists_histories()?,
        may_fail: args.may_fail.clone().unwrap_or_default(),
        sequences: plan.sequences(),
        ..LineUpOptions::default()
    };
    if let Some(unknown) = plan.unknown_method(&options.may_fail, &subject.invocations()) {
        return Err(Failure::at("--may-fail", unknown));
    }
    args.bounds.fit(&args.scheduler, options.scheduler.bounds)?;
    options.settings.bounds = args.bounds.bounds.clone();
    options.settings.seed = plan.seed;
    options.limits.steps = args.steps;
    options.memory.model = args.memory_model.unwrap_or_default();
    (options.memory.races, options.memory.spurious_failures) = (args.races, args.weak_failures);
    options.memory.real_time = args.real_time;
    options.memory.stale_max = args.stale_reads.and_then(|it| it.0);
    options.limits.spurious = args.spurious;
    options.shrinking = match args.shrink {
        Shrink::Auto => None,
        Shrink::None => Some(Duration::ZERO),
        Shrink::Within(time) => Some(time),
    };
    if let Some(most) = args.executions {
        (options.executions_max, options.settings.executions) = (most as u64, most as u64);
    }
    Ok(options)
}

/// The reference.
fn reference(args: &Args, subject: &Subject<'_>, plan: &Plan) -> Result<Reference, Failure> {
    if let Some(golden) = &args.golden {
        return Ok(Reference::Golden(subject::find(golden).map_err(golden_failure)?.into_explorable()));
    }
    if let (Some(path), Some(matrix)) = (&args.from_observations, plan.only()) {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|it| Failure::at(&name, it))?;
        let format = formats::find("observations").expect("it is in the table");
        let reading = ReadOptions::default();
        let recording = format.read(&mut &bytes[..], &reading).map_err(|it| Failure::at(&name, it))?;
        let observed =
            observations::from_recording(&recording, &matrix).map_err(|it| Failure::at(&name, it))?;
        return Ok(Reference::Observed(Arc::new(observed)));
    }
    match args.spec.as_str() {
        "serial" if subject.is_body() => Ok(Reference::Anything),
        "serial" => Ok(Reference::Serial),
        name if subject.spec() == Some(name) => Ok(Reference::Specification),
        name => match specs::find(name) {
            Ok(_) => Ok(Reference::Named(name.to_owned())),
            Err(error) => Err(Failure::at("--spec", error)),
        },
    }
}

fn golden_failure(failure: Failure) -> Failure {
    match failure {
        Failure::Message(message) => Failure::at("--golden", message),
        other @ (Failure::Killed(_) | Failure::BrokenPipe) => other,
    }
}

/// The next commands, best first. `shown` is the failing matrix; `is_open`: the matrices hold, and
/// were not explored to the end under rc11.
pub(super) fn next(
    args: &Args,
    subject: &Subject<'_>,
    options: &LineUpOptions,
    plan: &Plan,
    summary: &MatrixSummary,
    shown: Option<&Checked>,
    is_open: bool,
) -> Vec<String> {
    // The scheduler has no effect on a replay.
    let picked =
        if args.scheduler == "bounded" { String::new() } else { format!(" --scheduler {}", args.scheduler) };
    let steps = if args.steps == STEPS_MAX { String::new() } else { format!(" --steps {}", args.steps) };
    if let Some((checked, finding)) = shown.and_then(|it| Some((it, it.finding()?))) {
        let command = with_matrix(args, subject, &checked.matrix) + &steps;
        return next_of_finding(args, subject, options, finding, &command);
    }
    let command = match (plan.only(), plan.auto) {
        (Some(matrix), _) => with_matrix(args, subject, &matrix),
        (None, Some(most)) => format!("{} --auto {most}", with_calls(args, subject)),
        (None, None) => {
            let (rows, columns, samples) = (plan.rows, plan.columns, plan.samples_or_usual());
            let seed = plan.seed;
            format!(
                "{} --threads {columns} --operations {rows} --samples {samples} --seed {seed}",
                with_calls(args, subject)
            )
        }
    };
    let bounded = |left_out: Option<&Bound>| {
        let all = schedulers::bounds().into_iter().filter(|it| Some(it.name) != left_out.map(|it| it.name));
        let set = all.filter(|it| args.bounds.bounds.is_set(it));
        let value = |it: &Bound| args.bounds.bounds.get(it).map_or("none".to_owned(), |it| it.to_string());
        set.map(|it| format!(" --{} {}", it.name, value(it))).collect::<String>()
    };
    let command = command + &picked;
    if summary.verdict() == VerdictKind::Unknown(()) {
        let command = format!("{command}{}", bounded(None));
        return beyond_limit(args, subject, summary, &command, &steps).into_iter().collect();
    }
    let command = command + &steps;
    if is_open {
        let reduced = if args.scheduler == "bounded" { " --scheduler bounded-dpor" } else { "" };
        return vec![format!("{command}{reduced}{} --memory-model rc11", bounded(None))];
    }
    if !options.scheduler.is_exhaustive {
        let drawn = args.executions.unwrap_or(10_000).saturating_mul(10);
        return vec![format!("{command}{} --executions {drawn}", bounded(None))];
    }
    match (plan.only(), options.bound().filter(|_| summary.bounded != 0)) {
        _ if args.replay.is_some() => Vec::new(),
        (only, Some((bound, most))) => {
            let command = format!("{command}{} --{}", bounded(Some(bound)), bound.name);
            let more = most.saturating_add(1).to_string();
            vec![format!("{command} {}", if only.is_some() && bound.may_be_none { "none" } else { &more })]
        }
        // Every schedule of a whole program was explored.
        (Some(_), None) if subject.is_body() => Vec::new(),
        (Some(_), None) => vec![with_calls(args, subject)],
        (None, None) => Vec::new(),
    }
}

/// The commands that show `finding` again. `command` explores its matrix.
fn next_of_finding(
    args: &Args,
    subject: &Subject<'_>,
    options: &LineUpOptions,
    finding: &LineUpFinding,
    command: &str,
) -> Vec<String> {
    let (again, more) = match (&args.replay, finding.is_serial) {
        (None, true) => (command.to_owned(), Some(format!("{command} --full"))),
        (None, false) => {
            let token = options.memory.model.token(&finding.schedule);
            let again = format!("{command}{} --replay {}", subject.racing_flag(), shell_word(&token));
            (again.clone(), Some(again))
        }
        (Some(token), _) => {
            let again = format!("{command}{} --replay {}", subject.racing_flag(), shell_word(token));
            (again.clone(), Some(format!("{again} --full")).filter(|_| !args.full))
        }
    };
    let page = (!args.drawings.have_page()).then(|| format!("{again} --html report.html"));
    more.into_iter().chain(page).chain(relaxed(args, subject, finding)).collect()
}

/// The command that allows results of `finding` that may be intended: they hide what else is wrong.
fn relaxed(args: &Args, subject: &Subject<'_>, finding: &LineUpFinding) -> Option<String> {
    let may_fail = finding.holds_if.as_ref().filter(|_| args.may_fail.is_none())?;
    Some(format!("{} --may-fail {}", with_calls(args, subject), shell_word(&may_fail.to_string())))
}

/// The command that goes beyond the limit that was hit, if a flag does.
fn beyond_limit(
    args: &Args,
    subject: &Subject<'_>,
    summary: &MatrixSummary,
    command: &str,
    steps: &str,
) -> Option<String> {
    let is_diverged = summary.reason.as_ref().is_some_and(|it| it.starts_with("uncontrolled nondeterminism"));
    if is_diverged && subject.racing().is_some() && !command.contains(" --isolate") {
        // What one execution leaves behind decides the next; then each has its own process.
        return Some(format!("{command}{steps} --isolate"));
    }
    let is_late = summary.stopped.is_some() || summary.limit == Some(Limit::Stopped);
    match (&summary.limit, args.timeout) {
        (_, Some(time)) if is_late => {
            Some(format!("{command}{steps} --timeout {}", units::show_duration(10 * time)))
        }
        (Some(Limit::Executions(most)), _) => {
            Some(format!("{command}{steps} --executions {}", most.saturating_mul(10)))
        }
        // No flag allows more threads.
        (Some(Limit::Cut(_)), _)
            if summary.reason.as_ref().is_some_and(|it| it.contains(TOO_MANY_THREADS)) =>
        {
            None
        }
        (Some(Limit::Cut(_)), _) => Some(format!("{command} --steps {}", args.steps.saturating_mul(10))),
        _ => None,
    }
}

/// Applies `--quasi` to the options. Returns which calls insert and which remove, if generated
/// matrices must have equal numbers of both.
pub(super) fn ask_quasi(
    args: &Args,
    subject: &Subject<'_>,
    options: &mut LineUpOptions,
) -> Result<Option<ElementCalls>, Failure> {
    let Some(quasi) = quasi::parse(args.quasi.as_deref(), args.reading.as_deref())? else { return Ok(None) };
    let spec = if args.spec == "serial" { subject.spec() } else { Some(args.spec.as_str()) };
    let given = [&args.initial, &args.final_calls].into_iter().chain(&args.calls).chain(&args.sequence);
    let columns = args.matrix.iter().flat_map(|it| it.split('|'));
    let written = given.map(String::as_str).chain(columns);
    // Text that is not a call is reported elsewhere.
    let mut called: Vec<String> =
        written.flat_map(|it| calls(&it.replace(',', " ")).unwrap_or_default()).collect();
    called.extend(subject.invocations());
    let query = QuasiQuery { quasi: &quasi, spec, calls: &called, matrices: args.matrices() };
    quasi::ask(&query, args.golden.as_deref(), options)
}

/// The command, with the flags that select the reference.
fn with_reference(args: &Args, subject: &Subject<'_>) -> String {
    let mut command = subject.command(&args.subject);
    let mut add = |name: &str, value: &str| command.push_str(&format!(" --{name} {}", shell_word(value)));
    if args.spec != "serial" {
        add("spec", &args.spec);
    }
    if let Some(golden) = &args.golden {
        add("golden", golden);
    }
    if args.nondeterminism == Nondeterminism::Allow {
        add("nondeterminism", "allow");
    }
    if let Some(may_fail) = &args.may_fail {
        add("may-fail", &may_fail.to_string());
    }
    command.push_str(&quasi::typed(args.quasi.as_deref(), args.reading.as_deref()));
    if args.matrices() == Matrices::Any {
        command.push_str(" --ill-formed allow");
    }
    if args.memory_model.is_some_and(|it| subject.is_program() || it != MemoryModel::default()) {
        let model = args.memory_model.unwrap_or_default();
        command.push_str(&format!(" --memory-model {}", model.name()));
    }
    let has_stale_reads = match args.memory_model {
        Some(model) => model == MemoryModel::ReleaseAcquire,
        None => subject.is_program() && args.stale_reads != Some(AtMost(Some(STALE_READS_MAX))),
    };
    if let Some(AtMost(most)) = args.stale_reads.filter(|_| has_stale_reads) {
        let most = most.map_or("none".to_owned(), |it| it.to_string());
        command.push_str(&format!(" --stale-reads {most}"));
    }
    if args.real_time {
        command.push_str(" --real-time");
    }
    if args.races {
        command.push_str(" --races");
    }
    if args.weak_failures {
        command.push_str(" --weak-failures");
    }
    if args.spurious != 0 {
        command.push_str(&format!(" --spurious {}", args.spurious));
    }
    command
}

/// The command, with the flags that select the calls.
fn with_calls(args: &Args, subject: &Subject<'_>) -> String {
    let mut command = with_reference(args, subject);
    let mut add = |name: &str, value: &str| command.push_str(&format!(" --{name} {}", shell_word(value)));
    if args.matrix.is_none() {
        for (name, value) in [("initial", &args.initial), ("final", &args.final_calls)] {
            if !value.is_empty() {
                add(name, value);
            }
        }
        if let Some(calls) = &args.calls {
            add("calls", calls);
        }
        for sequence in &args.sequence {
            add("sequence", sequence);
        }
    }
    command
}

fn with_matrix(args: &Args, subject: &Subject<'_>, matrix: &Matrix) -> String {
    let mut command = with_reference(args, subject);
    let mut add = |name: &str, value: &str| command.push_str(&format!(" --{name} {}", shell_word(value)));
    add("matrix", &matrix.to_string());
    for (name, calls) in [("initial", &matrix.initial), ("final", &matrix.last)] {
        if !calls.is_empty() {
            add(name, &calls.join(" "));
        }
    }
    if let Some(path) = args.from_observations.as_ref() {
        add("from-observations", &path.display().to_string());
    }
    command
}
