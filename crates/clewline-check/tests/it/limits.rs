//! Limits hold in every phase of every checker, on shapes of histories that are hard for one or
//! another of them.
//!
//! Time is that of the processor, as the system counts it for this thread, so that the load of the
//! machine makes no difference.

use std::{cell::RefCell, fs, time::Duration};

use clewline_check::{
    Algorithm, JudgeOptions, StreamState, checkers, failure_point, judge,
    relaxed::{Relaxation, displaced, least_factor},
    stuck,
};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Reason, Recording, ValueDomain, Verdict};
use clewline_specs::{CATALOG, find};
use clewline_testing::{pick, pick_of_three};

const CHECK_TIMEOUT: Duration = Duration::from_millis(50);
// A tenth of the limit, and what a debug build needs where an optimized one takes a few
// milliseconds.
const OVERSHOOT_MAX: Duration = Duration::from_millis(155);

// Objects and shapes on which `auto` was late before it was mended: always measured.
const LATE_ONCE: [(&str, &str); 1] = [("deque", "wide")];

// How often a case is measured that is late.
const ATTEMPTS: usize = 3;

/// How many times slower this machine is than the one the overshoot was chosen on; at least 1.
fn slowness() -> f64 {
    const USUAL: Duration = Duration::from_millis(40);
    let begun = processor_time();
    let mut table: std::collections::BTreeMap<u32, u32> = std::collections::BTreeMap::new();
    let mut key = 1_u32;
    for _ in 0..20_000 {
        key = key.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *table.entry(key >> 12).or_default() += 1;
    }
    std::hint::black_box(table);
    (processor_time() - begun).div_duration_f64(USUAL).max(1.0)
}

thread_local! {
    static WATCH: RefCell<Option<(Budget, Duration)>> = const { RefCell::new(None) };
}

/// The processor time of this thread; zero if the system does not say.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0))
}

/// Takes the place of the timer: a budget with a memory limit calls this at every check.
fn stop_in_time() -> usize {
    WATCH.with_borrow(|watch| match watch {
        Some((budget, until)) if *until <= processor_time() => {
            budget.stop(Reason::Time(CHECK_TIMEOUT));
            usize::MAX
        }
        Some(_) | None => 0,
    })
}

/// How long `run` takes beyond the limit that it is given.
fn overshoot(run: &dyn Fn(&JudgeOptions)) -> Duration {
    let budget = Budget::unlimited().with_memory(usize::MAX - 1).with_gauge(stop_in_time);
    let begun = processor_time();
    WATCH.set(Some((budget.clone(), begun + CHECK_TIMEOUT)));
    run(&JudgeOptions { budget, ..JudgeOptions::default() });
    WATCH.set(None);
    (processor_time() - begun).saturating_sub(CHECK_TIMEOUT)
}

/// Plans of histories of an object with these methods, each hard in its own way.
fn shapes(methods: &[&str]) -> Vec<(&'static str, GeneratorConfig)> {
    let many = 3_000;
    let usual = GeneratorConfig {
        operations: many,
        processes: 8,
        overlap: 1.0,
        keys: 1,
        ..GeneratorConfig::default()
    };
    let weight = |&it: &&str| (it.to_owned(), if it == methods[0] { 9 } else { 1 });
    let deep: Vec<(String, u32)> = methods.iter().map(weight).collect();
    vec![
        ("all overlapping", GeneratorConfig { processes: many, ..usual.clone() }),
        ("all pending", GeneratorConfig { processes: many, pending: 1.0, ..usual.clone() }),
        (
            "some pending",
            GeneratorConfig { processes: many, pending: 0.2, values: ValueDomain::Distinct, ..usual.clone() },
        ),
        ("equal values", GeneratorConfig { values: ValueDomain::Below(1), ..usual.clone() }),
        ("deep", GeneratorConfig { mix: deep, values: ValueDomain::Below(3), ..usual.clone() }),
        ("wide", GeneratorConfig { processes: 300, values: ValueDomain::Below(3), ..usual.clone() }),
        ("distinct", GeneratorConfig { values: ValueDomain::Distinct, ..usual.clone() }),
        ("very long", GeneratorConfig { operations: 5 * many, processes: 2, ..usual }),
    ]
}

