//! One matrix in parts is as one exploration, whichever thread or process explores them.

use clewline_core::Verdict;
use clewline_explore::{Bounds, schedulers::bounded::PREEMPTIONS};
use clewline_matrix::Component;
use clewline_testing::pick;
use clewline_threads::sync::{
    Condvar, Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};

use super::*;
use crate::line_up::{Checked, Reference, ThreadScheduler, check, check_on, check_share};

#[derive(Default)]
struct Thing {
    number: AtomicU32,
    locks: [Mutex<u32>; 2],
    changed: Condvar,
}

impl Thing {
    /// Whether two increments come between two loads.
    fn sees_two(&self) -> bool {
        let before = self.number.load(SeqCst);
        self.number.load(SeqCst) == before + 2
    }

    fn lock_both(&self, first: usize) -> u32 {
        let Ok(one) = self.locks[first].lock() else { return 0 };
        let Ok(other) = self.locks[1 - first].lock() else { return 0 };
        *one + *other
    }
}

fn component() -> Component<Thing> {
    let waits = |it: &Thing| {
        let Ok(mut value) = it.locks[0].lock() else { return };
        while *value == 0 {
            let Ok(woken) = it.changed.wait(value) else { return };
            value = woken;
        }
    };
    Component::new(Thing::default)
        .call("inc", |it| it.number.fetch_add(1, SeqCst))
        .call("get", |it| it.number.load(SeqCst))
        .call("rare", |it| if it.sees_two() { 99 } else { 0 })
        .call("fail", |it| assert!(!it.sees_two()))
        .call("forth", |it| it.lock_both(0))
        .call("back", |it| it.lock_both(1))
        .call("wait", waits)
        .call("set", |it| {
            if let Ok(mut value) = it.locks[0].lock() {
                *value = 1;
            }
            it.changed.notify_all();
        })
        .call("lock", |it| it.locks[0].lock().map_or(0, |it| *it))
        .call("try", |it| it.locks[0].try_lock().is_ok())
        .call("rarely-try", |it| it.sees_two() && it.locks[0].try_lock().is_ok())
        .call("draw", |it| {
            let drawn = clewline_threads::choose(3);
            it.number.fetch_add(drawn as u32, SeqCst)
        })
}

/// Matrices, and what is found: `holds`, `violated`, `unknown`.
const MATRICES: &[(&str, &str)] = &[
    ("inc get | inc get | get", "holds"),
    ("rare | inc get inc", "violated"),
    // The first preemptions show nothing, and two of them show it later.
    ("get get rare | inc inc", "violated"),
    ("fail | inc inc | get", "violated"),
    ("forth | get back", "violated"),
    ("wait | set | wait get", "holds"),
    ("try | lock inc | get", "violated"),
    ("rarely-try | inc inc | lock", "violated"),
    ("draw | draw | get", "holds"),
];

fn options(scheduler: ThreadScheduler, preemptions: Option<u32>) -> LineUpOptions {
    let mut options = LineUpOptions { scheduler: scheduler.entry(), ..LineUpOptions::default() };
    options.settings.bounds = Bounds::default().with(&PREEMPTIONS, preemptions);
    options.settings.executions = 500;
    // Many serial executions of `draw` differ.
    options.allows_nondeterminism = true;
    options
}

/// All that is compared.
fn shown(checked: &Checked) -> String {
    let found = checked.finding().map(|it| (it.cause, it.schedule.to_string(), it.preemptions, &it.blocked));
    let Checked { executions, histories, stuck, coverage, is_bounded, guess, .. } = checked;
    let verdict = match &checked.verdict {
        Verdict::Unknown(reason) => reason.as_str(),
        Verdict::Holds(()) | Verdict::Violated(_) => checked.verdict.word(),
    };
    format!(
        "{verdict}, {found:?}, {executions} executions, {histories} histories, {stuck} stuck, {coverage:?}, {is_bounded}, \
         {guess:?}"
    )
}

/// The result of a share, and the parts that it explored.
fn share(
    matrix: &Matrix,
    options: &LineUpOptions,
    jobs: usize,
    only: Option<(u64, u64)>,
    parts_min: usize,
    known: BTreeMap<PartId, PartResult>,
) -> (Result<Option<Checked>, CodecError>, BTreeMap<PartId, PartResult>) {
    let mut parts = BTreeMap::new();
    let mut finished = |id: PartId, result: &PartResult| {
        assert!(parts.insert(id, result.clone()).is_none(), "a part is explored once");
    };
    let mut share = Share { jobs, parts_min, only, known, finished: &mut finished };
    (check_share(&component(), matrix, options, &mut share), parts)
}

