//! Properties that checkers rely on: `step`, `step_in_place`, `advance`, `returns` and
//! `execute_with` agree, and reads change nothing.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering},
};

use clewline_core::{CallSampler, Codec, Undo};

use crate::support::{
    for_every_specification, is_linearizable, perturb, random_ops, reachable_states, small_sampler,
};

/// Every state after `call` returned `ret` (or any result).
fn after<S: Codec>(
    specification: &S,
    state: &S::State,
    call: &S::Call,
    ret: Option<&S::Return>,
) -> HashSet<S::State> {
    let mut next = Vec::new();
    specification.step(state, call, ret, &mut next);
    next.into_iter().collect()
}

/// Calls `visit` with thousands of reachable states and calls.
fn for_states_and_calls<S: Codec>(
    specification: &S,
    sample: &dyn Fn(&mut CallSampler) -> S::Call,
    mut visit: impl FnMut(&S::State, &S::Call),
) {
    for seed in 0..150 {
        let mut sampler = small_sampler(seed);
        for state in reachable_states(specification, sample, seed) {
            for _ in 0..3 {
                visit(&state, &sample(&mut sampler));
            }
        }
    }
}

#[test]
fn step_is_pure_and_agrees_with_advance() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for_states_and_calls(specification, sample, |state, call| {
            let mut rets: Vec<Option<S::Return>> =
                specification.returns(state, call).into_iter().map(Some).collect();
            rets.push(None);
            for ret in rets {
                let next = after(specification, state, call, ret.as_ref());
                assert_eq!(after(specification, state, call, ret.as_ref()), next, "{name}");
                let mut states = vec![state.clone()];
                specification.advance(&mut states, call, ret.as_ref());
                let advanced: HashSet<S::State> = states.iter().cloned().collect();
                assert_eq!(states.len(), advanced.len(), "{name}: advance merges equal states");
                let is_same = is_same(specification, sample, &advanced, &next);
                assert!(is_same, "{name}: {call:?} → {ret:?}: {advanced:?} {next:?}");
            }
        });
    }
    for_every_specification!(law);
}

/// A step in place leads to the states of `step`, one after the other, and back. What undoes it is
/// `Nothing` or the state before wherever nothing changes, so that a search can tell.
#[test]
fn a_step_in_place_agrees_with_step_and_is_undone() {
    static IN_PLACE: AtomicUsize = AtomicUsize::new(0);
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        // Results that are right in other states, too.
        let mut candidates: HashSet<S::Return> = HashSet::new();
        for_states_and_calls(specification, sample, |state, call| {
            candidates.extend(specification.returns(state, call).into_iter().take(2));
            let returns = candidates.iter().take(3).map(Some).chain([None]);
            for ret in returns {
                let mut next = Vec::new();
                specification.step(state, call, ret, &mut next);
                let mut present = state.clone();
                for (nth, after) in next.iter().enumerate() {
                    let step = specification.step_in_place(&mut present, call, ret, nth).unwrap();
                    assert_eq!(&present, after, "{name}: {call:?} → {ret:?} in {state:?}");
                    assert_eq!(step.has_more, nth + 1 < next.len(), "{name}: {call:?} → {ret:?}");
                    if let Undo::Change(_) = step.undo {
                        assert_ne!(&present, state, "{name}: {call:?} → {ret:?} changes nothing");
                        IN_PLACE.fetch_add(1, Ordering::Relaxed);
                    }
                    step.undo.apply(&mut present);
                    assert_eq!(&present, state, "{name}: {call:?} → {ret:?} is not undone");
                }
                assert!(specification.step_in_place(&mut present, call, ret, next.len()).is_none(), "{name}");
                assert_eq!(
                    &present, state,
                    "{name}: {call:?} → {ret:?} is not allowed and changes the state"
                );
            }
        });
    }
    for_every_specification!(law);
    assert!(IN_PLACE.load(Ordering::Relaxed) != 0, "no specification changes its state in place");
}

