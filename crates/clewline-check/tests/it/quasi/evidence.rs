//! What is returned besides the verdict: witnesses, violations, least factors, and where a search
//! stopped.

use clewline_check::{
    check,
    relaxed::{
        LeastFactor, QuasiVerdict, QuasiWitness, QuasiWitnessError, Relaxation, Sense, displaced,
        least_factor,
    },
    search::SEARCHES,
};
use clewline_core::{Budget, ErasedHistory, OperationId, Random, Reason};
use clewline_testing::share;

use super::factors::relaxation;
use crate::histories::{drawn, random_history, random_times};

/// Reads a drawing of a history and factors; the text is that of the violation, or the
/// displacements that are not 0.
#[track_caller]
fn check_displaced(spec: &str, factors: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    let problem = &case.problems()[0];
    let relaxation = relaxation(problem, factors);
    let text = match displaced(problem, &relaxation, &Budget::unlimited()) {
        QuasiVerdict::Holds(witness) => {
            let moved = witness.displacement.iter().filter(|it| it.1 != 0);
            let texts: Vec<String> = moved.map(|&(id, by)| format!("{} {by:+}", problem.label(id))).collect();
            format!("holds: {}", texts.join(", "))
        }
        QuasiVerdict::Violated(violation) => violation.text(problem),
        QuasiVerdict::Unknown(reason) => panic!("{reason}"),
    };
    assert_eq!(text, expected);
}

#[test]
fn an_early_deq_is_named_with_its_displacement() {
    let drawing = "A: |enq 1| |enq 2| |enq 3| |deq → 3| |deq → 1| |deq → 2|";
    check_displaced("queue", "enq=0,deq=2", drawing, "holds: deq() → 3 -2, deq() → 1 +1, deq() → 2 +1");
    check_displaced(
        "queue",
        "enq=0,deq=1",
        drawing,
        "deq() → 3 is 2 places early in every order; 1 is allowed",
    );
}

#[test]
fn a_late_deq_is_named_with_its_displacement() {
    let drawing = "A: |enq 7| |enq 1| |enq 2| |enq 3| |deq → 1| |deq → 2| |deq → 3| |deq → 7|";
    check_displaced(
        "queue",
        "enq=0,deq=2",
        drawing,
        "deq() → 7 is 3 places late in every order; 2 are allowed",
    );
    check_displaced(
        "queue",
        "enq=0,deq=3",
        drawing,
        "holds: deq() → 1 -1, deq() → 2 -1, deq() → 3 -1, deq() → 7 +3",
    );
}

#[test]
fn two_displaced_operations_are_reported_together() {
    check_displaced(
        "queue",
        "enq=0,deq=0",
        "A: |enq 1| |enq 2| |deq → 2| |deq → 1|",
        "some operation is out of place in every order: at best deq() → 2 is 1 place early; 0 are allowed",
    );
}

#[test]
fn two_displaced_classes_are_reported_together() {
    let case = drawn("set", "A: |contains 1 → true| |add 1 → true| |contains 2 → true| |add 2 → true|");
    let problem = &case.problems()[0];
    let relaxation = Relaxation { class_of: [0, 0, 1, 1].map(Some).to_vec(), factors: vec![0, 0] };
    let QuasiVerdict::Violated(violation) = displaced(problem, &relaxation, &Budget::unlimited()) else {
        panic!("a value was found before it was added");
    };
    assert_eq!((violation.sense, violation.at_best), (Sense::Everywhere, 1));
    let nearest = violation.nearest.unwrap();
    assert_eq!(nearest.displacement.iter().map(|it| it.1).collect::<Vec<_>>(), [-1, 1, -1, 1]);
}

#[test]
fn an_element_never_added_has_no_place() {
    check_displaced(
        "queue",
        "all=5",
        "A: |enq 1| |deq → 2|",
        "no order is legal, however far operations move: deq() → 2 has no place",
    );
}

#[test]
fn a_pending_operation_takes_effect_or_does_not() {
    // It has to take effect, and 2 is then removed too early.
    let drawing = "A: |enq 1| |deq → 2| |deq → 1|\nB:       |enq 2";
    check_displaced("queue", "enq=0,deq=1", drawing, "holds: deq() → 2 -1, deq() → 1 +1");
    // It must not.
    check_displaced("queue", "all=0", "A: |enq 1| |deq → 1|   |deq → nil|\nB:        |enq 2", "holds: ");
}

/// Either pending operation leads to the same state; only one of them is of use later, whichever is
/// tried first.
#[test]
fn configurations_differ_by_their_remaining_pending_operations() {
    // Either can be what is popped first, and that leads to one state; an element that is pushed in
    // front later can only be the other.
    for [one, other] in [["push-front", "push-back"], ["push-back", "push-front"]] {
        let drawing = format!(
            "
            A: |{one} 1
            B:  |{other} 1
            C:              |pop-front → 1| |push-back 2| |push-front 3| |pop-front → 1| |pop-front → 3| |pop-front → 2|
            "
        );
        check_displaced("deque", "all=0", &drawing, "holds: ");
    }
}

