//! Settings of tests from the environment: `CLEWLINE_REPLAY`, `CLEWLINE_SEED`, a variable for each
//! bound of a scheduler, and others.

use std::time::Duration;

use clewline_explore::{
    Schedule,
    schedulers::{self, SCHEDULERS, ThreadScheduler},
};
use clewline_matrix::{Matrix, calls, plan::Plan, split_outside};
use clewline_threads::control::MemoryModel;

use super::options::LineUpOptions;
use crate::{
    environment::{Variables, may_fail, parsed, set_bounds},
    error::Error,
};

pub(super) const REPLAY: &str = "CLEWLINE_REPLAY";
const SAMPLES: &str = "CLEWLINE_SAMPLES";
const SCHEDULER: &str = "CLEWLINE_SCHEDULER";
const MEMORY_MODEL: &str = "CLEWLINE_MEMORY_MODEL";

/// One execution: a matrix and a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplayToken {
    pub(super) matrix: Matrix,
    pub(super) schedule: Schedule,
    /// The memory model, if the token names one.
    pub(super) model: Option<MemoryModel>,
}

impl ReplayToken {
    /// As text: the matrix, a `#`, and the token of the schedule. Initial and final calls are
    /// separated by semicolons.
    pub(super) fn token(matrix: &Matrix, schedule: &Schedule, model: MemoryModel) -> String {
        let schedule = model.token(schedule);
        if matrix.initial.is_empty() && matrix.last.is_empty() {
            return format!("{matrix}#{schedule}");
        }
        let parts = [matrix.initial.join(" "), matrix.to_string(), matrix.last.join(" ")];
        format!("{}#{schedule}", parts.join(" ; ").trim())
    }

    pub(super) fn parse(text: &str) -> Option<ReplayToken> {
        // No token has a `#`, but a call may.
        let (matrix, schedule) = text.rsplit_once('#')?;
        let parts = split_outside(matrix, |it| it == ';').ok()?;
        let (initial, columns, last) = match parts[..] {
            [columns] => ("", columns, ""),
            [initial, columns, last] => (initial, columns, last),
            _ => return None,
        };
        let mut matrix: Matrix = columns.parse().ok()?;
        (matrix.initial, matrix.last) = (calls(initial).ok()?, calls(last).ok()?);
        let (model, schedule) = MemoryModel::read_token(schedule.trim()).ok()?;
        Some(ReplayToken { matrix, schedule, model })
    }
}

/// The settings that the environment may override.
pub(super) struct Overridable<'a> {
    pub(super) plan: &'a mut Plan,
    pub(super) options: &'a mut LineUpOptions,
    pub(super) timeout: &'a mut Option<Duration>,
    pub(super) jobs: &'a mut Option<usize>,
}

/// Overrides the settings in `given` by the variables that `look_up` finds. They take precedence
/// over the program. Returns the execution to replay, if there is one.
pub(super) fn apply(
    given: Overridable<'_>,
    look_up: impl Fn(&str) -> Option<String>,
) -> Result<Option<ReplayToken>, Error> {
    let Variables { seed, executions, timeout, jobs } = Variables::read(&look_up)?;
    if let Some(seed) = seed {
        (given.plan.seed, given.options.settings.seed) = (seed, seed);
    }
    if let Some(executions) = executions {
        (given.options.executions_max, given.options.settings.executions) = (executions, executions);
    }
    set_bounds(&mut given.options.settings.bounds, &schedulers::bounds(), &look_up)?;
    let samples = parsed(&look_up, SAMPLES, "a number", |it| it.parse::<u64>().ok())?;
    given.plan.samples = samples.or(given.plan.samples);
    if let Some(timeout) = timeout {
        *given.timeout = Some(timeout);
        // With a time limit, random matrices are drawn until the time is up, not only a hundred of
        // them.
        let draws = given.plan.samples_or_usual() != 0;
        given.plan.samples = samples.or(draws.then_some(u64::MAX));
    }
    *given.jobs = jobs.or(*given.jobs);
    let names: Vec<&str> = SCHEDULERS.iter().map(|it| it.name).collect();
    let expected = format!("the name of a scheduler: {}", names.join(", "));
    let scheduler = parsed(&look_up, SCHEDULER, &expected, |it| it.parse::<ThreadScheduler>().ok())?;
    given.options.scheduler = scheduler.map_or(given.options.scheduler, ThreadScheduler::entry);
    if let Some(model) = parsed(&look_up, MEMORY_MODEL, "sc, tso or rc11", |it| it.parse().ok())? {
        given.options.memory.model = model;
    }
    if let Some(may_fail) = may_fail(&look_up)? {
        given.options.may_fail = std::mem::take(&mut given.options.may_fail).also(may_fail);
    }
    let replayed = parsed(&look_up, REPLAY, "MATRIX#TOKEN, as a failure prints it", ReplayToken::parse)?;
    if let Some(model) = replayed.as_ref().and_then(|it| it.model) {
        given.options.memory.model = model;
    }
    Ok(replayed)
}

#[cfg(test)]
mod tests {
    use clewline_explore::schedulers::bounded::PREEMPTIONS;

    use super::{super::LineUp, *};
    use crate::environment::{EXECUTIONS, JOBS, SEED, TIMEOUT};
    use clewline_threads::sync::atomic::{AtomicU32, Ordering::SeqCst};

    const VARIABLE: &str = "CLEWLINE_PREEMPTIONS";