/// The results and the states that an erased specification has after each step are as many as those
/// of the original, along one execution.
#[test]
fn a_specification_without_its_types_has_the_same_steps() {
    use clewline_core::{AnySpecification, Specification};
    fn law(
        name: &str,
        typed: &(impl Codec<Call: Send + Sync, Return: Send + Sync> + Clone + Send + Sync + 'static),
    ) {
        let any = AnySpecification::new(typed.clone());
        let values = clewline_core::Values::new();
        for seed in 0..30 {
            let mut sampler = small_sampler(seed);
            let (mut states, mut erased) = (vec![typed.initial()], vec![any.initial()]);
            for _ in 0..12 {
                let call = typed.sample(&mut sampler);
                let (method, arg) = typed.write_call(&call);
                let mut own = clewline_core::Values::new();
                let arg = arg.store(&mut own);
                let any_call = any.read_call(&own, method, own.share(arg)).unwrap();
                assert_eq!(any.write_call(&any_call), typed.write_call(&call), "{name}");
                let Some(ret) = typed.returns(&states[0], &call).pop() else { continue };
                assert_eq!(
                    any.returns(&erased[0], &any_call).len(),
                    typed.returns(&states[0], &call).len(),
                    "{name}"
                );
                let written = typed.write_return(&call, &ret).store(&mut own);
                let any_ret = any.read_return(&values, &any_call, own.share(written)).unwrap();
                for (typed_ret, erased_ret) in [(None, None), (Some(&ret), Some(&any_ret))] {
                    let (mut after, mut erased_after) = (states.clone(), erased.clone());
                    typed.advance(&mut after, &call, typed_ret);
                    any.advance(&mut erased_after, &any_call, erased_ret);
                    let (many, few) = (erased_after.len(), after.len());
                    // One state may stand for several while the result is not known.
                    let is_same = many == few || typed_ret.is_none() && few < many;
                    assert!(is_same, "{name}: {call:?} → {typed_ret:?}: {many} {few}");
                    if typed_ret.is_some() {
                        (states, erased) = (after, erased_after);
                    }
                }
            }
        }
    }
    struct All;
    impl clewline_specs::Visitor for All {
        fn visit<S>(&mut self, name: &'static str, specification: S)
        where
            S: Codec<Call: Send + Sync, Return: Send + Sync> + Clone + Send + Sync + 'static,
        {
            law(name, &specification);
        }
    }
    clewline_specs::visit(&mut All);
}

#[test]
fn results_that_a_specification_lists_are_canonical() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for_states_and_calls(specification, sample, |state, call| {
            for ret in specification.returns(state, call) {
                assert_eq!(specification.canonical_return(call, &ret), &ret, "{name}: {call:?}");
                // And so are those that are read.
                let mut values = clewline_core::Values::new();
                let written = specification.write_return(call, &ret).store(&mut values);
                let read = specification.read_return(&values, call, written);
                assert!(
                    read.is_ok_and(|it| specification.canonical_return(call, &it) == &it),
                    "{name}: {call:?}"
                );
            }
        });
    }
    for_every_specification!(law);
}

#[test]
fn execute_with_agrees_with_returns_and_step() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for_states_and_calls(specification, sample, |state, call| {
            let returns = specification.returns(state, call);
            for nth in 0..returns.len().max(1) {
                let mut next = state.clone();
                let mut choices = 0;
                let happened = specification.execute_with(&mut next, call, &mut |count| {
                    choices += 1;
                    nth % count
                });
                assert_eq!(happened.is_some(), !returns.is_empty(), "{name}: {call:?} blocks or not");
                let Some(ret) = happened else { continue };
                assert_eq!(choices, 2, "{name}: an answer is chosen, and a state");
                assert_eq!(ret, returns[nth], "{name}: {call:?}");
                let possible = after(specification, state, call, Some(&ret));
                assert!(possible.contains(&next), "{name}: {call:?} → {ret:?} leads to {next:?}");
            }
        });
    }
    for_every_specification!(law);
}

