//! The possible results of litmus tests and of random small programs, from definitions that share
//! nothing with the engine ([`litmus`](clewline_testing::litmus)).

use std::collections::BTreeSet;

use clewline_core::Random;
use clewline_explore::schedulers::{causality::DependenceRelation, dpor::Dpor, graph::Graph};
use clewline_testing::{
    litmus::{Candidates, LITMUS, LOCATIONS, Op, Outcome, Program as Litmus},
    pick, pick_of_three,
};

use super::*;

pub(super) type LitmusProgram = ThreadProgram<Words, usize, Vec<usize>>;

pub(super) fn litmus_program(litmus: &Litmus, memory: Memory) -> LitmusProgram {
    let ops = litmus.0.clone();
    let call = move |words: &Words, at: &usize| {
        let Some(ops) = ops.get(*at) else {
            return words[..LOCATIONS].iter().map(|it| it.load(Relaxed)).collect();
        };
        let mut results = Vec::new();
        for op in ops {
            match *op {
                Op::Load(at, order) => results.push(words[at].load(order)),
                Op::Store(at, value, order) => words[at].store(value, order),
                Op::Swap(at, value, order) => results.push(words[at].swap(value, order)),
                Op::Fence(order) => fence(order),
            }
        }
        results
    };
    let columns = (0..litmus.0.len()).map(|it| vec![it]).collect();
    let calls = Calls { columns, last: vec![litmus.0.len()], initial: Vec::new() };
    ThreadProgram::new(calls, Words::default, call, Limits::default()).with_memory(memory)
}

/// The outcome of its last execution.
pub(super) fn outcome_of(program: &LitmusProgram) -> Outcome {
    let results = program.outcome().operations.into_iter();
    let mut read: Vec<Vec<usize>> = results.filter_map(|it| it.ret).map(|it| it.1).collect();
    let held = read.pop().expect("the last call was made");
    Outcome { read, held }
}

/// The results that the engine finds, and the number of executions.
fn explored(memory: Memory, scheduler: &mut dyn Scheduler, litmus: &Litmus) -> (BTreeSet<Outcome>, u64) {
    let mut program = litmus_program(litmus, memory);
    let mut seen = BTreeSet::new();
    let (coverage, executions) = explore(&mut program, scheduler, u64::MAX, |program, _, _| {
        seen.insert(outcome_of(program));
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    (seen, executions)
}

pub(super) fn under(model: MemoryModel) -> Memory {
    Memory { model, ..Memory::default() }
}

fn exhaustive(model: MemoryModel, litmus: &Litmus) -> BTreeSet<Outcome> {
    explored(under(model), &mut Exhaustive::default(), litmus).0
}

pub(super) fn reduced(memory: Memory, litmus: &Litmus) -> (BTreeSet<Outcome>, u64) {
    explored(memory, &mut Dpor::new(DependenceRelation::Histories), litmus)
}

#[test]
fn litmus_tests_return_exactly_what_the_axioms_allow() {
    assert!(60 < LITMUS.len());
    let mut wrong = Vec::new();
    for it in LITMUS {
        let litmus = Litmus::parse(it.program);
        assert_eq!(litmus.to_string(), it.program);
        let allowed = [litmus.sequential(), litmus.buffered(), litmus.relaxed(Candidates::All)];
        let is_allowed = allowed.each_ref().map(|all| all.iter().any(|one| one.to_string() == it.outcome));
        if is_allowed != it.allowed {
            wrong.push(format!("{}: {} has {is_allowed:?}", it.name, it.program));
        }
        for (model, allowed) in MODELS.into_iter().zip(&allowed) {
            if pick(3, 4) < litmus.0.len() {
                continue;
            }
            assert_eq!(&reduced(under(model), &litmus).0, allowed, "{}: {} {model:?}", it.name, it.program);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn random_programs_return_exactly_what_each_model_allows() {
    let (mut weaker, mut weakest, mut beyond) = (0, 0, 0);
    let (mut executions, mut left, mut classes, mut graphs) = (0, 0, 0, 0);
    let seeds = pick_of_three(120, 2_000, 100_000);
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        let operations = 4 + random.below(3);
        let litmus = Litmus::random(operations, &mut |n| random.below(n));
        let strong = litmus.sequential();
        let buffered = litmus.buffered();
        let relaxed = litmus.relaxed(Candidates::Executable);
        assert_eq!(exhaustive(SequentiallyConsistent, &litmus), strong, "seed {seed}: {litmus}");
        assert_eq!(exhaustive(Tso, &litmus), buffered, "seed {seed}: {litmus}");
        let (all, n) = explored(under(ReleaseAcquire), &mut Exhaustive::default(), &litmus);
        assert_eq!(all, relaxed, "seed {seed}: {litmus}");
        assert!(strong.is_subset(&buffered) && buffered.is_subset(&relaxed), "seed {seed}: {litmus}");
        // The reductions lose nothing.
        let (found, few) = reduced(under(Tso), &litmus);
        assert_eq!(found, buffered, "reduced, seed {seed}: {litmus}");
        let (found, fewest) = explored(under(Tso), &mut Graph::default(), &litmus);
        assert_eq!(found, buffered, "graph, seed {seed}: {litmus}");
        assert!(litmus.buffered_graphs() <= few.min(fewest), "seed {seed}: {litmus}");
        (classes, graphs) = (classes + fewest, graphs + litmus.buffered_graphs());
        let (found, fewer) = reduced(under(ReleaseAcquire), &litmus);
        assert_eq!(found, relaxed, "reduced, seed {seed}: {litmus}");
        assert!(fewer <= n, "seed {seed}: {litmus}");
        (executions, left) = (executions + n, left + fewer);
        for most in 0..pick(2, 3) {
            let memory = Memory { stale_max: Some(most), ..under(ReleaseAcquire) };
            let within = explored(memory, &mut Exhaustive::default(), &litmus).0;
            assert_eq!(reduced(memory, &litmus).0, within, "at most {most}, seed {seed}: {litmus}");
            assert!(strong.is_subset(&within) && within.is_subset(&relaxed), "seed {seed}: {litmus}");
            assert!(most != 0 || within == strong, "seed {seed}: {litmus}");
        }
        // Some executions that the axioms allow cannot be executed in any order.
        let axioms = litmus.relaxed(Candidates::All);
        assert!(relaxed.is_subset(&axioms), "seed {seed}: {litmus}");
        beyond += usize::from(relaxed != axioms);
        weaker += usize::from(strong.len() < buffered.len());
        weakest += usize::from(buffered.len() < relaxed.len());
    }
    assert!(
        pick(true, 5 < weaker) && pick(0, 20) < weakest,
        "too few programs distinguish the models: {weaker}, {weakest}"
    );
    eprintln!("{graphs} graphs under tso, {classes} executions");
    assert!(classes * 10 < graphs * 15, "{graphs} graphs under tso, {classes} executions");
    assert!(beyond * 50 < seeds as usize, "{beyond} of {seeds} programs have more outcomes by the axioms");
    assert!(left * 3 < executions * 2, "the reduction leaves {left} of {executions} executions");
}
