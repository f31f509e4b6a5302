use clewline_core::{ErasedHistory, GeneratorConfig, Random, ValueDomain};
use clewline_specs::find;
use clewline_testing::share;

use super::*;
use crate::minimize::claims::tests::histories::drawn;

/// Whichever rule is said of whichever operations of a linearizable history, with whichever
/// elements, something in it is not true.
#[test]
fn no_claim_is_true_of_a_linearizable_history() {
    let specification = find("full-set").unwrap();
    let mut asked = 0;
    for seed in 0..share(3_000) {
        let mut random = Random::new(seed);
        let removes = random.below(2) as u32;
        let mix = [("add", 4), ("read", 3), ("contains", 2), ("remove", removes)];
        let plan = GeneratorConfig {
            operations: 3 + random.below(5),
            processes: 3,
            overlap: 0.7,
            values: ValueDomain::Below(1 + random.below(3) as u32),
            mix: mix.map(|(name, weight)| (name.to_owned(), weight)).to_vec(),
            pending: if seed % 3 == 0 { 0.0 } else { 0.3 },
            seed,
            ..GeneratorConfig::default()
        };
        let case = specification.load(specification.generate(&plan)).unwrap();
        let Some(whole) = case.problems().into_iter().next() else { continue };
        let elements = whole.set_operations().unwrap().names;
        if elements.is_empty() {
            continue;
        }
        for _ in 0..150 {
            let ids: Vec<OperationId> =
                (0..1 + random.below(4)).map(|_| whole.operations()[random.below(whole.len())]).collect();
            let mut element = || elements[random.below(elements.len())];
            let (one, other) = (element(), element());
            let rules = [
                Rule::FoundUnadded { element: one },
                Rule::Lost { element: one },
                Rule::AddedAgain { removed: 0 },
                Rule::ReadsDisagree { only_first: one, only_second: other },
                Rule::EarlierMissing { found: one, missing: other },
            ];
            // What is named for comparison may be later than the counterexample.
            for core in [&ids[..1], &ids[..]] {
                let Some(history) = History::new(&whole, core) else { continue };
                for rule in rules {
                    assert!(!history.is_true(rule, &ids), "{seed}: {rule:?} {ids:?} of {whole:#?}");
                    asked += 1;
                }
            }
        }
    }
    assert!(share(1_000_000) < asked, "{asked}");
}

/// Whether the sentence about these operations is true of the history that is drawn: `B1` is the
/// second operation of process B. The counterexample ends with the last return among them.
#[track_caller]
fn is_true(drawing: &str, rule: Rule, named: &str) -> bool {
    let case: Box<dyn ErasedHistory> = drawn("full-set", drawing);
    let whole = &case.problems()[0];
    let find = |name: &str| {
        let (process, place) = (u32::from(name.as_bytes()[0] - b'A'), usize::from(name.as_bytes()[1] - b'0'));
        let mut of_process = whole.operations().iter().copied().filter(|&it| case.process(it).0 == process);
        of_process.nth(place).unwrap_or_else(|| panic!("{name} of {drawing}"))
    };
    let ids: Vec<OperationId> = named.split(' ').map(find).collect();
    let core = if matches!(rule, Rule::FoundUnadded { .. }) && ids.len() < 3 { &ids[..1] } else { &ids[..] };
    History::new(whole, core).unwrap().is_true(rule, &ids)
}

/// Elements are small integers, whose words are odd numbers.
fn word(int: i64) -> u64 {
    clewline_core::Value::from(int).word()
}

/// Each sentence is true of the first history, and in each other one thing that it says is not.
#[track_caller]
fn check(rule: Rule, named: &str, is: &str, is_not: &[&str]) {
    assert!(is_true(is, rule, named), "{rule:?}\n{is}");
    for drawing in is_not {
        assert!(!is_true(drawing, rule, named), "{rule:?}\n{drawing}");
    }
}

#[test]
fn an_element_is_found_that_was_not_added() {
    let rule = Rule::FoundUnadded { element: word(1) };
    check(
        rule,
        "A0",
        "A: |-read → [1]-|\n",
        &["A: |-read → [2]-|\n", "A: |-read → [1]-|\nB:   |-add 1\n", "A: |-add 1-|\n"],
    );
    check(
        rule,
        "A0 B0",
        "A: |-read → [1]-|\nB:                |-add 1-|\n",
        &[
            "A: |-read → [1]-|\nB:              |-add 1-|\n",
            "A: |-read → [1]-|\nB:                |-add 2-|\n",
            "A: |-read → [1]-|\nB:                   |-add 1-|\nC:                  |-add 1-|\n",
        ],
    );
    check(
        rule,
        "A0 B0 C0",
        "A:   |-read → [1]-|\nB:                  |-add 1-----|\nC: |-add 1 → false-----------|\n",
        &[
            "A:   |-read → [1]-|\nB:                  |-add 1-----|\nC: |-add 1 → true------------|\n",
            "A:   |-read → [1]-|\nB:                  |-add 1-----|\nC: |-add 2 → false-----------|\n",
        ],
    );
}

