//! Envelopes, slots and reactions, independent of the types of a harness.
//!
//! The part of [`ModelTables`](crate::ModelTables) that needs no types, so that it is compiled once
//! and not once for each harness. It drives the actors through [`ErasedActors`], in which messages,
//! states and results are ids.

use std::{
    cell::Cell,
    hash::{Hash, Hasher},
};

use clewline_core::Interner;
use rustc_hash::FxHashMap;

use crate::{
    actor::ActorId,
    hashed_interner::HashedInterner,
    interned::{
        ABSENT, BadHandler, Effect, Envelope, EnvelopeId, Fingerprint, HandlerFault, HandlerOutcome, Input,
        LocalId, MessageId, ReturnId, StartOutcome,
    },
    world::Delivery,
};

/// Actors and a harness, their types forgotten.
pub(crate) trait ErasedActors {
    /// The request of an operation, before which its client has made `n` calls.
    fn request(&mut self, operation: usize, n: u32) -> MessageId;

    /// The hash of a message.
    fn hash(&self, message: MessageId) -> Fingerprint;

    /// See [`Harness::key`](crate::Harness::key).
    fn key(&mut self, message: MessageId) -> Option<u64>;

    /// See [`Harness::response`](crate::Harness::response).
    fn response(&mut self, message: MessageId) -> Option<ReturnId>;

    /// See [`Harness::misunderstood`](crate::Harness::misunderstood).
    fn misunderstood(&self, message: MessageId) -> Option<String>;

    /// See [`Harness::is_immediate`](crate::Harness::is_immediate).
    fn is_immediate(&self, message: MessageId) -> bool;

    /// See [`Harness::is_response_to`](crate::Harness::is_response_to).
    fn is_response_to(&self, request: MessageId, response: MessageId) -> bool;

    /// A message as `Debug` shows it.
    fn show(&self, message: MessageId) -> String;

    /// Makes the initial actors. They are [started](Self::start) in order.
    fn create_roots(&mut self);

    /// Starts the actor created last, or the next initial actor. `choose` returns
    /// `scripted_choices`.
    fn start(&mut self, id: ActorId, scripted_choices: Vec<u32>) -> Result<Reaction, HandlerFault>;

    /// Runs a handler on a copy of an actor. `choose` returns `scripted_choices`.
    fn react(
        &mut self,
        local: LocalId,
        cause: Cause,
        scripted_choices: Vec<u32>,
    ) -> Result<Reaction, HandlerFault>;

    /// The next output of the last handler whose outputs are not used up. `None`, once, at their
    /// end.
    fn next_output(&mut self) -> Option<Output>;

    /// Drops unread outputs.
    fn forget_outputs(&mut self);

    /// The actor in this state.
    fn id(&self, local: LocalId) -> ActorId;

    /// Whether a property holds in a state, and whether it has read the messages in flight or the
    /// crashed actors.
    fn holds(&self, property: usize, state: &State<'_>) -> (bool, bool);
}

/// The result of running a handler, besides its outputs.
pub(crate) struct Reaction {
    /// The actor afterwards.
    pub(crate) local: LocalId,
    /// The number of alternatives of each choice.
    pub(crate) choice_counts: Vec<u32>,
}

/// The input of a handler.
#[derive(Clone, Copy)]
pub(crate) enum Cause {
    Message(ActorId, MessageId),
    Timer(MessageId),
    Restart,
}

/// One output of a handler.
pub(crate) enum Output {
    Send(ActorId, MessageId),
    SetTimer(MessageId),
    CancelTimer(MessageId),
    Create(ActorId),
}

/// A global state, as passed to a property.
pub(crate) struct State<'a> {
    /// The actors, by id.
    pub(crate) actors: &'a [(ActorId, LocalId)],
    /// The messages in flight, and timers.
    pub(crate) in_flight: &'a [EnvelopeId],
    pub(crate) envelopes: &'a [Envelope],
    pub(crate) crashed: &'a [ActorId],
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Address {
    from: ActorId,
    to: ActorId,
    message: MessageId,
    message_hash: Fingerprint,
    is_timer: bool,
}

// Uses the hash of the message and not its id: the id depends on the order of discovery.
impl Hash for Address {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (self.from, self.to, self.message_hash, self.is_timer).hash(state);
    }
}

