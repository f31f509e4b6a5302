//! Properties that monitors rely on: `kind` and `role` agree with the specification's steps.
//!
//! A model that knows only roles follows random sequential runs. It must allow an operation exactly
//! if the specification does, in every state. The possible effects of a pending operation must be
//! those of the same operation with some result, or none.

use std::collections::{BTreeSet, HashMap, HashSet};

use clewline_core::{CallSampler, Codec, ObjectKind, Random, Role, RoleKind};

use crate::support::{for_every_specification, small_sampler};

/// The elements inside, as a list: a queue with its front first, a stack with its top last,
/// unordered ones sorted. A register holds one element, a counter its sum.
type Inside = Vec<u64>;

fn at_first(kind: ObjectKind) -> Inside {
    match kind {
        ObjectKind::Register { initial } => vec![initial],
        ObjectKind::Counter => vec![0],
        ObjectKind::Other(name) => panic!("say here, and in `next`, what `{name}` does"),
        ObjectKind::Set
        | ObjectKind::Queue
        | ObjectKind::QuasiQueue { .. }
        | ObjectKind::Channel
        | ObjectKind::Deque
        | ObjectKind::Stack
        | ObjectKind::QuasiStack { .. }
        | ObjectKind::PriorityQueue
        | ObjectKind::QuasiPriorityQueue { .. }
        | ObjectKind::Bag
        | ObjectKind::Multiset => Vec::new(),
    }
}

/// The possible contents after an operation of this role: none if it is not allowed.
fn next(kind: ObjectKind, inside: &Inside, role: Role) -> BTreeSet<Inside> {
    if let ObjectKind::QuasiQueue { factor }
    | ObjectKind::QuasiStack { factor }
    | ObjectKind::QuasiPriorityQueue { factor } = kind
    {
        return next_out_of_order(kind, factor, inside, role);
    }
    if kind == ObjectKind::Deque {
        return next_at_ends(inside, role);
    }
    let (role_kind, element) = (role.kind(), role.element());
    let second = if let Role::Replace(_, second) = role { second } else { 0 };
    let is_there = if kind == ObjectKind::Set || kind == ObjectKind::Multiset || kind == ObjectKind::Bag {
        inside.contains(&element)
    } else {
        front(kind, inside) == Some(element)
    };
    let is_closed = kind == ObjectKind::Channel && inside.last() == Some(&ObjectKind::CLOSED);
    let is_allowed = match role_kind {
        RoleKind::Add if is_closed => element == ObjectKind::CLOSED,
        RoleKind::Absent if kind == ObjectKind::Channel => is_closed,
        RoleKind::Add => kind != ObjectKind::Set || !is_there,
        RoleKind::Remove | RoleKind::Observe | RoleKind::Replace => is_there,
        RoleKind::Absent => !is_there,
        RoleKind::Empty => inside.is_empty(),
        RoleKind::RemoveUnknown => return taken(kind, inside),
        RoleKind::NoEffect => true,
    };
    let after = match role_kind {
        _ if !is_allowed => return BTreeSet::new(),
        RoleKind::Add if is_closed => inside.clone(),
        RoleKind::Add => added(kind, inside, element),
        RoleKind::Remove => without(kind, inside, element),
        RoleKind::Replace => vec![second],
        RoleKind::Observe
        | RoleKind::Absent
        | RoleKind::Empty
        | RoleKind::RemoveUnknown
        | RoleKind::NoEffect => inside.clone(),
    };
    BTreeSet::from([after])
}

/// The same for a collection that is out of order by at most `factor`. `inside` alternates
/// elements, the one to be removed first in front, with the number of times each was overtaken.
fn next_out_of_order(kind: ObjectKind, factor: u32, inside: &Inside, role: Role) -> BTreeSet<Inside> {
    let factor = u64::from(factor);
    let line: Vec<(u64, u64)> = inside.chunks(2).map(|it| (it[0], it[1])).collect();
    let is_stack = matches!(kind, ObjectKind::QuasiStack { .. });
    // Of equal elements the first is removed, except in a stack.
    let may_leave = |place: &usize| {
        let is_before = |&(element, overtaken): &(u64, u64)| {
            overtaken < factor && (is_stack || element != line[*place].0)
        };
        *place as u64 <= factor && line[..*place].iter().all(is_before)
    };
    let without = |place: usize| -> Inside {
        let passed = line[..place].iter().map(|&(element, overtaken)| (element, overtaken + 1));
        passed.chain(line[place + 1..].iter().copied()).flat_map(|(a, b)| [a, b]).collect()
    };
    let places = (0..line.len()).filter(may_leave);
    match role {
        Role::Add(element) => {
            let is_before = |it: &&(u64, u64)| element.cast_signed() <= it.0.cast_signed();
            let place = match kind {
                _ if is_stack => 0,
                ObjectKind::QuasiPriorityQueue { .. } => line.iter().filter(is_before).count(),
                _ => line.len(),
            };
            BTreeSet::from([[&inside[..2 * place], &[element, 0], &inside[2 * place..]].concat()])
        }
        Role::Remove(element) => places.filter(|&it| line[it].0 == element).map(without).collect(),
        Role::Observe(element) => {
            places.filter(|&it| line[it].0 == element).map(|_| inside.clone()).collect()
        }
        Role::RemoveUnknown if !line.is_empty() => places.map(without).collect(),
        Role::Empty if !line.is_empty() => BTreeSet::new(),
        Role::Empty | Role::RemoveUnknown | Role::NoEffect => BTreeSet::from([inside.clone()]),
        Role::Absent(_) | Role::Replace(..) => panic!("{role:?} of {kind:?}"),
    }
}

