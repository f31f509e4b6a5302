//! The monitors for counters and multisets.

use clewline_check::{ByMonitor, JudgeOptions, check, judge};
use clewline_core::{
    Budget, ErasedHistory, Explanation, GeneratorConfig, OperationId, Problem, Random, Recording, Retain,
    Rule, Value, Verdict,
};
use clewline_specs::find;
use clewline_testing::share;

use crate::{
    histories::{drawn, every_history, random_history},
    monitor_verdicts::{MonitorVerdicts, check_verdict, search},
};

#[track_caller]
fn check_word(spec: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    let problem = case.problems().remove(0);
    check_verdict(problem.clone(), search("oracle"), &mut MonitorVerdicts::default(), &drawing);
    assert_eq!(check(&ByMonitor, &problem, &Budget::unlimited()).word(), expected, "{drawing}");
}

/// The verdict, the operation that breaks the rule, and the counterexample.
#[track_caller]
fn check_core(spec: &str, drawing: &str, operation: &str, core: &[&str]) {
    check_word(spec, drawing, "violated");
    let case = drawn(spec, drawing);
    let Verdict::Violated(violation) = judge(case.problems(), &JudgeOptions::default()).verdict else {
        panic!("not violated")
    };
    let Explanation::Broken { rule, operations } = violation.explanation else {
        panic!("no monitor was asked: {violation:?}")
    };
    assert!(matches!(rule, Rule::Sum | Rule::ThereOrNot));
    let labels = |ids: &[_]| -> Vec<String> { ids.iter().map(|&it| case.label(it)).collect() };
    assert_eq!(labels(&operations), [operation]);
    assert_eq!(labels(&violation.counterexample), core);
}

mod counters {
    use super::*;

    #[test]
    fn sums_are_reached_one_by_one() {
        check_word(
            "counter",
            "
            A: |-inc-|      |-inc-|
            B:    |-read → 0-|       |-read → 2-|
            C:    |-----------read → 1----|
            ",
            "holds",
        );
    }

    #[test]
    fn an_impossible_sum_stands_alone() {
        check_core("counter", "A: |-inc-| |-read → 2-| |-inc-|", "read() → 2", &["read() → 2"]);
        check_core("counter", "A: |-inc-| |-read → -1-|", "read() → -1", &["read() → -1"]);
        check_core("counter", "A: |-add 3-| |-add 3-| |-read → 4-|", "read() → 4", &["read() → 4"]);
        check_core("counter", "A: |-read → 4-|", "read() → 4", &["read() → 4"]);
    }

    #[test]
    fn a_sum_that_was_passed_takes_the_increments_that_passed_it() {
        check_core(
            "counter",
            "
            A: |-inc-|  |-inc-|  |-inc-|  |-read → 1-|
            B:                                |-inc-|
            ",
            "read() → 1",
            &["inc()", "inc()", "read() → 1"],
        );
    }

    #[test]
    fn sums_do_not_go_back() {
        check_core(
            "counter",
            "
            A: |----------------------inc------------------|
            B: |------------------------------inc------------|
            C:      |-read → 2-|   |-read → 1-|
            ",
            "read() → 1",
            &["read() → 2", "read() → 1"],
        );
    }

    /// The long increment had to take effect early, so the short one is added to it.
    #[test]
    fn a_pending_increment_observed_by_a_read_counts() {
        check_core(
            "counter",
            "
            A: |----------------------inc---------------------------|
            B:   |-read → 1-|  |-inc-|  |-read → 1-|
            ",
            "read() → 1",
            &["read() → 1", "inc()", "read() → 1"],
        );
    }

    #[test]
    fn pending_increments_take_effect_if_they_are_needed() {
        check_word("counter", "A: |-inc-| |-read → 2-|\nB: |-inc", "holds");
        check_word("counter", "A: |-inc-| |-read → 1-|\nB: |-inc", "holds");
        check_word("counter", "A: |-inc-| |-read → 2-| |-read → 1-|\nB: |-inc", "violated");
        check_word("counter", "A: |-add 0-| |-read → 0-|\nB: |-add 0", "holds");
    }

