//! Plans: the successor of a world by an action, as differences.

use std::ops::Range;

use crate::{
    engine::{Engine, RECENT_REACTIONS, ReactionOutcome, lock},
    harness::Clients,
    histories::{HistoryEvent, HistoryId},
    interned::{
        ABSENT, Effect, Envelope, EnvelopeId, Fingerprint, HandlerFault, HandlerOutcome, Input, LocalId,
        ReturnId, mix,
    },
    world::{Delivery, Ignored, World},
};

// One of this many cache hits runs the handler again, to check that it is pure.
const PURITY_CHECK_INTERVAL_HITS: u64 = 1 << 12;

// Not the id of an envelope.
const RESTART_INPUT: u32 = u32::MAX;

impl Engine {
    pub(crate) fn begin(&mut self, outcome: usize) {
        let (locals, effects) = self.starts[outcome].clone();
        let mut next = World { locals, is_begun: true, ..World::default() };
        effects.into_iter().for_each(|it| self.plan_effect(&next, it));
        let firsts = (0..self.same_client.len() as u32)
            .filter(|&it| self.same_client[it as usize].trailing_zeros() == it);
        firsts.collect::<Vec<_>>().into_iter().for_each(|it| self.plan_request(it));
        next.history = self.plan.history;
        for &(slot, local) in &self.plan.created {
            set_local(&mut next.locals, slot, local);
        }
        for &id in &self.plan.sent {
            self.send(&mut next, id);
        }
        next.fingerprint = self.fingerprint(&next);
        self.spare = next;
        self.plan.is_built = true;
    }

    /// The fingerprint of the successor by a delivery, as in [`plan`](Self::plan), and the number
    /// of its outcomes.
    pub(crate) fn plan_delivery(
        &mut self,
        world: &World,
        at: usize,
        outcome: u16,
    ) -> (Option<Fingerprint>, u16) {
        let id = world.in_flight[at];
        let hot = self.hot[id.0 as usize];
        if hot.is_plain {
            let (start, end) = self.reaction(world.locals[hot.slot as usize], Input::Envelope(id));
            let which = start + u32::from(outcome);
            let reacted = &self.outcomes[which as usize];
            let ways = (end - start) as u16;
            if self.is_left_out(reacted, hot) {
                return (None, ways);
            }
            if reacted.is_plain {
                return (Some(self.plan_simple_delivery(world, at, hot.slot, which)), ways);
            }
        }
        self.plan.clear(world);
        self.plan.removed = Some(at);
        let mut ways = 1;
        if hot.is_to_client {
            self.plan_return(id);
        } else {
            if hot.is_request {
                self.plan_call(id);
            }
            ways = self.plan_reaction(world, hot.slot, Input::Envelope(id), outcome);
        }
        if self.rules.ignored == Ignored::Stays && !hot.is_timer && self.is_ignored(world) {
            return (None, ways);
        }
        self.plan.fingerprint = self.planned_fingerprint(world);
        (Some(self.plan.fingerprint), ways)
    }

    /// Plans a plain delivery, by the index of its outcome.
    pub(crate) fn plan_simple_delivery(
        &mut self,
        world: &World,
        at: usize,
        slot: u32,
        which: u32,
    ) -> Fingerprint {
        let ReactionOutcome { local, change, .. } = self.outcomes[which as usize];
        let gone = self.hot[world.in_flight[at].0 as usize].hash;
        let plan = &mut self.plan;
        (plan.is_built, plan.plain, plan.history) = (false, Some(which), world.history);
        (plan.removed, plan.local) = (Some(at), Some((slot, local)));
        plan.fingerprint = world.fingerprint.wrapping_add(change).wrapping_sub(gone);
        plan.fingerprint
    }

    fn is_ignored(&self, world: &World) -> bool {
        let plan = &self.plan;
        plan.local.is_none_or(|(slot, it)| world.locals[slot as usize] == it)
            && plan.sent.is_empty()
            && plan.cancelled.is_empty()
            && plan.created.is_empty()
            && plan.events.is_empty()
    }

    // Plans `outcome`, and returns the number of outcomes.
    pub(crate) fn plan_reaction(&mut self, world: &World, slot: u32, input: Input, outcome: u16) -> u16 {
        let (start, end) = self.reaction(world.locals[slot as usize], input);
        let ReactionOutcome { local, first, last, .. } = self.outcomes[start as usize + outcome as usize];
        self.plan.local = Some((slot, local));
        for at in first..last {
            let effect = self.effects[at as usize];
            self.plan_effect(world, effect);
        }
        (end - start) as u16
    }