/// The possible contents of a deque after an operation of this role.
fn next_at_ends(inside: &Inside, role: Role) -> BTreeSet<Inside> {
    let (element, is_back) = (role.element() >> 1, role.element() & 1 == 1);
    let mut after = inside.clone();
    let is_allowed = match role {
        Role::Add(_) => {
            after.insert(if is_back { after.len() } else { 0 }, element);
            true
        }
        Role::Remove(_) if inside.is_empty() => false,
        Role::Remove(_) => after.remove(if is_back { after.len() - 1 } else { 0 }) == element,
        Role::Empty => inside.is_empty(),
        _ => panic!("{role:?} of a deque"),
    };
    is_allowed.then_some(after).into_iter().collect()
}

/// The element that a removal would return, or the only element.
fn front(kind: ObjectKind, inside: &Inside) -> Option<u64> {
    match kind {
        ObjectKind::Queue | ObjectKind::Channel => inside.first().copied(),
        ObjectKind::Stack | ObjectKind::Counter | ObjectKind::Register { .. } => inside.last().copied(),
        ObjectKind::PriorityQueue => inside.iter().copied().max_by_key(|it| it.cast_signed()),
        ObjectKind::Set | ObjectKind::Bag | ObjectKind::Multiset => None,
        ObjectKind::Deque | ObjectKind::Other(_) => None,
        ObjectKind::QuasiQueue { .. }
        | ObjectKind::QuasiStack { .. }
        | ObjectKind::QuasiPriorityQueue { .. } => None,
    }
}

fn added(kind: ObjectKind, inside: &Inside, element: u64) -> Inside {
    let mut inside = inside.clone();
    match kind {
        ObjectKind::Queue | ObjectKind::Channel | ObjectKind::Stack => inside.push(element),
        ObjectKind::Set | ObjectKind::Bag | ObjectKind::Multiset | ObjectKind::PriorityQueue => {
            inside.push(element);
            inside.sort_unstable();
        }
        ObjectKind::Counter => inside[0] = inside[0].wrapping_add(element),
        ObjectKind::Register { .. } => inside[0] = element,
        ObjectKind::QuasiQueue { .. }
        | ObjectKind::QuasiStack { .. }
        | ObjectKind::QuasiPriorityQueue { .. } => {
            unreachable!("these count how often elements are overtaken")
        }
        ObjectKind::Deque => unreachable!("it has two ends"),
        ObjectKind::Other(_) => unreachable!("what it is at first is not known"),
    }
    inside
}

fn taken(kind: ObjectKind, inside: &Inside) -> BTreeSet<Inside> {
    let any = inside.iter().copied().filter(|_| kind == ObjectKind::Bag);
    let is_element = |it: &u64| kind != ObjectKind::Channel || *it != ObjectKind::CLOSED;
    let front = |kind, inside| front(kind, inside).filter(is_element);
    let some: BTreeSet<Inside> =
        any.chain(front(kind, inside)).map(|element| without(kind, inside, element)).collect();
    if some.is_empty() { BTreeSet::from([inside.clone()]) } else { some }
}

/// Removes one copy of the element: the last one in a stack, elsewhere the first.
fn without(kind: ObjectKind, inside: &Inside, element: u64) -> Inside {
    let mut inside = inside.clone();
    let mut places = inside.iter().enumerate().filter(|it| *it.1 == element).map(|it| it.0);
    let place = if kind == ObjectKind::Stack { places.next_back() } else { places.next() };
    inside.remove(place.unwrap());
    inside
}

/// The roles that the monitor for this kind of object supports.
fn is_known(kind: ObjectKind, role_kind: RoleKind) -> bool {
    match role_kind {
        RoleKind::Add => true,
        RoleKind::Observe | RoleKind::NoEffect => kind != ObjectKind::Deque,
        RoleKind::Remove => !matches!(kind, ObjectKind::Counter | ObjectKind::Register { .. }),
        RoleKind::Absent => {
            matches!(
                kind,
                ObjectKind::Set | ObjectKind::Multiset | ObjectKind::Register { .. } | ObjectKind::Channel
            )
        }
        RoleKind::Empty if kind == ObjectKind::Deque => true,
        RoleKind::Empty | RoleKind::RemoveUnknown => {
            matches!(
                kind,
                ObjectKind::Queue
                    | ObjectKind::QuasiQueue { .. }
                    | ObjectKind::Channel
                    | ObjectKind::Stack
                    | ObjectKind::QuasiStack { .. }
                    | ObjectKind::PriorityQueue
                    | ObjectKind::QuasiPriorityQueue { .. }
                    | ObjectKind::Bag
            )
        }
        RoleKind::Replace => matches!(kind, ObjectKind::Register { .. }),
    }
}