/// Envelopes, slots, and the requests of a scenario.
pub(crate) struct EnvelopeTable {
    // For each operation, its client and the receiver of its request.
    calls: Vec<(u32, ActorId)>,
    delivery: Delivery,
    addresses: HashedInterner<Address>,
    details: Vec<Envelope>,
    lanes: FxHashMap<(ActorId, ActorId), u32>,
    slots: Interner<ActorId>,
    requests: Vec<EnvelopeId>,
    roots: usize,
    // Whether a property has read the messages in flight, or the crashed actors.
    has_read_network_state: Cell<bool>,
}

impl EnvelopeTable {
    /// A table with the requests of these calls: for each, its client and the receiver. The system
    /// has `roots` initial actors.
    pub(crate) fn new(
        actors: &mut dyn ErasedActors,
        roots: usize,
        calls: Vec<(u32, ActorId)>,
        delivery: Delivery,
    ) -> EnvelopeTable {
        let mut ledger = EnvelopeTable {
            calls,
            delivery,
            addresses: HashedInterner::new(4),
            details: Vec::new(),
            lanes: FxHashMap::default(),
            slots: Interner::new(),
            requests: Vec::new(),
            roots,
            has_read_network_state: Cell::new(false),
        };
        (0..roots as u32).for_each(|it| _ = ledger.slot(ActorId::new(it)));
        ledger.intern_requests(actors);
        ledger
    }

    pub(crate) fn roots(&self) -> usize {
        self.roots
    }

    pub(crate) fn request(&self, operation: u32) -> EnvelopeId {
        self.requests[operation as usize]
    }

    pub(crate) fn envelopes(&self) -> &[Envelope] {
        &self.details
    }

    pub(crate) fn slots(&self) -> &[ActorId] {
        self.slots.values()
    }

    pub(crate) fn has_read_network_state(&self) -> bool {
        self.has_read_network_state.get()
    }

    fn intern_requests(&mut self, actors: &mut dyn ErasedActors) {
        let mut made: FxHashMap<u32, u32> = FxHashMap::default();
        for at in 0..self.calls.len() {
            let (client, to) = self.calls[at];
            let n = made.entry(client).or_default();
            let message = actors.request(at, *n);
            *n += 1;
            let id = self.envelope(actors, ActorId::client(client), to, message, false);
            self.details[id.0 as usize].request_of |= 1 << at;
            self.requests.push(id);
        }
    }

    fn slot(&mut self, actor: ActorId) -> u32 {
        self.slots.intern(actor)
    }

    fn envelope(
        &mut self,
        actors: &mut dyn ErasedActors,
        from: ActorId,
        to: ActorId,
        message: MessageId,
        is_timer: bool,
    ) -> EnvelopeId {
        let address = Address { from, to, message, message_hash: actors.hash(message), is_timer };
        let id = self.addresses.intern(address);
        if id as usize == self.details.len() {
            let fact = self.describe_envelope(actors, id, address);
            self.details.push(fact);
        }
        EnvelopeId(id)
    }

    fn describe_envelope(&mut self, actors: &mut dyn ErasedActors, id: u32, address: Address) -> Envelope {
        let Address { from, to, is_timer, message, .. } = address;
        let (mut response, mut response_to) = (None, 0);
        let key = actors.key(message);
        if to.is_client()
            && let Some(ret) = actors.response(message)
        {
            let calls = self.calls.iter().zip(&self.requests).enumerate();
            for (at, (_, request)) in calls.filter(|(_, (it, _))| ActorId::client(it.0) == to) {
                let asked = self.details[request.0 as usize].message;
                response_to |= u64::from(actors.is_response_to(asked, message)) << at;
            }
            response = Some(ret);
        }
        let slot = if to.is_client() { to.index() } else { self.slot(to) };
        let hash = self.addresses.hashes()[id as usize];
        let lane = match self.delivery {
            _ if is_timer => id,
            Delivery::Unordered => id,
            Delivery::FifoPerChannel => *self.lanes.entry((from, to)).or_insert(id),
            Delivery::FifoPerReceiver => *self.lanes.entry((to, to)).or_insert(id),
        };
        let is_internal = !is_timer && !from.is_client() && !to.is_client();
        let is_immediate = is_internal && actors.is_immediate(message);
        Envelope {
            from,
            to,
            message,
            is_timer,
            is_immediate,
            slot,
            response,
            response_to,
            request_of: 0,
            key,
            hash,
            lane,
        }
    }

