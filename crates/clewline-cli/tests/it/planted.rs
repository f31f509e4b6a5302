//! Violations planted in long histories are found, with small counterexamples, and histories
//! without a planted violation hold.
//!
//! With `CLEWLINE_AT_LENGTH=hours` in the environment histories of up to a million operations are
//! judged.

use std::{collections::BTreeMap, time::Instant};

use clewline_check::{JudgeOptions, judge};
use clewline_cli::planting::{Violate, plant};
use clewline_core::{ErasedHistory, ErasedSpec, GeneratorConfig, ObjectKind, Recording, Verdict};
use clewline_specs::{CATALOG, find};
use clewline_testing::pick_of_three;

use self::decided::Decided;

#[path = "../../../clewline-check/tests/it/monitors/decided.rs"]
mod decided;

/// A counterexample of more operations than this is of little use to a reader.
const SMALL_COUNTEREXAMPLE_OPS_MAX: usize = 40;

/// Whether some operation returns a value: otherwise the only possible violation is a missing
/// operation.
fn has_results(recording: &Recording) -> bool {
    recording.history.operations().any(|it| it.ret.is_some_and(|it| !it.is_absent()))
}

/// Whether a few operations can show the violation. One missing lock or increment can only be shown
/// by counting all of them; a relaxed stack that lost one is minimized only as far as time allows.
fn has_small_cores(recording: &Recording, kind: Option<ObjectKind>) -> bool {
    let is_hard = matches!(kind, Some(ObjectKind::Counter | ObjectKind::QuasiStack { .. }));
    has_results(recording) && !is_hard
}

/// Histories that the monitor for the specification decides.
fn plan(decided: &Decided, operations: usize, seed: u64) -> GeneratorConfig {
    let (values, mix) = (decided.values(50), decided.mix(4));
    GeneratorConfig {
        operations,
        processes: 8,
        overlap: 0.6,
        values,
        mix,
        keys: 50,
        seed,
        ..GeneratorConfig::default()
    }
}

/// Whether a violation of that kind can be planted at all.
fn fits(recording: &Recording, kind: Violate) -> bool {
    has_results(recording) || kind == Violate::Lost
}

fn load(spec: &dyn ErasedSpec, recording: Recording) -> Box<dyn ErasedHistory> {
    spec.load(recording).expect("a specification reads what it generated")
}

/// Checks one history of each kind; adds the sizes of the counterexamples.
fn check_planted(
    name: &str,
    decided: &Decided,
    operations: usize,
    seed: u64,
    cores: &mut BTreeMap<usize, usize>,
) {
    let spec = find(name).expect("in the catalog");
    let good = spec.generate(&plan(decided, operations, seed));
    let start = Instant::now();
    let case = load(&*spec, good.clone());
    let is_small = has_small_cores(&good, case.problems()[0].kind());
    let judgement = judge(case.problems(), &JudgeOptions::default());
    let about = format!("{name}, {operations} operations, seed {seed}");
    assert_eq!(judgement.verdict.word(), "holds", "{about}");
    eprintln!("{about}: holds by {} in {:?}", judgement.algorithm, start.elapsed());
    for kind in Violate::ALL.into_iter().filter(|&it| fits(&good, it)) {
        let about = format!("{about}, {}", kind.name());
        let start = Instant::now();
        // Not every seed finds a place.
        let mut attempts = (seed..seed + 3).map(|seed| plant(&*spec, &good, kind, seed));
        let bad = attempts.find_map(Result::ok).unwrap_or_else(|| panic!("{about}: nothing was planted"));
        let planted = start.elapsed();
        let start = Instant::now();
        let case = load(&*spec, bad);
        let judgement = judge(case.problems(), &JudgeOptions::default());
        let Verdict::Violated(violation) = judgement.verdict else {
            panic!("{about}: {}", judgement.verdict.word());
        };
        let size = violation.counterexample.len();
        eprintln!("{about}: a counterexample of {size} in {:?}, planted in {planted:?}", start.elapsed());
        assert!(
            0 < size && (size <= SMALL_COUNTEREXAMPLE_OPS_MAX || !is_small),
            "{about}: a counterexample of {size}"
        );
        *cores.entry(size).or_default() += 1;
    }
}

#[test]
fn planted_violations_are_found_by_a_few_operations() {
    let (full, hours) = ([1_000, 10_000], [1_000, 10_000, 100_000, 1_000_000]);
    let sizes: &[usize] = pick_of_three(&[120], &full, &hours);
    for entry in &CATALOG {
        let decided = Decided::of(entry, &*find(entry.name).unwrap());
        if decided.mix(1).is_empty() {
            continue;
        }
        let mut cores: BTreeMap<usize, usize> = BTreeMap::new();
        for &operations in sizes {
            (1..=pick_of_three(1, 1, 2))
                .for_each(|seed| check_planted(entry.name, &decided, operations, seed, &mut cores));
        }
        eprintln!("{}: cores by size {cores:?}", entry.name);
    }
}