    /// The range of the outcomes of a reaction.
    pub(crate) fn reaction(&mut self, local: LocalId, input: Input) -> (u32, u32) {
        let key = match input {
            Input::Envelope(id) => id.0,
            Input::Restart => RESTART_INPUT,
        };
        let key = u64::from(local.0) << 32 | u64::from(key);
        let place = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (RECENT_REACTIONS - 1);
        let (known, found) = self.recent_reactions[place];
        let found = if known == key { Some(found) } else { self.reactions.get(&key).copied() };
        if let Some(found) = found {
            self.hits += 1;
            if self.hits.is_multiple_of(PURITY_CHECK_INTERVAL_HITS) {
                self.check_purity(local, input, found);
            }
            self.recent_reactions[place] = (key, found);
            return found;
        }
        let shared = self.shared.clone();
        let mut model = lock(&shared.model);
        let outcomes = match model.react(local, input) {
            Ok(outcomes) => outcomes,
            Err((bad_handler, outcomes)) => {
                self.bad_handler.get_or_insert(bad_handler);
                outcomes
            }
        };
        self.copy_numbers(&*model);
        let start = self.outcomes.len() as u32;
        outcomes.into_iter().for_each(|it| self.cache_outcome(local, it));
        let range = (start, self.outcomes.len() as u32);
        self.reactions.insert(key, range);
        range
    }

    fn cache_outcome(&mut self, before: LocalId, HandlerOutcome { local, effects }: HandlerOutcome) {
        let is_plain = |it: &Effect| match *it {
            Effect::Send(id) => self.clients == Clients::Waiting || !self.hot[id.0 as usize].is_to_client,
            Effect::SetTimer(_) | Effect::CancelTimer(_) | Effect::Create(..) => false,
        };
        let is_plain = self.rules.delivery == Delivery::Unordered && effects.iter().all(is_plain);
        let mut change = self.local_hash(local).wrapping_sub(self.local_hash(before));
        for effect in &effects {
            if let (true, Effect::Send(id)) = (is_plain, *effect) {
                change = change.wrapping_add(self.in_flight_hash(id, 0));
            }
        }
        let is_nothing = local == before && effects.is_empty();
        let first = self.effects.len() as u32;
        self.effects.extend(effects);
        let last = self.effects.len() as u32;
        self.outcomes.push(ReactionOutcome {
            local,
            first,
            last,
            is_plain,
            has_no_effect: is_nothing,
            change,
        });
    }

    /// Adds the sent messages to a plan of which only the fingerprint was computed.
    pub(crate) fn complete_simple_plan(&mut self, world: &World, outcome: u32) {
        let (removed, local) = (self.plan.removed, self.plan.local);
        self.plan.clear(world);
        (self.plan.removed, self.plan.local) = (removed, local);
        let ReactionOutcome { first, last, .. } = self.outcomes[outcome as usize];
        for at in first..last {
            let effect = self.effects[at as usize];
            self.plan_effect(world, effect);
        }
    }

    fn check_purity(&mut self, local: LocalId, input: Input, (start, end): (u32, u32)) {
        let shared = self.shared.clone();
        let mut model = lock(&shared.model);
        let known = &self.outcomes[start as usize..end as usize];
        let is_same = |outcomes: &[HandlerOutcome]| {
            outcomes.len() == known.len()
                && outcomes.iter().zip(known).all(|(now, it)| {
                    now.local == it.local && now.effects == self.effects[it.first as usize..it.last as usize]
                })
        };
        let bad = match model.react(local, input) {
            Ok(outcomes) if is_same(&outcomes) => None,
            Ok(_) => Some(model.describe_fault(local, input, HandlerFault::NotPure)),
            Err((bad, _)) => Some(bad),
        };
        self.bad_handler = self.bad_handler.take().or(bad);
        self.copy_numbers(&*model);
    }

    fn plan_effect(&mut self, world: &World, effect: Effect) {
        match effect {
            Effect::Send(id) => {
                if self.clients == Clients::Tight && self.hot[id.0 as usize].is_to_client {
                    self.plan_return(id);
                } else {
                    self.plan.sent.push(id);
                }
            }
            Effect::SetTimer(id) => {
                if !self.is_set(world, id) {
                    self.plan.sent.push(id);
                }
            }
            Effect::CancelTimer(id) => {
                if self.is_set(world, id) {
                    self.plan.cancelled.push(id);
                }
            }
            Effect::Create(slot, local) => self.plan.created.push((slot, local)),
        }
    }

