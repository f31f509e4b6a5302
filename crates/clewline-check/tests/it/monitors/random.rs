//! Every monitor agrees with a search on random histories of up to sixty operations, and so does
//! `auto`, whichever checker decides.

use clewline_check::{
    Algorithm, ByMonitor, Checker, JudgeOptions, Judgement, check, checkers, judge, search::SEARCHES,
};
use clewline_core::{
    Budget, ErasedHistory, ErasedSpec, Explanation, GeneratorConfig, ObjectKind, OperationId, Problem,
    Random, RawCall, Reason, Recording, Retain, RoleKind, Roles, Value, Verdict, Witness,
};
use clewline_monitor::find;
use clewline_specs::{CATALOG, SpecificationEntry};
use clewline_testing::{pick, pick_of_three};

use super::{VerdictCounts, decided::Decided};
use crate::histories::random_history;

/// How many configurations a search may visit for a history. Unknown verdicts are not compared.
const CONFIGURATIONS: u64 = 30_000;

fn jit_graph() -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == "jit-graph").unwrap()
}

/// The verdict of a search, unless it is unknown.
fn searched(problem: &Problem<'_>) -> Option<Verdict> {
    let verdict = check(jit_graph(), problem, &Budget::unlimited().with_configurations(CONFIGURATIONS));
    (!matches!(verdict, Verdict::Unknown(_))).then_some(verdict)
}

/// A specification, and what of it its monitor decides.
struct Drawn {
    spec: Box<dyn ErasedSpec>,
    decided: Decided,
}

impl Drawn {
    fn of(entry: &SpecificationEntry) -> Drawn {
        let spec = clewline_specs::find(entry.name).unwrap();
        Drawn { decided: Decided::of(entry, &*spec), spec }
    }

    /// Mostly what the monitor decides; of all methods now and then.
    fn plan(&self, operations: usize, random: &mut Random) -> GeneratorConfig {
        let values = self.decided.values(1 + random.below(5) as u32);
        let mix = if random.below(4) == 0 { Vec::new() } else { self.decided.mix(2) };
        GeneratorConfig {
            operations,
            processes: 2 + random.below(5),
            overlap: [0.3, 0.6, 1.0][random.below(3)],
            values,
            mix,
            keys: 1 + random.below(3),
            pending: [0.0, 0.0, 0.05, 0.2][random.below(4)],
            seed: random.next(),
            ..GeneratorConfig::default()
        }
    }

    /// A linearizable history.
    fn undisturbed(&self, operations: usize, random: &mut Random) -> Box<dyn ErasedHistory> {
        self.spec.load(self.spec.generate(&self.plan(operations, random))).unwrap()
    }
}

/// Such a history, or one with some results changed.
fn distinct_history(drawn: &Drawn, seed: u64) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(seed);
    let operations = 2 + random.below(59);
    let mut recording = drawn.spec.generate(&drawn.plan(operations, &mut random));
    for _ in 0..[0, 1, 1, 3][random.below(4)] {
        // Where an element may be added again, or the monitor supports it, one operation may do
        // what another did.
        let case = drawn.spec.load(recording.clone()).unwrap();
        let kind = case.problems().first().and_then(Problem::kind);
        let may_repeat =
            matches!(kind, None | Some(ObjectKind::Set | ObjectKind::Multiset | ObjectKind::Counter));
        let way = random.below(if may_repeat { 7 } else { 5 });
        let disturbed = disturb(recording.clone(), way, &mut random);
        // Not every result fits every call.
        if drawn.spec.load(disturbed.clone()).is_ok() {
            recording = disturbed;
        }
    }
    drawn.spec.load(recording).unwrap()
}

/// Exchanges the arguments or results of two operations of one method, not far apart; or gives one
/// of them the result of the other, or *empty*; in the last two ways one does what the other did,
/// whatever its method, and only then may an element be added twice that was not before.
fn disturb(recording: Recording, way: usize, random: &mut Random) -> Recording {
    const REACH: usize = 10;
    let Recording { history, values, names, missing, .. } = recording;
    let one = random.below(history.len());
    let other = (one + 1 + random.below(REACH)) % history.len();
    let call_and_result = |at: usize| {
        let id = OperationId::from_index(at);
        (*history.call(id), history.ret(id).copied())
    };
    let ((a, result_a), (b, result_b)) = (call_and_result(one), call_and_result(other));
    let history = history.try_map(|id, call: RawCall, ret: Option<Value>| {
        let (is_one, is_other) = (id.index() == one, id.index() == other);
        let has_result = ret.is_some_and(|it| !it.is_absent());
        Ok::<_, ()>(match way {
            5.. if is_one && ret.is_some() && result_b.is_some() => (b, result_b),
            _ if a.method != b.method || !(is_one || is_other) => (call, ret),
            0 => (RawCall { arg: if is_one { b.arg } else { a.arg }, ..call }, ret),
            1 if is_one && has_result => (call, Some(Value::NIL)),
            2 if is_one && has_result => (call, result_b.or(ret)),
            3 | 4 if has_result && result_a.is_some() && result_b.is_some() => {
                (call, if is_one { result_b } else { result_a })
            }
            _ => (call, ret),
        })
    });
    Recording { missing, ..Recording::new(history.unwrap(), values, names) }
}

