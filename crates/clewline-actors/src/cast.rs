//! The cast: who is who, in numbers.
//!
//! The only part of an exploration that is generic in the harness. It keeps every state of an actor, every message, and every
//! return once, under a number, and runs handlers on copies. Everything else sees [`Numbers`].

use std::{
    cell::Cell,
    fmt,
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
};

use clewline_core::{Event, History, Interner, Specification};
use rustc_hash::FxHashMap;

use crate::{
    actor::{ActorId, AnyActor, Context, Output},
    harness::{Glance, Harness, Scenario},
    hashed::Hashed,
    histories::{Histories, HistoryEvent, HistoryId, OPERATIONS_MAX},
    numbers::{
        ABSENT, BadHandler, Effect, Envelope, EnvelopeId, Fingerprint, Input, LocalId, MessageId, Misdeed,
        Numbers, Outcome, ReturnId, Start,
    },
    world::Delivery,
};

/// What a client of `H` calls.
pub type CallOf<H> = <<H as Harness>::Specification as Specification>::Call;
/// What it is told.
pub type ReturnOf<H> = <<H as Harness>::Specification as Specification>::Return;

/// A harness and a scenario, in numbers.
pub struct Cast<H: Harness> {
    harness: H,
    scenario: Scenario<CallOf<H>>,
    properties: Vec<crate::harness::Property<H::Message>>,
    delivery: Delivery,
    locals: Hashed<Local<H::Message>>,
    messages: Hashed<H::Message>,
    returns: Hashed<ReturnOf<H>>,
    envelopes: Hashed<Address>,
    facts: Vec<Envelope>,
    lanes: FxHashMap<(ActorId, ActorId), u32>,
    slots: Interner<ActorId>,
    requests: Vec<EnvelopeId>,
    roots: usize,
    // Whether a property has looked at what is in flight, or at who is down.
    was_looked_at: Cell<bool>,
}

// An actor in one of its states. How many others it has created is part of that.
struct Local<M> {
    actor: ActorId,
    children: u32,
    value: Box<dyn AnyActor<M>>,
}

impl<M> PartialEq for Local<M> {
    fn eq(&self, other: &Self) -> bool {
        (self.actor, self.children) == (other.actor, other.children) && self.value.is(&*other.value)
    }
}

impl<M> Eq for Local<M> {}

impl<M> Hash for Local<M> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (self.actor, self.children).hash(state);
        self.value.feed(state);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Address {
    from: ActorId,
    to: ActorId,
    message: MessageId,
    message_hash: Fingerprint,
    is_timer: bool,
}

// The message's hash, and not its number, so that the envelope's hash does not depend on who was first.
impl Hash for Address {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (self.from, self.to, self.message_hash, self.is_timer).hash(state);
    }
}

/// A scenario that does not fit its system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadScenario {
    /// There are no actors.
    NoActors,
    /// There are too many, this many.
    TooManyActors(usize),
    /// There are too many calls, this many.
    TooManyCalls(usize),
    /// A call, by its place, goes to someone who is not there.
    Nobody(usize, ActorId),
}

impl fmt::Display for BadScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadScenario::NoActors => f.write_str("a system has at least one actor, found none"),
            BadScenario::TooManyActors(n) => {
                write!(f, "a system begins with at most {} actors, found {n}", ActorId::ROOTS_MAX)
            }
            BadScenario::TooManyCalls(n) => {
                write!(f, "a scenario has at most {OPERATIONS_MAX} calls, found {n}")
            }
            BadScenario::Nobody(at, to) => {
                write!(f, "call {}: expected one of the actors the system begins with, found {to}", at + 1)
            }
        }
    }
}

impl std::error::Error for BadScenario {}