/// With the results of two operations of one method exchanged, if there are such.
fn exchanged(recording: Recording) -> Recording {
    let Recording { history, values, names, missing, .. } = recording;
    let ids = || history.operations().enumerate().map(|(at, it)| (at, *it.call, it.ret.copied()));
    let late = ids().filter(|it| it.2.is_some_and(|ret| !ret.is_absent())).nth(history.len() / 2);
    let early =
        late.and_then(|(_, call, ret)| ids().find(|it| it.1 == call && it.2.is_some() && it.2 != ret));
    let (one, other) = (late.map(|it| (it.0, it.2)), early.map(|it| (it.0, it.2)));
    let history = history.try_map(|id, call, ret| {
        let from = |it: Option<(usize, _)>| it.filter(|it| it.0 == id.index());
        Ok::<_, ()>(match (from(one), from(other)) {
            (Some(_), None) if other.is_some() => (call, other.and_then(|it| it.1)),
            (None, Some(_)) => (call, one.and_then(|it| it.1)),
            _ => (call, ret),
        })
    });
    Recording { missing, ..Recording::new(history.unwrap(), values, names) }
}

/// A phase of a check, and its name.
type Phase<'a> = (String, Box<dyn Fn(&JudgeOptions) + 'a>);

/// How many phases there are: each checker, `auto`, and four that are no checks.
fn phases_count() -> usize {
    checkers().count() + 5
}

/// Everything that takes a budget.
fn phases(case: &dyn ErasedHistory) -> Vec<Phase<'_>> {
    let mut all: Vec<Phase<'_>> = Vec::new();
    let algorithms = checkers().map(|it| Algorithm::Named(vec![it])).chain([Algorithm::Auto]);
    for algorithm in algorithms {
        let name = format!("{algorithm:?}");
        all.push((
            name,
            Box::new(move |options| {
                let options = JudgeOptions { algorithm: algorithm.clone(), ..options.clone() };
                let verdict = judge(case.problems(), &options).verdict;
                if let Verdict::Violated(violation) = verdict {
                    let _may_be_unknown = failure_point(case.problems(), &violation, &options);
                }
            }),
        ));
    }
    all.push(("stuck".to_owned(), Box::new(|options| _ = stuck(case.problems(), options))));
    all.push((
        "stream".to_owned(),
        Box::new(|options| {
            let object = |id| case.object(id);
            _ = StreamState::new().compact(case.problems(), &object, options);
        }),
    ));
    let problems = || case.problems().into_iter().next();
    all.push((
        "displacement".to_owned(),
        Box::new(move |options| {
            if let Some(problem) = problems() {
                _ = displaced(&problem, &Relaxation::all(&problem, 2), &options.budget);
            }
        }),
    ));
    all.push((
        "least factor".to_owned(),
        Box::new(move |options| {
            if let Some(problem) = problems() {
                _ = least_factor(&problem, &Relaxation::all(&problem, 0), 0, &options.budget);
            }
        }),
    ));
    all
}

#[test]
fn time_limits_are_kept_in_every_phase_of_every_checker() {
    // First, since a thread that has just begun has not been counted yet.
    let overshoot_max = OVERSHOOT_MAX.mul_f64(slowness());
    if processor_time().is_zero() {
        eprintln!("notice: the system does not count the time of threads");
        return;
    }
    // In `./test` only some cases; the distance is prime, so that no kind of case is left out.
    let distance = pick_of_three(307, 23, 1);
    let (mut number, mut measured) = (0, 0);
    let mut late: Vec<String> = Vec::new();
    for entry in &CATALOG {
        let methods: Vec<&str> = entry.methods().collect();
        let both = |it: (&'static str, GeneratorConfig)| [("", it.clone()), ("violated, ", it)];
        for (verdict, (shape, plan)) in shapes(&methods).into_iter().flat_map(both) {
            let first = number + 1;
            number += phases_count();
            let was_late = LATE_ONCE.contains(&(entry.name, shape));
            // A history is made only if one of its phases is measured.
            if (first..=number).all(|it| it % distance != 0) && !was_late {
                continue;
            }
            let spec = find(entry.name).unwrap();
            let recording = spec.generate(&plan);
            let recording = if verdict.is_empty() { recording } else { exchanged(recording) };
            let Ok(case) = spec.load(recording) else { continue };
            let phases = phases(&*case);
            assert_eq!(phases.len(), phases_count());
            for (number, (phase, run)) in (first..).zip(phases) {
                if number % distance != 0 && !(was_late && phase == "auto") {
                    continue;
                }
                measured += 1;
                // A page fault or an interrupt of the system may be counted as well.
                let over = (0..ATTEMPTS).map(|_| overshoot(&*run)).find(|it| *it <= overshoot_max);
                if over.is_none() {
                    let over = overshoot(&*run);
                    late.push(format!("{}, {verdict}{shape}, {phase}: {over:?}", entry.name));
                }
            }
        }
    }
    assert!(pick(12, 20) < measured, "{measured}");
    assert!(late.is_empty(), "{} of {measured} are late:\n{}", late.len(), late.join("\n"));
}
