//! Reductions lose no canonical history: random programs, explored with and without reduction.
//!
//! `CLEWLINE_SEEDS=100 CLEWLINE_EXECUTIONS=100000 cargo test --release -p clewline-threads --lib
//! reductions -- --nocapture` uses that many seeds (from `CLEWLINE_SEED` on), includes larger
//! programs, and prints what it saw of each kind.

mod programs;

use std::cell::Cell;

use clewline_core::Random;
use clewline_explore::{
    Scheduler,
    schedulers::{
        bounded::Bounded, bounded_dpor::BoundedDpor, causality::DependenceRelation, dpor::Dpor,
        exhaustive::Exhaustive, graph::Graph,
    },
};
use clewline_testing::pick;

use super::*;
pub(super) use programs::{
    Action, History, KINDS, Matrix, WEAK_KINDS, World, histories_within, history, program_of, random_program,
};
use programs::{GRAPH_KINDS, PLAIN, SPURIOUS_KINDS, random_like, smaller};

// Programs that take more executions are skipped.
pub(super) const EXECUTIONS_MAX: u64 = 1_000;

/// Whether only some kinds are tested.
fn is_partial() -> bool {
    std::env::var_os("CLEWLINE_KIND").is_some()
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

type Make<'a> = &'a dyn Fn() -> Box<dyn Scheduler>;

/// Two schedulers to compare.
#[derive(Clone, Copy)]
struct Comparison<'a> {
    world: World,
    expect: Make<'a>,
    find: Make<'a>,
    executions_max: u64,
}

/// The result: histories that only one of the two saw, and the executions of each.
struct ComparisonResult {
    differences: Vec<History>,
    executions: u64,
    reduced: u64,
}

impl Comparison<'_> {
    /// `None` if there are too many executions.
    fn compare(&self, matrix: &Matrix) -> Option<ComparisonResult> {
        let see = |make: Make<'_>, most: u64| histories_within(matrix, self.world, &mut *make(), most);
        let (expected, executions) = see(self.expect, self.executions_max);
        let executions = executions?;
        // A reduction never takes more.
        let (found, reduced) = see(self.find, executions + 1);
        let differences = expected.symmetric_difference(&found).cloned().collect();
        Some(ComparisonResult { differences, executions, reduced: reduced.unwrap_or(u64::MAX) })
    }

    /// Panics if they do not see the same, with a minimal program.
    fn check(&self, matrix: &Matrix) -> Option<ComparisonResult> {
        let compared = self.compare(matrix)?;
        let fails = |it: &Matrix| self.compare(it).filter(|it| !it.differences.is_empty());
        if !compared.differences.is_empty() {
            let (mut least, mut differences) = (matrix.clone(), compared.differences);
            while let Some((less, compared)) =
                smaller(&least).into_iter().find_map(|it| fails(&it).map(|compared| (it, compared)))
            {
                (least, differences) = (less, compared.differences);
            }
            panic!("{least:?}: one of the two does not see {differences:?}");
        }
        let ComparisonResult { executions, reduced, .. } = compared;
        assert!(reduced <= executions, "{matrix:?}: {reduced} executions instead of {executions}");
        Some(compared)
    }

    /// The number of programs, and the executions without and with the reduction.
    fn check_random(self, name: &str, kinds: &[(&str, &[Action])], programs: usize) -> (usize, u64, u64) {
        let (first, seeds) = (number("CLEWLINE_SEED", SEED), number("CLEWLINE_SEEDS", 1));
        let only = std::env::var("CLEWLINE_KIND").ok();
        let mut all = (0, 0, 0);
        for (kind, actions) in kinds.iter().filter(|it| only.as_ref().is_none_or(|only| only == it.0)) {
            let mut some = (0, 0, 0);
            for seed in first..first.saturating_add(seeds) {
                let mut random = Random::new(seed);
                for _ in 0..programs {
                    if let Some(it) = self.check(&random_program(&mut random, actions)) {
                        some = (some.0 + 1, some.1 + it.executions, some.2 + it.reduced);
                    }
                }
            }
            if 1 < seeds {
                let (programs, all, few) = some;
                eprintln!(
                    "{name}, {kind}: {programs} programs, {all} executions, {few} with reduction, 0 lost"
                );
            }
            all = (all.0 + some.0, all.1 + some.1, all.2 + some.2);
        }
        all
    }
}

