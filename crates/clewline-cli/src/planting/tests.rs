use clewline_core::{GeneratorConfig, OperationId, RawCall, RawHistory, Value};

use super::{mutation_points::Change, *};

#[test]
fn kinds_are_read_by_their_names() {
    for kind in Violate::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    assert!("typo".parse::<Violate>().is_err_and(|it| it.to_string().contains("swap, stale, lost")));
}

/// For how many of ten seeds a violation of `kind` can be planted.
fn planted(spec: &str, kind: Violate) -> usize {
    let specification = clewline_specs::find(spec).expect("in the catalog");
    let plant_with = |seed| {
        let plan = GeneratorConfig { operations: 80, keys: 3, seed, ..GeneratorConfig::default() };
        let recording = specification.generate(&plan);
        assert!(!is_violated(&*specification, recording.clone()), "generated histories hold");
        plant(&*specification, &recording, kind, seed)
    };
    (0..10).filter(|&seed| plant_with(seed).is_ok()).count()
}

#[test]
fn violations_are_planted_for_nearly_every_seed() {
    for kind in Violate::ALL {
        assert!(8 <= planted("queue", kind), "{kind:?}");
        assert!(8 <= planted("map", kind), "{kind:?}");
    }
}

#[test]
fn a_loss_removes_one_operation_and_nothing_else() {
    let specification = clewline_specs::find("queue").expect("in the catalog");
    let recording = specification.generate(&GeneratorConfig { pending: 0.2, ..GeneratorConfig::default() });
    let lost = OperationId(17);
    let less =
        MutationPoints::new(&recording).whole(&Change::Remove(lost)).expect("events follow each other");
    let calls = |history: &RawHistory, but: Option<OperationId>| -> Vec<(RawCall, Option<Value>)> {
        let kept = history.operations().filter(|it| Some(it.id) != but);
        kept.map(|it| (*it.call, it.ret.copied())).collect()
    };
    assert_eq!(calls(&less.history, None), calls(&recording.history, Some(lost)));
}

#[test]
fn a_violation_is_planted_in_a_long_history() {
    let specification = clewline_specs::find("queue").expect("in the catalog");
    let recording =
        specification.generate(&GeneratorConfig { operations: 30_000, ..GeneratorConfig::default() });
    let changed = plant(&*specification, &recording, Violate::Swap, 1).expect("there is a place");
    assert_eq!(changed.history.len(), recording.history.len());
}
