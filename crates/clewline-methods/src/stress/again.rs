//! Follow-up commands: to inspect a finding, and to find it again.

use std::time::Duration;

use clewline_check::Algorithm;
use clewline_core::{Reason, ValueDomain};
use clewline_report::render::{Proposal, text::shell_word};
use clewline_threads::{Clock, Noise, Pinning};

use super::{
    outcome::{Saved, Shrinking, StressOutcome},
    plan::{DEFAULT_PATIENCE, DEFAULT_TIMEOUT, Origin, Stress, Workload},
};
use crate::environment::{EXECUTIONS, SEED, TIMEOUT};

/// Commands to type next, best first. `test` is the name of the test that was run, if it was one.
pub(super) fn commands(stress: &Stress, outcome: &StressOutcome, test: Option<&str>) -> Vec<Proposal> {
    let mut commands = match &stress.origin {
        Origin::Program => vec![cargo(stress, outcome, test)],
        Origin::Table(usual) => asked(stress, outcome, usual),
    };
    if let (Origin::Table(usual), Some(holds_if)) = (&stress.origin, outcome.holds_if()) {
        let relaxed = Stress { may_fail: holds_if.clone(), ..stress.clone() };
        commands.push(format!("{}{}", stressing(&relaxed, &stress.workload, usual), limits(stress)));
    }
    let mut proposals: Vec<Proposal> = commands.into_iter().map(Proposal::from).collect();
    // For a linearizable history, a check shows nothing new.
    let is_worth_a_check = outcome.shown().is_some_and(|it| !it.counterexample().is_empty());
    if let (true, Saved::File(file), Some(spec)) = (is_worth_a_check, &outcome.saved, specification(stress)) {
        let file = shell_word(&clewline_report::relative_to_project(file).display().to_string());
        let judged = match &stress.quasi {
            None => format!("--spec {}{}", shell_word(&spec), failing(stress)),
            Some(asked) => format!("--spec {} {}", shell_word(asked.plain()), asked.as_flags()),
        };
        let page = format!("clewline check {file} {judged} --html report.html");
        proposals.insert(0, Proposal::page(page));
    }
    proposals
}

/// The name of the specification that judges.
fn specification(stress: &Stress) -> Option<String> {
    match stress.judged_by {
        Some(_) => Some(stress.spec.clone()),
        None => stress.testable.specification(),
    }
}

fn cargo(stress: &Stress, outcome: &StressOutcome, test: Option<&str>) -> String {
    let variable = match outcome.finding {
        Some(_) => format!("{}={}", SEED, outcome.seed),
        // With the same seed, again nothing would be found.
        None => match more(stress, outcome) {
            RaisedLimit::Executions(most) => format!("{}={most}", EXECUTIONS),
            RaisedLimit::Time(time) => format!("{}={}", TIMEOUT, show_duration(time)),
        },
    };
    let test = test.map_or_else(String::new, |it| format!(" {it}"));
    format!("{variable} cargo test{test}")
}

fn asked(stress: &Stress, outcome: &StressOutcome, usual: &Workload) -> Vec<String> {
    let seed = format!(" --seed {}", stress.seed);
    match (&outcome.finding, outcome.unknown) {
        (Some(_), _) => {
            let workload = match &outcome.shrinking {
                Shrinking::Tried { smallest: Some(smallest), .. } => smallest,
                Shrinking::Tried { .. } | Shrinking::TooSlow | Shrinking::Off => &stress.workload,
            };
            vec![format!("{}{}{seed}", stressing(stress, workload, usual), limits(stress))]
        }
        (None, 0) => {
            let more = match more(stress, outcome) {
                RaisedLimit::Executions(most) => format!("--executions {most}"),
                RaisedLimit::Time(time) => format!("--timeout {}", show_duration(time)),
            };
            let mut commands = vec![format!("{} {more}", stressing(stress, &stress.workload, usual))];
            if stress.workload.noise.is_none() {
                let noisy = Workload { noise: SUGGESTED_NOISE, ..stress.workload.clone() };
                commands.push(format!("{} {more}", stressing(stress, &noisy, usual)));
            }
            commands
        }
        // A checker that does not support an object does not support it in shorter histories
        // either.
        (None, _) if matches!(outcome.reason, Some(Reason::Refused(_))) => {
            let auto = Stress { algorithm: Algorithm::Auto, ..stress.clone() };
            vec![format!("{}{}{seed}", stressing(&auto, &stress.workload, usual), limits(stress))]
        }
        (None, _) if matches!(outcome.reason, Some(Reason::NoReturn(_))) => {
            let patient = Stress { patience: stress.patience * 10, ..stress.clone() };
            vec![format!("{}{}{seed}", stressing(&patient, &stress.workload, usual), limits(stress))]
        }
        // Shorter histories are easier to check.
        (None, _) => {
            let workload = &stress.workload;
            let shorter = Workload { operations: (workload.operations / 4).max(1), ..workload.clone() };
            let mut commands =
                vec![format!("{}{}{seed}", stressing(stress, &shorter, usual), limits(stress))];
            if let ValueDomain::Below(_) = workload.values {
                let distinct = Workload { values: ValueDomain::Distinct, ..workload.clone() };
                commands.push(format!("{}{}{seed}", stressing(stress, &distinct, usual), limits(stress)));
            }
            commands
        }
    }
}

