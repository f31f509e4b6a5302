//! The engine: which actions are enabled in a world, and to which world each leads.
//!
//! Reactions and history transitions are cached, so that user code runs once for each pair of actor
//! state and message, and not once for each global state. The caches are private to an engine. The
//! interned ids are shared by all engines of a system, one for each thread, so that a world means
//! the same to all of them.
//!
//! An action is first *planned*, which gives the fingerprint of its successor. The successor is
//! *built* only if the fingerprint is new.
//!
//! Invariant: the fingerprint of a world is the sum of the hashes of its parts, maintained
//! incrementally. Debug builds verify this.

mod fault_actions;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use rustc_hash::FxHashMap;

use crate::{
    actor::ActorId,
    faults::is_apart,
    harness::Clients,
    histories::{Histories, HistoryEvent, HistoryId, HistorySummary},
    interned::{
        ABSENT, BadHandler, Effect, Envelope, EnvelopeId, Fingerprint, HandlerFault, Input, InternedModel,
        LocalId, StartOutcome, mix,
    },
    world::{Action, Delivery, Ignored, Rules, World},
};

/// What all threads that explore one system share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) model: Arc<Mutex<dyn InternedModel>>,
    pub(crate) histories: Arc<Mutex<Histories>>,
}

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no handler panicked")
}

/// Computes the enabled actions of a world and their successors.
pub struct Engine {
    pub(crate) shared: Shared,
    pub(crate) rules: Rules,
    pub(crate) clients: Clients,
    // For each operation, the set of operations of the same client.
    pub(crate) same_client: Vec<u64>,
    pub(crate) requests: Vec<EnvelopeId>,
    pub(crate) roots: usize,
    // The possible outcomes of starting all actors: the actors, and their effects.
    pub(crate) starts: Vec<StartOutcome>,
    // Local copies of the shared tables, as far as this engine needed them.
    pub(crate) envelopes: Vec<Envelope>,
    // The fields that every step reads, stored together.
    pub(crate) hot: Vec<EnvelopeHotFields>,
    pub(crate) has_immediate: bool,
    pub(crate) local_hashes: Vec<Fingerprint>,
    pub(crate) summaries: Vec<HistorySummary>,
    // The hash that each history adds to a fingerprint.
    pub(crate) history_hashes: Vec<Fingerprint>,
    pub(crate) slots: Vec<ActorId>,
    // The range of the outcomes of a reaction, by state and input in one word.
    pub(crate) reactions: FxHashMap<u64, (u32, u32)>,
    // A direct-mapped cache of recent reactions: the same states and inputs recur often.
    pub(crate) recent_reactions: Vec<(u64, (u32, u32))>,
    pub(crate) outcomes: Vec<ReactionOutcome>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) steps: FxHashMap<(HistoryId, u32), HistoryId>,
    pub(crate) plan: Plan,
    pub(crate) spare: World,
    pub(crate) hits: u64,
    pub(crate) bad_handler: Option<BadHandler>,
}

#[derive(Clone, Copy)]
pub(crate) struct EnvelopeHotFields {
    pub(crate) hash: Fingerprint,
    pub(crate) lane: u32,
    pub(crate) slot: u32,
    pub(crate) is_to_client: bool,
    // Whether its receipt is only a reaction: no client observes anything.
    pub(crate) is_plain: bool,
    pub(crate) is_request: bool,
    pub(crate) is_timer: bool,
    pub(crate) is_immediate: bool,
}

// One outcome of a reaction.
#[derive(Clone, Copy)]
pub(crate) struct ReactionOutcome {
    pub(crate) local: LocalId,
    // The range of its effects.
    pub(crate) first: u32,
    pub(crate) last: u32,
    // Whether only the actor and the set of messages in flight change, and messages are unordered.
    pub(crate) is_plain: bool,
    // Whether the actor stays as it is and has no outputs.
    pub(crate) has_no_effect: bool,
    // The change of the fingerprint by the actor and by what it sends.
    pub(crate) change: Fingerprint,
}