impl<H: Harness> Cast<H> {
    /// Numbers for `harness`, used as `scenario` says.
    ///
    /// # Errors
    ///
    /// If the scenario does not fit.
    pub fn new(harness: H, scenario: Scenario<CallOf<H>>, delivery: Delivery) -> Result<Self, BadScenario> {
        let actors = harness.actors().len();
        if actors == 0 {
            return Err(BadScenario::NoActors);
        }
        if (ActorId::ROOTS_MAX as usize) < actors {
            return Err(BadScenario::TooManyActors(actors));
        }
        if OPERATIONS_MAX < scenario.calls.len() {
            return Err(BadScenario::TooManyCalls(scenario.calls.len()));
        }
        let nobody =
            scenario.calls.iter().position(|it| it.to.is_client() || actors <= it.to.index() as usize);
        if let Some(at) = nobody {
            return Err(BadScenario::Nobody(at, scenario.calls[at].to));
        }
        let mut cast = Cast {
            properties: harness.properties(),
            harness,
            scenario,
            delivery,
            locals: Hashed::new(1),
            messages: Hashed::new(2),
            returns: Hashed::new(3),
            envelopes: Hashed::new(4),
            facts: Vec::new(),
            lanes: FxHashMap::default(),
            slots: Interner::new(),
            requests: Vec::new(),
            roots: actors,
            was_looked_at: Cell::new(false),
        };
        (0..actors as u32).for_each(|it| _ = cast.slot(ActorId::new(it)));
        cast.intern_requests();
        Ok(cast)
    }