/// `dpor` and `exhaustive`.
fn unbounded(find: Make<'_>) -> Comparison<'_> {
    let expect = &|| -> Box<dyn Scheduler> { Box::new(Exhaustive::default()) };
    let executions_max = number("CLEWLINE_EXECUTIONS", EXECUTIONS_MAX);
    Comparison { world: World::default(), expect, find, executions_max }
}

fn dpor() -> Box<dyn Scheduler> {
    Box::new(Dpor::new(DependenceRelation::Histories))
}

// One seed for all, so that a failure can be reproduced; it reports a minimal program.
const SEED: u64 = 5;

/// Programs for which a reduction without one of its rules has lost histories.
fn hard_programs() -> Vec<Matrix> {
    use Action::{
        Add, Barrier, Load, Lock, Once, Put, Read, Sleep, Spawn, Store, Take, TakeOrLate, TryLock, Wake,
        Write,
    };
    let all = [
        // A step that returns if it comes first, and does not if it comes later.
        vec![
            vec![vec![Store(2, 79), TryLock(1, vec![])]],
            vec![vec![TryLock(1, vec![Load(2)]), Store(1, 42)]],
            vec![vec![], vec![]],
        ],
        // One task waits forever while all others sleep.
        vec![
            vec![vec![TryLock(1, vec![]), TryLock(1, vec![Lock(1, vec![])])]],
            vec![vec![Lock(1, vec![])]],
            vec![vec![], vec![Lock(0, vec![])]],
        ],
        // One task waits for a step that is independent of the one it races with.
        vec![
            vec![vec![TryLock(0, vec![Store(2, 48)])]],
            vec![vec![TryLock(1, vec![Load(1)])]],
            vec![vec![Lock(0, vec![Load(0), TryLock(1, vec![])])]],
        ],
        // A task that blocks saves a preemption.
        vec![vec![vec![], vec![Lock(0, vec![])]], vec![vec![Lock(0, vec![Load(1)]), Add(2)]]],
        // A race behind another one, which a preemption beyond the bound would show.
        vec![vec![vec![Add(2), Lock(1, vec![Load(0)])], vec![]], vec![vec![], vec![Lock(1, vec![])]]],
        // Tasks that share a lock do not wait for one another.
        vec![vec![vec![Read(vec![Load(0)])]], vec![vec![], vec![Read(vec![Store(0, 11)]), Write(vec![])]]],
        // A task that observes without an access.
        vec![vec![vec![], vec![Once(vec![])]], vec![vec![Once(vec![Load(1)]), Barrier]], vec![vec![Barrier]]],
        // A free switch inside a block.
        vec![vec![vec![], vec![TakeOrLate(1), Put(0)]], vec![vec![TakeOrLate(0), TakeOrLate(1)]]],
        // A step that releases two locks.
        vec![
            vec![vec![Lock(0, vec![Lock(1, vec![Load(0)])])]],
            vec![vec![], vec![Lock(1, vec![Store(0, 1)]), Lock(0, vec![])]],
        ],
        // A writer waits for all readers, not only for the last.
        vec![
            vec![vec![Store(2, 66), Load(2)]],
            vec![vec![Read(vec![Load(0)]), Write(vec![])], vec![]],
            vec![vec![Read(vec![Store(1, 83), Store(2, 55)])], vec![Write(vec![])]],
        ],
        // A reader could have acquired the lock before another reader released it.
        vec![
            vec![vec![Read(vec![Read(vec![]), Store(2, 8)]), Read(vec![])], vec![Read(vec![Write(vec![])])]],
            vec![vec![Read(vec![])], vec![Read(vec![Load(2), Store(0, 72)])]],
        ],
        // A woken task comes after the task that woke it.
        vec![vec![vec![Sleep, Load(0), Load(1)]], vec![vec![Wake, Store(1, 2)]], vec![vec![Store(0, 1)]]],
        // A join comes after everything that the joined task did.
        vec![vec![vec![Spawn(vec![Store(0, 1), Store(1, 1)], true), Load(0)]], vec![vec![Load(0), Load(1)]]],
        // A task that blocks on a lock before the holder continues saves a preemption: afterwards
        // it would not block.
        vec![
            vec![vec![Lock(0, vec![Take(0), Load(1)]), Take(1)]],
            vec![vec![Store(0, 1), Lock(0, vec![])]],
            vec![vec![Put(0)]],
            vec![vec![]],
        ],
        // A task that waits where it is to be tried is first released by another one.
        vec![vec![vec![TryLock(1, vec![])]], vec![vec![Spawn(vec![], true)]]],
    ];
    all.into_iter().map(|columns| Calls { columns, ..Calls::default() }).collect()
}

/// Runs `act` with `bounded-dpor` and `bounded`, for some bounds.
fn with_bounds(act: impl Fn(u32, Comparison<'_>)) {
    for bound in 0..=3 {
        let expect = || -> Box<dyn Scheduler> { Box::new(Bounded::new(Some(bound))) };
        let find = || -> Box<dyn Scheduler> { Box::new(BoundedDpor::new(Some(bound))) };
        act(bound, Comparison { expect: &expect, find: &find, ..unbounded(&dpor) });
    }
}

#[test]
fn hard_programs_lose_no_history() {
    for matrix in hard_programs() {
        assert!(Comparison { executions_max: 100_000, ..unbounded(&dpor) }.check(&matrix).is_some());
        with_bounds(|_, it| {
            assert!(Comparison { executions_max: 100_000, ..it }.check(&matrix).is_some());
        });
    }
}

#[test]
fn variants_of_hard_programs_lose_no_history() {
    let mut random = Random::new(number("CLEWLINE_SEED", SEED));
    let (mut programs, bounded) = (0, Cell::new(0));
    for _ in 0..pick(1, 6) * number("CLEWLINE_SEEDS", 1) {
        for hard in hard_programs() {
            let matrix = random_like(&mut random, &hard);
            programs += u64::from(unbounded(&dpor).check(&matrix).is_some());
            with_bounds(|_, it| bounded.set(bounded.get() + u64::from(it.check(&matrix).is_some())));
        }
    }
    let bounded = bounded.get();
    assert!(pick(10, 60) < programs && pick(40, 240) < bounded, "{programs} programs, {bounded} with bounds");
}

/// The executions of each: with `dpor`, and with `bounded-dpor` and 0 to 3 preemptions.
const HARD_EXECUTIONS: &[[u64; 5]] = &[
    [131, 6, 39, 124, 256],
    [66, 5, 21, 58, 93],
    [33, 6, 30, 55, 60],
    [6, 2, 5, 8, 8],
    [10, 2, 6, 11, 12],
    [8, 2, 6, 10, 11],
    [30, 8, 38, 66, 68],
    [6, 6, 7, 7, 7],
    [6, 2, 7, 9, 9],
    [179, 6, 43, 178, 448],
    [17, 2, 8, 21, 33],
    [21, 7, 20, 31, 33],
    [6, 4, 9, 12, 12],
    [42, 31, 69, 69, 69],
    [3, 4, 5, 5, 5],
];

#[test]
fn hard_programs_take_no_more_executions_than_they_need() {
    let take = |matrix: &Matrix, make: Make<'_>| {
        histories_within(matrix, World::default(), &mut *make(), 100_000).1.expect("few executions")
    };
    let taken = hard_programs().into_iter().map(|matrix| {
        let bounded = |bound: u32| {
            take(&matrix, &move || -> Box<dyn Scheduler> { Box::new(BoundedDpor::new(Some(bound))) })
        };
        [take(&matrix, &dpor), bounded(0), bounded(1), bounded(2), bounded(3)]
    });
    assert_eq!(taken.collect::<Vec<_>>(), HARD_EXECUTIONS);
}

/// The executions of random programs: with `dpor`, and with `bounded-dpor` and 0 to 3 preemptions.
/// If there are more, a rule that excludes executions is lost, or more programs are small enough to
/// be explored without a reduction; fewer, without a lost history, are better.
const RANDOM_EXECUTIONS: [u64; 5] = [31_535, 2_964, 8_942, 13_418, 19_128];

/// Whether all the counted programs run, and no others.
fn is_usual() -> bool {
    let names = ["CLEWLINE_KIND", "CLEWLINE_SEED", "CLEWLINE_SEEDS", "CLEWLINE_EXECUTIONS"];
    pick(false, true) && names.iter().all(|it| std::env::var_os(it).is_none())
}

#[test]
fn dpor_sees_every_canonical_history() {
    let (programs, all, few) = unbounded(&dpor).check_random("dpor", KINDS, pick(1, 40));
    assert!(
        is_partial() || pick(15, 700) < programs && few < all / 2,
        "{programs} programs, {all} executions, {few} with reduction"
    );
    assert!(!is_usual() || few <= RANDOM_EXECUTIONS[0], "{few} executions");
}

#[test]
fn bounded_dpor_sees_what_bounded_does() {
    with_bounds(|bound, it| {
        let (programs, all, few) = it.check_random(&format!("bound {bound}"), KINDS, pick(1, 15));
        assert!(
            is_partial() || pick(15, 300) < programs && few < all,
            "{programs} programs, {all} executions, {few} with reduction"
        );
        assert!(
            !is_usual() || few <= RANDOM_EXECUTIONS[1 + bound as usize],
            "bound {bound}: {few} executions"
        );
    });
}

#[test]
fn reductions_see_every_canonical_history_with_spurious_wakeups() {
    let world = World { spurious: 1, ..World::default() };
    let check = |name: &str, comparison: Comparison<'_>| {
        let comparison = Comparison { world, ..comparison };
        let (programs, all, few) = comparison.check_random(name, SPURIOUS_KINDS, pick(3, 40));
        assert!(
            is_partial() || pick(2, 40) < programs && few < all,
            "{programs} programs, {all} executions, {few} with reduction"
        );
    };
    check("dpor, spurious", unbounded(&dpor));
    with_bounds(|bound, it| check(&format!("bound {bound}, spurious"), it));
}