// A planned delivery with the fingerprint of its successor.
pub(crate) struct PlannedDelivery {
    pub(crate) fingerprint: Fingerprint,
    at: u16,
    outcome: u16,
    plain: Option<(u32, u32)>,
}

impl PlannedDelivery {
    pub(crate) fn action(&self) -> Action {
        Action::Deliver { at: self.at, outcome: self.outcome }
    }
}

// The planned effects of an action.
#[derive(Default)]
pub(crate) struct Plan {
    // Whether the successor is in `spare`.
    pub(crate) is_built: bool,
    // The outcome, if it is plain. The messages sent are filled in only when the world is built,
    // which is rarely needed.
    pub(crate) plain: Option<u32>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) history: HistoryId,
    pub(crate) removed: Option<usize>,
    pub(crate) local: Option<(u32, LocalId)>,
    pub(crate) sent: Vec<EnvelopeId>,
    pub(crate) cancelled: Vec<EnvelopeId>,
    pub(crate) created: Vec<(u32, LocalId)>,
    pub(crate) events: Vec<HistoryEvent>,
    // The clients that were sent a response, whether or not it made an operation return.
    pub(crate) notified: Vec<ActorId>,
}

// Size of the direct-mapped cache of reactions; a power of two.
pub(crate) const RECENT_REACTIONS: usize = 1 << 13;

// Starts all actors twice, and compares.
fn start(model: &mut dyn InternedModel) -> (Vec<StartOutcome>, Option<BadHandler>) {
    let (starts, again) = match (model.start(), model.start()) {
        (Ok(starts), Ok(again)) => (starts, again),
        (Err(bad), _) | (_, Err(bad)) => return (Vec::new(), Some(bad)),
    };
    if starts == again {
        return (starts, None);
    }
    let both = starts.iter().flat_map(|it| &it.0).zip(again.iter().flat_map(|it| &it.0));
    let at = both.enumerate().find(|(_, (one, other))| one != other).map_or(0, |(at, _)| at);
    let actor = ActorId::new((at % starts[0].0.len()) as u32);
    (starts, Some(BadHandler { actor, input: "its start".to_owned(), why: HandlerFault::NotPure }))
}

impl Plan {
    pub(crate) fn clear(&mut self, world: &World) {
        self.sent.clear();
        self.cancelled.clear();
        self.created.clear();
        self.events.clear();
        self.notified.clear();
        self.is_built = false;
        self.plain = None;
        self.history = world.history;
        self.removed = None;
        self.local = None;
    }
}

impl Default for HistoryId {
    fn default() -> Self {
        Histories::EMPTY
    }
}

impl Engine {
    pub(crate) fn new(shared: Shared, rules: Rules, clients: Clients, owners: &[u32], roots: usize) -> Self {
        let mates = owners.iter().map(|mine| {
            let same = owners.iter().enumerate().filter(|(_, it)| *it == mine);
            same.fold(0, |set, (at, _)| set | 1 << at)
        });
        let mates = mates.collect();
        let requests = (0..owners.len() as u32).map(|it| lock(&shared.model).request(it)).collect();
        let (starts, bad_handler) = start(&mut *lock(&shared.model));
        let mut engine = Engine {
            shared,
            rules,
            clients,
            same_client: mates,
            requests,
            roots,
            starts,
            envelopes: Vec::new(),
            hot: Vec::new(),
            has_immediate: false,
            local_hashes: Vec::new(),
            summaries: Vec::new(),
            history_hashes: Vec::new(),
            slots: Vec::new(),
            reactions: FxHashMap::default(),
            recent_reactions: vec![(u64::MAX, (0, 0)); RECENT_REACTIONS],
            outcomes: Vec::new(),
            effects: Vec::new(),
            steps: FxHashMap::default(),
            plan: Plan::default(),
            spare: World::default(),
            hits: 0,
            bad_handler,
        };
        engine.catch_up();
        engine
    }

