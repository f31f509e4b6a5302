//! Common parts of the figures of Lowe's paper: its testers with their limits, and its notion of an
//! observation.
//!
//! An observation is a number of runs, each recorded from real threads and then judged, and the
//! total time. Its testers judge a history as a whole, as in the paper: [`judge`] would decompose a
//! map by its keys, which the paper names as future work. Ours, `auto`, may do so.

use std::{
    fmt,
    time::{Duration, Instant},
};

use clewline_check::{Algorithm, JudgeOptions, compete, judge};
use clewline_core::{Budget, ErasedHistory, Reason, Verdict, Witness};
use clewline_threads::RunEnding;

use super::entry::{Size, caution};
use clewline_methods::{Error, limits::Timer, stress::Stress};

/// The source of all figures.
pub(super) const PAPER: &str = "G. Lowe, \"Testing for linearizability\", 2017";

/// Longer than any table takes.
pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// The map of the comparisons.
pub(super) const MAP: &str = "hash-map";

/// Their queue.
pub(super) const QUEUE: &str = "ms-queue";

/// Memory limit of all searches of an observation together: a table of visited configurations may
/// grow without bound.
const MEMORY_BYTES_MAX: usize = 4 << 30;

/// The subject of that name, which is one of ours.
pub(super) fn subject(name: &str) -> Stress {
    crate::by_name::stress(name).expect("the paper's subjects are in the table")
}

/// A line of a plot: a tester, and its limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tester {
    /// As the paper calls it.
    pub(super) name: &'static str,
    /// As we call it.
    pub(super) algorithm: &'static str,
    /// Maximum configurations of each of its searches in a run.
    pub(super) configurations: u64,
}

pub(super) static WG_GRAPH: Tester =
    Tester { name: "WG graph", algorithm: "wg-graph", configurations: 1_300_000 };
pub(super) static JIT_GRAPH: Tester =
    Tester { name: "JIT graph", algorithm: "jit-graph", configurations: 3_000_000 };
pub(super) static WG_TREE: Tester =
    Tester { name: "WG tree", algorithm: "wg-tree", configurations: CONFIGURATIONS_MAX };
pub(super) static JIT_TREE: Tester =
    Tester { name: "JIT tree", algorithm: "jit-tree", configurations: CONFIGURATIONS_MAX };
pub(super) static WG_JIT: Tester =
    Tester { name: "WG-JIT competition", algorithm: "wg-tree+jit-graph", configurations: CONFIGURATIONS_MAX };
pub(super) static JIT_JIT: Tester = Tester {
    name: "JIT-JIT competition",
    algorithm: "jit-tree+jit-graph",
    configurations: CONFIGURATIONS_MAX,
};
pub(super) static QUEUE_ORIENTED: Tester =
    Tester { name: "queue-oriented", algorithm: "queue-oriented", configurations: CONFIGURATIONS_MAX };
pub(super) static AUTO: Tester =
    Tester { name: "auto (ours)", algorithm: "auto", configurations: CONFIGURATIONS_MAX };

const CONFIGURATIONS_MAX: u64 = 10_000_000_000;

impl Tester {
    /// The first of two competitors is a tree search.
    pub(super) fn is_competition(&self) -> bool {
        self.algorithm.contains('+')
    }

    fn budget(&self, size: Size) -> Budget {
        let configurations = match size {
            Size::Full => self.configurations,
            Size::Quick => self.configurations / 1_000,
        };
        Budget::unlimited().with_configurations(configurations).with_memory(MEMORY_BYTES_MAX)
    }

    /// The verdict on a history, and which competitor had it.
    fn judge(&self, algorithm: &Algorithm, case: &dyn ErasedHistory, budget: &Budget) -> (Verdict, usize) {
        let checkers = match algorithm {
            Algorithm::Named(checkers) => checkers,
            other => {
                let judging = JudgeOptions {
                    algorithm: other.clone(),
                    budget: budget.clone(),
                    ..JudgeOptions::default()
                };
                return (judge(case.problems(), &judging).verdict, 0);
            }
        };
        // A run has one object, or none if there are no operations.
        let verdict = case.problems().first().map(|it| compete(checkers, it, budget));
        verdict.unwrap_or((Verdict::Holds(Witness::default()), 0))
    }
}

/// Runs that were recorded and judged.
#[derive(Debug)]
pub(super) struct Observation {
    /// Total time.
    pub(super) elapsed: Duration,
    /// Number of runs judged.
    pub(super) runs: u64,
    /// Number of operations recorded.
    pub(super) operations: u64,
    /// Approximate number of configurations visited.
    pub(super) configurations: u64,
    /// In how many runs the first competitor knew first.
    pub(super) won: u64,
    pub(super) end: ObservationEnd,
}