// Enough to matter, but threads still make progress.
const SUGGESTED_NOISE: Noise = Noise { between: 0.05, inside: 0.02 };

/// Ten times the limit that ended the test.
enum RaisedLimit {
    Executions(u64),
    Time(Duration),
}

fn more(stress: &Stress, outcome: &StressOutcome) -> RaisedLimit {
    if let Some(most) = stress.executions.filter(|it| *it <= outcome.executions) {
        return RaisedLimit::Executions(most.saturating_mul(10));
    }
    // In whole seconds.
    let took = stress.timeout.unwrap_or(DEFAULT_TIMEOUT).as_secs_f64();
    RaisedLimit::Time(Duration::from_secs((took * 10.0).round().max(DEFAULT_TIMEOUT.as_secs_f64()) as u64))
}

/// `clewline stress SUBJECT` with all settings of the workload and the checker that differ from the
/// default.
fn stressing(stress: &Stress, workload: &Workload, usual: &Workload) -> String {
    let mut command = format!("clewline stress {}", shell_word(&stress.name));
    if stress.judged_by.is_some() {
        command.push_str(&format!(" --spec {}", shell_word(&stress.spec)));
    }
    if let Some(asked) = &stress.quasi {
        command.push_str(&format!(" {}", asked.as_flags()));
    }
    command.push_str(&failing(stress));
    let mut option = |name: &str, value: String| command.push_str(&format!(" --{name} {value}"));
    let Workload { threads, operations, mix, roles, keys, values, noise } = workload;
    roles.iter().for_each(|it| option("role", it.to_string()));
    if *threads != usual.threads && roles.is_empty() {
        option("threads", threads.to_string());
    }
    if *operations != usual.operations {
        option("operations", operations.to_string());
    }
    if *mix != usual.mix && roles.is_empty() {
        let parts: Vec<String> = mix.iter().map(|(method, weight)| format!("{method}={weight}")).collect();
        option("mix", parts.join(","));
    }
    if *keys != usual.keys {
        option("keys", keys.to_string());
    }
    if *values != usual.values {
        option("values", values.to_string());
    }
    if *noise != usual.noise {
        option("noise", show_noise(*noise));
    }
    if !matches!(stress.algorithm, Algorithm::Auto) {
        option("algorithm", format!("{:?}", stress.algorithm));
    }
    if stress.clock != Clock::best() {
        option("clock", stress.clock.kind().name().to_owned());
    }
    if stress.patience != DEFAULT_PATIENCE {
        option("patience", show_duration(stress.patience));
    }
    if stress.jobs != 1 {
        option("jobs", stress.jobs.to_string());
    }
    if stress.pinning != Pinning::Pinned {
        command.push_str(" --no-pin");
    }
    command
}

/// The results that may be returned with no effect, as an option.
fn failing(stress: &Stress) -> String {
    match stress.may_fail.is_empty() {
        true => String::new(),
        false => format!(" --may-fail {}", shell_word(&stress.may_fail.to_string())),
    }
}

/// The limits that were set.
fn limits(stress: &Stress) -> String {
    let runs = stress.executions.map_or_else(String::new, |it| format!(" --executions {it}"));
    let time = stress.timeout.map_or_else(String::new, |it| format!(" --timeout {}", show_duration(it)));
    runs + &time
}

/// As `--noise` takes it.
pub(super) fn show_noise(noise: Noise) -> String {
    let Noise { between, inside } = noise;
    match (between == 0.0, inside == 0.0) {
        (true, true) => "none".to_owned(),
        (false, true) => format!("between={between},inside=0"),
        (true, false) => format!("between=0,inside={inside}"),
        (false, false) => format!("between={between},inside={inside}"),
    }
}

/// `90s`, `250ms`: as `--timeout` takes it.
fn show_duration(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms.is_multiple_of(1_000) => format!("{}s", ms / 1_000),
        ms => format!("{ms}ms"),
    }
}
