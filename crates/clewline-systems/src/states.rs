//! State exploration: every state once, and shortest paths to violating states.

use clewline_actors::{
    Count, Execution, Explored, FaultPlacement, HistoryEvent, HistoryId, MessageSchedule, Modality, Search,
    Snapshots, StateComparison, StopReason, StopWhen, TraceLimits, TraceResult, Verdicts, explore_states,
    trace,
};
use clewline_core::{Reason, Verdict, is_interrupted};
use clewline_explore::{Coverage, Limit};

use crate::{
    finding::ViolationKind,
    options::{ExploreOptions, ExploreProgress, StopCondition, StuckCalls},
    outcome::{ExploreError, Metrics, States},
    search::{ExplorationResult, Limits, Provenance, ViolationFound},
    staged::DynScenario,
};

/// How many states are visited to find a shortest path.
const TRACE_STATES_MAX: usize = 30_000_000;
/// At least this number is visited: that takes no more memory than the program itself.
const TRACE_STATES_MIN: usize = 20_000;
/// About how many bytes each of them takes.
const TRACE_BYTES_PER_STATE: usize = 250;

/// Visits every state.
pub(super) fn explore(
    scenario: &dyn DynScenario,
    options: &ExploreOptions,
    limits: &Limits,
    progress: &ExploreProgress,
) -> Result<ExplorationResult, ExploreError> {
    let properties: Vec<Modality> = scenario.properties().iter().map(|it| it.1).collect();
    let search = Search {
        jobs: options.jobs,
        count: Count::Schedules,
        until: match options.wanted {
            StopCondition::Everything => StopWhen::Exhausted,
            StopCondition::First => StopWhen::Violated,
        },
        states_max: options.states,
        bytes_max: options.memory.unwrap_or(usize::MAX),
        deadline: limits.deadline,
        compare: StateComparison::Fingerprints,
        places: FaultPlacement::Few,
    };
    let mut verdicts = scenario.verdicts();
    let note = |it: clewline_actors::GraphProgress| progress.note_states(it.unique, it.depth);
    let explored = explore_states(&scenario.engine(), &properties, &mut verdicts, &search, &note);
    if let Some(bad_handler) = explored.bad_handler {
        return Err(ExploreError::BadHandler(bad_handler));
    }
    let wrong = match violation_in(scenario, options, &explored) {
        None => None,
        Some((why, at)) => {
            let way = match provenance_of(scenario, why, at, &explored, limits)? {
                Provenance::LimitReached(_) if why == ViolationKind::NotLinearizable => {
                    let found = shortest(scenario, &verdicts);
                    Provenance::LimitReached(
                        found.map(|it| scenario.histories().events(it)).unwrap_or_default(),
                    )
                }
                way => way,
            };
            Some(ViolationFound { kind: why, provenance: way })
        }
    };
    let coverage = coverage(&explored, options);
    // The verdict is unknown unless the exploration is complete.
    let is_undecided = explored.properties.contains(&Verdict::Unknown(())) || explored.unknown != 0;
    let is_complete = coverage == Coverage::Exhausted && !is_undecided;
    let metrics = metrics(&explored);
    let mut histories = Vec::new();
    if options.lists_histories {
        // Whose execution is unfinished.
        histories.extend(shortest(scenario, &verdicts).filter(|_| unfinished(&explored) != 0));
        histories.extend(explored.final_histories);
    }
    Ok(ExplorationResult { metrics, coverage, is_complete, violation: wrong, histories })
}

/// How many canonical histories there are, and how many are violated, if there are not too many
/// states to find out.
pub(super) fn existing(scenario: &dyn DynScenario, states_max: u64, limits: &Limits) -> Option<(u64, u64)> {
    let search = Search { states_max, ..limited(limits) };
    let explored = explore_states(&scenario.engine(), &[], &mut scenario.verdicts(), &search, &|_| ());
    let found = (explored.final_histories.len() as u64, explored.final_violated);
    (explored.ended == StopReason::Exhausted).then_some(found)
}

/// The first reachable violation, for callers that only need its existence.
pub(super) fn first(scenario: &dyn DynScenario, states_max: u64, limits: &Limits) -> Option<MessageSchedule> {
    let search = Search { states_max, until: StopWhen::Violated, ..limited(limits) };
    let explored = explore_states(&scenario.engine(), &[], &mut scenario.verdicts(), &search, &|_| ());
    if explored.violated == 0 {
        return None;
    }
    match provenance_of(scenario, ViolationKind::NotLinearizable, 0, &explored, limits) {
        Ok(Provenance::Schedule(schedule)) => Some(schedule),
        Ok(Provenance::NoSingleExecution | Provenance::LimitReached(_)) | Err(_) => None,
    }
}

/// A violated history with as few returns and calls as possible. The choice does not depend on
/// numbering.
fn shortest(scenario: &dyn DynScenario, verdicts: &Verdicts) -> Option<HistoryId> {
    let histories = scenario.histories();
    let violated = verdicts.all().filter(|it| it.1 == Verdict::Violated(())).map(|it| it.0);
    let size = |id: &_| {
        let events = histories.events(*id);
        let operations: Vec<(bool, u32)> = events
            .iter()
            .map(|it| match *it {
                HistoryEvent::Call(operation) => (false, operation),
                HistoryEvent::Return(operation, _) => (true, operation),
            })
            .collect();
        (operations.len(), operations)
    };
    violated.min_by_key(size)
}

