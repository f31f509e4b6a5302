//! Shortest executions that lead to a state one is looking for.
//!
//! A search of the state graph forgets how it came anywhere. Once it is known that there is something to find, this finds a shortest
//! way to it, breadth first. Steps are tried in an order that depends on what messages say and not on their numbers, so that
//! the way is the same whoever explored what before.
//!
//! Cost: for each state 64 bytes, and all states at two distances from the beginning at once.

use std::{collections::VecDeque, time::Instant};

use rustc_hash::FxHashMap;

use crate::{
    engine::Engine,
    interned::{BadHandler, Fingerprint},
    world::{Action, World},
};

/// How far to look for a state.
#[derive(Clone, Copy, Debug)]
pub struct TraceLimits {
    /// How many states to visit at most, about.
    pub states_max: usize,
    /// When to stop, unless there are so few states that it takes no time.
    pub deadline: Option<Instant>,
}

// After so many states the clock is looked at.
const CLOCK_EVERY: usize = 1 << 12;

/// What came of looking for a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceResult {
    /// The actions on a shortest way to it.
    Found(Vec<Action>),
    /// There is none.
    Unreachable,
    /// So many states were visited, or for so long, that it was given up.
    GivenUp,
    /// A handler is not pure, or panicked.
    BadHandler(BadHandler),
}

/// A shortest way to a state for which `is_it` says so: it is handed the state, and whether nothing can happen in it.
pub fn trace(
    engine: &mut Engine,
    reach: TraceLimits,
    is_it: &mut dyn FnMut(&mut Engine, &World, bool) -> bool,
) -> TraceResult {
    let mut ways: FxHashMap<Fingerprint, (Fingerprint, Action)> = FxHashMap::default();
    let mut queue = VecDeque::from([engine.unstarted_world()]);
    let mut steps: Vec<(Action, Fingerprint)> = Vec::new();
    let mut actions = Vec::new();
    for looked in 1_usize.. {
        let Some(world) = queue.pop_front() else { break };
        let is_late = || reach.deadline.is_some_and(|it| it <= Instant::now());
        if looked.is_multiple_of(CLOCK_EVERY) && is_late() {
            return TraceResult::GivenUp;
        }
        if let Some(bad_handler) = engine.bad_handler() {
            return TraceResult::BadHandler(bad_handler.clone());
        }
        actions.clear();
        engine.enabled(&world, &mut actions);
        steps.clear();
        for &action in &actions {
            steps.extend(engine.plan(&world, action).map(|it| (action, it)));
        }
        if world.is_begun && is_it(engine, &world, steps.is_empty()) {
            return TraceResult::Found(back_to_void(&ways, world.fingerprint));
        }
        // Where two actions lead to one state, either will do.
        steps.sort_by_key(|&(_, fingerprint)| fingerprint);
        for &(action, fingerprint) in &steps {
            if reach.states_max <= ways.len() {
                return TraceResult::GivenUp;
            }
            if let std::collections::hash_map::Entry::Vacant(free) = ways.entry(fingerprint) {
                free.insert((world.fingerprint, action));
                queue.push_back(engine.apply(&world, action).expect("it was planned"));
            }
        }
    }
    TraceResult::Unreachable
}

/// The actions on the way through states whose fingerprints have these lower halves, the first of which is one the system may begin
/// in.
pub(crate) fn trace_along(engine: &mut Engine, halves: &[u64]) -> Vec<Action> {
    let mut world = engine.unstarted_world();
    let mut way = Vec::new();
    for &wanted in halves {
        let mut actions = Vec::new();
        engine.enabled(&world, &mut actions);
        let action =
            actions.into_iter().find(|&it| engine.plan(&world, it).is_some_and(|it| it as u64 == wanted));
        let action = action.expect("each state leads to the next");
        world = engine.apply(&world, action).expect("it was planned");
        way.push(action);
    }
    way
}

fn back_to_void(
    ways: &FxHashMap<Fingerprint, (Fingerprint, Action)>,
    mut fingerprint: Fingerprint,
) -> Vec<Action> {
    let mut actions = Vec::new();
    while let Some(&(before, action)) = ways.get(&fingerprint) {
        actions.push(action);
        // Before the actors started there was nothing.
        if let Action::Begin { .. } = action {
            break;
        }
        fingerprint = before;
    }
    actions.reverse();
    actions
}
