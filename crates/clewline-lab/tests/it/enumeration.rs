//! The enumeration compared with the bare definition, and its counts with the paper's.

use std::collections::HashSet;

use clewline_check::relaxed::Relaxation;
use clewline_core::{Budget, ErasedHistory, Problem, Random, Reason};
use clewline_lab::enumeration::{
    Counts, Duplicates, Enumeration, EnumerationPlan, PermutationChoice, QuasiPermutations,
    SequentializationChoice, SerialCalls, SerialHistories, StopAt,
};
use clewline_testing::pick;

use crate::{
    factors::relaxation,
    histories::{drawn, every_history, random_times},
};

/// What the paper's tables count.
const PAPER: EnumerationPlan = EnumerationPlan {
    sequentialization_choice: SequentializationChoice::Pairwise,
    permutation_choice: PermutationChoice::ClassByClass,
    until: StopAt::Exhausted,
    histories: Duplicates::Repeat,
    orders: Duplicates::Repeat,
};

/// Calls `each` with every order of `items`.
fn permutations(items: &[usize], each: &mut dyn FnMut(&[usize])) {
    fn extend(left: &mut Vec<usize>, order: &mut Vec<usize>, each: &mut dyn FnMut(&[usize])) {
        if left.is_empty() {
            each(order);
        }
        for index in 0..left.len() {
            order.push(left.remove(index));
            extend(left, order, each);
            left.insert(index, order.pop().unwrap());
        }
    }
    extend(&mut items.to_vec(), &mut Vec::new(), each);
}

#[test]
fn quasi_permutations_are_those_within_the_factor() {
    for n in 0..=7 {
        for k in 0..=4 {
            let ours: Vec<Vec<usize>> = QuasiPermutations::new(n, k).collect();
            let mut theirs: HashSet<Vec<usize>> = HashSet::new();
            permutations(&(0..n).collect::<Vec<_>>(), &mut |order| {
                if order.iter().enumerate().all(|(place, &it)| place.abs_diff(it) <= k as usize) {
                    theirs.insert(order.to_vec());
                }
            });
            assert!(ours[0].is_sorted(), "the first run comes first");
            assert_eq!(ours.len(), theirs.len(), "each once: {n} by {k}");
            assert_eq!(ours.into_iter().collect::<HashSet<_>>(), theirs, "{n} by {k}");
        }
    }
}

/// `T(m, k)`, from which every entry of the paper's tables follows.
#[test]
fn there_are_as_many_permutations_as_in_the_paper() {
    let counts = |k: u32| (1..=8).map(|m| QuasiPermutations::new(m, k).count()).collect::<Vec<_>>();
    assert_eq!(counts(2), [1, 2, 6, 14, 31, 73, 172, 400]);
    assert_eq!(counts(1), [1, 2, 3, 5, 8, 13, 21, 34]);
    assert_eq!(QuasiPermutations::new(4, 3).count(), 24);
}

/// `pairs` calls of `enq` and as many of `deq`, one after the other; if `overlap`, the last two
/// overlap.
fn filled_and_drained(pairs: usize, overlap: bool) -> Box<dyn ErasedHistory> {
    let adds = (1..=pairs).map(|it| format!("|enq {it}|"));
    let takes = (1..=pairs).map(|it| format!("|deq → {it}|"));
    let all: Vec<String> = adds.chain(takes).collect();
    let mut lines = [String::new(), String::new()];
    for (number, text) in all.iter().enumerate() {
        let line = usize::from(overlap && number + 1 == all.len());
        let width = lines[0].chars().count() - if line == 1 { 2 } else { 0 };
        let gap = width - lines[line].chars().count();
        lines[line] += &" ".repeat(gap);
        lines[line] += text;
    }
    drawn("queue", &format!("A: {}\nB: {}", lines[0], lines[1]))
}

fn count(plan: EnumerationPlan, cases: &[&dyn ErasedHistory], text: &str) -> Counts {
    let mut enumeration = Enumeration::new(plan);
    for case in cases {
        for problem in case.problems() {
            let relaxation = relaxation(&problem, text);
            assert_eq!(enumeration.judge(&problem, &relaxation, &Budget::unlimited()), Ok(true));
        }
    }
    enumeration.counts()
}

#[test]
fn each_sequentialization_has_twice_as_many_permutations() {
    for (pairs, k, expected) in [(4, 2, 28), (4, 3, 48), (6, 2, 146), (5, 2, 62), (3, 2, 12), (7, 2, 344)] {
        let case = filled_and_drained(pairs, false);
        let counts = count(PAPER, &[&*case], &format!("enq={k},deq={k}"));
        assert_eq!((counts.sequentializations, counts.permutations), (1, expected), "{pairs}, {k}");
    }
    // Table V: one history of which nothing overlaps, and one of which two operations do.
    let cases = [filled_and_drained(7, false), filled_and_drained(7, true)];
    let counts = count(PAPER, &[&*cases[0], &*cases[1]], "enq=2,deq=2");
    assert_eq!((counts.histories, counts.sequentializations, counts.permutations), (2, 3, 1_032));
}