    // Interns the outputs of an actor, which received `input` or has just started. Actors that it
    // created start at once; `run` supplies the results of `choose` and collects the numbers of
    // alternatives.
    fn record_outputs(
        &mut self,
        actors: &mut dyn ErasedActors,
        me: ActorId,
        input: Option<Input>,
        run: &mut ChoiceRun,
    ) -> Result<(), BadHandler> {
        while let Some(output) = actors.next_output() {
            let effect = match output {
                Output::Send(to, message) => {
                    // An actor has a slot since it was created.
                    if !to.is_client() && self.slots.find(&to).is_none() {
                        let why = HandlerFault::NoReceiver(actors.show(message), to);
                        return Err(BadHandler { actor: me, input: self.show(actors, input), why });
                    }
                    let known = self.details.len();
                    let envelope = self.envelope(actors, me, to, message, false);
                    // One that was sent before has been understood.
                    if to.is_client()
                        && known != self.details.len()
                        && let Some(why) = actors.misunderstood(message)
                    {
                        let why = HandlerFault::Misunderstood(actors.show(message), to, why);
                        return Err(BadHandler { actor: me, input: self.show(actors, input), why });
                    }
                    Effect::Send(envelope)
                }
                Output::SetTimer(timer) => Effect::SetTimer(self.envelope(actors, me, me, timer, true)),
                Output::CancelTimer(timer) => Effect::CancelTimer(self.envelope(actors, me, me, timer, true)),
                Output::Create(id) => {
                    let slot = self.slot(id);
                    let at = run.effects.len();
                    let local = self.start_one(actors, id, run)?;
                    run.effects.insert(at, Effect::Create(slot, local));
                    continue;
                }
            };
            if let Effect::SetTimer(id) | Effect::CancelTimer(id) = effect {
                run.effects.retain(
                    |it| !matches!(it, Effect::SetTimer(other) | Effect::CancelTimer(other) if *other == id),
                );
            }
            run.effects.push(effect);
        }
        Ok(())
    }

    fn start_one(
        &mut self,
        actors: &mut dyn ErasedActors,
        id: ActorId,
        run: &mut ChoiceRun,
    ) -> Result<LocalId, BadHandler> {
        let reaction = actors.start(id, run.remaining());
        let Reaction { local, choice_counts: choices } =
            reaction.map_err(|why| BadHandler { actor: id, input: self.show(actors, None), why })?;
        run.choice_counts.extend(choices);
        self.record_outputs(actors, id, None, run)?;
        Ok(local)
    }

    pub(crate) fn start(&mut self, actors: &mut dyn ErasedActors) -> Result<Vec<StartOutcome>, BadHandler> {
        let roots = self.roots as u32;
        let starts = every_choice_sequence(|run| {
            actors.create_roots();
            (0..roots).map(|it| self.start_one(actors, ActorId::new(it), run)).collect()
        });
        actors.forget_outputs();
        starts
    }

    fn react_once(
        &mut self,
        actors: &mut dyn ErasedActors,
        local: LocalId,
        input: Input,
        run: &mut ChoiceRun,
    ) -> Result<LocalId, BadHandler> {
        let cause = match input {
            Input::Envelope(id) => {
                let Envelope { from, message, is_timer, .. } = self.details[id.0 as usize];
                if is_timer { Cause::Timer(message) } else { Cause::Message(from, message) }
            }
            Input::Restart => Cause::Restart,
        };
        let reaction = actors.react(local, cause, run.remaining());
        let reaction = reaction.map_err(|why| self.describe_fault(actors, local, input, why))?;
        run.choice_counts.extend(reaction.choice_counts);
        let me = actors.id(local);
        self.record_outputs(actors, me, Some(input), run)?;
        Ok(reaction.local)
    }