/// Every result that some call returns in some run.
fn possible_results<S: Codec>(
    specification: &S,
    sample: &dyn Fn(&mut CallSampler) -> S::Call,
) -> HashSet<S::Return> {
    let mut possible_results = HashSet::new();
    for seed in 0..30 {
        let (mut sampler, mut random) = (small_sampler(seed), Random::new(seed));
        let mut state = specification.initial();
        for _ in 0..20 {
            let call = sample(&mut sampler);
            let before = state.clone();
            possible_results.extend(specification.returns(&state, &call));
            if specification.execute_with(&mut state, &call, &mut |count| random.below(count)).is_none() {
                state = before;
            }
        }
    }
    possible_results
}

#[test]
fn a_role_is_allowed_if_and_only_if_the_operation_is() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        let Some(kind) = specification.kind() else { return };
        let possible_results = possible_results(specification, sample);
        let (mut allowed, mut rejected) = (0, 0);
        for seed in 0..200 {
            let (mut sampler, mut random) = (small_sampler(seed), Random::new(seed));
            let mut state = specification.initial();
            // By part.
            let mut inside: HashMap<Option<u64>, Inside> = HashMap::new();
            for _ in 0..20 {
                let call = sample(&mut sampler);
                let inside = inside.entry(specification.part(&call)).or_insert_with(|| at_first(kind));
                for ret in &possible_results {
                    let Some(role) = specification.role(&call, Some(ret)) else { continue };
                    let is_allowed = specification.returns(&state, &call).contains(ret);
                    *(if is_allowed { &mut allowed } else { &mut rejected }) += 1;
                    let context =
                        format!("{name}: {state:?}: {call:?} → {ret:?} is {role:?} where {inside:?} is");
                    assert!(is_known(kind, role.kind()), "{context}");
                    assert_eq!(!next(kind, inside, role).is_empty(), is_allowed, "{context}");
                }
                // Sampling a call that is not executed disturbs objects whose calls alternate.
                if random.chance(0.2) {
                    continue;
                }
                let mut after = state.clone();
                let Some(ret) =
                    specification.execute_with(&mut after, &call, &mut |count| random.below(count))
                else {
                    continue;
                };
                // Operations without a role are not executed here, nor those that leave open which
                // of two equal elements was removed.
                if let Some(role) = specification.role(&call, Some(&ret)) {
                    let mut outcomes = next(kind, inside, role);
                    if outcomes.len() == 1 {
                        state = after;
                        *inside = outcomes.pop_first().unwrap();
                    }
                }
            }
        }
        assert!(500 < allowed && 500 < rejected, "{name}: {allowed} allowed, {rejected} rejected");
    }
    for_every_specification!(law);
}

#[test]
fn a_pending_role_has_the_effect_of_some_result_or_none() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        let Some(kind) = specification.kind() else { return };
        let mut compared = 0;
        for seed in 0..200 {
            let (mut sampler, mut random) = (small_sampler(seed), Random::new(seed));
            let mut state = specification.initial();
            let mut inside: HashMap<Option<u64>, Inside> = HashMap::new();
            for _ in 0..20 {
                let call = sample(&mut sampler);
                let inside = inside.entry(specification.part(&call)).or_insert_with(|| at_first(kind));
                let returns = specification.returns(&state, &call);
                let roles: Option<Vec<Role>> =
                    returns.iter().map(|ret| specification.role(&call, Some(ret))).collect();
                // Operations without a role are not executed here.
                let Some(roles) = roles else { continue };
                if let Some(pending) = specification.role(&call, None) {
                    compared += 1;
                    assert!(is_known(kind, pending.kind()), "{name}: {call:?} is {pending:?}");
                    let mut completed_effects: BTreeSet<Inside> =
                        roles.iter().flat_map(|&role| next(kind, inside, role)).collect();
                    let mut pending_effects = next(kind, inside, pending);
                    completed_effects.insert(inside.clone());
                    pending_effects.insert(inside.clone());
                    assert_eq!(
                        pending_effects, completed_effects,
                        "{name}: {call:?} is {pending:?} where {inside:?} is"
                    );
                }
                if !returns.is_empty() && !random.chance(0.2) {
                    let choice = random.below(returns.len());
                    let mut states = Vec::new();
                    specification.step(&state, &call, Some(&returns[choice]), &mut states);
                    let mut outcomes = next(kind, inside, roles[choice]);
                    if outcomes.len() == 1 {
                        state = states.swap_remove(0);
                        *inside = outcomes.pop_first().unwrap();
                    }
                }
            }
        }
        assert!(1_000 < compared, "{name}: {compared}");
    }
    for_every_specification!(law);
}