/// The monitor and the search have the same verdict, and the monitor's evidence is right. False if
/// the search gave up.
fn check_part(part: &Problem<'_>, counts: &mut VerdictCounts, about: &str) -> bool {
    let verdict = check(&ByMonitor, part, &Budget::unlimited());
    match &verdict {
        Verdict::Holds(witness) => {
            counts.holds += 1;
            assert_eq!(witness.verify(part), Ok(()), "{about}: {part:#?}");
            // A witness that verifies needs no other.
            return true;
        }
        Verdict::Violated(violation) => {
            counts.violated += 1;
            let Explanation::Broken { operations, .. } = &violation.explanation else {
                panic!("{about}: a monitor names a rule: {violation:?}");
            };
            assert!(
                operations.iter().all(|it| violation.counterexample.contains(it)),
                "{about}: {violation:?}"
            );
            let is_kept = |at: usize| violation.counterexample.contains(&part.operations()[at]);
            let core = part.weaken(|at| if is_kept(at) { Retain::All } else { Retain::Drop });
            let searched = searched(&core).map_or("violated", |it| it.word());
            assert_eq!(searched, "violated", "{about}: the core {violation:?} of {part:#?}");
        }
        Verdict::Unknown(Reason::Refused(_)) => {
            counts.refused += 1;
            return true;
        }
        Verdict::Unknown(reason) => panic!("{about}: {reason}"),
    }
    let Some(expected) = searched(part) else { return false };
    assert_eq!(verdict.word(), expected.word(), "{about}: {verdict:?} of {part:#?}");
    true
}

#[test]
fn monitors_agree_with_a_search_on_random_histories() {
    let each = pick_of_three(50, 1_000, 300_000);
    for entry in &CATALOG {
        let (drawn, mut counts) = (Drawn::of(entry), VerdictCounts::default());
        let (mut undecided, mut kind) = (0, None);
        for seed in 0..each {
            let case = distinct_history(&drawn, seed);
            kind = kind.or(case.problems().first().and_then(Problem::kind));
            let parts = case.problems().into_iter().flat_map(Problem::into_parts);
            for part in parts.filter(|it| it.kind().and_then(find).is_some()) {
                let is_decided = check_part(&part, &mut counts, &format!("{} seed {seed}", entry.name));
                undecided += u64::from(!is_decided);
            }
        }
        eprintln!("{}: {counts:?}, the search gave up on {undecided}", entry.name);
        if counts.holds + counts.violated + counts.refused == 0 {
            continue;
        }
        // There are monitors for these, but they do not support every operation.
        let refused = match kind {
            Some(ObjectKind::Register { .. } | ObjectKind::Counter) => 0.3,
            Some(ObjectKind::Multiset) => 0.6,
            // A quarter have observers; for those the search may have to find another order.
            Some(
                ObjectKind::QuasiQueue { .. }
                | ObjectKind::QuasiStack { .. }
                | ObjectKind::QuasiPriorityQueue { .. },
            ) => 0.1,
            _ => 0.01,
        };
        counts.expect(pick(0.01, 0.05), pick(2.0, 1.0) * refused, entry.name);
        assert!(
            undecided * pick(2, 20) < counts.violated,
            "{}: the search gave up on {undecided}",
            entry.name
        );
    }
}

/// `auto` and the search have the same verdict on any history; a witness is one of the whole, and
/// the checker that decided is named.
fn check_auto(case: &dyn ErasedHistory, counts: &mut VerdictCounts, about: &str) {
    let options = |algorithm: Algorithm| JudgeOptions {
        algorithm,
        budget: Budget::unlimited().with_configurations(10 * CONFIGURATIONS),
        counterexample_configurations: 2_000,
        ..JudgeOptions::default()
    };
    let expected = judge(case.problems(), &options(Algorithm::Named(vec![jit_graph()]))).verdict;
    let Judgement { verdict, algorithm, .. } = judge(case.problems(), &options(Algorithm::Auto));
    check_named(case, &algorithm, about);
    match (&verdict, &expected) {
        (Verdict::Unknown(_), _) => {
            counts.refused += 1;
            return;
        }
        (Verdict::Violated(violation), _) => {
            counts.violated += 1;
            assert!(!violation.counterexample.is_empty(), "{about}");
        }
        (Verdict::Holds(witness), _) => {
            counts.holds += 1;
            for problem in case.problems() {
                let own = witness.order.iter().copied().filter(|&it| problem.position(it).is_some());
                assert_eq!(
                    Witness { order: own.collect() }.verify(&problem),
                    Ok(()),
                    "{about}: {problem:#?}"
                );
            }
        }
    }
    if !matches!(expected, Verdict::Unknown(_)) {
        assert_eq!(verdict.word(), expected.word(), "{about}: {:#?}", case.problems());
    }
}

