//! Objects in Starlark against the built-in ones, on random histories.

use clewline_check::{JudgeOptions, judge};
use clewline_core::{ErasedSpec, GeneratorConfig, OperationId, Recording, ValueDomain, Verdict, read_label};
use clewline_script::Script;
use clewline_testing::{pick_of_three, share};

fn verdict(specification: &dyn ErasedSpec, recording: Recording) -> Option<Verdict> {
    let case = specification.load(recording).ok()?;
    Some(judge(case.problems(), &JudgeOptions::default()).verdict)
}

/// `recording` with the result of another operation of the same method, if `is_changed`.
fn changed(mut recording: Recording, seed: u64, is_changed: bool) -> Recording {
    let history = recording.history.clone();
    let len = history.len();
    let ids = || (0..len).map(|it| OperationId::from_index((it + seed as usize) % len));
    let differ = |one: &OperationId, other: &OperationId| {
        let is_same = history.call(*one).method == history.call(*other).method;
        is_same && history.ret(*one).zip(history.ret(*other)).is_some_and(|it| it.0 != it.1)
    };
    let other =
        |one: OperationId| ids().find(|it| differ(&one, it)).map(|it| (one, history.ret(it).copied()));
    let chosen = ids().find_map(other).filter(|_| is_changed);
    let exchanged = history.clone().try_map(|id, call, ret| {
        let other = chosen.filter(|it| it.0 == id).and_then(|it| it.1);
        Ok::<_, ()>((call, ret.map(|ret| other.unwrap_or(ret))))
    });
    recording.history = exchanged.unwrap();
    recording
}

#[track_caller]
fn check_object(name: &str, text: &str, histories: u64) {
    let script = Script::load(&format!("{name}.star"), text).unwrap_or_else(|it| panic!("{it}"));
    let built_in = clewline_specs::find(name).unwrap();
    let (mut held, mut violated) = (0, 0);
    for seed in 0..histories {
        let config = GeneratorConfig {
            operations: 4 + seed as usize % 20,
            processes: 2 + seed as usize % 3,
            overlap: 0.7,
            values: ValueDomain::Below(3),
            keys: 2,
            pending: if seed % 3 == 0 { 0.2 } else { 0.0 },
            seed,
            ..GeneratorConfig::default()
        };
        // What each of them generates, the other one judges.
        let recording =
            if seed % 4 < 2 { built_in.generate(&config) } else { ErasedSpec::generate(&script, &config) };
        assert_eq!(ErasedSpec::fault(&script), None, "{name} {seed}");
        let recording = changed(recording, seed, seed % 2 == 1);
        let Some(expected) = verdict(&*built_in, recording.clone()) else { continue };
        let found = verdict(&script, recording).unwrap();
        assert_eq!(found.word(), expected.word(), "{name}, seed {seed}: {found:?}");
        match found {
            Verdict::Holds(_) => held += 1,
            Verdict::Violated(_) => violated += 1,
            Verdict::Unknown(reason) => panic!("{name}, seed {seed}: {reason}"),
        }
        assert!(seed % 2 == 1 || expected.word() == "holds", "{name}, seed {seed}");
    }
    assert!(
        histories / 3 < held && histories / 20 < violated,
        "{name}: {held} hold, {violated} are violated"
    );
}

#[test]
fn objects_in_starlark_agree_with_the_built_in_ones() {
    check_object("queue", include_str!("../objects/queue.star"), share(2_000));
    check_object("stack", include_str!("../objects/stack.star"), share(2_000));
    check_object("register", include_str!("../objects/register.star"), share(2_000));
    check_object("map", include_str!("../objects/map.star"), share(2_000));
    check_object("bag", include_str!("../objects/bag.star"), share(2_000));
}

/// An initial state means the same for an object in Starlark and for the built-in one.
#[test]
fn initial_states_agree_with_those_of_the_built_in_objects() {
    let objects = [
        ("queue", include_str!("../objects/queue.star"), "[1, 2]"),
        ("register", include_str!("../objects/register.star"), "1"),
        ("map", include_str!("../objects/map.star"), "[[0, 1], [1, 2]]"),
    ];
    for (name, text, initial) in objects {
        let script = Script::load("x.star", text).unwrap();
        let built_in = clewline_specs::find(name).unwrap();
        let (mut held, mut violated) = (0, 0);
        for seed in 0..pick_of_three(41, 201, 2_000_u64) {
            let config = GeneratorConfig {
                operations: 1 + seed as usize % 4,
                processes: 3,
                overlap: 0.7,
                values: ValueDomain::Below(3),
                keys: 2,
                seed,
                ..GeneratorConfig::default()
            };
            let mut recording = built_in.generate(&config);
            let (_, state) = read_label(&format!("f({initial})"), &mut recording.values).unwrap();
            recording.initial = Some(state);
            let expected = verdict(&*built_in, recording.clone()).unwrap();
            let found = verdict(&script, recording).unwrap();
            assert_eq!(found.word(), expected.word(), "{name}, seed {seed}");
            match found {
                Verdict::Holds(_) => held += 1,
                _ => violated += 1,
            }
        }
        assert!(
            share(100_u64) < held && share(100) < violated,
            "{name}: {held} hold, {violated} are violated"
        );
    }
}