    /// The harness.
    #[must_use]
    pub fn harness(&self) -> &H {
        &self.harness
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario<CallOf<H>> {
        &self.scenario
    }

    /// How many actors the system begins with.
    #[must_use]
    pub fn roots(&self) -> usize {
        self.roots
    }

    /// What a message says.
    #[must_use]
    pub fn message(&self, id: MessageId) -> &H::Message {
        &self.messages[id.0]
    }

    /// What an operation returned.
    #[must_use]
    pub fn returned(&self, id: ReturnId) -> &ReturnOf<H> {
        &self.returns[id.0]
    }

    /// An actor in one of its states.
    #[must_use]
    pub fn actor(&self, id: LocalId) -> &dyn AnyActor<H::Message> {
        &*self.locals[id.0].value
    }

    /// A canonical history, as a checker wants it.
    #[must_use]
    pub fn history(&self, histories: &Histories, id: HistoryId) -> History<CallOf<H>, ReturnOf<H>> {
        self.chronicle(&histories.events(id))
    }

    /// A history from its events in the order they happened.
    ///
    /// # Panics
    ///
    /// If these are not the events of one execution.
    #[must_use]
    pub fn chronicle(&self, events: &[HistoryEvent]) -> History<CallOf<H>, ReturnOf<H>> {
        let events = events.iter().map(|event| match *event {
            HistoryEvent::Call(operation) => {
                let call = &self.scenario.calls[operation as usize];
                Event::call(call.client, call.call.clone())
            }
            HistoryEvent::Return(operation, ret) => {
                Event::ret(self.scenario.calls[operation as usize].client, self.returned(ret).clone())
            }
        });
        History::from_events(events).expect("clients wait for one call at a time")
    }

    fn intern_requests(&mut self) {
        let mut made: FxHashMap<u32, u32> = FxHashMap::default();
        for at in 0..self.scenario.calls.len() {
            let call = &self.scenario.calls[at];
            let (client, to) = (call.client, call.to);
            let n = made.entry(client).or_default();
            let message = self.harness.request(&call.call, *n);
            *n += 1;
            let id = self.envelope(ActorId::client(client), to, message, false);
            self.facts[id.0 as usize].asks |= 1 << at;
            self.requests.push(id);
        }
    }

    fn slot(&mut self, actor: ActorId) -> u32 {
        self.slots.intern(actor)
    }

    fn envelope(&mut self, from: ActorId, to: ActorId, message: H::Message, is_timer: bool) -> EnvelopeId {
        let number = self.messages.intern(message);
        let message_hash = self.messages.hashes()[number as usize];
        let address = Address { from, to, message: MessageId(number), message_hash, is_timer };
        let id = self.envelopes.intern(address);
        if id as usize == self.facts.len() {
            let fact = self.fact(id, address);
            self.facts.push(fact);
        }
        EnvelopeId(id)
    }

    fn fact(&mut self, id: u32, address: Address) -> Envelope {
        let Address { from, to, is_timer, message, .. } = address;
        let (mut response, mut answers) = (None, 0);
        let value = &self.messages[message.0];
        let key = self.harness.key(value);
        if to.is_client()
            && let Some(ret) = self.harness.response(value)
        {
            let calls = self.scenario.calls.iter().zip(&self.requests).enumerate();
            for (at, (_, request)) in calls.filter(|(_, (it, _))| ActorId::client(it.client) == to) {
                let asked = &self.messages[self.facts[request.0 as usize].message.0];
                answers |= u64::from(self.harness.answers(asked, value)) << at;
            }
            response = Some(ReturnId(self.returns.intern(ret)));
        }
        let slot = if to.is_client() { to.index() } else { self.slot(to) };
        let hash = self.envelopes.hashes()[id as usize];
        let lane = match self.delivery {
            _ if is_timer => id,
            Delivery::Unordered => id,
            Delivery::FifoPerChannel => *self.lanes.entry((from, to)).or_insert(id),
            Delivery::FifoPerReceiver => *self.lanes.entry((to, to)).or_insert(id),
        };
        Envelope { from, to, message, is_timer, slot, response, answers, asks: 0, key, hash, lane }
    }

    // Turns what an actor did into numbers. Actors that it created start at once; `answers` are what `choose` is to
    // answer, and `choices` gets what there was to choose from.
    fn settle(
        &mut self,
        me: ActorId,
        outputs: Vec<Output<H::Message>>,
        run: &mut Run,
    ) -> Result<(), BadHandler> {
        for output in outputs {
            let effect = match output {
                Output::Send(to, message) => {
                    if !to.is_client() {
                        self.slot(to);
                    }
                    Effect::Send(self.envelope(me, to, message, false))
                }
                Output::SetTimer(timer) => Effect::SetTimer(self.envelope(me, me, timer, true)),
                Output::CancelTimer(timer) => Effect::CancelTimer(self.envelope(me, me, timer, true)),
                Output::Create(id, mut actor) => {
                    let slot = self.slot(id);
                    let at = run.effects.len();
                    let mut context = Context::new(id, 0, run.remaining());
                    caught(|| actor.on_start(&mut context)).map_err(|why| panicked_at_start(id, why))?;
                    let (outputs, children, choices) = context.into_parts();
                    run.choices.extend(choices);
                    let local = LocalId(self.locals.intern(Local { actor: id, children, value: actor }));
                    self.settle(id, outputs, run)?;
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

    fn react_once(&mut self, local: LocalId, input: Input, run: &mut Run) -> Result<LocalId, BadHandler> {
        let Local { actor, children, ref value } = self.locals[local.0];
        let mut value = value.clone();
        let mut context = Context::new(actor, children, run.remaining());
        caught(|| match input {
            Input::Envelope(id) => {
                let fact = self.facts[id.0 as usize];
                let message = &self.messages[fact.message.0];
                if fact.is_timer {
                    value.on_timer(message, &mut context);
                } else {
                    value.on_message(fact.from, message, &mut context);
                }
            }
            Input::Restart => value.on_restart(&mut context),
        })
        .map_err(|why| self.blame(local, input, why))?;
        let (outputs, children, choices) = context.into_parts();
        run.choices.extend(choices);
        let after = LocalId(self.locals.intern(Local { actor, children, value }));
        self.settle(actor, outputs, run)?;
        Ok(after)
    }

    fn react_every_way(&mut self, local: LocalId, input: Input) -> Result<Vec<Outcome>, BadHandler> {
        let ways = every_way(|run| self.react_once(local, input, run))?;
        Ok(ways.into_iter().map(|(local, effects)| Outcome { local, effects }).collect())
    }

    fn show(&self, input: Input) -> String {
        match input {
            Input::Envelope(id) => {
                let fact = self.facts[id.0 as usize];
                let message = self.message(fact.message);
                if fact.is_timer {
                    format!("timer {message:?}")
                } else {
                    format!("message {message:?} from {}", fact.from)
                }
            }
            Input::Restart => "a restart".to_owned(),
        }
    }
}

impl<H: Harness> Numbers for Cast<H> {
    fn start(&mut self) -> Result<Vec<Start>, BadHandler> {
        every_way(|run| {
            let actors = self.harness.actors();
            let mut locals = Vec::with_capacity(actors.len());
            for (at, mut value) in actors.into_iter().enumerate() {
                let actor = ActorId::new(at as u32);
                let mut context = Context::new(actor, 0, run.remaining());
                caught(|| value.on_start(&mut context)).map_err(|why| panicked_at_start(actor, why))?;
                let (outputs, children, choices) = context.into_parts();
                run.choices.extend(choices);
                locals.push(LocalId(self.locals.intern(Local { actor, children, value })));
                self.settle(actor, outputs, run)?;
            }
            Ok(locals)
        })
    }

    fn react(&mut self, local: LocalId, input: Input) -> Result<Vec<Outcome>, (BadHandler, Vec<Outcome>)> {
        let nothing = || vec![Outcome { local, effects: Vec::new() }];
        let outcomes = self.react_every_way(local, input).map_err(|bad| (bad, nothing()))?;
        match self.react_every_way(local, input) {
            Ok(again) if again == outcomes => Ok(outcomes),
            Ok(_) => Err((self.blame(local, input, Misdeed::NotPure), outcomes)),
            Err(bad) => Err((bad, outcomes)),
        }
    }

    fn blame(&self, local: LocalId, input: Input, why: Misdeed) -> BadHandler {
        BadHandler { actor: self.locals[local.0].actor, input: self.show(input), why }
    }

    fn request(&self, operation: u32) -> EnvelopeId {
        self.requests[operation as usize]
    }

    fn envelopes(&self) -> &[Envelope] {
        &self.facts
    }

    fn local_hashes(&self) -> &[Fingerprint] {
        self.locals.hashes()
    }

    fn return_hashes(&self) -> &[Fingerprint] {
        self.returns.hashes()
    }

    fn slots(&self) -> &[ActorId] {
        self.slots.values()
    }

    fn properties(&self) -> usize {
        self.properties.len()
    }

    fn holds(&self, property: usize, locals: &[LocalId], in_flight: &[EnvelopeId], down: u64) -> bool {
        let present = self.slots.values().iter().zip(locals).filter(|&(_, &it)| it != ABSENT);
        let mut actors: Vec<_> = present.map(|(&id, &local)| (id, self.actor(local))).collect();
        actors.sort_by_key(|&(id, _)| id);
        let facts = in_flight.iter().map(|it| self.facts[it.0 as usize]).filter(|it| !it.is_timer);
        let in_flight = facts.map(|it| (it.from, it.to, self.message(it.message))).collect();
        let crashed = crate::histories::operations(down).map(|it| self.slots[it]).collect();
        let glance = Glance { actors, in_flight, crashed };
        let holds = (self.properties[property].holds)(&glance);
        if glance.in_flight.was_looked_at() || glance.crashed.was_looked_at() {
            self.was_looked_at.set(true);
        }
        holds
    }

    fn was_looked_at(&self) -> bool {
        self.was_looked_at.get()
    }

    fn bytes(&self) -> usize {
        self.locals.len() * 200 + self.messages.len() * 100 + self.facts.len() * 150
    }
}

impl<H: Harness> fmt::Debug for Cast<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cast").field("locals", &self.locals.len()).finish_non_exhaustive()
    }
}

/// Runs a handler. If it panics, what it was working on is not to be used any more.
fn caught(handler: impl FnOnce()) -> Result<(), Misdeed> {
    catch_unwind(AssertUnwindSafe(handler)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Misdeed::Panicked(text.unwrap_or_else(|| "it did not say why".to_owned()))
    })
}

fn panicked_at_start(actor: ActorId, why: Misdeed) -> BadHandler {
    BadHandler { actor, input: "its start".to_owned(), why }
}

// One way through what actors choose.
struct Run {
    answers: Vec<u32>,
    // Among how many there was a choice, so far.
    choices: Vec<u32>,
    effects: Vec<Effect>,
}

impl Run {
    fn remaining(&self) -> Vec<u32> {
        self.answers.get(self.choices.len()..).unwrap_or_default().to_vec()
    }
}

// A step that can go in more ways than this cannot be explored anyway.
const WAYS_MAX: usize = 1 << 12;

// What comes of `run` for every sequence of answers to `choose`, in lexicographic order.
fn every_way<T, E>(mut run: impl FnMut(&mut Run) -> Result<T, E>) -> Result<Vec<(T, Vec<Effect>)>, E> {
    let mut ways = Vec::new();
    let mut answers = Vec::new();
    loop {
        assert!(ways.len() < WAYS_MAX, "what actors choose in one step leads to at most 4096 outcomes");
        let mut this = Run { answers, choices: Vec::new(), effects: Vec::new() };
        let result = run(&mut this)?;
        ways.push((result, this.effects));
        answers = this.answers;
        answers.resize(this.choices.len(), 0);
        loop {
            let Some(last) = answers.pop() else { return Ok(ways) };
            if last + 1 < this.choices[answers.len()] {
                answers.push(last + 1);
                break;
            }
        }
    }
}