#[test]
fn calls_declared_nonblocking_never_block() {
    static BLOCKED: AtomicUsize = AtomicUsize::new(0);
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for_states_and_calls(specification, sample, |state, call| {
            let blocks = after(specification, state, call, None).is_empty();
            assert!(
                !blocks || specification.may_block(call),
                "{name}: {call:?} blocks in {state:?}: let `may_block` say so"
            );
            BLOCKED.fetch_add(usize::from(blocks), Ordering::Relaxed);
        });
    }
    for_every_specification!(law);
    assert!(BLOCKED.load(Ordering::Relaxed) != 0, "nothing blocks in any specification");
}

/// An operation that resets an object leads to one state wherever it is allowed, and is allowed
/// initially.
#[test]
fn a_reset_leads_to_the_same_state_from_everywhere() {
    static RESETS: AtomicUsize = AtomicUsize::new(0);
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for_states_and_calls(specification, sample, |state, call| {
            let at_first = specification.initial();
            for ret in specification.returns(state, call) {
                // For a map this holds for one key.
                let concerns_all = state == &at_first || specification.part(call).is_none();
                if concerns_all && specification.resets(call, &ret) {
                    let fresh = after(specification, &at_first, call, Some(&ret));
                    assert_eq!(fresh.len(), 1, "{name}: {call:?} → {ret:?}");
                    assert_eq!(
                        after(specification, state, call, Some(&ret)),
                        fresh,
                        "{name}: {call:?} → {ret:?}"
                    );
                    RESETS.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    for_every_specification!(law);
    assert!(RESETS.load(Ordering::Relaxed) != 0, "no specification has an operation that resets it");
}

/// An operation that determines the state leads to that state wherever it is allowed.
#[test]
fn a_result_that_determines_the_state_determines_the_right_one() {
    static DETERMINED: AtomicUsize = AtomicUsize::new(0);
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for_states_and_calls(specification, sample, |state, call| {
            for ret in specification.returns(state, call) {
                if let Some(known) = specification.determines_state(call, &ret) {
                    let next = after(specification, state, call, Some(&ret));
                    assert_eq!(next, HashSet::from([known]), "{name}: {call:?} → {ret:?}");
                    DETERMINED.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    for_every_specification!(law);
    assert!(DETERMINED.load(Ordering::Relaxed) != 0, "no result of any specification determines its state");
}

#[test]
fn advance_starts_from_each_of_several_states() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for seed in 0..100 {
            let states = reachable_states(specification, sample, seed);
            let call = sample(&mut small_sampler(seed));
            let each = states.iter().flat_map(|it| after(specification, it, &call, None)).collect();
            let mut states = states.clone();
            specification.advance(&mut states, &call, None);
            let advanced: HashSet<S::State> = states.iter().cloned().collect();
            assert!(is_same(specification, sample, &advanced, &each), "{name} {seed}: {advanced:?} {each:?}");
        }
    }
    for_every_specification!(law);
}

#[test]
fn pending_takes_from_a_bag_do_not_pile_up_states() {
    use clewline_core::{Specification, Value};
    use clewline_specs::bag::{Bag, Call};
    let mut states = vec![Bag.initial()];
    for value in [Value::TRUE, Value::FALSE] {
        Bag.advance(&mut states, &Call::Add(value), None);
    }
    Bag.advance(&mut states, &Call::Take, None);
    assert_eq!(states.len(), 1, "which element is gone is left open: {states:?}");
    Bag.advance(&mut states, &Call::Take, None);
    assert_eq!(states, [Bag.initial()]);
}

#[test]
fn a_return_is_listed_if_and_only_if_the_step_allows_it() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        // Any result that is possible in some state is a candidate in every state.
        let mut candidates: HashSet<S::Return> = HashSet::new();
        for_states_and_calls(specification, sample, |state, call| {
            candidates.extend(specification.returns(state, call));
        });
        for_states_and_calls(specification, sample, |state, call| {
            let returns = specification.returns(state, call);
            for ret in &candidates {
                let is_allowed = !after(specification, state, call, Some(ret)).is_empty();
                assert_eq!(returns.contains(ret), is_allowed, "{name}: {state:?}: {call:?} → {ret:?}");
            }
        });
    }
    for_every_specification!(law);
}

#[test]
fn a_pending_call_may_return_anything() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for_states_and_calls(specification, sample, |state, call| {
            let returns = specification.returns(state, call);
            let each = returns.iter().flat_map(|ret| after(specification, state, call, Some(ret)));
            assert_eq!(
                after(specification, state, call, None),
                each.collect(),
                "{name}: {state:?}: {call:?}"
            );
        });
    }
    for_every_specification!(law);
}

/// Whether these are the same states. When advancing, one may stand for several, if no later calls
/// can tell.
fn is_same<S: Codec>(
    specification: &S,
    sample: &dyn Fn(&mut CallSampler) -> S::Call,
    one: &HashSet<S::State>,
    other: &HashSet<S::State>,
) -> bool {
    let calls: Vec<S::Call> = (0..6).map(|seed| sample(&mut small_sampler(seed))).collect();
    let seen = |states| seen_afterwards(specification, states, &calls);
    one == other || seen(one) == seen(other)
}

/// What two of these calls may return, one after the other.
fn seen_afterwards<S: Codec>(
    specification: &S,
    states: &HashSet<S::State>,
    calls: &[S::Call],
) -> HashSet<[(usize, S::Return); 2]> {
    let results = |state: &S::State| -> Vec<(usize, S::Return)> {
        let of_call = |(at, call)| specification.returns(state, call).into_iter().map(move |ret| (at, ret));
        calls.iter().enumerate().flat_map(of_call).collect()
    };
    let mut seen = HashSet::new();
    for state in states {
        for (first, ret) in results(state) {
            for next in after(specification, state, &calls[first], Some(&ret)) {
                seen.extend(results(&next).into_iter().map(|second| [(first, ret.clone()), second]));
            }
        }
    }
    seen
}

#[test]
fn reads_leave_every_state_as_it_is() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        for_states_and_calls(specification, sample, |state, call| {
            let mut rets: Vec<Option<S::Return>> =
                specification.returns(state, call).into_iter().map(Some).collect();
            rets.push(None);
            for ret in rets {
                if specification.footprint(call, ret.as_ref()).is_read() {
                    let next = after(specification, state, call, ret.as_ref());
                    assert!(next.iter().all(|it| it == state), "{name}: {state:?}: {call:?} → {ret:?}");
                }
            }
        });
    }
    for_every_specification!(law);
}