    #[test]
    fn decrements_and_other_amounts_are_steps_as_well() {
        check_word("counter", "A: |-dec-| |-read → -1-| |-dec-| |-read → -2-|", "holds");
        check_word("counter", "A: |-dec-| |-read → 1-|", "violated");
        check_word("counter", "A: |-add 5-| |-add 0-| |-read → 5-| |-add 5-| |-read → 10-|", "holds");
        check_word("counter", "A: |-dec-| |-read → -9223372036854775808-|", "violated");
    }

    #[test]
    fn amounts_that_differ_are_refused_and_searched() {
        let drawing = "A: |-inc-| |-dec-| |-add 5-| |-read → 5-|";
        check_word("counter", drawing, "unknown");
        let case = drawn("counter", drawing);
        assert_eq!(judge(case.problems(), &JudgeOptions::default()).verdict.word(), "holds");
        // This sum wraps around.
        let twice =
            "A: |-add 4611686018427387904-| |-add 4611686018427387904-| |-read → -9223372036854775808-|";
        check_word("counter", twice, "unknown");
    }

    #[test]
    fn all_small_histories_agree_with_the_oracle() {
        let up = ["inc", "inc → ?", "read → 0", "read → 1", "read → 2"];
        let down = ["dec", "add 0", "read → 0", "read → -1", "read → 1"];
        for (n, actions) in [(4, &up), (5, &up), (4, &down)] {
            let mut monitor_verdicts = MonitorVerdicts::default();
            every_history("counter", n, actions, |case| {
                let problem = case.problems().remove(0);
                check_verdict(problem, search("oracle"), &mut monitor_verdicts, &n);
            });
            assert_eq!(monitor_verdicts.refused, 0);
            assert!(
                share(500) < monitor_verdicts.holds && share(1_000) < monitor_verdicts.violated,
                "{monitor_verdicts:?}"
            );
        }
    }

    fn random_history(seed: u64, operations: usize) -> Box<dyn ErasedHistory> {
        let mut random = Random::new(seed);
        let change = ["inc", "dec"][random.below(2)];
        let plan = GeneratorConfig {
            operations: 2 + random.below(operations),
            processes: 2 + random.below(6),
            overlap: [0.3, 0.6, 1.0][random.below(3)],
            mix: vec![(change.to_owned(), 1), ("read".to_owned(), 1 + random.below(3) as u32)],
            pending: [0.0, 0.1, 0.3][random.below(3)],
            seed: random.next(),
            ..GeneratorConfig::default()
        };
        let spec = find("counter").unwrap();
        let mut recording = spec.generate(&plan);
        for _ in 0..random.below(3) {
            recording = with_another_sum(recording, &mut random);
        }
        spec.load(recording).unwrap()
    }

    /// Gives one read the sum of another.
    fn with_another_sum(recording: Recording, random: &mut Random) -> Recording {
        let Recording { history, values, names, missing, .. } = recording;
        let sums: Vec<(usize, Value)> = history
            .operations()
            .filter_map(|it| Some((it.id.index(), it.ret.copied().filter(|it| !it.is_absent())?)))
            .collect();
        if sums.is_empty() {
            return Recording { missing, ..Recording::new(history, values, names) };
        }
        let (changed, _) = sums[random.below(sums.len())];
        let (_, sum) = sums[random.below(sums.len())];
        let history = history.try_map(|id, call, ret| {
            Ok::<_, ()>((call, ret.map(|ret| if id.index() == changed { sum } else { ret })))
        });
        Recording { missing, ..Recording::new(history.unwrap(), values, names) }
    }