    fn applied(variables: &[(&str, &str)]) -> Result<(String, Option<ReplayToken>), String> {
        let mut line_up =
            LineUp::new(|| AtomicU32::new(0)).call("get", |it| it.load(SeqCst)).jobs(1).samples(7);
        let look_up =
            |name: &str| variables.iter().find(|it| it.0 == name).map(|(_, value)| (*value).to_owned());
        let replayed = apply(line_up.given(), look_up).map_err(|it| it.to_string())?;
        let settings = &line_up.options.settings;
        let settings_text = format!(
            "seed {} {}, executions {} {}, preemptions {:?}, samples {:?}, time {:?}, jobs {}, {}, {}",
            line_up.plan.seed,
            settings.seed,
            line_up.options.executions_max,
            settings.executions,
            settings.bounds.get(&PREEMPTIONS),
            line_up.plan.samples,
            line_up.timeout,
            line_up.jobs.unwrap_or_default(),
            line_up.options.scheduler.name,
            line_up.options.memory.model.name(),
        );
        Ok((settings_text, replayed))
    }

    #[test]
    fn unset_variables_change_nothing() {
        let settings_text = "seed 0 0, executions 20000000 10000, preemptions Some(2), samples Some(7), time None, \
                             jobs 1, bounded, sc";
        assert_eq!(applied(&[(SEED, "")]), Ok((settings_text.to_owned(), None)));
    }

    #[test]
    fn variables_take_precedence_over_the_program() {
        let variables = [
            (SEED, "3"),
            (EXECUTIONS, "5"),
            (VARIABLE, "none"),
            (SAMPLES, "9"),
            (TIMEOUT, "2m"),
            (JOBS, "4"),
            (SCHEDULER, "random"),
            (MEMORY_MODEL, "tso"),
        ];
        let time = Duration::from_secs(120);
        let settings_text = format!(
            "seed 3 3, executions 5 5, preemptions None, samples Some(9), time Some({time:?}), jobs 4, random, tso"
        );
        assert_eq!(applied(&variables), Ok((settings_text, None)));
        let settings_text = applied(&[(TIMEOUT, "2m"), (VARIABLE, "0")]).expect("nothing is wrong").0;
        assert!(
            settings_text.contains(&format!("preemptions Some(0), samples Some({})", u64::MAX)),
            "{settings_text}"
        );
    }

    #[test]
    fn invalid_values_are_errors() {
        let error = applied(&[(REPLAY, "push(1")]).expect_err("no token");
        assert_eq!(
            error,
            "the environment variable CLEWLINE_REPLAY: expected MATRIX#TOKEN, as a failure prints it; found `push(1`"
        );
        let wrong = [
            (SEED, "x"),
            (EXECUTIONS, "0"),
            (VARIABLE, "-1"),
            (SAMPLES, "many"),
            (JOBS, "0"),
            (SCHEDULER, "fate"),
            (MEMORY_MODEL, "perfect"),
            (TIMEOUT, "9"),
        ];
        for variable in wrong {
            assert!(applied(&[variable]).is_err(), "{variable:?}");
        }
        let error = applied(&[(SCHEDULER, "fate")]).expect_err("no scheduler");
        for known in &schedulers::SCHEDULERS {
            assert!(error.contains(known.name), "{error}");
        }
    }

    #[test]
    fn every_bound_of_a_scheduler_is_set_by_its_variable_and_by_the_builder() {
        let line_up = || LineUp::new(|| AtomicU32::new(0)).call("get", |it| it.load(SeqCst));
        for bound in schedulers::bounds() {
            let mut tested = line_up().bound(*bound, 17);
            assert_eq!(tested.options.settings.bounds.get(bound), Some(17), "{}", bound.name);
            let variable = bound.variable();
            let set = |value: &'static str| {
                let variable = variable.clone();
                move |name: &str| (name == variable).then(|| value.to_owned())
            };
            apply(tested.given(), set("18")).expect("a number");
            assert_eq!(tested.options.settings.bounds.get(bound), Some(18), "{variable}");
            let lifted = apply(tested.given(), set("none"));
            assert_eq!(lifted.is_ok(), bound.may_be_none, "{variable}");
            let error = apply(tested.given(), set("many")).expect_err("no number").to_string();
            assert!(error.contains(&variable) && error.contains(bound.expected()), "{error}");
            let lifted = line_up().bound(*bound, None).without_environment().matrix("get").run();
            assert_eq!(lifted.is_ok(), bound.may_be_none, "{}", bound.name);
        }
    }

    #[test]
    fn tokens_are_read_as_they_are_written() {
        let schedule: Schedule = "a3b=2a".parse().expect("a token");
        for (initial, columns, last, token) in [
            ("", "push(1) pop | pop", "", "push(1) pop | pop#a3b=2a"),
            ("push(2)", "pop | pop", "pop pop", "push(2) ; pop | pop ; pop pop#a3b=2a"),
            ("", "put(\"a;#b\")", "get", "; put(\"a;#b\") ; get#a3b=2a"),
        ] {
            let mut matrix: Matrix = columns.parse().expect("a matrix");
            matrix.initial = calls(initial).expect("calls");
            matrix.last = calls(last).expect("calls");
            let (sc, rc11) = (MemoryModel::SequentiallyConsistent, MemoryModel::ReleaseAcquire);
            assert_eq!(ReplayToken::token(&matrix, &schedule, sc), token);
            let read = ReplayToken { matrix, schedule: schedule.clone(), model: None };
            assert_eq!(ReplayToken::parse(token), Some(read.clone()));
            let token = ReplayToken::token(&read.matrix, &schedule, rc11);
            assert!(token.ends_with("#rc11:a3b=2a"), "{token}");
            assert_eq!(ReplayToken::parse(&token), Some(ReplayToken { model: Some(rc11), ..read }));
        }
        for wrong in ["pop", "pop#[64]", "pop#%", "pop ; pop#a", "#a", "pop#1"] {
            assert_eq!(ReplayToken::parse(wrong), None, "{wrong}");
        }
    }
}
