use clewline_core::{ErasedHistory, GeneratorConfig, Random, ValueDomain};
use clewline_specs::{CATALOG, find};
use clewline_testing::share;

use super::*;
use histories::drawn;

#[allow(dead_code, reason = "others are for checkers")]
#[path = "../../../tests/it/histories.rs"]
pub(crate) mod histories;

/// Every rule whose claims are a proof, with the parameters that small histories need.
fn proofs() -> Vec<Rule> {
    let mut rules = vec![
        Rule::Added,
        Rule::AddedBefore,
        Rule::TakenOnce,
        Rule::Gone,
        Rule::AbsentSince,
        Rule::Empty,
        Rule::GreatestFirst,
        Rule::FirstInFirstOut,
        Rule::Stale,
        Rule::Sum,
        Rule::ReplacedOnce,
        Rule::Lineage,
    ];
    for number in 0..3 {
        rules.extend([
            Rule::Often { added: number },
            Rule::OftenSince { added: number },
            Rule::AddedAgain { removed: number },
            Rule::RemovedAgain { added: number },
            Rule::Left { added: number + 1 },
        ]);
        rules.extend(
            (0..3).map(|it| Rule::SumWithin { least: number.into(), greatest: (number + it).into() }),
        );
    }
    rules
}

/// Claims that are a proof are true of no operations of a linearizable history, whichever rule is
/// said of whichever operations: nothing relies on what proposes a rule.
#[test]
fn no_claim_is_true_of_a_linearizable_history() {
    let rules = proofs();
    let mut asked = 0;
    for entry in &CATALOG {
        let specification = find(entry.name).unwrap();
        for seed in 0..share(400) {
            let mut random = Random::new(seed);
            let plan = GeneratorConfig {
                operations: 3 + random.below(4),
                processes: 3,
                overlap: 0.7,
                values: ValueDomain::Below(1 + random.below(3) as u32),
                keys: 1,
                pending: if seed % 3 == 0 { 0.0 } else { 0.3 },
                seed,
                ..GeneratorConfig::default()
            };
            let case = specification.load(specification.generate(&plan)).unwrap();
            let Some(whole) = case.problems().into_iter().next() else { continue };
            let Some(mut history) = History::new(&whole, whole.operations()) else { continue };
            for _ in 0..150 {
                let named: Vec<usize> = (0..1 + random.below(5)).map(|_| random.below(whole.len())).collect();
                let ids: Vec<OperationId> = named.iter().map(|&at| whole.operations()[at]).collect();
                for &rule in &rules {
                    // Of these, the second was called after the counterexample had ended.
                    let core = if rule == Rule::AddedBefore { &named[..1] } else { &named[..] };
                    let ends = core.iter().filter_map(|&at| whole.spans()[at].ret()).max();
                    let Some(ends) = ends else { continue };
                    history.ends = ends;
                    let said = history.compared(rule, &ids);
                    assert_ne!(
                        said,
                        Some(Truth::Proof),
                        "{} {seed}: {rule:?} {named:?} {whole:#?}",
                        entry.name
                    );
                    asked += 1;
                }
            }
        }
    }
    assert!(share(10_000_000) < asked, "{asked}");
}

/// Whether the sentence about these operations is true of the history that is drawn; the
/// counterexample ends with the last of them. `B1` is the second operation of process B.
#[track_caller]
fn is_true(spec: &str, drawing: &str, rule: Rule, named: &str) -> bool {
    let case: Box<dyn ErasedHistory> = drawn(spec, drawing);
    let whole = &case.problems()[0];
    let find = |name: &str| {
        let (process, place) = (u32::from(name.as_bytes()[0] - b'A'), usize::from(name.as_bytes()[1] - b'0'));
        let mut of_process = whole.operations().iter().copied().filter(|&it| case.process(it).0 == process);
        of_process.nth(place).unwrap_or_else(|| panic!("{name} of {drawing}"))
    };
    let ids: Vec<OperationId> = named.split(' ').map(find).collect();
    let core = if rule == Rule::AddedBefore { &ids[..1] } else { &ids[..] };
    History::new(whole, core).unwrap().compared(rule, &ids).is_some()
}

