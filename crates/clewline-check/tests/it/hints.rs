//! Order hints: they change how long a search takes, and never its verdict.

mod overlapping;

use std::sync::Arc;

use clewline_check::{check, search::SEARCHES};
use clewline_core::{Budget, GeneratorConfig, OperationId, Problem, Random, ValueDomain, Verdict};
use clewline_specs::{CATALOG, find};
use clewline_testing::pick_of_three;

use overlapping::overlapping;

const GUIDED: [&str; 4] = ["jit-graph", "jit-tree", "wg-graph", "wg-tree"];

/// The place of each operation in `order`, by id; none for an operation that is not in it.
fn places(order: &[OperationId], len: usize) -> Arc<[Option<i64>]> {
    let mut places = vec![None; len];
    order.iter().enumerate().for_each(|(place, id)| places[id.index()] = Some(place as i64));
    places.into()
}

#[test]
fn right_wrong_and_random_hints_have_one_verdict() {
    let (mut held, mut violated) = (0, 0);
    let seeds = pick_of_three(9, 41, 400_u64);
    for entry in &CATALOG {
        for seed in 0..seeds {
            let specification = find(entry.name).unwrap();
            let mut recording = specification.generate(&GeneratorConfig {
                operations: 12,
                processes: 4,
                overlap: 0.8,
                values: ValueDomain::Below(3),
                keys: 1,
                pending: if seed % 3 == 0 { 0.1 } else { 0.0 },
                seed,
                ..GeneratorConfig::default()
            });
            let history = recording.history.clone();
            let other = history.operations().find_map(|it| it.ret.copied());
            let chosen = seed as usize % history.len();
            let changed = history.try_map(|id, call, ret| {
                let is_it = seed % 2 == 1 && id.index() == chosen;
                Ok::<_, ()>((call, ret.map(|ret| if is_it { other.unwrap_or(ret) } else { ret })))
            });
            recording.history = changed.unwrap();
            let Ok(case) = specification.load(recording) else { continue };
            for problem in case.problems() {
                match compare(&problem, case.spans().len(), seed) {
                    true => held += 1,
                    false => violated += 1,
                }
            }
        }
    }
    assert!(seeds < held && seeds < violated, "{held} hold, {violated} are violated");
}

/// Whether `problem` holds, with any hints.
fn compare(problem: &Problem<'_>, len: usize, seed: u64) -> bool {
    let budget = Budget::unlimited();
    let plain = check(*SEARCHES.find("jit-graph").unwrap(), problem, &budget);
    let order = match &plain {
        Verdict::Holds(witness) => witness.order.clone(),
        Verdict::Violated(_) | Verdict::Unknown(_) => problem.operations().to_vec(),
    };
    let mut random = Random::new(seed);
    let reversed: Vec<OperationId> = order.iter().rev().copied().collect();
    let drawn = (0..len).map(|_| (random.below(4) != 0).then(|| random.below(5) as i64 - 2)).collect();
    for hints in [places(&order, len), places(&reversed, len), drawn, [].into()] {
        let hinted = problem.clone().with_order_hints(&hints);
        for name in GUIDED {
            let verdict = check(*SEARCHES.find(name).unwrap(), &hinted, &budget);
            assert_eq!(verdict.word(), plain.word(), "{name} {hints:?} {problem:#?}");
            if let Verdict::Holds(witness) = verdict {
                witness.verify(problem).unwrap();
            }
        }
    }
    matches!(plain, Verdict::Holds(_))
}

/// If hints are right, the first path is the witness.
#[test]
fn right_hints_need_no_search() {
    let mut given_up = 0;
    for seed in 0..5 {
        let count = 300;
        let (case, _) = overlapping(count, 3 + seed as usize, seed);
        let problem = case.problems().remove(0);
        let jit_graph = *SEARCHES.find("jit-graph").unwrap();
        let budget = Budget::unlimited();
        assert_eq!(check(jit_graph, &problem, &budget).word(), "holds");
        let hinted = budget.visited();
        assert!(hinted <= count as u64 + 1, "{hinted} configurations of {count} operations");
        let plain = problem.with_order_hints(&[].into());
        let budget = Budget::unlimited().with_configurations(20 * count as u64);
        given_up += usize::from(check(jit_graph, &plain, &budget).word() == "unknown");
    }
    assert!(2 < given_up, "without hints, {given_up} of 5 take more than 20 times as long");
}