/// Why an observation ended.
#[derive(Debug)]
pub(super) enum ObservationEnd {
    /// As many runs as there should be were judged, and all are linearizable.
    Done,
    /// A run is not linearizable.
    Violated,
    /// A run got stuck, or an operation panicked.
    Broken,
    /// A run was not judged: a limit was hit.
    GaveUp(Reason),
}

impl fmt::Display for ObservationEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObservationEnd::Done => f.write_str("done"),
            ObservationEnd::Violated => f.write_str("not linearizable"),
            ObservationEnd::Broken => f.write_str("stuck or panicked"),
            ObservationEnd::GaveUp(reason) => write!(f, "{reason}"),
        }
    }
}

/// Records and judges `runs` runs, in turn, for `time` at most.
pub(super) fn observe(
    stress: &Stress,
    tester: &Tester,
    runs: u64,
    time: Duration,
    size: Size,
) -> Result<Observation, Error> {
    let begun = Instant::now();
    let algorithm = tester.algorithm.parse::<Algorithm>()?;
    let budget = tester.budget(size);
    let _timer = Timer::start(Some(time), &budget)?;
    let (mut judged, mut operations, mut won) = (0, 0, 0);
    let mut recorded = stress.recorded()?;
    let end = loop {
        if let Some(reason) = budget.stopped() {
            break ObservationEnd::GaveUp(reason);
        }
        if judged == runs {
            break ObservationEnd::Done;
        }
        let Some(took) = recorded.next() else { break ObservationEnd::Broken };
        operations += took.returned as u64;
        let (verdict, winner) = tester.judge(&algorithm, &*(took.case)(), &budget);
        match (verdict, took.ending) {
            (Verdict::Holds(_), RunEnding::Full) => (),
            (Verdict::Holds(_), RunEnding::Stuck(..) | RunEnding::Panicked(_)) => {
                break ObservationEnd::Broken;
            }
            (Verdict::Unknown(reason), _) => break ObservationEnd::GaveUp(reason),
            (Verdict::Violated(_), _) => {
                judged += 1;
                break ObservationEnd::Violated;
            }
        }
        judged += 1;
        won += u64::from(winner == 0);
    };
    Ok(Observation {
        elapsed: begun.elapsed(),
        runs: judged,
        operations,
        configurations: budget.visited(),
        won,
        end,
    })
}

/// The differences to the paper in all of them.
pub(super) fn notes() -> Vec<String> {
    let processors = clewline_core::parallel::jobs_available();
    let mut notes = vec![format!(
        "The paper: Scala on a Java virtual machine, eight cores of two Intel Xeon E5620. Ours: Rust, {processors} processors; \
         threads of a run are started once and used again. Times are on the wall."
    )];
    notes.extend(caution());
    notes
}

#[cfg(test)]
mod tests {
    use clewline_core::ValueDomain;

    use super::*;

    fn register() -> Stress {
        let stress = crate::stress("register").unwrap();
        stress.threads(2).operations(20).values(ValueDomain::Below(2)).seed(1)
    }

    #[test]
    fn an_observation_judges_as_many_runs_as_it_should() {
        for tester in [&WG_GRAPH, &JIT_GRAPH, &WG_JIT, &JIT_JIT, &AUTO] {
            let seen = observe(&register(), tester, 5, HOUR, Size::Full).unwrap();
            assert!(matches!(seen.end, ObservationEnd::Done), "{}: {seen:?}", tester.name);
            assert_eq!((seen.runs, seen.operations), (5, 200));
            assert!(tester.is_competition() || seen.won == 5);
        }
    }

    #[test]
    fn a_tester_that_reaches_its_limit_reports_it() {
        let strict = Tester { name: "strict", algorithm: "jit-graph", configurations: 3 };
        let seen = observe(&register(), &strict, 5, HOUR, Size::Full).unwrap();
        assert_eq!((seen.runs, seen.end.to_string().as_str()), (0, "the limit of 3 configurations was hit"));
    }

    #[test]
    fn a_tester_reports_unsupported_objects() {
        let seen = observe(&register(), &QUEUE_ORIENTED, 5, HOUR, Size::Full).unwrap();
        assert!(seen.runs == 0 && matches!(seen.end, ObservationEnd::GaveUp(Reason::Refused(_))), "{seen:?}");
    }
}
