//! The engine: what can happen in a world, and what comes of it.
//!
//! Reactions and steps of histories are remembered, so that user code runs once for each state of an actor and message, and not
//! once for each global state. What is remembered is private to an engine; the numbers behind it are shared by all engines
//! of a system, one a thread, so that a world means the same to each of them.
//!
//! An action is first *planned*, which gives the fingerprint of what comes of it, and *built* only if that is new.
//!
//! Invariant: a world's fingerprint is the sum of the hashes of its parts, kept up to date by differences. Debug builds compare.

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
    histories::{Histories, HistoryEvent, HistoryId, Summary},
    interned::{
        ABSENT, BadHandler, Effect, Envelope, EnvelopeId, Fingerprint, HandlerFault, Input, InternedModel,
        LocalId, Start, mix,
    },
    world::{Action, Delivery, Ignored, Rules, World},
};

/// What everyone who explores one system shares.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) numbers: Arc<Mutex<dyn InternedModel>>,
    pub(crate) histories: Arc<Mutex<Histories>>,
}

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no handler panicked")
}

/// What can happen in a world, and what comes of it.
pub struct Engine {
    pub(crate) shared: Shared,
    pub(crate) rules: Rules,
    pub(crate) clients: Clients,
    // For each operation, those of the same client.
    pub(crate) same_client: Vec<u64>,
    pub(crate) requests: Vec<EnvelopeId>,
    pub(crate) roots: usize,
    // What may come of starting all actors: who is there, and what they did.
    pub(crate) starts: Vec<Start>,
    // Copies of what is shared, as far as it was needed here.
    pub(crate) envelopes: Vec<Envelope>,
    // What is looked at in every step, close together.
    pub(crate) hot: Vec<EnvelopeHotFields>,
    pub(crate) local_hashes: Vec<Fingerprint>,
    pub(crate) summaries: Vec<Summary>,
    // What each history adds to a fingerprint.
    pub(crate) history_hashes: Vec<Fingerprint>,
    pub(crate) slots: Vec<ActorId>,
    // Where the outcomes of a reaction are, by state and input in one word.
    pub(crate) reactions: FxHashMap<u64, (u32, u32)>,
    // Those that were looked up lately, each at a place of its own: the same states and inputs come again and again.
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
    // Whether to receive it is nothing but a reaction: no client sees anything.
    pub(crate) is_plain: bool,
    pub(crate) is_request: bool,
    pub(crate) is_timer: bool,
}

// One thing that comes of a reaction.
#[derive(Clone, Copy)]
pub(crate) struct ReactionOutcome {
    pub(crate) local: LocalId,
    // Where the effects are.
    pub(crate) first: u32,
    pub(crate) last: u32,
    // Whether the actor and what is in flight are all that changes, and order means nothing.
    pub(crate) is_plain: bool,
    // Whether the actor stays as it is, and does nothing.
    pub(crate) has_no_effect: bool,
    // By how much the actor and what it sends change the fingerprint.
    pub(crate) change: Fingerprint,
}

// A delivery, and what comes of it.
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

// What comes of an action.
#[derive(Default)]
pub(crate) struct Plan {
    // Whether the world is in `spare`.
    pub(crate) is_built: bool,
    // The outcome, if it is plain. What is sent is filled in when the world is built: most of the time nobody asks.
    pub(crate) plain: Option<u32>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) history: HistoryId,
    pub(crate) removed: Option<usize>,
    pub(crate) local: Option<(u32, LocalId)>,
    pub(crate) sent: Vec<EnvelopeId>,
    pub(crate) cancelled: Vec<EnvelopeId>,
    pub(crate) created: Vec<(u32, LocalId)>,
    pub(crate) events: Vec<HistoryEvent>,
    // The clients that were told something, whether or not it returned anything to them.
    pub(crate) notified: Vec<ActorId>,
}

// How many reactions are kept at hand; a power of two.
pub(crate) const RECENT_REACTIONS: usize = 1 << 13;