    fn react_all_choices(
        &mut self,
        actors: &mut dyn ErasedActors,
        local: LocalId,
        input: Input,
    ) -> Result<Vec<HandlerOutcome>, BadHandler> {
        let outcomes = every_choice_sequence(|run| self.react_once(actors, local, input, run));
        actors.forget_outputs();
        Ok(outcomes?.into_iter().map(|(local, effects)| HandlerOutcome { local, effects }).collect())
    }

    pub(crate) fn react(
        &mut self,
        actors: &mut dyn ErasedActors,
        local: LocalId,
        input: Input,
    ) -> Result<Vec<HandlerOutcome>, (BadHandler, Vec<HandlerOutcome>)> {
        let nothing = || vec![HandlerOutcome { local, effects: Vec::new() }];
        let outcomes = self.react_all_choices(actors, local, input).map_err(|bad| (bad, nothing()))?;
        match self.react_all_choices(actors, local, input) {
            Ok(again) if again == outcomes => Ok(outcomes),
            Ok(_) => Err((self.describe_fault(actors, local, input, HandlerFault::NotPure), outcomes)),
            Err(bad) => Err((bad, outcomes)),
        }
    }

    pub(crate) fn describe_fault(
        &self,
        actors: &dyn ErasedActors,
        local: LocalId,
        input: Input,
        why: HandlerFault,
    ) -> BadHandler {
        BadHandler { actor: actors.id(local), input: self.show(actors, Some(input)), why }
    }

    fn show(&self, actors: &dyn ErasedActors, input: Option<Input>) -> String {
        match input {
            None => "its start".to_owned(),
            Some(Input::Envelope(id)) => {
                let fact = self.details[id.0 as usize];
                let message = actors.show(fact.message);
                if fact.is_timer {
                    format!("timer {message}")
                } else {
                    format!("message {message} from {}", fact.from)
                }
            }
            Some(Input::Restart) => "a restart".to_owned(),
        }
    }

    pub(crate) fn holds(
        &self,
        actors: &dyn ErasedActors,
        property: usize,
        locals: &[LocalId],
        in_flight: &[EnvelopeId],
        down: u64,
    ) -> bool {
        let present = self.slots.values().iter().copied().zip(locals.iter().copied());
        let mut present: Vec<_> = present.filter(|it| it.1 != ABSENT).collect();
        present.sort_unstable_by_key(|it| it.0);
        let crashed: Vec<_> = crate::histories::operations(down).map(|it| self.slots[it]).collect();
        let state = State { actors: &present, in_flight, envelopes: &self.details, crashed: &crashed };
        let (holds, has_looked) = actors.holds(property, &state);
        if has_looked {
            self.has_read_network_state.set(true);
        }
        holds
    }
}

// One sequence of choices of actors.
struct ChoiceRun {
    scripted_choices: Vec<u32>,
    // The number of alternatives of each choice so far.
    choice_counts: Vec<u32>,
    effects: Vec<Effect>,
}

impl ChoiceRun {
    fn remaining(&self) -> Vec<u32> {
        self.scripted_choices.get(self.choice_counts.len()..).unwrap_or_default().to_vec()
    }
}

// Maximum number of outcomes of one step: more could not be explored anyway.
const STEP_OUTCOMES_MAX: usize = 1 << 12;

// The results of `run` for every sequence of choices, in lexicographic order.
fn every_choice_sequence<T, E>(
    mut run: impl FnMut(&mut ChoiceRun) -> Result<T, E>,
) -> Result<Vec<(T, Vec<Effect>)>, E> {
    let mut outcomes = Vec::new();
    let mut scripted_choices = Vec::new();
    loop {
        assert!(
            outcomes.len() < STEP_OUTCOMES_MAX,
            "what actors choose in one step leads to at most 4096 outcomes"
        );
        let mut this = ChoiceRun { scripted_choices, choice_counts: Vec::new(), effects: Vec::new() };
        let result = run(&mut this)?;
        outcomes.push((result, this.effects));
        scripted_choices = this.scripted_choices;
        scripted_choices.resize(this.choice_counts.len(), 0);
        loop {
            let Some(last) = scripted_choices.pop() else { return Ok(outcomes) };
            if last + 1 < this.choice_counts[scripted_choices.len()] {
                scripted_choices.push(last + 1);
                break;
            }
        }
    }
}