    // Whether a timer is set, and not just going off.
    fn is_set(&self, world: &World, timer: EnvelopeId) -> bool {
        let mut in_flight = world.in_flight.iter().enumerate();
        in_flight.any(|(at, &it)| it == timer && self.plan.removed != Some(at))
    }

    // Puts the request of an operation in flight. Where clients wait, this is when it is called.
    fn plan_request(&mut self, operation: u32) {
        if self.clients == Clients::Waiting {
            self.plan_event(HistoryEvent::Call(operation));
        }
        self.plan.sent.push(self.requests[operation as usize]);
    }

    // A request is received, which is when a call counts as having happened.
    fn plan_call(&mut self, id: EnvelopeId) {
        if let Some(operation) = self.called_by(self.plan.history, self.envelope(id)) {
            self.plan_event(HistoryEvent::Call(operation));
        }
    }

    /// The operation that is called when `envelope` is received, if calls take place then. A
    /// duplicate of a request calls nothing.
    pub(crate) fn called_by(&self, history: HistoryId, envelope: &Envelope) -> Option<u32> {
        let summary = self.summary(history);
        let asked = envelope.request_of & !summary.called;
        if asked == 0 || self.clients != Clients::Tight {
            return None;
        }
        let operation = asked.trailing_zeros();
        let earlier = self.same_client[operation as usize] & ((1 << operation) - 1);
        (earlier & !summary.returned == 0).then_some(operation)
    }

    // A client receives a response. It ignores a response that does not belong to its pending call.
    fn plan_return(&mut self, id: EnvelopeId) {
        let envelope = *self.envelope(id);
        let summary = self.summary(self.plan.history);
        let open = summary.called & !summary.returned & envelope.response_to;
        if envelope.response.is_some() {
            self.plan.notified.push(envelope.to);
        }
        let Some(ret) = envelope.response.filter(|_| open != 0) else { return };
        let operation = open.trailing_zeros();
        self.plan_event(HistoryEvent::Return(operation, ret));
        let next = self.same_client[operation as usize] & !summary.called;
        if next != 0 {
            self.plan_request(next.trailing_zeros());
        }
    }

    fn plan_event(&mut self, event: HistoryEvent) {
        self.plan.events.push(event);
        self.plan.history = self.step(self.plan.history, event);
    }

    pub(crate) fn step(&mut self, history: HistoryId, event: HistoryEvent) -> HistoryId {
        let code = match event {
            HistoryEvent::Call(operation) => operation,
            HistoryEvent::Return(operation, ReturnId(ret)) => (ret + 1) << 6 | operation,
        };
        if let Some(&found) = self.steps.get(&(history, code)) {
            return found;
        }
        let shared = self.shared.clone();
        let hash = match event {
            HistoryEvent::Call(_) => 0,
            HistoryEvent::Return(_, ret) => lock(&shared.model).return_hashes()[ret.0 as usize],
        };
        let mut histories = lock(&shared.histories);
        let next = histories.step(history, event, hash);
        self.copy_histories(&histories);
        self.steps.insert((history, code), next);
        next
    }

    fn planned_fingerprint(&self, world: &World) -> Fingerprint {
        let plan = &self.plan;
        let mut sum = world.fingerprint;
        if let Some((slot, local)) = plan.local {
            let before = world.locals[slot as usize];
            sum = sum.wrapping_sub(self.local_hash(before)).wrapping_add(self.local_hash(local));
        }
        for &(_, local) in &plan.created {
            sum = sum.wrapping_add(self.local_hash(local));
        }
        if plan.history != world.history {
            let hash = |it: HistoryId| self.history_hashes[it.0 as usize];
            sum = sum.wrapping_sub(hash(world.history)).wrapping_add(hash(plan.history));
        }
        for &timer in &plan.cancelled {
            sum = sum.wrapping_sub(self.in_flight_hash(timer, 0));
        }
        match self.rules.delivery {
            Delivery::Unordered => sum.wrapping_add(self.in_flight_change(world)),
            Delivery::FifoPerChannel | Delivery::FifoPerReceiver => {
                sum.wrapping_add(self.in_flight_change_in_lanes(world))
            }
        }
    }

    // The change of the fingerprint by messages that enter or leave flight, if they are unordered:
    // each message adds its hash once.
    fn in_flight_change(&self, world: &World) -> Fingerprint {
        let sent = self.plan.sent.iter();
        let sum = sent.fold(0, |sum: u128, &id| sum.wrapping_add(self.in_flight_hash(id, 0)));
        let removed = self.plan.removed.map_or(0, |at| self.in_flight_hash(world.in_flight[at], 0));
        sum.wrapping_sub(removed)
    }