#[test]
fn every_outcome_of_a_pending_operation_is_tried() {
    for left in [1, 2] {
        let drawing = format!("A: |add 1| |add 2| |take → {left}| |take → nil|\nB:                 |take");
        check_displaced("bag", "all=0", &drawing, "holds: ");
    }
}

/// Which of two equal values was popped is visible in what is on top later.
#[test]
fn every_outcome_of_a_complete_operation_is_tried() {
    for last in [1, 2] {
        let drawing = format!("A: |push 1| |push 2| |push 1| |pop → 1| |push 3| |push 4| |pop → {last}|");
        check_displaced("quasi-stack:2", "all=0", &drawing, "holds: ");
    }
}

#[test]
fn least_factors_are_reported_with_their_orders() {
    let drawing = "A: |enq 7| |enq 1| |enq 2| |enq 3| |deq → 1| |deq → 2| |deq → 3| |deq → 7|";
    let case = drawn("queue", drawing);
    let problem = &case.problems()[0];
    for (factors, class, expected) in [("enq=0,deq=0", 1, 3), ("enq=0,deq=0", 0, 3), ("all=0", 0, 2)] {
        let relaxation = relaxation(problem, factors);
        match least_factor(problem, &relaxation, class, &Budget::unlimited()) {
            LeastFactor::Least { factor, witness } => {
                assert_eq!(factor, expected, "{factors}");
                assert_eq!(witness.verify(problem, &relaxation.with_factor(class, factor)), Ok(()));
            }
            other => panic!("{factors}: {other:?}"),
        }
    }
    let case = drawn("queue", "A: |enq 1| |deq → 2|");
    let problem = &case.problems()[0];
    let least = least_factor(problem, &Relaxation::all(problem, 0), 0, &Budget::unlimited());
    assert_eq!(least, LeastFactor::Never);
}

fn example() -> (Box<dyn ErasedHistory>, QuasiWitness) {
    let case = drawn("queue", "A: |enq 1| |enq 2| |deq → 2| |deq → 1|\nB:                     |enq 3");
    let ids = |order: [u32; 4]| order.map(OperationId).to_vec();
    let witness = QuasiWitness {
        sequentialization: ids([0, 1, 2, 4]),
        legal: ids([0, 1, 4, 2]),
        displacement: vec![
            (OperationId(0), 0),
            (OperationId(1), 0),
            (OperationId(2), -1),
            (OperationId(4), 1),
        ],
    };
    (case, witness)
}

#[track_caller]
fn check_refused(tamper: impl FnOnce(&mut QuasiWitness), expected: QuasiWitnessError) {
    let (case, mut witness) = example();
    let problem = &case.problems()[0];
    let relaxation = relaxation(problem, "enq=0,deq=1");
    assert_eq!(witness.verify(problem, &relaxation), Ok(()));
    tamper(&mut witness);
    assert_eq!(witness.verify(problem, &relaxation), Err(expected));
}

#[test]
fn a_wrong_witness_is_rejected() {
    let id = OperationId;
    check_refused(|it| it.legal[0] = id(9), QuasiWitnessError::Foreign(id(9)));
    check_refused(|it| it.legal.push(id(0)), QuasiWitnessError::Repeated(id(0)));
    check_refused(|it| it.sequentialization.retain(|&it| it != id(1)), QuasiWitnessError::Missing(id(1)));
    check_refused(|it| it.legal.insert(2, id(3)), QuasiWitnessError::Missing(id(3)));
    check_refused(|it| it.sequentialization.swap(0, 1), QuasiWitnessError::OutOfOrder(id(0)));
    check_refused(|it| it.legal.swap(2, 3), QuasiWitnessError::NotAllowed(id(2)));
    check_refused(|it| it.displacement[2].1 = 0, QuasiWitnessError::Misstated(id(2)));
    check_refused(|it| it.displacement.truncate(3), QuasiWitnessError::Misstated(id(4)));
    check_refused(|it| it.displacement.push((id(4), 1)), QuasiWitnessError::Misstated(id(4)));
    let (case, witness) = example();
    let problem = &case.problems()[0];
    let verified = witness.verify(problem, &relaxation(problem, "enq=0,deq=0"));
    assert_eq!(verified, Err(QuasiWitnessError::TooFar(id(2))));
}