/// A sentence that is true, and histories in which one thing that it says is not.
struct Case<'c> {
    spec: &'c str,
    rule: Rule,
    named: &'c str,
    is: &'c str,
    // Each with what is not true.
    is_not: &'c [(&'c str, &'c str)],
}

#[track_caller]
fn check_all(cases: &[Case<'_>]) {
    for Case { spec, rule, named, is, is_not } in cases {
        assert!(is_true(spec, is, *rule, named), "{spec} {rule:?}\n{is}");
        for (what, drawing) in *is_not {
            assert!(!is_true(spec, drawing, *rule, named), "{spec} {rule:?}: {what}\n{drawing}");
        }
    }
}

#[test]
fn what_is_left_counts_each_removal() {
    check_all(&[
        Case {
            spec: "queue",
            rule: Rule::Left { added: 1 },
            named: "B0 A0",
            is: "A: |-enq 1-|\nB:              |-deq → nil-|",
            is_not: &[
                ("it had returned", "A: |-enq 1-|\nB:    |-deq → nil-|"),
                ("none removed it", "A: |-enq 1-|\nB:              |-deq → nil-|\nC:     |-deq → 1-|"),
                (
                    "no pending one did",
                    "A: |-enq 1-|\nB:              |-deq → nil-|\nC:                |-deq",
                ),
                ("it added", "A: |-peek → nil-|\nB:                   |-deq → nil-|"),
                ("it found nothing", "A: |-enq 1-|\nB:              |-deq → 1-|"),
            ],
        },
        // A pending removal is one of those that are counted, and must be named.
        Case {
            spec: "queue",
            rule: Rule::Left { added: 2 },
            named: "A2 A0 A1 B0",
            is: "A: |-enq 1-| |-enq 2-|  |-deq → nil-|\nB:                         |-deq",
            is_not: &[(
                "there are two",
                "A: |-enq 1-| |-enq 2-|  |-deq → nil-|\nB:                         |-deq\nC:                           |-deq",
            )],
        },
        Case {
            spec: "queue",
            rule: Rule::Left { added: 2 },
            named: "A2 A0 A1",
            is: "A: |-enq 1-| |-enq 2-|  |-deq → nil-|",
            is_not: &[(
                "one is not named",
                "A: |-enq 1-| |-enq 2-|  |-deq → nil-|\nB:                         |-deq",
            )],
        },
        // What observed an element does not show that there were two.
        Case {
            spec: "queue",
            rule: Rule::Left { added: 2 },
            named: "A2 A0 A1 B0",
            is: "A: |-enq 1-| |-enq 1-|    |-deq → nil-|\nB:                     |-deq → 1-|",
            is_not: &[(
                "there were two",
                "A: |-enq 1-| |-peek → 1-| |-deq → nil-|\nB:                     |-deq → 1-|",
            )],
        },
    ]);
}

#[test]
fn what_is_left_was_seen_and_is_missed() {
    check_all(&[
        Case {
            spec: "priority-queue",
            rule: Rule::Left { added: 1 },
            named: "A1 A0",
            is: "A: |-add 2 → true-| |-peek → 1-|",
            is_not: &[
                ("it goes first", "A: |-add 1 → true-| |-peek → 2-|"),
                ("it was there", "A: |-add 2 → true-|    |-peek → 1-|\nB:                  |-poll → 2-|"),
            ],
        },
        // Another addition is counted, not missed.
        Case {
            spec: "set",
            rule: Rule::Left { added: 1 },
            named: "A1 A0",
            is: "A: |-contains 1 → true-| |-add 1 → true-|",
            is_not: &[
                ("it was seen", "A: |-add 1 → true-| |-add 1 → true-|"),
                ("that one", "A: |-contains 2 → true-| |-add 1 → true-|"),
                (
                    "a pending one does not count",
                    "A: |-contains 1 → true-| |-add 1 → true-|\nB:                          |-remove 1",
                ),
            ],
        },
    ]);
}

#[test]
fn something_is_there_all_the_time_without_a_gap() {
    check_all(&[
        Case {
            spec: "queue",
            rule: Rule::Empty,
            named: "A1 A0 C0 B0 B0",
            is: "A: |-enq 1-|  |--deq → nil--|\nB:              |enq 2|\nC:                     |-deq → 1-|",
            is_not: &[
                (
                    "the second was there in time",
                    "A: |-enq 1-|  |--deq → nil--|\nB:              |---enq 2---|\nC:                     |-deq → 1-|",
                ),
                (
                    "no pending one removed it",
                    "A: |-enq 1-|  |--deq → nil---|\nB:              |enq 2|\nC:                     |-deq → 1-|\nD:                        |-deq",
                ),
                (
                    "it is about the first",
                    "A: |-enq 1-|  |--deq → nil--|\nB:              |enq 2|\nC:                     |-enq 3-|",
                ),
                (
                    "it left then",
                    "A: |-enq 1-|  |--deq → nil--|\nB:              |enq 2|\nC:                     |-deq → 2-|",
                ),
            ],
        },
        Case {
            spec: "priority-queue",
            rule: Rule::GreatestFirst,
            named: "A1 A0 A0",
            is: "A: |-add 2 → true-| |-poll → 1-|",
            is_not: &[
                ("it goes first", "A: |-add 1 → true-| |-poll → 2-|"),
                ("it found one", "A: |-add 2 → true-| |-poll → nil-|"),
                ("a pending one", "A: |-add 2 → true-| |-poll → 1-|\nB:                      |-poll"),
            ],
        },
    ]);
}

#[test]
fn what_was_found_was_put_there_by_then() {
    check_all(&[
        Case {
            spec: "queue",
            rule: Rule::Added,
            named: "A0",
            is: "A: |-deq → 1-|",
            is_not: &[
                ("none put it there", "A: |-deq → 1-|\nB:    |-enq 1-|"),
                ("none put it there later", "A: |-deq → 1-| |-enq 1-|"),
                ("a pending one did not", "A: |-deq → 1-|\nB:    |-enq 1"),
                ("it found one", "A: |-enq 1-|"),
            ],
        },
        Case {
            spec: "register",
            rule: Rule::Added,
            named: "A0",
            is: "A: |-read → 1-|",
            is_not: &[("it is not there at first", "A: |-read → nil-|")],
        },
        Case {
            spec: "queue",
            rule: Rule::AddedBefore,
            named: "A0 B0",
            is: "A: |-deq → 1-|\nB:                |-enq 1-|",
            is_not: &[("it returned before", "A: |-deq → 1-|\nB:     |-enq 1-|")],
        },
        Case {
            spec: "queue",
            rule: Rule::TakenOnce,
            named: "A1 A2",
            is: "A: |-enq 1-| |-deq → 1-| |-deq → 1-|",
            is_not: &[
                ("it was added once", "A: |-enq 1-| |-deq → 1-| |-deq → 1-|\nB:             |-enq 1-|"),
                ("both removed it", "A: |-enq 1-| |-peek → 1-| |-deq → 1-|"),
                ("the same", "A: |-enq 1-| |-deq → 1-| |-deq → 2-|"),
            ],
        },
        Case {
            spec: "queue",
            rule: Rule::Gone,
            named: "A1 B0",
            is: "A: |-enq 1-| |-deq → 1-|\nB:                          |-peek → 1-|",
            is_not: &[
                ("it was gone", "A: |-enq 1-| |-deq → 1-|\nB:               |-peek → 1-|"),
                ("it was removed", "A: |-enq 1-| |-peek → 1-|\nB:                          |-peek → 1-|"),
                (
                    "it was added once",
                    "A: |-enq 1-| |-deq → 1-|\nB:                          |-peek → 1-|\nC:            |-enq 1-|",
                ),
                ("it was found", "A: |-peek → 1-| |-deq → 1-|\nB:                             |-enq 1-|"),
            ],
        },
    ]);
}

#[test]
fn what_was_found_was_put_there_as_often() {
    check_all(&[
        Case {
            spec: "queue",
            rule: Rule::Often { added: 1 },
            named: "A1 B0 A0",
            is: "A: |-enq 1-| |-deq → 1-|\nB:                          |-peek → 1-|",
            is_not: &[
                ("it took it before", "A: |-enq 1-| |-deq → 1-|\nB:                |-peek → 1-|"),
                (
                    "there are no others",
                    "A: |-enq 1-| |-deq → 1-|\nB:                          |-peek → 1-|\nC:             |-enq 1-|",
                ),
                (
                    "nor pending ones",
                    "A: |-enq 1-| |-deq → 1-|\nB:                          |-peek → 1-|\nC:             |-enq 1",
                ),
                ("it was removed", "A: |-enq 1-| |-peek → 1-|\nB:                          |-peek → 1-|"),
                ("the same", "A: |-enq 1-| |-deq → 1-|\nB:                          |-peek → 2-|"),
            ],
        },
        Case {
            spec: "queue",
            rule: Rule::OftenSince { added: 0 },
            named: "A0 B0",
            is: "A: |-deq → nil-|\nB:                 |-deq → 1-|",
            is_not: &[
                (
                    "it had returned by then",
                    "A: |-deq → nil-|\nB:                 |-deq → 1-|\nC:     |-enq 1-|",
                ),
                ("it had found nothing", "A: |-peek → 1-|\nB:                 |-deq → 1-|"),
                ("it came before", "A: |-deq → nil-|\nB:      |-deq → 1-|"),
            ],
        },
    ]);
}

#[test]
fn changes_of_a_set_alternate() {
    let added = Rule::AddedAgain { removed: 0 };
    let removed = Rule::RemovedAgain { added: 0 };
    check_all(&[
        Case {
            spec: "set",
            rule: added,
            named: "A0 A1",
            is: "A: |-add 1 → true-| |-add 1 → true-|",
            is_not: &[
                (
                    "none removed it",
                    "A: |-add 1 → true-| |-add 1 → true-|\nB:                  |-remove 1 → true-|",
                ),
                (
                    "no pending one removed it",
                    "A: |-add 1 → true-| |-add 1 → true-|\nB:                   |-remove 1",
                ),
                ("the same", "A: |-add 1 → true-| |-add 2 → true-|"),
                ("both added it", "A: |-add 1 → true-| |-add 1 → false-|"),
            ],
        },
        Case {
            spec: "set",
            rule: removed,
            named: "A0 A1",
            is: "A: |-remove 1 → true-| |-remove 1 → true-|",
            is_not: &[
                (
                    "none added it",
                    "A: |-remove 1 → true-| |-remove 1 → true-|\nB:                   |-add 1 → true-|",
                ),
                ("both removed it", "A: |-remove 1 → true-| |-remove 1 → false-|"),
            ],
        },
        Case {
            spec: "set",
            rule: Rule::AbsentSince,
            named: "B0 A0",
            is: "A: |-contains 1 → false-|\nB:                           |-contains 1 → true-|",
            is_not: &[
                ("before", "A: |-contains 1 → false-|\nB:      |-contains 1 → true-|"),
                (
                    "none added it",
                    "A: |-contains 1 → false-|\nB:                           |-contains 1 → true-|\nC:   |-add 1 → true-|",
                ),
                (
                    "no pending one did",
                    "A: |-contains 1 → false-|\nB:                           |-contains 1 → true-|\nC:   |-add 1",
                ),
                ("the same", "A: |-contains 2 → false-|\nB:                           |-contains 1 → true-|"),
                (
                    "it was absent",
                    "A: |-contains 1 → true-|\nB:                           |-contains 1 → true-|",
                ),
                (
                    "it was found",
                    "A: |-contains 1 → false-|\nB:                           |-contains 1 → false-|",
                ),
            ],
        },
    ]);
    // In other objects, an element may be added twice.
    assert!(!is_true("queue", "A: |-enq 1-| |-enq 1-|", added, "A0 A1"));
}

#[test]
fn values_of_a_register_follow_each_other() {
    check_all(&[
        Case {
            spec: "register",
            rule: Rule::Stale,
            named: "B0 A0",
            is: "A: |-write 1-|\nB:                |-read → nil-|",
            is_not: &[
                ("before", "A: |-write 1-|\nB:     |-read → nil-|"),
                (
                    "none restores it",
                    "A: |-write 1-|\nB:                |-read → nil-|\nC:     |-write nil-|",
                ),
                (
                    "no pending one does",
                    "A: |-write 1-|\nB:                |-read → nil-|\nC:     |-write nil",
                ),
                ("another", "A: |-write nil-|\nB:                |-read → nil-|"),
                ("it was read", "A: |-write 1-|\nB:                |-write nil-|"),
            ],
        },
        Case {
            spec: "cas-register",
            rule: Rule::ReplacedOnce,
            named: "A0 B0",
            is: "A: |-cas [nil 1] → true-|\nB:   |-cas [nil 2] → true-|",
            is_not: &[
                (
                    "it was there once",
                    "A: |-cas [nil 1] → true-|\nB:   |-cas [nil 2] → true-|\nC:     |-write nil-|",
                ),
                ("it is not restored", "A: |-cas [nil nil] → true-|\nB:   |-cas [nil 2] → true-|"),
                ("the same", "A: |-cas [nil 1] → true-|\nB:   |-cas [1 2] → true-|"),
                ("both replaced it", "A: |-cas [nil 1] → true-|\nB:   |-cas [nil 2] → false-|"),
                ("a pending one did not", "A: |-cas [nil 1] → true-|\nB:   |-cas [nil 2]"),
            ],
        },
        Case {
            spec: "cas-register",
            rule: Rule::Lineage,
            named: "A0 B0",
            is: "A: |-read → 2-|\nB:   |-cas [1 2] → true-|",
            is_not: &[
                ("none put it there", "A: |-read → 2-|\nB:   |-cas [1 2] → true-|\nC:     |-write 1-|"),
                ("only that one", "A: |-read → 2-|\nB:   |-cas [1 2] → true-|\nC:     |-write 2-|"),
                ("it is not there at first", "A: |-read → 2-|\nB:   |-cas [nil 2] → true-|"),
                ("it put that", "A: |-read → 2-|\nB:   |-cas [1 3] → true-|"),
                ("it put another", "A: |-read → 2-|\nB:   |-cas [2 2] → true-|"),
            ],
        },
    ]);
}

#[test]
fn sums_are_within_bounds() {
    let within = Rule::SumWithin { least: 1, greatest: 1 };
    check_all(&[
        Case {
            spec: "counter",
            rule: within,
            named: "B0 A0",
            is: "A: |-add 1-|\nB:              |-read → 0-|",
            is_not: &[
                ("it had returned", "A: |-add 1-|\nB:     |-read → 0-|"),
                ("it is out of bounds", "A: |-add 1-|\nB:              |-read → 1-|"),
                ("a pending one is less", "A: |-add 1-|\nB:              |-read → 0-|\nC:  |-add -1"),
                ("it was read", "A: |-add 1-|\nB:              |-add 0-|"),
            ],
        },
        Case {
            spec: "counter",
            rule: Rule::Sum,
            named: "A1 A0",
            is: "A: |-add 2-| |-read → 1-|",
            is_not: &[
                ("it is another sum", "A: |-add 2-| |-read → 2-|"),
                ("each is named", "A: |-add 2-| |-read → 1-|\nB:    |-add 2-|"),
                ("no sum of others either", "A: |-add 2-| |-read → 1-|\nB:           |-add -1"),
            ],
        },
    ]);
}

#[test]
fn the_first_in_a_queue_is_the_first_out() {
    check_all(&[
        Case {
            spec: "queue",
            rule: Rule::FirstInFirstOut,
            named: "A0 B0 B1",
            is: "A: |-enq 1-|\nB:            |-enq 2-| |-deq → 2-|",
            is_not: &[
                ("before", "A: |-enq 1-|\nB:    |-enq 2-| |-deq → 2-|"),
                (
                    "none removed it",
                    "A: |-enq 1-|\nB:            |-enq 2-| |-deq → 2-|\nC:                |-deq → 1-|",
                ),
                (
                    "no pending one did",
                    "A: |-enq 1-|\nB:            |-enq 2-| |-deq → 2-|\nC:                |-deq",
                ),
                ("it was put once", "A: |-enq 2-|\nB:            |-enq 2-| |-deq → 2-|"),
                ("it found it", "A: |-enq 1-|\nB:            |-enq 2-| |-deq → 1-|"),
                ("it was there", "A: |-peek → nil-|\nB:                  |-enq 2-| |-deq → 2-|"),
            ],
        },
        Case {
            spec: "queue",
            rule: Rule::FirstInFirstOut,
            named: "A0 A1 A2 B0",
            is: "A: |-enq 1-| |-enq 2-| |-deq → 2-|\nB:                                   |-deq → 1-|",
            is_not: &[(
                "it left after",
                "A: |-enq 1-| |-enq 2-| |-deq → 2-|\nB:                       |-deq → 1-|",
            )],
        },
        // One that was seen in front is in front, whichever copy it is.
        Case {
            spec: "queue",
            rule: Rule::FirstInFirstOut,
            named: "A1 A2 A3",
            is: "A: |-enq 1-| |-peek → 1-| |-enq 2-| |-deq → 2-|",
            is_not: &[(
                "none removed it",
                "A: |-enq 1-| |-peek → 1-| |-enq 2-| |-deq → 2-|\nB: |-enq 1-| |-deq → 1-|",
            )],
        },
    ]);
    assert!(!is_true("stack", "A: |-push 1-| |-push 2-| |-pop → 2-|", Rule::FirstInFirstOut, "A0 A1 A2"));
}

/// Rules about the order of elements are said only of elements that were put once.
#[test]
fn the_order_of_elements_needs_that_each_was_put_once() {
    check_all(&[
        Case {
            spec: "stack",
            rule: Rule::LastInFirstOut,
            named: "A0 B0 B0 B1",
            is: "A: |-push 1-|\nB:             |-push 2-| |-pop → 1-|",
            is_not: &[
                ("before", "A: |-push 1-|\nB:   |-push 2-| |-pop → 1-|"),
                (
                    "no pending one did",
                    "A: |-push 1-|\nB:             |-push 2-| |-pop → 1-|\nC:               |-pop",
                ),
                ("once", "A: |-push 1-|\nB:             |-push 2-| |-pop → 1-|\nC:               |-push 1-|"),
                ("it found one", "A: |-push 1-|\nB:             |-push 2-| |-pop → nil-|"),
            ],
        },
        Case {
            spec: "register",
            rule: Rule::OneAtATime,
            named: "A0 A1 B0 C0",
            is: "A: |-write 1-| |-write 2-|\nB:            |-read → 2-|\nC:                          |-read → 1-|",
            is_not: &[
                (
                    "once",
                    "A: |-write 1-| |-write 2-|\nB:            |-read → 2-|\nC:                          |-read → 1-|\nD:  |-write 1-|",
                ),
                (
                    "before",
                    "A: |-write 1-| |-write 2-|\nB:            |-read → 2-|\nC:                  |-read → 1-|",
                ),
            ],
        },
    ]);
}
