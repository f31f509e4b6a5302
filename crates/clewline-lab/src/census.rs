//! All histories of a matrix, counted: how many are linearizable, how many are quasi linearizable
//! in each reading, and how much the paper's enumeration has to try.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use clewline_check::{JudgeOptions, judge, relaxed::is_displaced};
use clewline_core::{Budget, CodecError, Problem, ResultId, Verdict};
use clewline_explore::{Coverage, Ending, Limit};
use clewline_matrix::{Explorable, Extent, Strategy, Survey, TestProgram, Visits};
use clewline_methods::{
    line_up::{LineUpOptions, Matrix, Specified, count_serial},
    relaxed::{ElementCalls, MATRIX_HISTORY_CONFIGURATIONS_MAX, Quasi, relaxation},
};
use clewline_threads::control::ExecutionOutcome;
use clewline_unmodified::{OutputMode, Program, ProgramError, RunOptions};

use crate::enumeration::{Counting, Counts, Enumeration};

/// The question asked of every history.
#[derive(Clone, Debug)]
pub struct Readings {
    /// The expected behaviour: the name of a specification.
    pub plain: String,
    /// The specification of the relaxed reading, with its factor.
    pub relaxed: String,
    /// The factors of the displacement reading.
    pub factors: Quasi,
    /// The factors with which permutations are enumerated.
    pub enumerated: Quasi,
}

/// The counts.
#[derive(Clone, Debug)]
pub struct Census {
    /// Serial histories of the golden model.
    pub serial_histories: usize,
    /// Executions of the second phase.
    pub executions: u64,
    /// Distinct complete histories: results and precedence order.
    pub histories: u64,
    /// Of these, those that are not linearizable.
    pub not_linearizable: u64,
    /// Those that the relaxed specification does not allow.
    pub not_relaxed: u64,
    /// Those that are not quasi linearizable by displacement.
    pub not_displaced: u64,
    /// Those for which the enumeration finds no legal order.
    pub not_enumerated: u64,
    /// The first of these: its operations, in the order of their calls.
    pub first_not_enumerated: Option<Vec<String>>,
    /// Executions that panicked or got stuck. None of the readings counts them.
    pub broken: u64,
    /// Why some history was not judged.
    pub unknown: Option<String>,
    /// The counts of the enumeration.
    pub counts: Counts,
    /// How much of the space was seen.
    pub coverage: Coverage,
    /// Whether preemptions were bounded.
    pub is_bounded: bool,
    /// The duration of the phases, without the enumeration.
    pub elapsed: [Duration; 2],
    /// How long the enumeration took.
    pub enumerated: Duration,
}

/// Counts the histories of a matrix on a subject. The first phase calls `golden` serially. The
/// expected behaviour in `options` is ignored.
///
/// # Errors
///
/// If the matrix has a call that one of them does not know, or there is no such specification.
pub fn census(
    subject: &dyn Explorable,
    golden: &dyn Explorable,
    matrix: &Matrix,
    readings: &Readings,
    counting: Counting,
    options: &LineUpOptions,
    enumeration: &mut Enumeration,
) -> Result<Census, CodecError> {
    let begun = Instant::now();
    let (serial_histories, incomplete) = count_serial(golden, matrix, options)?;
    let serial = begun.elapsed();
    let counted = count(subject, matrix, readings, counting, options, enumeration)?;
    Ok(Census {
        serial_histories,
        unknown: incomplete.or(counted.unknown),
        elapsed: [serial, counted.elapsed[1]],
        ..counted
    })
}