#[test]
fn states_are_measured_with_what_they_hold() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        let initial = specification.state_bytes(&specification.initial());
        assert!(size_of::<S::State>() <= initial, "{name}");
        for_states_and_calls(specification, sample, |state, _| {
            assert!(initial <= specification.state_bytes(state), "{name}: {state:?}");
            assert!(specification.state_bytes(state) < 10_000, "{name}: {state:?}");
        });
    }
    for_every_specification!(law);
}

#[test]
fn an_object_is_linearizable_if_and_only_if_its_parts_are() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        let mut sampler = small_sampler(1);
        if (0..100).any(|_| specification.part(&sample(&mut sampler)).is_none()) {
            return;
        }
        let (mut holds, mut violated) = (0, 0);
        for seed in 0..1200 {
            let mut random = clewline_core::Random::new(seed);
            let mut ops = random_ops(specification, sample, seed);
            for _ in 0..random.below(4) {
                perturb(specification, &mut ops, &mut random);
            }
            let whole = is_linearizable(specification, &ops);
            *(if whole { &mut holds } else { &mut violated }) += 1;
            let parts: HashSet<Option<u64>> = ops.iter().map(|it| specification.part(&it.call)).collect();
            let judge = |part: &Option<u64>| {
                let mut ops = ops.clone();
                ops.retain(|it| specification.part(&it.call) == *part);
                is_linearizable(specification, &ops)
            };
            assert_eq!(parts.iter().all(judge), whole, "{name} {seed}: {ops:?}");
        }
        assert!(100 < holds && 100 < violated, "{name}: {holds} hold, {violated} are violated");
    }
    for_every_specification!(law);
}