    /// Another engine for the same system, with empty caches.
    #[must_use]
    pub fn fork(&self) -> Engine {
        let owners: Vec<u32> = self.same_client.iter().map(|it| it.trailing_zeros()).collect();
        Engine::new(self.shared.clone(), self.rules, self.clients, &owners, self.roots)
    }

    /// The world before the actors start: starting them is the only enabled action.
    #[must_use]
    pub fn unstarted_world(&self) -> World {
        World { fingerprint: 1, ..World::default() }
    }

    /// The rules of the surroundings.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The number of initial actors.
    #[must_use]
    pub fn roots(&self) -> usize {
        self.roots
    }

    /// The number of operations of the scenario.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.same_client.len()
    }

    /// The properties of an envelope.
    #[must_use]
    pub fn envelope(&self, id: EnvelopeId) -> &Envelope {
        &self.envelopes[id.0 as usize]
    }

    /// The client of an operation.
    #[must_use]
    pub fn client_of(&self, operation: u32) -> ActorId {
        self.envelope(self.requests[operation as usize]).from
    }

    /// The summary of a history.
    #[must_use]
    pub fn summary(&self, id: HistoryId) -> HistorySummary {
        self.summaries[id.0 as usize]
    }

    /// The actor in a slot.
    #[must_use]
    pub fn slot(&self, slot: u16) -> ActorId {
        self.slots[slot as usize]
    }

    /// A handler that is not pure, or that panicked: the results of the exploration are then
    /// unreliable.
    #[must_use]
    pub fn bad_handler(&self) -> Option<&BadHandler> {
        self.bad_handler.as_ref()
    }

    /// The history events of the action that was planned last, in order.
    #[must_use]
    pub fn planned_events(&self) -> &[HistoryEvent] {
        &self.plan.events
    }

    /// The messages that the last planned action puts in flight, in order.
    #[must_use]
    pub fn planned_sends(&self) -> &[EnvelopeId] {
        &self.plan.sent
    }

    /// Whether the property with this index holds in `world`, whose actors have started.
    #[must_use]
    pub fn holds(&self, world: &World, property: usize) -> bool {
        lock(&self.shared.model).holds(property, &world.locals, &world.in_flight, world.down)
    }

    /// The number of indistinguishable ways to execute `action`: one for each equal message.
    pub(crate) fn multiplicity(&self, world: &World, action: Action) -> u32 {
        match action {
            Action::Deliver { at, .. } | Action::Lose { at } | Action::Duplicate { at } => {
                let id = world.in_flight[at as usize];
                let is_first = matches!(action, Action::Deliver { .. });
                if is_first && self.rules.delivery != Delivery::Unordered {
                    return 1;
                }
                world.in_flight[at as usize..].iter().take_while(|it| **it == id).count() as u32
            }
            Action::Begin { .. }
            | Action::Crash { .. }
            | Action::Restart { .. }
            | Action::Cut { .. }
            | Action::Heal => 1,
        }
    }

    /// Copies everything that other engines have interned.
    pub fn catch_up(&mut self) {
        let shared = self.shared.clone();
        self.copy_numbers(&*lock(&shared.model));
        self.copy_histories(&lock(&shared.histories));
    }

    pub(crate) fn copy_numbers(&mut self, model: &dyn InternedModel) {
        let new = &model.envelopes()[self.envelopes.len()..];
        self.envelopes.extend_from_slice(new);
        self.has_immediate |= new.iter().any(|it| it.is_immediate);
        let is_tight = self.clients == Clients::Tight;
        self.hot.extend(new.iter().map(|it| EnvelopeHotFields {
            is_plain: !(it.to.is_client() || it.request_of != 0 && is_tight),
            hash: it.hash,
            lane: it.lane,
            slot: it.slot,
            is_to_client: it.to.is_client(),
            is_request: it.request_of != 0,
            is_timer: it.is_timer,
            is_immediate: it.is_immediate,
        }));
        self.local_hashes.extend_from_slice(&model.local_hashes()[self.local_hashes.len()..]);
        self.slots.extend_from_slice(&model.slots()[self.slots.len()..]);
    }

    pub(crate) fn copy_histories(&mut self, histories: &Histories) {
        let new = &histories.summaries()[self.summaries.len()..];
        self.summaries.extend_from_slice(new);
        self.history_hashes.extend(new.iter().map(|it| mix(it.hash)));
    }

    /// Pushes all actions enabled in `world`, in an order that depends only on the world and the
    /// ids of its parts.
    pub fn enabled(&mut self, world: &World, actions: &mut Vec<Action>) {
        if !world.is_begun {
            actions.extend((0..self.starts.len()).map(|it| Action::Begin { outcome: it as u16 }));
            return;
        }
        let mut next = 0;
        while let Some(at) = self.next_delivery(world, next) {
            let ways = self.delivery_outcomes(world, world.in_flight[at]);
            actions.extend((0..ways).map(|outcome| Action::Deliver { at: at as u16, outcome }));
            next = at + 1;
        }
        self.push_fault_actions(world, actions);
    }

    /// Plans every delivery in `world` that is not left out.
    pub(crate) fn plan_deliveries(&mut self, world: &World, all: &mut Vec<PlannedDelivery>) {
        let mut next = 0;
        while let Some(at) = self.next_delivery(world, next) {
            next = at + 1;
            let hot = self.hot[world.in_flight[at].0 as usize];
            if !hot.is_plain {
                self.plan_every_outcome(world, at, all);
                continue;
            }
            let input = Input::Envelope(world.in_flight[at]);
            let (start, end) = self.reaction(world.locals[hot.slot as usize], input);
            for (outcome, which) in (start..end).enumerate() {
                let reacted = &self.outcomes[which as usize];
                if !reacted.is_plain {
                    self.plan_every_outcome(world, at, all);
                    break;
                }
                if !self.is_left_out(reacted, hot) {
                    let fingerprint = world.fingerprint.wrapping_add(reacted.change).wrapping_sub(hot.hash);
                    let plain = Some((which, hot.slot));
                    all.push(PlannedDelivery { fingerprint, at: at as u16, outcome: outcome as u16, plain });
                }
            }
        }
    }

    fn plan_every_outcome(&mut self, world: &World, at: usize, all: &mut Vec<PlannedDelivery>) {
        let (mut outcome, mut ways) = (0, 1);
        // Plain outcomes of this delivery may come first and may already be planned: plan them
        // again.
        all.truncate(all.iter().rposition(|it| usize::from(it.at) != at).map_or(0, |it| it + 1));
        while outcome < ways {
            let fingerprint;
            (fingerprint, ways) = self.plan_delivery(world, at, outcome);
            if let Some(fingerprint) = fingerprint {
                let plain = self.plan.plain.zip(self.plan.local.map(|it| it.0));
                all.push(PlannedDelivery { fingerprint, at: at as u16, outcome, plain });
            }
            outcome += 1;
        }
    }

    /// Whether the outcome changes nothing, and such deliveries are left out.
    pub(crate) fn is_left_out(&self, reacted: &ReactionOutcome, hot: EnvelopeHotFields) -> bool {
        reacted.has_no_effect && self.rules.ignored == Ignored::Stays && !hot.is_timer
    }

    /// Restores the plan of one of [these](Self::plan_deliveries) deliveries.
    pub(crate) fn restore_plan(&mut self, world: &World, delivery: &PlannedDelivery) {
        match delivery.plain {
            Some((which, slot)) => {
                self.plan_simple_delivery(world, delivery.at as usize, slot, which);
            }
            None => _ = self.plan_delivery(world, delivery.at as usize, delivery.outcome),
        }
    }

    /// The first index in `world`, from `start` on, of a deliverable envelope: the first of its
    /// lane.
    pub(crate) fn next_delivery(&self, world: &World, start: usize) -> Option<usize> {
        let is_next = |at: &usize| {
            let id = world.in_flight[*at];
            let is_first = *at == 0 || self.lane(world.in_flight[at - 1]) != self.lane(id);
            is_first && self.is_deliverable(world, id)
        };
        let end = world.in_flight.len();
        if self.has_immediate {
            let is_immediate = |at: &usize| self.hot[world.in_flight[*at].0 as usize].is_immediate;
            if let Some(at) = (0..end).filter(is_immediate).find(is_next) {
                return (start <= at).then_some(at);
            }
        }
        (start..end).find(is_next)
    }

    /// Whether `id` can be received, apart from its position in its lane.
    pub(crate) fn is_deliverable(&self, world: &World, id: EnvelopeId) -> bool {
        let hot = self.hot[id.0 as usize];
        if hot.is_to_client {
            return true;
        }
        let slot = hot.slot as usize;
        if world.locals.get(slot).is_none_or(|&it| it == ABSENT) {
            return false;
        }
        if world.down == 0 && world.cut == 0 {
            return true;
        }
        let envelope = &self.envelopes[id.0 as usize];
        (slot >= 64 || world.down >> slot & 1 == 0)
            && (envelope.is_timer || !is_apart(envelope.from, envelope.to, world.cut))
    }

    pub(crate) fn delivery_outcomes(&mut self, world: &World, id: EnvelopeId) -> u16 {
        let envelope = &self.envelopes[id.0 as usize];
        if envelope.to.is_client() {
            return 1;
        }
        let local = world.locals[envelope.slot as usize];
        let (start, end) = self.reaction(local, Input::Envelope(id));
        (end - start) as u16
    }

    pub(crate) fn restart_outcomes(&mut self, local: LocalId) -> u16 {
        let (start, end) = self.reaction(local, Input::Restart);
        (end - start) as u16
    }

    /// The fingerprint of the successor by `action`, which [`build`](Self::build) then makes.
    /// `None` if the action changes nothing and such deliveries are left out.
    pub fn plan(&mut self, world: &World, action: Action) -> Option<Fingerprint> {
        self.plan.clear(world);
        match action {
            Action::Deliver { at, outcome } => return self.plan_delivery(world, at as usize, outcome).0,
            Action::Begin { outcome } => self.begin(outcome as usize),
            Action::Restart { slot, outcome } => {
                self.plan_reaction(world, u32::from(slot), Input::Restart, outcome);
                let mut next = std::mem::take(&mut self.spare);
                self.build_into(world, &mut next);
                next.down &= !(1 << slot);
                next.fingerprint = self.fingerprint(&next);
                self.spare = next;
                self.plan.is_built = true;
            }
            Action::Lose { .. }
            | Action::Duplicate { .. }
            | Action::Crash { .. }
            | Action::Cut { .. }
            | Action::Heal => {
                let mut next = std::mem::take(&mut self.spare);
                self.apply_fault(world, action, &mut next);
                self.spare = next;
                self.plan.is_built = true;
            }
        }
        Some(self.spare.fingerprint)
    }

    /// Writes the successor of `world` by the action that was planned last.
    pub fn build(&mut self, world: &World, next: &mut World) {
        if self.plan.is_built {
            next.clone_from(&self.spare);
        } else {
            if let Some(outcome) = self.plan.plain {
                self.complete_simple_plan(world, outcome);
            }
            self.build_into(world, next);
            next.fingerprint = self.plan.fingerprint;
        }
        debug_assert_eq!(next.fingerprint, self.fingerprint(next), "fingerprints are kept by differences");
    }

    /// The successor of `world` by `action`.
    pub fn apply(&mut self, world: &World, action: Action) -> Option<World> {
        self.plan(world, action)?;
        let mut next = World::default();
        self.build(world, &mut next);
        Some(next)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("rules", &self.rules).finish_non_exhaustive()
    }
}