    /// Operations that are not among these come too late, or would not help if they took effect at
    /// any time.
    fn check_fairness(problem: &Problem<'_>, operations: &[OperationId]) {
        let is_kept = |at: usize| operations.contains(&problem.operations()[at]);
        let spans = problem.spans();
        let kept: Vec<usize> = (0..problem.len()).filter(|&at| is_kept(at)).collect();
        let end = kept.iter().map(|&at| spans[at].end()).max().unwrap();
        let is_violated =
            |it: &Problem<'_>| check(search("jit-graph"), it, &Budget::unlimited()).word() == "violated";
        let helped = problem.weaken(|at| match (is_kept(at), spans[at].call() < end) {
            (true, _) => Retain::All,
            (false, true) => Retain::Unconstrained,
            (false, false) => Retain::Drop,
        });
        // Or one of them determines the sum of all that came before it.
        let determines = |&start: &usize| {
            let state = problem.determines_state(start)?;
            let opened = problem.weaken(|at| match (is_kept(at), spans[at].call() < end) {
                _ if at == start => Retain::All,
                _ if spans[at].end() < spans[start].call() => Retain::Drop,
                (true, _) if spans[start].end() < spans[at].call() => Retain::All,
                (_, true) => Retain::Unconstrained,
                (_, false) => Retain::Drop,
            });
            Some(opened.starting_at(&state))
        };
        let is_determined = kept.iter().filter_map(determines).any(|it| is_violated(&it));
        assert!(is_violated(&helped) || is_determined, "{operations:?} of {problem:#?}");
    }

    /// Neither the evidence nor the minimized counterexample lacks a needed operation.
    #[test]
    fn counterexamples_need_no_other_operation() {
        let mut seen = 0;
        for seed in 0..share(4_000) {
            let case = random_history(seed, 10);
            let problem = case.problems().remove(0);
            let decided = check(&ByMonitor, &problem, &Budget::unlimited());
            let Verdict::Violated(evidence) = decided else { continue };
            check_fairness(&problem, &evidence.counterexample);
            let judged = judge(vec![problem.clone()], &JudgeOptions::default()).verdict;
            let Verdict::Violated(core) = judged else { panic!("{judged:?}") };
            check_fairness(&problem, &core.counterexample);
            assert!(core.is_minimal, "seed {seed}");
            seen += 1;
        }
        assert!(share(400) < seen, "{seen}");
    }

    #[test]
    fn random_histories_agree_with_a_search() {
        let mut monitor_verdicts = MonitorVerdicts::default();
        for seed in 0..share(20_000) {
            let case = random_history(seed, 14);
            check_verdict(case.problems().remove(0), search("jit-graph"), &mut monitor_verdicts, &seed);
        }
        for seed in 0..share(500) {
            let case = random_history(seed, 200);
            check_verdict(case.problems().remove(0), search("jit-graph"), &mut monitor_verdicts, &seed);
        }
        assert_eq!(monitor_verdicts.refused, 0);
        assert!(
            share(4_000) < monitor_verdicts.holds && share(4_000) < monitor_verdicts.violated,
            "{monitor_verdicts:?}"
        );
    }
}

mod multisets {
    use super::*;

    #[test]
    fn one_copy_at_a_time_makes_a_set() {
        check_word(
            "multiset",
            "
            A: |-add 1-|  |-remove 1 → true--------------|  |-remove 1 → true-|
            B:                |-contains 1 → false-|
            C:                                   |-add 1-|
            ",
            "unknown",
        );
        check_word(
            "multiset",
            "
            A: |-add 1-|  |-remove 1 → true-|         |-add 1-|  |-remove 1 → true-|
            B:               |-contains 1 → false-|         |-contains 1 → true-|
            ",
            "holds",
        );
        check_core(
            "multiset",
            "A: |-add 1-| |-remove 1 → true-| |-add 1-| |-remove 1 → true-| |-contains 1 → true-|",
            "contains(1) → true",
            // If one of the removals might be left out, an addition would explain the result.
            &["remove(1) → true", "remove(1) → true", "contains(1) → true"],
        );
    }