#[test]
fn dpor_sees_every_canonical_history_in_weaker_memory_models() {
    for model in [MemoryModel::Tso, MemoryModel::ReleaseAcquire] {
        let comparison = Comparison { world: World { model, ..World::default() }, ..unbounded(&dpor) };
        let (programs, all, few) =
            comparison.check_random(&format!("dpor, {model:?}"), WEAK_KINDS, pick(1, 12));
        assert!(
            is_partial() || pick(4, 70) < programs && few <= all,
            "{programs} programs, {all} executions, {few} with reduction"
        );
    }
}

/// A step of another task does not wake a task whose store buffer was empty before.
#[test]
fn an_empty_store_buffer_wakes_no_task() {
    use Action::{Read, Store, WaitOrLate, WaitUntil, Write};
    let waits = vec![vec![vec![], vec![Store(1, 30), WaitOrLate(0)]], vec![vec![WaitUntil(1)], vec![]]];
    let blocks = vec![vec![vec![Read(vec![])]], vec![vec![Write(vec![Read(vec![])])]]];
    let initial = vec![vec![Store(1, 87)]];
    let world = World { model: MemoryModel::Tso, ..World::default() };
    for matrix in
        [Calls { columns: waits, ..Calls::default() }, Calls { columns: blocks, initial, ..Calls::default() }]
    {
        for find in [&graph as Make<'_>, &dpor] {
            Comparison { world, ..unbounded(find) }.check(&matrix).expect("it is small");
        }
    }
}

