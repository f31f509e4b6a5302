//! Interned tables of a harness: states of actors, messages and results.
//!
//! The only part of an exploration that is generic in the harness. It interns every state of an
//! actor, every message, and every result, and runs handlers on copies. The part that needs no
//! types is the [`EnvelopeTable`]; the rest of the exploration uses [`InternedModel`].

use std::{
    fmt,
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    vec,
};

use clewline_core::{Event, History, Specification};
use rustc_hash::FxHashMap;

use crate::{
    actor::{self, ActorId, AnyActor, Context},
    envelope_table::{Cause, EnvelopeTable, ErasedActors, Output, Reaction, State},
    harness::{GlobalState, Harness, Property, Scenario},
    hashed_interner::HashedInterner,
    histories::{Histories, HistoryEvent, HistoryId, OPERATIONS_MAX},
    interned::{
        BadHandler, Envelope, EnvelopeId, Fingerprint, HandlerFault, HandlerOutcome, Input, InternedModel,
        LocalId, MessageId, ReturnId, StartOutcome,
    },
    world::Delivery,
};

/// The calls of clients of `H`.
pub type CallOf<H> = <<H as Harness>::Specification as Specification>::Call;
/// The results of its operations.
pub type ReturnOf<H> = <<H as Harness>::Specification as Specification>::Return;

/// A harness and a scenario, interned.
pub struct ModelTables<H: Harness> {
    tables: Tables<H>,
    ledger: EnvelopeTable,
}

/// The tables that depend on the types of the harness.
struct Tables<H: Harness> {
    harness: H,
    scenario: Scenario<CallOf<H>>,
    properties: Vec<Property<H::Message>>,
    locals: HashedInterner<Local<H::Message>>,
    messages: HashedInterner<H::Message>,
    // Of each message that was asked for its key. A message is often sent to several actors, and a
    // harness file takes messages apart.
    keys: FxHashMap<MessageId, Option<u64>>,
    returns: HashedInterner<ReturnOf<H>>,
    // Actors that are to be started next, in reverse order.
    unstarted: Vec<Box<dyn AnyActor<H::Message>>>,
    // The unread outputs of a handler, and above them those of the start of an actor that it
    // created.
    outputs: Vec<vec::IntoIter<actor::Output<H::Message>>>,
}

// An actor in one of its states. How many others it has created is part of that.
struct Local<M> {
    actor: ActorId,
    children: u32,
    value: Box<dyn AnyActor<M>>,
}

impl<M> PartialEq for Local<M> {
    fn eq(&self, other: &Self) -> bool {
        (self.actor, self.children) == (other.actor, other.children) && self.value.is_equal(&*other.value)
    }
}

impl<M> Eq for Local<M> {}

impl<M> Hash for Local<M> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (self.actor, self.children).hash(state);
        self.value.hash_into(state);
    }
}