    #[test]
    fn copies_are_counted() {
        check_word("multiset", "A: |-add 1-| |-add 1-| |-remove 1 → true-| |-contains 1 → true-|", "holds");
        check_word(
            "multiset",
            "A: |-remove 1 → false-| |-add 1-| |-add 1-| |-remove 1 → true-| |-remove 1 → true-| |-contains 1 → false-|",
            "holds",
        );
        check_word(
            "multiset",
            "A: |-add 1-| |-add 1-| |-remove 1 → true-| |-remove 1 → true-| |-remove 1 → true-|",
            "violated",
        );
        check_word(
            "multiset",
            "A: |-add 1-| |-add 1-| |-remove 1 → true-| |-remove 1 → true-| |-contains 1 → true-|",
            "violated",
        );
        check_word(
            "multiset",
            "A: |-add 1-| |-add 1-| |-remove 1 → true-| |-contains 1 → false-|",
            "violated",
        );
    }

    #[test]
    fn none_is_found_after_the_last_removal_and_before_the_next_add() {
        check_word(
            "multiset",
            "
            A: |-add 1-| |-add 1-|  |-remove 1 → true-| |-remove 1 → true---|
            B:                                            |-contains 1 → false-|
            ",
            "holds",
        );
        check_word(
            "multiset",
            "
            A: |--add 1-----------|  |-add 1-|
            B: |-remove 1 → false-|
            ",
            "holds",
        );
    }

    /// To change the number of copies only when an operation has to return is wrong here.
    #[test]
    fn a_copy_may_have_to_be_removed_before_any_return() {
        let drawing = "
            A: |-add 1-|                              |-add 1-|
            B:            |--------remove 1 → true--------------------|
            C:               |------contains 1 → false--------------|
            ";
        check_word("multiset", drawing, "unknown");
        let case = drawn("multiset", drawing);
        assert_eq!(judge(case.problems(), &JudgeOptions::default()).verdict.word(), "holds");
    }

    #[test]
    fn pending_operations_may_have_taken_effect() {
        check_word("multiset", "A: |-add 1-| |-add 1-| |-contains 1 → false-|\nB: |-remove 1", "violated");
        check_word("multiset", "A: |-add 1-| |-remove 1 → true-| |-remove 1 → true-|\nB: |-add 1", "holds");
        let drawing = "A: |-add 1-| |-add 1-| |-contains 1 → false-|\nB: |-remove 1\nC: |-remove 1";
        check_word("multiset", drawing, "unknown");
    }

    #[test]
    fn all_small_histories_agree_with_the_oracle() {
        let all = [
            "add 1",
            "add 1 → ?",
            "remove 1 → true",
            "remove 1 → ?",
            "contains 1 → true",
            "contains 1 → false",
        ];
        let complete = ["add 1", "remove 1 → true", "contains 1 → true", "contains 1 → false"];
        for (n, actions) in [(3, &all[..]), (4, &all[..]), (5, &complete[..])] {
            let mut monitor_verdicts = MonitorVerdicts::default();
            every_history("multiset", n, actions, |case| {
                check_verdict(case.problems().remove(0), search("oracle"), &mut monitor_verdicts, &n);
            });
            assert!(
                share(300) < monitor_verdicts.holds && share(300) < monitor_verdicts.violated,
                "{monitor_verdicts:?}"
            );
            assert!(
                monitor_verdicts.refused * 6 < monitor_verdicts.holds + monitor_verdicts.violated,
                "{monitor_verdicts:?}"
            );
        }
    }

    #[test]
    fn random_histories_agree_with_a_search() {
        let mut monitor_verdicts = MonitorVerdicts::default();
        for seed in 0..share(20_000) {
            let case = random_history("multiset", seed);
            check_verdict(case.problems().remove(0), search("jit-graph"), &mut monitor_verdicts, &seed);
        }
        assert!(
            share(5_000) < monitor_verdicts.holds && share(3_000) < monitor_verdicts.violated,
            "{monitor_verdicts:?}"
        );
        assert!(
            monitor_verdicts.refused * 20 < monitor_verdicts.holds + monitor_verdicts.violated,
            "{monitor_verdicts:?}"
        );
    }
}
