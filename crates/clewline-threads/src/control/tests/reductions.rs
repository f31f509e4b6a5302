//! Reductions lose no canonical history: random programs, explored with and without.
//!
//! `CLEWLINE_SEEDS=100 CLEWLINE_EXECUTIONS=100000 cargo test --release -p clewline-threads --lib reductions -- --nocapture`
//! takes as many seeds, takes in larger programs, and says what it saw of each kind.

mod programs;

use clewline_core::Random;
use clewline_explore::{
    Scheduler,
    schedulers::{
        bounded::Bounded, bounded_dpor::BoundedDpor, causality::Dependence, dpor::Dpor,
        exhaustive::Exhaustive,
    },
};

use super::*;
use programs::{PLAIN, smaller};
pub(super) use programs::{Action, History, KINDS, Matrix, histories_within, history, program_of, random_program};

// Programs that take more executions are left out.
pub(super) const EXECUTIONS_MAX: u64 = 1_000;

/// Whether only some kind is looked at.
fn is_partial() -> bool {
    std::env::var_os("CLEWLINE_KIND").is_some()
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

type Make<'a> = &'a dyn Fn() -> Box<dyn Scheduler>;

/// What `find` does not see of what `expect` does in `matrix`, and the other way round; and how many executions each takes. `None` if
/// those are too many.
fn compare(matrix: &Matrix, expect: Make<'_>, find: Make<'_>, most: u64) -> Option<(Vec<History>, u64, u64)> {
    let (expected, executions) = histories_within(matrix, &mut *expect(), most);
    let executions = executions?;
    // A reduction never takes more.
    let (found, reduced) = histories_within(matrix, &mut *find(), executions + 1);
    Some((expected.symmetric_difference(&found).cloned().collect(), executions, reduced.unwrap_or(u64::MAX)))
}

/// Panics if `find` does not see what `expect` does, with the smallest such program.
fn check_equal(matrix: &Matrix, expect: Make<'_>, find: Make<'_>, most: u64) -> Option<(u64, u64)> {
    let fails = |it: &Matrix| compare(it, expect, find, most).is_some_and(|it| !it.0.is_empty());
    let (lost, executions, reduced) = compare(matrix, expect, find, most)?;
    if !lost.is_empty() {
        let mut least = matrix.clone();
        while let Some(less) = smaller(&least).into_iter().find(fails) {
            least = less;
        }
        let lost = compare(&least, expect, find, most).unwrap().0;
        let expected = histories_within(&least, &mut *expect(), most).0;
        let is_wrong = lost.iter().any(|it| !expected.contains(it));
        panic!("{least:?}: lost {lost:?}{}", if is_wrong { ", or should not have seen" } else { "" });
    }
    assert!(reduced <= executions, "{matrix:?}: {reduced} executions instead of {executions}");
    Some((executions, reduced))
}

/// How many programs there were, and the executions without and with the reduction.
fn check_random(name: &str, programs: usize, expect: Make<'_>, find: Make<'_>) -> (usize, u64, u64) {
    let (seeds, most) = (number("CLEWLINE_SEEDS", 1), number("CLEWLINE_EXECUTIONS", EXECUTIONS_MAX));
    let only = std::env::var("CLEWLINE_KIND").ok();
    let mut all = (0, 0, 0);
    for (kind, actions) in KINDS.iter().filter(|it| only.as_ref().is_none_or(|only| only == it.0)) {
        let mut some = (0, 0, 0);
        for seed in SEED..SEED + seeds {
            let mut random = Random::new(seed);
            for _ in 0..programs {
                let program = random_program(&mut random, actions);
                if let Some((executions, reduced)) = check_equal(&program, expect, find, most) {
                    some = (some.0 + 1, some.1 + executions, some.2 + reduced);
                }
            }
        }
        if 1 < seeds {
            eprintln!("{name}, {kind}: {} programs, {} executions, {} with reduction, 0 lost", some.0, some.1, some.2);
        }
        all = (all.0 + some.0, all.1 + some.1, all.2 + some.2);
    }
    all
}

// One seed for all, so that a failure can be seen again; what it says is the smallest program it found.
const SEED: u64 = 5;

/// Programs in which a reduction that left out one of its rules has lost histories.
fn hard_programs() -> Vec<Matrix> {
    use Action::{Add, Load, Lock, Store, TryLock};
    let all = [
        // A step that returns if it comes first, and does not if it comes later.
        vec![
            vec![vec![Store(2, 79), TryLock(1, vec![])]],
            vec![vec![TryLock(1, vec![Load(2)]), Store(1, 42)]],
            vec![vec![], vec![]],
        ],
        // One waits for ever where all others sleep.
        vec![
            vec![vec![TryLock(1, vec![]), TryLock(1, vec![Lock(1, vec![])])]],
            vec![vec![Lock(1, vec![])]],
            vec![vec![], vec![Lock(0, vec![])]],
        ],
        // One waits for a step that has nothing to do with the one it races with.
        vec![
            vec![vec![TryLock(0, vec![Store(2, 48)])]],
            vec![vec![TryLock(1, vec![Load(1)])]],
            vec![vec![Lock(0, vec![Load(0), TryLock(1, vec![])])]],
        ],
        // A task that comes to wait saves a preemption.
        vec![vec![vec![], vec![Lock(0, vec![])]], vec![vec![Lock(0, vec![Load(1)]), Add(2)]]],
        // A race behind another one, which a preemption too many would show.
        vec![vec![vec![Add(2), Lock(1, vec![Load(0)])], vec![]], vec![vec![], vec![Lock(1, vec![])]]],
    ];
    all.into_iter().map(|columns| Calls { columns, ..Calls::default() }).collect()
}

fn exhaustive() -> Box<dyn Scheduler> {
    Box::new(Exhaustive::default())
}

fn dpor() -> Box<dyn Scheduler> {
    Box::new(Dpor::new(Dependence::Histories))
}

#[test]
fn hard_programs_lose_no_history() {
    for matrix in hard_programs() {
        assert!(check_equal(&matrix, &exhaustive, &dpor, 100_000).is_some());
        for bound in 0..=3 {
            let (expect, find) = (bounded(bound), bounded_dpor(bound));
            assert!(check_equal(&matrix, &expect, &find, 100_000).is_some());
        }
    }
}

fn bounded(bound: u32) -> impl Fn() -> Box<dyn Scheduler> {
    move || Box::new(Bounded::new(Some(bound)))
}

fn bounded_dpor(bound: u32) -> impl Fn() -> Box<dyn Scheduler> {
    move || Box::new(BoundedDpor::new(Some(bound)))
}

#[test]
fn dpor_sees_every_canonical_history() {
    let (programs, all, few) = check_random("dpor", 100, &exhaustive, &dpor);
    assert!(is_partial() || 1_000 < programs && few < all / 2, "{programs} programs, {all} executions, {few} with reduction");
}

#[test]
fn bounded_dpor_sees_what_bounded_does() {
    for bound in 0..=3 {
        let (expect, find) = (bounded(bound), bounded_dpor(bound));
        let (programs, all, few) = check_random(&format!("bound {bound}"), 50, &expect, &find);
        assert!(is_partial() || 1_000 < programs && few < all, "{programs} programs, {all} executions, {few} with reduction");
    }
}

#[test]
fn reduction_that_looks_at_conflicts_alone_loses_histories() {
    let mut random = Random::new(SEED);
    let conflicts = || -> Box<dyn Scheduler> { Box::new(Dpor::new(Dependence::Conflicts)) };
    let (mut lost, mut programs) = (0, 0);
    for _ in 0..200 {
        let matrix = random_program(&mut random, PLAIN);
        if let Some((missing, ..)) = compare(&matrix, &exhaustive, &conflicts, EXECUTIONS_MAX) {
            (lost, programs) = (lost + u32::from(!missing.is_empty()), programs + 1);
        }
    }
    assert!(programs / 2 < lost, "{lost} of {programs}");
}