/// The parts that this number of processes explore.
fn parts_of(matrix: &Matrix, options: &LineUpOptions, shards: u64) -> BTreeMap<PartId, PartResult> {
    let parts_min = PARTS_PER_JOB_MIN * shards as usize;
    let mut all = BTreeMap::new();
    for index in 0..shards {
        // One that is killed after some parts continues with these.
        let only = Some((index, shards));
        let (_, parts) = share(matrix, options, 1, only, parts_min, BTreeMap::new());
        let first: BTreeMap<_, _> =
            parts.iter().take(parts.len() / 2).map(|(id, it)| (*id, it.clone())).collect();
        let (none, rest) = share(matrix, options, 2, only, parts_min, first.clone());
        assert!(none.unwrap().is_none());
        all.extend(first);
        all.extend(rest);
    }
    all
}

fn check_divided(matrix: &str, options: &LineUpOptions) -> Checked {
    let matrix: Matrix = matrix.parse().unwrap();
    let whole = check(&component(), &matrix, options).unwrap();
    let name = options.scheduler.name;
    for &jobs in pick(&[2, 3][..], &[1, 2, 3, 5][..]) {
        let (divided, _) = share(&matrix, options, jobs, None, PARTS_PER_JOB_MIN * jobs, BTreeMap::new());
        assert_eq!(shown(&divided.unwrap().unwrap()), shown(&whole), "{matrix} {name}: {jobs} jobs");
    }
    let on_two = check_on(&component(), &matrix, options, 2).unwrap();
    assert_eq!(shown(&on_two), shown(&whole), "{matrix} {name}");
    for shards in pick(2..=3, 1..=4) {
        let parts = parts_of(&matrix, options, shards);
        let (merged, more) =
            share(&matrix, options, 1, None, PARTS_PER_JOB_MIN * shards as usize, parts.clone());
        assert_eq!(shown(&merged.unwrap().unwrap()), shown(&whole), "{matrix} {name}: {shards} shards");
        let is_known = |it: &PartId| parts.keys().any(|known| known.points == it.points);
        assert!(
            !more.keys().any(is_known),
            "{matrix} {name}: what shards have explored is not explored again"
        );
    }
    whole
}

const SCHEDULERS: [ThreadScheduler; 6] = [
    ThreadScheduler::EXHAUSTIVE,
    ThreadScheduler::BOUNDED,
    ThreadScheduler::ITERATIVE,
    ThreadScheduler::RANDOM,
    ThreadScheduler::PCT,
    ThreadScheduler::POS,
];

#[test]
fn counts_and_violation_do_not_depend_on_the_division() {
    for scheduler in SCHEDULERS {
        for (matrix, expected) in MATRICES {
            let found = check_divided(matrix, &options(scheduler, Some(2)));
            if scheduler.entry().is_exhaustive {
                assert_eq!(found.verdict.word(), *expected, "{matrix}: {:?}", found.verdict);
            }
        }
    }
}

#[test]
fn limits_are_reached_at_the_same_execution() {
    for scheduler in SCHEDULERS {
        for executions_max in [1, 37, 130] {
            // No serial executions, which have the same limit.
            let against = Reference::Anything;
            let options = LineUpOptions { executions_max, against, ..options(scheduler, Some(2)) };
            let found = check_divided("inc get inc | inc get inc | get get", &options);
            assert_eq!(found.executions, executions_max);
        }
        let mut options = options(scheduler, Some(1));
        options.against = Reference::Anything;
        options.limits.steps = 3;
        let found = check_divided("inc get | inc set", &options);
        assert!(matches!(found.coverage, Coverage::Limited(Limit::Cut(_))), "{found:?}");
    }
}

#[test]
fn a_part_that_is_missing_is_noticed() {
    for scheduler in SCHEDULERS {
        let (matrix, options) = ("inc get inc | inc get".parse().unwrap(), options(scheduler, Some(2)));
        let parts = parts_of(&matrix, &options, 2);
        assert!(parts.len() > 3);
        for lost in parts.keys() {
            let mut rest = parts.clone();
            rest.remove(lost);
            let (merged, _) = share(&matrix, &options, 1, None, 2 * PARTS_PER_JOB_MIN, rest);
            let error = merged.unwrap_err().to_string();
            assert!(error.contains(&format!("part {} of the schedules", lost.number)), "{error}");
        }
    }
}

#[test]
fn a_reduction_is_not_divided() {
    for scheduler in [ThreadScheduler::DPOR, ThreadScheduler::BOUNDED_DPOR, ThreadScheduler::GRAPH] {
        let reason = not_divided(&options(scheduler, None)).unwrap();
        assert!(reason.contains("what one schedule shows decides which others are needed"), "{reason}");
    }
    assert_eq!(not_divided(&options(ThreadScheduler::BOUNDED, None)), None);
}