/// `jit-graph`, `queue monitor`, or `queue monitor, then jit-graph on 12 operations`.
fn check_named(case: &dyn ErasedHistory, algorithm: &str, about: &str) {
    let problems = case.problems();
    let Some(monitor) = problems.iter().find_map(|it| it.kind().and_then(find)) else {
        let is_checker = checkers().any(|it| it.name() == algorithm);
        assert!(is_checker || algorithm == "auto", "{about}: {algorithm}");
        return;
    };
    let Some(rest) = algorithm.strip_prefix(monitor.name()) else { panic!("{about}: {algorithm}") };
    if rest.is_empty() {
        return;
    }
    let Some(searches) = rest.strip_prefix(", then ") else { panic!("{about}: {algorithm}") };
    let mut searched = 0;
    for search in searches.split(" and ") {
        let (name, operations) = search.split_once(" on ").unwrap();
        assert!(checkers().any(|it| it.name() == name), "{about}: {algorithm}");
        let (count, noun) = operations.split_once(' ').unwrap();
        let count: usize = count.parse().unwrap();
        assert_eq!(noun, if count == 1 { "operation" } else { "operations" }, "{about}: {algorithm}");
        assert!(0 < count, "{about}: {algorithm}");
        searched += count;
    }
    let all: usize = problems.iter().map(Problem::len).sum();
    assert!(searched <= all, "{about}: {algorithm} of {all}");
}

#[test]
fn auto_agrees_with_a_search_on_random_histories() {
    let each = pick_of_three(40, 100, 100_000);
    for entry in &CATALOG {
        let (drawn, mut counts) = (Drawn::of(entry), VerdictCounts::default());
        for seed in 0..each {
            // In `./test`, all only of an object whose histories are seldom violated.
            if pick(4, each) <= seed && 0 < counts.holds.min(counts.violated) {
                break;
            }
            let about = format!("{} seed {seed}", entry.name);
            check_auto(&*random_history(entry.name, seed), &mut counts, &about);
            check_auto(&*distinct_history(&drawn, seed), &mut counts, &about);
        }
        eprintln!("{}: auto {counts:?}", entry.name);
        counts.expect(pick(0.01, 0.03), 0.02, entry.name);
    }
}

/// Verdicts of a monitor on histories too long for a search: those that hold by construction do,
/// and they still do without some of their elements.
#[test]
fn long_histories_hold_with_or_without_some_of_their_elements() {
    let (each, most) = pick_of_three((2, 1_000), (10, 2_000), (100, 20_000));
    for entry in &CATALOG {
        let drawn = Drawn::of(entry);
        for seed in 0..each {
            let mut random = Random::new(seed);
            let operations = 100 + random.below(most);
            let case = drawn.undisturbed(operations, &mut random);
            let parts = case.problems().into_iter().flat_map(Problem::into_parts);
            for part in parts.filter(|it| it.kind().and_then(find).is_some()) {
                let about = format!("{} seed {seed}", entry.name);
                if !expect_holds(&part, &about) || !elements_are_independent(&part) {
                    continue;
                }
                let Roles { kinds: acts, elements, names, .. } = part.roles().unwrap();
                let share = [0.02, 0.5][random.below(2)];
                let is_dropped: Vec<bool> = names.iter().map(|_| random.chance(share)).collect();
                let keep = |at: usize| match acts[at] {
                    RoleKind::RemoveUnknown | RoleKind::Empty | RoleKind::NoEffect => Retain::All,
                    _ if is_dropped[elements[at] as usize] => Retain::Drop,
                    _ => Retain::All,
                };
                expect_holds(&part.weaken(keep), &about);
            }
        }
    }
}

/// Whether the monitor decides; then it has a witness.
fn expect_holds(part: &Problem<'_>, about: &str) -> bool {
    match check(&ByMonitor, part, &Budget::unlimited()) {
        Verdict::Holds(witness) => {
            assert_eq!(witness.verify(part), Ok(()), "{about}");
            true
        }
        Verdict::Violated(violation) => panic!("{about}: {violation:?}"),
        Verdict::Unknown(_) => false,
    }
}

fn elements_are_independent(part: &Problem<'_>) -> bool {
    part.kind().is_some_and(|it| it.is_container() || matches!(it, ObjectKind::Set | ObjectKind::Multiset))
}