#[test]
fn what_was_met_before_can_be_skipped() {
    let (apart, overlapping) = (filled_and_drained(3, false), filled_and_drained(3, true));
    let cases = [&*apart, &*overlapping, &*overlapping];
    let text = "enq=2,deq=2";
    let all = Counts { histories: 3, sequentializations: 5, permutations: 60, ..Counts::default() };
    assert_eq!(count(PAPER, &cases, text), all);
    let histories = count(EnumerationPlan { histories: Duplicates::Skip, ..PAPER }, &cases, text);
    let expected = Counts {
        histories: 2,
        histories_skipped: 1,
        sequentializations: 3,
        permutations: 36,
        ..Counts::default()
    };
    assert_eq!(histories, expected);
    // The second history's first order is that of the first one; the other one exchanges the last
    // two: of its six orders of `deq` all are known, of `enq` five are not, since the first is the
    // sequentialization itself.
    let orders = count(EnumerationPlan { orders: Duplicates::Skip, ..PAPER }, &cases, text);
    let expected = Counts {
        histories: 3,
        sequentializations: 2,
        sequentializations_skipped: 3,
        permutations: 11 + 5,
        permutations_skipped: 1 + 7,
        ..Counts::default()
    };
    assert_eq!(orders, expected);
}

#[test]
fn serial_histories_of_a_golden_model_are_what_is_legal() {
    let text = |deq: [i32; 2]| {
        let enqs = [1, 2].map(|it| format!("enq({it})"));
        let deqs = deq.map(|it| format!("deq() → {it}"));
        enqs.into_iter().chain(deqs).collect::<Vec<_>>()
    };
    for (duplicates, kept) in [(Duplicates::Skip, 1), (Duplicates::Repeat, 3)] {
        let mut golden = SerialHistories::new(duplicates);
        assert!(golden.is_empty());
        (0..3).for_each(|_| golden.add(text([1, 2])));
        assert_eq!(golden.len(), kept);
        let case = drawn("queue", "A: |enq 1| |enq 2| |deq → 2| |deq → 1|");
        let problem = &case.problems()[0];
        let names: Vec<String> = problem.operations().iter().map(|&id| problem.label(id)).collect();
        assert_eq!(names, text([2, 1]), "a golden model's operations are written as a report does");
        let mut enumeration = Enumeration::with_golden_model(EnumerationPlan::ORACLE, golden);
        for (factor, holds) in [(0, false), (1, true)] {
            let relaxation = Relaxation::all(problem, factor);
            assert_eq!(enumeration.judge(problem, &relaxation, &Budget::unlimited()), Ok(holds));
        }
    }
}

#[test]
fn orders_that_the_program_cannot_make_are_not_legal() {
    let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let columns = [texts(&["push(2)", "pop"]), texts(&["pop"])];
    let serial = SerialCalls::of(&texts(&["push(1)"]), &columns, &[]);
    // Two of the three interleavings have the same calls in the same order.
    assert_eq!((serial.len(), serial.is_empty()), (2, false));
    let case = drawn("stack", "A: |push 1| |push 2| |pop → 1| |pop → 2|");
    let problem = &case.problems()[0];
    for (factor, holds) in [(0, false), (1, true)] {
        let factors = relaxation(problem, &format!("push={factor},pop={factor}"));
        let mut among = Enumeration::among(EnumerationPlan::PAPER, serial.clone());
        assert_eq!(among.judge(problem, &factors, &Budget::unlimited()), Ok(holds), "{factor}");
    }
    // Nothing ties pushes to pops in the definition: `pop → 1` may come first. No serial history
    // of this program has that, and pops stay behind pushes.
    let factors = relaxation(problem, "push=0,pop=0");
    let mut free = Enumeration::new(EnumerationPlan::ORACLE);
    assert_eq!(free.judge(problem, &factors, &Budget::unlimited()), Ok(true));
}

fn sequentializations(case: &dyn ErasedHistory, sequentialization_choice: SequentializationChoice) -> u64 {
    let mut enumeration = Enumeration::new(EnumerationPlan { sequentialization_choice, ..PAPER });
    for problem in case.problems() {
        let relaxation = Relaxation::all(&problem, 0);
        enumeration.judge(&problem, &relaxation, &Budget::unlimited()).unwrap();
    }
    enumeration.counts().sequentializations
}

#[test]
fn the_papers_sequentializations_are_4_of_6_for_three_calls_at_a_time() {
    let case = drawn("queue", "A: |enq 1 -|\nB:  |enq 2 -|\nC:   |enq 3 -|");
    assert_eq!(sequentializations(&*case, SequentializationChoice::Pairwise), 4);
    assert_eq!(sequentializations(&*case, SequentializationChoice::Complete), 6);
    // So it reports a violation where there is none.
    let case = drawn("queue", "A: |enq 1 -| |deq → 3| |deq → 1| |deq → 2|\nB:  |enq 2 -|\nC:   |enq 3 -|");
    let problem = &case.problems()[0];
    let holds = |sequentialization_choice| {
        let plan = EnumerationPlan { sequentialization_choice, ..EnumerationPlan::ORACLE };
        Enumeration::new(plan).judge(problem, &Relaxation::all(problem, 0), &Budget::unlimited())
    };
    assert_eq!(
        (holds(SequentializationChoice::Pairwise), holds(SequentializationChoice::Complete)),
        (Ok(false), Ok(true))
    );
}