fn limited(limits: &Limits) -> Search {
    Search { bytes_max: limits.bytes.unwrap_or(usize::MAX), deadline: limits.deadline, ..Search::default() }
}

fn coverage(explored: &Explored, options: &ExploreOptions) -> Coverage {
    Coverage::Limited(match explored.ended {
        StopReason::Exhausted => return Coverage::Exhausted,
        StopReason::Violated => Limit::Violations(1),
        StopReason::States => Limit::States(options.states),
        StopReason::Memory => Limit::Budget(Reason::Memory(options.memory.unwrap_or(usize::MAX))),
        StopReason::Time if is_interrupted() => Limit::Budget(Reason::Interrupted),
        StopReason::Time => Limit::Budget(Reason::Time(options.timeout.unwrap_or_default())),
        StopReason::BadHandler => Limit::Other("a handler cannot be explored".to_owned()),
    })
}

/// The number of histories of unfinished executions that count: if the exploration stopped at a
/// violated history, that is one. If it stopped at a violated property, no history is violated.
fn unfinished(explored: &Explored) -> u64 {
    let is_one =
        explored.ended == StopReason::Violated && explored.violated != 0 && explored.final_violated == 0;
    u64::from(is_one)
}

fn metrics(explored: &Explored) -> Metrics {
    let paths = explored.paths.as_ref().filter(|_| explored.ended == StopReason::Exhausted);
    let unfinished = unfinished(explored);
    Metrics {
        schedules: paths.and_then(|it| it.schedules),
        canonical: explored.final_histories.len() as u64 + unfinished,
        violated: explored.final_violated + unfinished,
        unknown: explored.unknown,
        depth: paths.map(|it| it.depth),
        states: Some(States {
            unique: explored.unique,
            edges: explored.generated - 1,
            ends: explored.ends,
            stuck: explored.stuck,
            undelivered: explored.undelivered,
            has_cycle: paths.is_some_and(|it| it.has_cycle),
            places: explored.places,
        }),
        ..Metrics::default()
    }
}

/// The violation, and the property that is violated.
fn violation_in(
    scenario: &dyn DynScenario,
    options: &ExploreOptions,
    explored: &Explored,
) -> Option<(ViolationKind, usize)> {
    if explored.violated != 0 {
        return Some((ViolationKind::NotLinearizable, 0));
    }
    let mut properties = scenario.properties().into_iter().zip(&explored.properties).enumerate();
    if let Some((at, ((name, when), _))) = properties.find(|(_, (_, it))| matches!(it, Verdict::Violated(_)))
    {
        return Some((ViolationKind::Property(name, when), at));
    }
    let is_stuck = options.stuck == StuckCalls::Forbid && explored.stuck != 0;
    is_stuck.then_some((ViolationKind::Stuck, 0))
}

/// A shortest path to the violation.
fn provenance_of(
    scenario: &dyn DynScenario,
    why: ViolationKind,
    property: usize,
    explored: &Explored,
    limits: &Limits,
) -> Result<Provenance, ExploreError> {
    let states_max = limits.bytes.map_or(TRACE_STATES_MAX, |it| {
        (it / TRACE_BYTES_PER_STATE).clamp(TRACE_STATES_MIN, TRACE_STATES_MAX)
    });
    let reach = TraceLimits { states_max, deadline: limits.deadline };
    let mut engine = scenario.engine();
    let mut verdicts = scenario.verdicts();
    let found = match why {
        ViolationKind::NotLinearizable => trace(&mut engine, reach, &mut |_, world, _| {
            verdicts.of(&scenario.histories(), world.history()) == Verdict::Violated(())
        }),
        ViolationKind::Property(_, Modality::Always) => {
            trace(&mut engine, reach, &mut |engine, world, _| !engine.holds(world, property))
        }
        ViolationKind::Property(_, Modality::Eventually) => match &explored.properties[property] {
            Verdict::Violated(actions) => TraceResult::Found(actions.clone()),
            Verdict::Holds(()) | Verdict::Unknown(()) => TraceResult::Unreachable,
        },
        ViolationKind::Property(_, Modality::Sometimes) => TraceResult::Unreachable,
        ViolationKind::Stuck => trace(&mut engine, reach, &mut |engine, world, is_end| {
            let returned = engine.summary(world.history()).returned.count_ones();
            is_end && (returned as usize) < engine.operations()
        }),
    };
    match found {
        TraceResult::Found(actions) => {
            let mut execution = Execution::new(scenario.engine(), Snapshots::Sound);
            execution.follow(&actions);
            Ok(Provenance::Schedule(execution.schedule()))
        }
        TraceResult::Unreachable => Ok(Provenance::NoSingleExecution),
        TraceResult::GivenUp => Ok(Provenance::LimitReached(Vec::new())),
        TraceResult::BadHandler(bad_handler) => Err(ExploreError::BadHandler(bad_handler)),
    }
}