// Starts all actors, twice.
fn start(numbers: &mut dyn InternedModel) -> (Vec<Start>, Option<BadHandler>) {
    let (starts, again) = match (numbers.start(), numbers.start()) {
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
        let requests = (0..owners.len() as u32).map(|it| lock(&shared.numbers).request(it)).collect();
        let (starts, bad_handler) = start(&mut *lock(&shared.numbers));
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

    /// Another engine for the same system, that remembers nothing yet.
    #[must_use]
    pub fn fork(&self) -> Engine {
        let owners: Vec<u32> = self.same_client.iter().map(|it| it.trailing_zeros()).collect();
        Engine::new(self.shared.clone(), self.rules, self.clients, &owners, self.roots)
    }

    /// The world before anything happened: the only thing that can happen is that actors start.
    #[must_use]
    pub fn unstarted_world(&self) -> World {
        World { fingerprint: 1, ..World::default() }
    }

    /// The rules of the surroundings.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// How many actors the system begins with.
    #[must_use]
    pub fn roots(&self) -> usize {
        self.roots
    }

    /// How many operations the scenario has.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.same_client.len()
    }

    /// What is known about an envelope.
    #[must_use]
    pub fn envelope(&self, id: EnvelopeId) -> &Envelope {
        &self.envelopes[id.0 as usize]
    }

    /// Who calls an operation.
    #[must_use]
    pub fn client_of(&self, operation: u32) -> ActorId {
        self.envelope(self.requests[operation as usize]).from
    }

    /// What is known about a history.
    #[must_use]
    pub fn summary(&self, id: HistoryId) -> Summary {
        self.summaries[id.0 as usize]
    }

    /// Who is in a slot.
    #[must_use]
    pub fn slot(&self, slot: u16) -> ActorId {
        self.slots[slot as usize]
    }

    /// A handler that was found not to be pure, or that panicked: what was explored says little.
    #[must_use]
    pub fn bad_handler(&self) -> Option<&BadHandler> {
        self.bad_handler.as_ref()
    }

    /// The history events of the action that was planned last, in order.
    #[must_use]
    pub fn planned_events(&self) -> &[HistoryEvent] {
        &self.plan.events
    }

    /// What the action that was planned last puts in flight, in order.
    #[must_use]
    pub fn planned_sends(&self) -> &[EnvelopeId] {
        &self.plan.sent
    }

    /// Whether the property at that place is true in `world`, whose actors have started.
    #[must_use]
    pub fn holds(&self, world: &World, property: usize) -> bool {
        lock(&self.shared.numbers).holds(property, &world.locals, &world.in_flight, world.down)
    }

    /// In how many ways, which nobody can tell apart, `action` can happen: messages that say the same are as many.
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

    /// Learns about everything that other engines met.
    pub fn catch_up(&mut self) {
        let shared = self.shared.clone();
        self.copy_numbers(&*lock(&shared.numbers));
        self.copy_histories(&lock(&shared.histories));
    }

    pub(crate) fn copy_numbers(&mut self, numbers: &dyn InternedModel) {
        let new = &numbers.envelopes()[self.envelopes.len()..];
        self.envelopes.extend_from_slice(new);
        let is_tight = self.clients == Clients::Tight;
        self.hot.extend(new.iter().map(|it| EnvelopeHotFields {
            is_plain: !(it.to.is_client() || it.request_of != 0 && is_tight),
            hash: it.hash,
            lane: it.lane,
            slot: it.slot,
            is_to_client: it.to.is_client(),
            is_request: it.request_of != 0,
            is_timer: it.is_timer,
        }));
        self.local_hashes.extend_from_slice(&numbers.local_hashes()[self.local_hashes.len()..]);
        self.slots.extend_from_slice(&numbers.slots()[self.slots.len()..]);
    }

    pub(crate) fn copy_histories(&mut self, histories: &Histories) {
        let new = &histories.summaries()[self.summaries.len()..];
        self.summaries.extend_from_slice(new);
        self.history_hashes.extend(new.iter().map(|it| mix(it.hash)));
    }

    /// Pushes everything that can happen in `world`: in an order that depends on nothing but the world and what numbers its
    /// parts have.
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

    /// Plans every delivery in `world` that is not to be left out.
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
        // Those that are plain come first, perhaps, and were planned.
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

    /// Whether nothing comes of a reaction, and such deliveries are left out.
    pub(crate) fn is_left_out(&self, reacted: &ReactionOutcome, hot: EnvelopeHotFields) -> bool {
        reacted.has_no_effect && self.rules.ignored == Ignored::Stays && !hot.is_timer
    }

    /// Plans one of [these](Self::plan_deliveries) once more.
    pub(crate) fn restore_plan(&mut self, world: &World, delivery: &PlannedDelivery) {
        match delivery.plain {
            Some((which, slot)) => {
                self.plan_simple_delivery(world, delivery.at as usize, slot, which);
            }
            None => _ = self.plan_delivery(world, delivery.at as usize, delivery.outcome),
        }
    }

    /// The first place in `world`, from `start` on, of something that can be delivered: the first of its lane.
    pub(crate) fn next_delivery(&self, world: &World, start: usize) -> Option<usize> {
        (start..world.in_flight.len()).find(|&at| {
            let id = world.in_flight[at];
            let is_first = at == 0 || self.lane(world.in_flight[at - 1]) != self.lane(id);
            is_first && self.is_deliverable(world, id)
        })
    }

    /// Whether nothing but its place in line keeps `id` from being received.
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

    /// The fingerprint of what comes of `action`, which [`build`](Self::build) makes. `None` if nothing comes of it, and such
    /// deliveries are to be left out.
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

    /// What comes of the action that was planned last, in `world`.
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

    /// What comes of `action` in `world`.
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