/// A scenario that does not fit its system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadScenario {
    /// There are no actors.
    NoActors,
    /// There are too many actors: this number.
    TooManyActors(usize),
    /// There are too many calls: this number.
    TooManyCalls(usize),
    /// A call, by its index, goes to an actor that does not exist.
    NoSuchActor(usize, ActorId),
    /// The harness cannot be used with these calls, for this reason.
    Harness(String),
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
            BadScenario::NoSuchActor(at, to) => {
                write!(f, "call {}: expected one of the actors the system begins with, found {to}", at + 1)
            }
            BadScenario::Harness(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for BadScenario {}

/// Checks that the receiver of every call is among the initial actors.
fn validate(actors: usize, asked: &mut dyn ExactSizeIterator<Item = ActorId>) -> Result<(), BadScenario> {
    if actors == 0 {
        return Err(BadScenario::NoActors);
    }
    if (ActorId::ROOTS_MAX as usize) < actors {
        return Err(BadScenario::TooManyActors(actors));
    }
    if OPERATIONS_MAX < asked.len() {
        return Err(BadScenario::TooManyCalls(asked.len()));
    }
    let absent = |it: &ActorId| it.is_client() || actors <= it.index() as usize;
    match asked.enumerate().find(|(_, it)| absent(it)) {
        Some((at, to)) => Err(BadScenario::NoSuchActor(at, to)),
        None => Ok(()),
    }
}

impl<H: Harness> ModelTables<H> {
    /// The tables of `harness` with the calls of `scenario`.
    ///
    /// # Errors
    ///
    /// If the scenario does not fit.
    pub fn new(harness: H, scenario: Scenario<CallOf<H>>, delivery: Delivery) -> Result<Self, BadScenario> {
        let roots = harness.actors().len();
        validate(roots, &mut scenario.calls.iter().map(|it| it.to))?;
        if let Some(why) = harness.mistake(&scenario.calls) {
            return Err(BadScenario::Harness(why));
        }
        let calls = scenario.calls.iter().map(|it| (it.client, it.to)).collect();
        let mut tables = Tables {
            properties: harness.properties(),
            harness,
            scenario,
            locals: HashedInterner::new(1),
            messages: HashedInterner::new(2),
            keys: FxHashMap::default(),
            returns: HashedInterner::new(3),
            unstarted: Vec::new(),
            outputs: Vec::new(),
        };
        let ledger = EnvelopeTable::new(&mut tables, roots, calls, delivery);
        Ok(ModelTables { tables, ledger })
    }

    /// The harness.
    #[must_use]
    pub fn harness(&self) -> &H {
        &self.tables.harness
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario<CallOf<H>> {
        &self.tables.scenario
    }

    /// The number of initial actors.
    #[must_use]
    pub fn roots(&self) -> usize {
        self.ledger.roots()
    }

    /// The message with this id.
    #[must_use]
    pub fn message(&self, id: MessageId) -> &H::Message {
        &self.tables.messages[id.0]
    }

    /// The result with this id.
    #[must_use]
    pub fn returned(&self, id: ReturnId) -> &ReturnOf<H> {
        &self.tables.returns[id.0]
    }

    /// An actor in one of its states.
    #[must_use]
    pub fn actor(&self, id: LocalId) -> &dyn AnyActor<H::Message> {
        &*self.tables.locals[id.0].value
    }

    /// A canonical history, as input of a checker.
    #[must_use]
    pub fn history(&self, histories: &Histories, id: HistoryId) -> History<CallOf<H>, ReturnOf<H>> {
        self.chronicle(&histories.events(id))
    }

    /// A history from its events in chronological order.
    ///
    /// # Panics
    ///
    /// If these are not the events of one execution.
    #[must_use]
    pub fn chronicle(&self, events: &[HistoryEvent]) -> History<CallOf<H>, ReturnOf<H>> {
        let events = events.iter().map(|event| match *event {
            HistoryEvent::Call(operation) => {
                let call = &self.scenario().calls[operation as usize];
                Event::call(call.client, call.call.clone())
            }
            HistoryEvent::Return(operation, ret) => {
                Event::ret(self.scenario().calls[operation as usize].client, self.returned(ret).clone())
            }
        });
        History::from_events(events).expect("clients wait for one call at a time")
    }
}

impl<H: Harness> Tables<H> {
    /// Interns an actor after its handler was run, and keeps its outputs.
    fn intern_reaction(
        &mut self,
        actor: ActorId,
        value: Box<dyn AnyActor<H::Message>>,
        context: Context<H::Message>,
    ) -> Reaction {
        let (outputs, children, choices) = context.into_parts();
        self.outputs.push(outputs.into_iter());
        Reaction {
            local: LocalId(self.locals.intern(Local { actor, children, value })),
            choice_counts: choices,
        }
    }
}

impl<H: Harness> ErasedActors for Tables<H> {
    fn request(&mut self, operation: usize, n: u32) -> MessageId {
        let message = self.harness.request(&self.scenario.calls[operation].call, n);
        MessageId(self.messages.intern(message))
    }

    fn hash(&self, message: MessageId) -> Fingerprint {
        self.messages.hashes()[message.0 as usize]
    }

    fn key(&mut self, message: MessageId) -> Option<u64> {
        *self.keys.entry(message).or_insert_with(|| self.harness.key(&self.messages[message.0]))
    }

    fn response(&mut self, message: MessageId) -> Option<ReturnId> {
        let ret = self.harness.response(&self.messages[message.0])?;
        Some(ReturnId(self.returns.intern(ret)))
    }

    fn misunderstood(&self, message: MessageId) -> Option<String> {
        self.harness.misunderstood(&self.messages[message.0])
    }

    fn is_immediate(&self, message: MessageId) -> bool {
        self.harness.is_immediate(&self.messages[message.0])
    }

    fn is_response_to(&self, request: MessageId, response: MessageId) -> bool {
        self.harness.is_response_to(&self.messages[request.0], &self.messages[response.0])
    }

    fn show(&self, message: MessageId) -> String {
        format!("{:?}", self.messages[message.0])
    }

    fn create_roots(&mut self) {
        self.unstarted = self.harness.actors();
        self.unstarted.reverse();
    }

    fn start(&mut self, id: ActorId, scripted_choices: Vec<u32>) -> Result<Reaction, HandlerFault> {
        let mut value = self.unstarted.pop().expect("an actor is made before it starts");
        let mut context = Context::new(id, 0, scripted_choices);
        catch_panic(&mut || value.on_start(&mut context))?;
        if context.is_unhandled() {
            return Err(HandlerFault::Unhandled(value.type_name()));
        }
        Ok(self.intern_reaction(id, value, context))
    }

    fn react(
        &mut self,
        local: LocalId,
        cause: Cause,
        scripted_choices: Vec<u32>,
    ) -> Result<Reaction, HandlerFault> {
        let Local { actor, children, ref value } = self.locals[local.0];
        let mut value = value.clone();
        let mut context = Context::new(actor, children, scripted_choices);
        catch_panic(&mut || match cause {
            Cause::Message(from, it) => value.on_message(from, &self.messages[it.0], &mut context),
            Cause::Timer(it) => value.on_timer(&self.messages[it.0], &mut context),
            Cause::Restart => value.on_restart(&mut context),
        })?;
        match cause {
            Cause::Timer(_) if context.is_unhandled() => Err(HandlerFault::UnhandledTimer(value.type_name())),
            _ if context.is_unhandled() => Err(HandlerFault::Unhandled(value.type_name())),
            _ => Ok(self.intern_reaction(actor, value, context)),
        }
    }

    fn next_output(&mut self) -> Option<Output> {
        let Some(output) = self.outputs.last_mut()?.next() else {
            self.outputs.pop();
            return None;
        };
        let mut number = |message| MessageId(self.messages.intern(message));
        Some(match output {
            actor::Output::Send(to, message) => Output::Send(to, number(message)),
            actor::Output::SetTimer(timer) => Output::SetTimer(number(timer)),
            actor::Output::CancelTimer(timer) => Output::CancelTimer(number(timer)),
            actor::Output::Create(id, actor) => {
                self.unstarted.push(actor);
                Output::Create(id)
            }
        })
    }

    fn forget_outputs(&mut self) {
        self.outputs.clear();
        self.unstarted.clear();
    }

    fn id(&self, local: LocalId) -> ActorId {
        self.locals[local.0].actor
    }

    fn holds(&self, property: usize, state: &State<'_>) -> (bool, bool) {
        let actors = state.actors.iter().map(|&(id, local)| (id, &*self.locals[local.0].value)).collect();
        let facts =
            state.in_flight.iter().map(|it| &state.envelopes[it.0 as usize]).filter(|it| !it.is_timer);
        let in_flight = facts.map(|it| (it.from, it.to, &self.messages[it.message.0])).collect();
        let crashed = state.crashed.iter().copied().collect();
        let state = GlobalState { actors, in_flight, crashed };
        let holds = (self.properties[property].holds)(&state);
        (holds, state.in_flight.was_read() || state.crashed.was_read())
    }
}

impl<H: Harness> InternedModel for ModelTables<H> {
    fn start(&mut self) -> Result<Vec<StartOutcome>, BadHandler> {
        self.ledger.start(&mut self.tables)
    }

    fn react(
        &mut self,
        local: LocalId,
        input: Input,
    ) -> Result<Vec<HandlerOutcome>, (BadHandler, Vec<HandlerOutcome>)> {
        self.ledger.react(&mut self.tables, local, input)
    }

    fn describe_fault(&self, local: LocalId, input: Input, why: HandlerFault) -> BadHandler {
        self.ledger.describe_fault(&self.tables, local, input, why)
    }

    fn request(&self, operation: u32) -> EnvelopeId {
        self.ledger.request(operation)
    }

    fn envelopes(&self) -> &[Envelope] {
        self.ledger.envelopes()
    }

    fn local_hashes(&self) -> &[Fingerprint] {
        self.tables.locals.hashes()
    }

    fn return_hashes(&self) -> &[Fingerprint] {
        self.tables.returns.hashes()
    }

    fn slots(&self) -> &[ActorId] {
        self.ledger.slots()
    }

    fn properties(&self) -> usize {
        self.tables.properties.len()
    }

    fn holds(&self, property: usize, locals: &[LocalId], in_flight: &[EnvelopeId], down: u64) -> bool {
        self.ledger.holds(&self.tables, property, locals, in_flight, down)
    }

    fn has_read_network_state(&self) -> bool {
        self.ledger.has_read_network_state()
    }

    fn bytes(&self) -> usize {
        self.tables.locals.len() * 200
            + self.tables.messages.len() * 100
            + self.ledger.envelopes().len() * 150
    }
}

/// Looks up the results of operations.
pub trait ReturnLookup<R>: Send {
    /// The result of an operation.
    fn returned(&self, id: ReturnId) -> &R;
}

impl<H: Harness> ReturnLookup<ReturnOf<H>> for ModelTables<H> {
    fn returned(&self, id: ReturnId) -> &ReturnOf<H> {
        &self.tables.returns[id.0]
    }
}

impl<H: Harness> fmt::Debug for ModelTables<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelTables").field("locals", &self.tables.locals.len()).finish_non_exhaustive()
    }
}

/// Runs a handler. If it panics, what it was working on is not to be used any more.
fn catch_panic(handler: &mut dyn FnMut()) -> Result<(), HandlerFault> {
    catch_unwind(AssertUnwindSafe(handler)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        HandlerFault::Panicked(text.unwrap_or_else(|| "it did not say why".to_owned()))
    })
}