fn graph() -> Box<dyn Scheduler> {
    Box::new(Graph::default())
}

#[test]
fn graph_sees_every_canonical_history() {
    let (programs, all, few) = unbounded(&graph).check_random("graph", KINDS, pick(1, 40));
    assert!(
        is_partial() || pick(15, 700) < programs && few < all / 2,
        "{programs} programs, {all} executions, {few} with reduction"
    );
}

#[test]
fn graph_sees_every_canonical_history_of_atomics() {
    let world = World { model: MemoryModel::ReleaseAcquire, ..World::default() };
    let comparison = Comparison { world, ..unbounded(&graph) };
    let (programs, all, few) = comparison.check_random("graph", GRAPH_KINDS, pick(10, 120));
    assert!(
        is_partial() || pick(30, 400) < programs && few * 10 < all,
        "{programs} programs, {all} executions, {few} with reduction"
    );
}

#[test]
fn graph_sees_every_canonical_history_of_store_buffers() {
    let world = World { model: MemoryModel::Tso, ..World::default() };
    let comparison = Comparison { world, ..unbounded(&graph) };
    let (programs, all, few) = comparison.check_random("graph, tso", WEAK_KINDS, pick(1, 12));
    assert!(
        is_partial() || pick(4, 70) < programs && few * 10 < all,
        "{programs} programs, {all} executions, {few} with reduction"
    );
    // With them, a task that waits may go on without another one.
    let comparison = Comparison { world: World { spurious: 1, ..world }, ..comparison };
    let (programs, all, few) = comparison.check_random("graph, tso, spurious", SPURIOUS_KINDS, pick(2, 12));
    assert!(
        is_partial() || pick(2, 12) < programs && few * 2 < all,
        "{programs} programs, {all} executions, {few} with reduction"
    );
}

#[test]
fn bounded_dpor_sees_what_bounded_does_in_weaker_memory_models() {
    for model in [MemoryModel::Tso, MemoryModel::ReleaseAcquire] {
        with_bounds(|bound, it| {
            let name = format!("bound {bound}, {model:?}");
            let world = World { model, ..World::default() };
            let (programs, all, few) = Comparison { world, ..it }.check_random(&name, WEAK_KINDS, pick(1, 5));
            assert!(
                is_partial() || pick(3, 20) < programs && few <= all,
                "{programs} programs, {all} executions, {few} with reduction"
            );
        });
    }
}

#[test]
fn a_reduction_that_considers_only_conflicts_loses_histories() {
    let mut random = Random::new(SEED);
    let conflicts = || -> Box<dyn Scheduler> { Box::new(Dpor::new(DependenceRelation::Conflicts)) };
    let (mut lost, mut programs) = (0, 0);
    for _ in 0..200 {
        let matrix = random_program(&mut random, PLAIN);
        if let Some(compared) = unbounded(&conflicts).compare(&matrix) {
            (lost, programs) = (lost + u32::from(!compared.differences.is_empty()), programs + 1);
        }
    }
    assert!(programs / 2 < lost, "{lost} of {programs}");
}