/// The same without the first phase: there are no serial histories, and its duration is zero.
///
/// # Errors
///
/// As [`census`].
pub fn count(
    subject: &dyn Explorable,
    matrix: &Matrix,
    readings: &Readings,
    counting: Counting,
    options: &LineUpOptions,
    enumeration: &mut Enumeration,
) -> Result<Census, CodecError> {
    let find = |name: &str| clewline_specs::find(name).map_err(|it| CodecError(it.to_string()));
    let mut test_program = subject.test_program(&matrix.to_calls(), &options.limits)?;
    test_program.set_memory(options.memory);
    test_program.keep(false, false);
    let mut counter = Counter {
        plain: Specified::Named(find(&readings.plain)?),
        relaxed: Specified::Named(find(&readings.relaxed)?),
        readings,
        enumeration,
        counting,
        seen: HashSet::new(),
        census: Census::default(),
    };
    let begun = Instant::now();
    let visits = match counting {
        Counting::Everything => Visits::Every,
        Counting::Distinct | Counting::Optimized => Visits::Histories,
    };
    let extent = Extent::all(options.executions_max, visits).within(options.time);
    let strategy = Strategy::Scheduler(options.scheduler, &options.settings);
    let Survey { coverage, executions, broken, is_bounded, .. } =
        test_program.explore(strategy, &extent, &mut |test_program, ending, _| {
            if *ending == Ending::Full {
                counter.count(test_program, &test_program.outcome());
            }
            ControlFlow::Continue(())
        });
    Ok(Census {
        executions,
        histories: counter.seen.len() as u64,
        counts: counter.enumeration.counts(),
        coverage,
        broken,
        is_bounded: is_bounded || test_program.guess().is_some(),
        elapsed: [Duration::ZERO, begun.elapsed().saturating_sub(counter.census.enumerated)],
        ..counter.census
    })
}

/// What is counted.
#[derive(Clone, Debug)]
pub struct CensusRequest {
    /// The calls.
    pub matrix: Matrix,
    /// The name of the specification.
    pub plain: String,
    /// The specification of the relaxed reading, with its factor.
    pub relaxed: String,
    /// The factors of the displacement reading.
    pub factors: String,
    /// The factors with which permutations are enumerated.
    pub enumerated: String,
    /// The most executions.
    pub executions_max: u64,
    /// The time limit.
    pub time: Option<Duration>,
}

impl CensusRequest {
    /// The criteria for histories.
    ///
    /// # Errors
    ///
    /// If the factors are invalid.
    pub fn readings(&self) -> Result<Readings, CodecError> {
        let factors = |text: &str| text.parse::<Quasi>().map_err(|it| CodecError(it.to_string()));
        Ok(Readings {
            plain: self.plain.clone(),
            relaxed: self.relaxed.clone(),
            factors: factors(&self.factors)?,
            enumerated: factors(&self.enumerated)?,
        })
    }
}

/// Counts all histories of a matrix of a program.
///
/// # Errors
///
/// If it cannot be counted.
pub fn census_of_program(
    program: &Program,
    asked: &CensusRequest,
    enumeration: &mut Enumeration,
) -> Result<Census, ProgramError> {
    let no_count = |error: CodecError| ProgramError::Killed { how: error.to_string() };
    let options =
        LineUpOptions { executions_max: asked.executions_max, time: asked.time, ..LineUpOptions::default() };
    let readings = asked.readings().map_err(no_count)?;
    // Histories are counted, whatever orders the accesses.
    let wanted = RunOptions { ignores_races: true, ..RunOptions::default() };
    let session = program.start(&[], &wanted, OutputMode::Captured)?;
    let counted =
        count(&**session.remote(), &asked.matrix, &readings, Counting::Distinct, &options, enumeration);
    session.finish()?;
    let counted = counted.map_err(no_count)?;
    // A count that differs from run to run is not meaningful.
    let diverged = match &counted.coverage {
        Coverage::Limited(Limit::Diverged(diverged)) => Some(format!("diverged: {diverged}")),
        Coverage::Exhausted | Coverage::Limited(_) => None,
    };
    Ok(Census { unknown: counted.unknown.clone().or(diverged), ..counted })
}