/// Histories with at most two operations open at a time.
#[test]
fn the_papers_sequentializations_are_complete_for_two_calls_at_a_time() {
    let mut compared = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let case = random_times("queue", &["enq 1", "enq 2", "enq 3", "deq → 1", "enq 4"], &mut random);
        let spans = case.spans();
        let at_once =
            |at: usize| spans.iter().filter(|it| it.call() < at as u32 && (at as u32) < it.end()).count();
        if (0..=2 * spans.len()).any(|at| {
            2 < at_once(at)
                + usize::from(spans.iter().any(|it| it.call() == at as u32 || it.end() == at as u32))
        }) {
            continue;
        }
        compared += 1;
        let [ours, all] = [SequentializationChoice::Pairwise, SequentializationChoice::Complete]
            .map(|it| sequentializations(&*case, it));
        assert_eq!(ours, all, "from seed {seed}");
    }
    assert!(20 < compared, "{compared}");
}

/// Every choice of pending operations, every order that real time allows, every order that is
/// legal.
fn by_definition(problem: &Problem<'_>, relaxation: &Relaxation) -> bool {
    let spans = problem.spans();
    let places = |order: &[usize]| -> Vec<Option<i64>> {
        let mut counts = vec![0; relaxation.factors.len()];
        let mut places = vec![None; spans.len()];
        for &at in order {
            if let Some(class) = relaxation.class_of[at] {
                places[at] = Some(counts[class]);
                counts[class] += 1;
            }
        }
        places
    };
    let mut holds = false;
    for choice in 0..1_u32 << spans.len() {
        let chosen: Vec<usize> = (0..spans.len()).filter(|at| choice & 1 << at != 0).collect();
        if (0..spans.len()).any(|at| !spans[at].is_pending() && !chosen.contains(&at)) {
            continue;
        }
        let (mut sequentializations, mut legal) = (Vec::new(), Vec::new());
        permutations(&chosen, &mut |order| {
            let is_wrong = |one: usize, other: usize| spans[order[other]].precedes(spans[order[one]]);
            if (0..order.len()).all(|other| (0..other).all(|one| !is_wrong(one, other))) {
                sequentializations.push(places(order));
            }
            let mut replay = problem.replay();
            if order.iter().all(|&at| replay.advance(at)) {
                legal.push(places(order));
            }
        });
        let is_near = |one: &[Option<i64>], other: &[Option<i64>]| {
            (0..spans.len()).all(|at| match (one[at], other[at], relaxation.class_of[at]) {
                (Some(one), Some(other), Some(class)) => {
                    (one - other).abs() <= i64::from(relaxation.factors[class])
                }
                _ => true,
            })
        };
        holds |= sequentializations.iter().any(|one| legal.iter().any(|other| is_near(one, other)));
    }
    holds
}

#[test]
fn the_enumeration_is_the_definition() {
    let (mut holds, mut violated) = (0, 0);
    let texts = ["all=0", "all=1", "all=2", "enq=0,deq=0", "enq=0,deq=1", "enq=1,deq=0", "deq=0", "enq=0"];
    for n in 0..=4 {
        let mut number = 0;
        every_history("queue", n, &["enq 1", "enq 2", "deq → 1", "deq → 2", "enq 1 → ?"], |case| {
            number += 1;
            if n == 4 && number % pick(1, 7) != 0 {
                return;
            }
            for problem in case.problems() {
                let relaxation = relaxation(&problem, texts[number % texts.len()]);
                let expected = by_definition(&problem, &relaxation);
                for orders in [Duplicates::Repeat, Duplicates::Skip] {
                    let mut enumeration =
                        Enumeration::new(EnumerationPlan { orders, ..EnumerationPlan::ORACLE });
                    let ours = enumeration.judge(&problem, &relaxation, &Budget::unlimited());
                    assert_eq!(ours, Ok(expected), "{relaxation:?}: {problem:#?}");
                }
                *if expected { &mut holds } else { &mut violated } += 1;
            }
        });
    }
    assert!(pick(60, 400) < holds && pick(60, 400) < violated, "{holds}, {violated}");
}

#[test]
fn the_enumeration_stops_at_its_budget() {
    let case = filled_and_drained(4, true);
    let problem = &case.problems()[0];
    let budget = Budget::unlimited().with_configurations(10);
    let mut enumeration = Enumeration::new(PAPER);
    let relaxation = relaxation(problem, "enq=2,deq=2");
    assert_eq!(enumeration.judge(problem, &relaxation, &budget), Err(Reason::Configurations(10)));
    assert_eq!(enumeration.counts().permutations, 10);
}