/// Elements are removed from a queue up to `slip` places early; operations overlap a little.
fn long(operations: usize, slip: usize) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(7);
    let mut inside: Vec<usize> = Vec::new();
    let mut actions: Vec<String> = Vec::new();
    for number in 0..operations {
        if inside.len() < 8 {
            inside.push(number);
            actions.push(format!("enq {number}"));
        } else {
            // No element stays longer than it may.
            let oldest = actions.len() - inside[0];
            let place = if oldest < 20 { random.below(slip + 1) } else { 0 };
            actions.push(format!("deq → {}", inside.remove(place)));
        }
    }
    random_times("queue", &actions.iter().map(String::as_str).collect::<Vec<_>>(), &mut random)
}

#[test]
fn a_long_history_is_decided() {
    let case = long(120, 1);
    let problem = &case.problems()[0];
    let budget = Budget::unlimited().with_configurations(300_000);
    let relaxation = relaxation(problem, "enq=0,deq=6");
    match displaced(problem, &relaxation, &budget) {
        QuasiVerdict::Holds(witness) => assert_eq!(witness.verify(problem, &relaxation), Ok(())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_stops_at_its_budget() {
    let case = long(200, 3);
    let problem = &case.problems()[0];
    let relaxation = Relaxation::all(problem, 1);
    let few = Budget::unlimited().with_configurations(5);
    assert_eq!(displaced(problem, &relaxation, &few), QuasiVerdict::Unknown(Reason::Configurations(5)));
    assert!(0 < few.visited());
    let least = least_factor(problem, &relaxation, 0, &few);
    assert_eq!(least, LeastFactor::Unknown { at_least: 0, reason: Reason::Configurations(5) });
    let stopped = Budget::unlimited();
    stopped.stop(Reason::Cancelled);
    assert_eq!(displaced(problem, &relaxation, &stopped), QuasiVerdict::Unknown(Reason::Cancelled));
    let tiny = Budget::unlimited().with_memory(1_000);
    let free = Relaxation { class_of: vec![None; problem.len()], factors: Vec::new() };
    assert_eq!(displaced(problem, &free, &tiny), QuasiVerdict::Unknown(Reason::Memory(1_000)));
}

/// Four `deq` in reverse are displaced by 3 places at best; to find that takes more than to find
/// that 0 is not enough.
#[test]
fn a_violation_reports_that_its_explanation_was_given_up() {
    let case = drawn("queue", "A: |enq 1| |enq 2| |enq 3| |enq 4| |deq → 4| |deq → 3| |deq → 2| |deq → 1|");
    let problem = &case.problems()[0];
    let budget = Budget::unlimited().with_configurations(4);
    let QuasiVerdict::Violated(violation) = displaced(problem, &Relaxation::all(problem, 0), &budget) else {
        panic!("it takes four configurations to see that 4 is not first");
    };
    assert_eq!((violation.sense, violation.at_best, violation.allowed), (Sense::AtLeast, 1, 0));
    assert_eq!(
        violation.text(problem),
        "some operation is out of place in every order, by 1 place at least; 0 are allowed"
    );
}

#[test]
fn a_relaxation_of_another_problem_is_refused() {
    let case = drawn("queue", "A: |enq 1| |deq → 1|");
    let problem = &case.problems()[0];
    let refusal =
        |class_of, factors| match displaced(problem, &Relaxation { class_of, factors }, &Budget::unlimited())
        {
            QuasiVerdict::Unknown(Reason::Refused(why)) => why,
            other => panic!("{other:?}"),
        };
    assert_eq!(refusal(vec![None], vec![]), "1 operations have a class or none, but there are 2");
    assert_eq!(refusal(vec![None, Some(1)], vec![2]), "class 1 has no quasi factor");
    let least = least_factor(problem, &Relaxation::all(problem, 0), 1, &Budget::unlimited());
    let reason = Reason::Refused("class 1 has no quasi factor".to_owned());
    assert_eq!(least, LeastFactor::Unknown { at_least: 0, reason });
}

/// With one class of all operations and factor 0 the verdict is that of linearizability.
#[test]
fn factor_0_for_all_is_linearizability() {
    let oracle = SEARCHES.iter().copied().find(|it| it.name() == "oracle").unwrap();
    let (mut holds, mut violated) = (0, 0);
    for spec in ["queue", "stack", "priority-queue", "counter", "register", "set", "bag", "mutex"] {
        for seed in 0..share(600) {
            let case = random_history(spec, seed);
            for problem in case.problems() {
                let expected = check(oracle, &problem, &Budget::unlimited());
                let quasi = displaced(&problem, &Relaxation::all(&problem, 0), &Budget::unlimited());
                assert_eq!(quasi.word(), expected.word(), "{spec} from seed {seed}: {problem:#?}");
                *if expected.word() == "holds" { &mut holds } else { &mut violated } += 1;
            }
        }
    }
    assert!(share(500) < holds && share(500) < violated, "{holds}, {violated}");
}