impl Default for Census {
    /// Nothing, of which nothing was seen.
    fn default() -> Census {
        Census {
            serial_histories: 0,
            executions: 0,
            histories: 0,
            not_linearizable: 0,
            not_relaxed: 0,
            not_displaced: 0,
            not_enumerated: 0,
            first_not_enumerated: None,
            broken: 0,
            unknown: None,
            counts: Counts::default(),
            coverage: Coverage::Limited(Limit::Stopped),
            is_bounded: false,
            elapsed: [Duration::ZERO; 2],
            enumerated: Duration::ZERO,
        }
    }
}

struct Counter<'a> {
    plain: Specified,
    relaxed: Specified,
    readings: &'a Readings,
    enumeration: &'a mut Enumeration,
    counting: Counting,
    seen: HashSet<Vec<u32>>,
    census: Census,
}

impl Counter<'_> {
    fn count(&mut self, test_program: &dyn TestProgram, outcome: &ExecutionOutcome<ResultId>) {
        let mut key = Vec::new();
        outcome.canonical(&Ending::Full, &mut key);
        let is_new = self.seen.insert(key);
        if !is_new && self.counting != Counting::Everything {
            return;
        }
        if let Err(reason) = self.judge(test_program, outcome, is_new) {
            self.census.unknown.get_or_insert(reason);
        }
    }

    fn judge(
        &mut self,
        test_program: &dyn TestProgram,
        outcome: &ExecutionOutcome<ResultId>,
        is_new: bool,
    ) -> Result<(), String> {
        let plain = self.plain.case(test_program, outcome)?;
        let problems = plain.problems();
        let begun = Instant::now();
        let mut is_enumerated = true;
        for problem in &problems {
            let relaxation = relaxation(problem, &self.readings.enumerated);
            let tried = self.enumeration.judge(problem, &relaxation, &Budget::unlimited());
            is_enumerated &= tried.map_err(|it| it.to_string())?;
        }
        self.census.enumerated += begun.elapsed();
        if is_new && !is_enumerated {
            self.census.not_enumerated += 1;
            self.census.first_not_enumerated.get_or_insert_with(|| in_order_of_calls(&problems));
        }
        // Where the enumeration is measured, nothing else may take time.
        if !is_new || self.counting != Counting::Distinct {
            return Ok(());
        }
        let drained = match ElementCalls::of(&self.readings.plain) {
            Some(roles) => self.plain.drained(test_program, outcome, &roles)?,
            None => self.plain.case(test_program, outcome)?,
        };
        self.census.not_displaced += u64::from(!self.is_displaced(&drained.problems())?);
        self.census.not_linearizable += u64::from(!holds(problems)?);
        let relaxed = self.relaxed.case(test_program, outcome)?;
        self.census.not_relaxed += u64::from(!holds(relaxed.problems())?);
        Ok(())
    }
}

impl Counter<'_> {
    /// Whether the history is quasi linearizable by displacement.
    fn is_displaced(&self, problems: &[Problem<'_>]) -> Result<bool, String> {
        let budget = Budget::unlimited().with_configurations(MATRIX_HISTORY_CONFIGURATIONS_MAX);
        for problem in problems {
            let relaxation = relaxation(problem, &self.readings.factors);
            if !is_displaced(problem, &relaxation, &budget).map_err(|it| it.to_string())? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn in_order_of_calls(problems: &[Problem<'_>]) -> Vec<String> {
    let operations =
        problems.iter().flat_map(|it| it.operations().iter().zip(it.spans()).map(move |all| (it, all)));
    let mut labels: Vec<_> = operations.map(|(it, (&id, span))| (span.call(), it.label(id))).collect();
    labels.sort_unstable();
    labels.into_iter().map(|it| it.1).collect()
}

fn holds(problems: Vec<Problem<'_>>) -> Result<bool, String> {
    let options = JudgeOptions { counterexample_configurations: 0, ..JudgeOptions::default() };
    match judge(problems, &options).verdict {
        Verdict::Holds(_) => Ok(true),
        Verdict::Violated(_) => Ok(false),
        Verdict::Unknown(reason) => Err(reason.to_string()),
    }
}