    fn in_flight_change_in_lanes(&self, world: &World) -> Fingerprint {
        let plan = &self.plan;
        let mut sum: Fingerprint = 0;
        if let Some(at) = plan.removed {
            let run = self.lane_range(world, self.lane(world.in_flight[at]));
            for (place, &id) in world.in_flight[run.clone()].iter().enumerate() {
                sum = sum.wrapping_sub(self.in_flight_hash(id, place));
                // It was the first of its lane; the others move up.
                if place != 0 {
                    sum = sum.wrapping_add(self.in_flight_hash(id, place - 1));
                }
            }
        }
        for (nth, &id) in plan.sent.iter().enumerate() {
            let lane = self.lane(id);
            let run = self.lane_range(world, lane);
            let removed = plan.removed.is_some_and(|it| run.contains(&it));
            let before = plan.sent[..nth].iter().filter(|&&it| self.lane(it) == lane).count();
            sum = sum.wrapping_add(self.in_flight_hash(id, run.len() - usize::from(removed) + before));
        }
        sum
    }

    pub(crate) fn build_into(&self, world: &World, next: &mut World) {
        let plan = &self.plan;
        next.clone_from(world);
        next.history = plan.history;
        if let Some((slot, local)) = plan.local {
            next.locals[slot as usize] = local;
        }
        for &(slot, local) in &plan.created {
            set_local(&mut next.locals, slot, local);
        }
        if let Some(at) = plan.removed {
            next.in_flight.remove(at);
        }
        if !plan.cancelled.is_empty() {
            next.in_flight.retain(|it| !plan.cancelled.contains(it));
        }
        for &id in &plan.sent {
            self.send(next, id);
        }
    }

    /// Puts an envelope in flight, as the last of its lane.
    pub(crate) fn send(&self, world: &mut World, id: EnvelopeId) {
        let lane = self.lane(id);
        let end = world.in_flight.partition_point(|&it| self.lane(it) <= lane);
        world.in_flight.insert(end, id);
    }

    /// The range of the messages of a lane.
    pub(crate) fn lane_range(&self, world: &World, lane: u32) -> Range<usize> {
        let start = world.in_flight.partition_point(|&it| self.lane(it) < lane);
        start..world.in_flight.partition_point(|&it| self.lane(it) <= lane)
    }

    pub(crate) fn lane(&self, id: EnvelopeId) -> u32 {
        match self.rules.delivery {
            // Every envelope has a separate lane.
            Delivery::Unordered => id.0,
            Delivery::FifoPerChannel | Delivery::FifoPerReceiver => self.hot[id.0 as usize].lane,
        }
    }

    fn local_hash(&self, local: LocalId) -> Fingerprint {
        if local == ABSENT { 0 } else { self.local_hashes[local.0 as usize] }
    }

    // With ordered delivery, depends on the position in the lane.
    fn in_flight_hash(&self, id: EnvelopeId, place: usize) -> Fingerprint {
        let hash = self.hot[id.0 as usize].hash;
        match self.rules.delivery {
            Delivery::Unordered => hash,
            Delivery::FifoPerChannel | Delivery::FifoPerReceiver if place == 0 => hash,
            Delivery::FifoPerChannel | Delivery::FifoPerReceiver => mix(hash.wrapping_add(place as u128)),
        }
    }

    /// The fingerprint of a world, from scratch.
    pub(crate) fn fingerprint(&self, world: &World) -> Fingerprint {
        let used = world.used;
        let budgets = u32::from_le_bytes([used.lose, used.duplicate, used.crash, used.partition]);
        // The upper half distinguishes the parts.
        let parts = [
            1 << 64 | u128::from(budgets),
            2 << 64 | u128::from(world.down),
            3 << 64 | u128::from(world.cut),
        ];
        let mut sum = parts.into_iter().fold(0, |sum: u128, it| sum.wrapping_add(mix(it)));
        sum = sum.wrapping_add(self.history_hashes[world.history.0 as usize]);
        sum = world.locals.iter().fold(sum, |sum, &it| sum.wrapping_add(self.local_hash(it)));
        let (mut lane, mut place) = (None, 0);
        for &id in &world.in_flight {
            let this = self.lane(id);
            place = if lane == Some(this) { place + 1 } else { 0 };
            lane = Some(this);
            sum = sum.wrapping_add(self.in_flight_hash(id, place));
        }
        sum
    }
}

fn set_local(locals: &mut Vec<LocalId>, slot: u32, local: LocalId) {
    let slot = slot as usize;
    if locals.len() <= slot {
        locals.resize(slot + 1, ABSENT);
    }
    locals[slot] = local;
}