#[test]
fn an_element_is_lost() {
    check(
        Rule::Lost { element: word(1) },
        "A0 B0",
        "A: |-add 1-|\nB:           |-read → []-|\n",
        &[
            "A: |-add 1-|\nB:         |-read → []-|\n",
            "A: |-add 2-|\nB:           |-read → []-|\n",
            "A: |-add 1-|\nB:           |-read → [1]-|\n",
            "A: |-add 1-|\nB:           |-read → []-|\nC:                |-remove 1\n",
            "A: |-add 1-|\nB:           |-read → []-|\nC:     |-remove 1 → true---|\n",
            "A: |-add 1-|\nB:           |-read → []-|\nC:     |-remove 1 → false----------|\n",
        ],
    );
    check(
        Rule::Lost { element: word(1) },
        "A0 B0",
        "A: |-read → [1]-|\nB:                |-add 1 → true-|\nC:     |-remove 1 → false---|\n",
        &[
            "A: |-read → [1]-|\nB:                |-add 1-|\n",
            "A: |-read → [1]-|\nB:                |-add 2 → true-|\n",
        ],
    );
}

#[test]
fn an_element_is_new_twice() {
    check(
        Rule::AddedAgain { removed: 0 },
        "A0 B0",
        "A: |-add 1 → true-|\nB:    |-add 1 → true-|\n",
        &[
            "A: |-add 1 → true-|\nB:    |-add 2 → true-|\n",
            "A: |-add 1 → true-|\nB:    |-add 1-|\n",
            "A: |-add 1 → true-|\nB:    |-add 1 → true-|\nC:  |-remove 1\n",
        ],
    );
    assert!(!is_true("A: |-add 1 → true-|\n", Rule::AddedAgain { removed: 0 }, "A0 A0"));
}

#[test]
fn two_reads_disagree() {
    check(
        Rule::ReadsDisagree { only_first: word(1), only_second: word(2) },
        "A0 B0",
        "A: |-read → [1]-|\nB:    |-read → [2]-|\n",
        &[
            "A: |-read → [1]-|\nB:    |-read → [1 2]-|\n",
            "A: |-read → [1 2]-|\nB:    |-read → [2]-|\n",
            "A: |-read → [3]-|\nB:    |-read → [2]-|\n",
            "A: |-read → [1]-|\nB:    |-read → [3]-|\n",
            "A: |-read → [1]-|\nB:    |-read → [2]-|\nC:  |-remove 1\n",
            "A: |-read → [1]-|\nB:    |-read → [2]-|\nC:  |-remove 2\n",
        ],
    );
}

#[test]
fn an_earlier_element_is_missing() {
    let rule = Rule::EarlierMissing { found: word(2), missing: word(1) };
    check(
        rule,
        "A0 B0 C0",
        "A: |-add 1-|\nB:           |-add 2-|\nC:   |-read → [2]------|\n",
        &[
            "A: |-add 1-|\nB:         |-add 2-|\nC:   |-read → [2]------|\n",
            "A: |-add 3-|\nB:           |-add 2-|\nC:   |-read → [2]------|\n",
            "A: |-add 1-|\nB:           |-add 2-|\nC:   |-read → [2 1]----|\n",
            "A: |-add 1-|\nB:           |-add 2-|\nC:   |-read → []-------|\n",
            "A: |-add 1-|\nB:           |-add 2-|\nC:   |-read → [2]------|\nD:  |-add 2\n",
            "A: |-add 1-|\nB:           |-add 2-|\nC:   |-read → [2]------|\nD:  |-remove 1\n",
            "A: |-add 1-|\nB:           |-add 2-|\nC:   |-read → [2]------|\nD:  |-remove 2\n",
        ],
    );
    let miss =
        "A: |-add 1-|\nB:           |-contains 2 → false-|\nC:   |-read → [2]------|\nD: |-add 2----|\n";
    check(
        rule,
        "A0 B0 C0",
        miss,
        &[&miss.replace("false", "true-"), &miss.replace("contains 2", "contains 3")],
    );
    let vain = "A: |-add 1-|\nB:           |-add 2-|\nC:   |-read → [2]------|\nD: |-add 2 → false-------|\n";
    check(
        rule,
        "A0 B0 C0 D0",
        vain,
        &[&vain.replace("false", "true-"), &vain.replace("2 → false", "3 → false")],
    );
}
