//! Plays: an actor system with its types forgotten, ready to be explored.
//!
//! Left of [`Play`] everything is generic in a harness, right of it nothing is, so that what explores, judges and reports compiles
//! once.

use std::sync::{Arc, Mutex, MutexGuard};

use clewline_actors::{
    ActorId, ActorSystem, AnyActor, BadScenario, CallOf, Cast, ClientCall, Engine, Extend, Harness,
    Histories, HistoryEvent, Judgement, MessageId, Numbers, Property, ReturnOf, Rules, Scenario, Stepwise,
    Summary, Verdicts, When,
};
use clewline_check::{FrontierId, Frontiers};
use clewline_core::{
    Case, History, Names, Notation, ObjectId, OperationId, Problem, ProcessId, Recording, Span,
    Specification, Values, case_noted, case_shown,
};

/// A system that can be staged with fewer calls than its scenario has, under any rules.
pub(super) trait Play: Send + Sync {
    /// How many calls the whole scenario has.
    fn calls(&self) -> usize;

    /// The calls as a report writes them, each with who asks whom.
    fn program(&self) -> Vec<String>;

    /// The system with those calls of the scenario.
    fn stage(&self, calls: &[usize], rules: Rules) -> Result<Box<dyn Scene>, BadScenario>;
}

/// A system that is explored.
pub(super) trait Scene {
    /// What explores it.
    fn engine(&self) -> Engine;

    /// Someone who judges its histories.
    fn verdicts(&self) -> Verdicts;

    /// The histories met so far. Nobody explores while this is held.
    fn histories(&self) -> MutexGuard<'_, Histories>;

    /// Its properties: what they are called, and when they are to be true.
    fn properties(&self) -> Vec<(&'static str, When)>;

    /// What a message is called, and all that it says.
    fn message(&self, id: MessageId) -> (String, String);

    /// What clients saw, as a checker and a report want it.
    fn history(&self, events: &[HistoryEvent]) -> Box<dyn Case>;

    /// Every message that anybody sent anywhere: from, to, its name. Timers are none.
    fn flow(&self) -> Vec<(ActorId, ActorId, String)>;
}

/// Makes a case of a history.
type MakeCase<S> = fn(S, History<<S as Specification>::Call, <S as Specification>::Return>) -> Box<dyn Case>;

/// How operations are written in reports.
pub(super) struct Style<S: Specification> {
    case: MakeCase<S>,
    call: fn(&S, &S::Call) -> String,
}

impl<S: Specification> Clone for Style<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Specification> Copy for Style<S> {}

impl<S> Style<S>
where
    S: Specification<Call: Send + Sync + 'static, Return: Send + Sync + 'static>
        + Clone
        + Send
        + Sync
        + 'static,
{
    /// As their types are in `Debug`.
    pub(super) fn shown() -> Self {
        Style { case: case_shown::<S>, call: |_, call| format!("{call:?}") }
    }

    /// As files write them.
    pub(super) fn noted() -> Self
    where
        S: Notation,
    {
        Style {
            case: case_noted::<S>,
            call: |specification, call| {
                let (method, arg) = specification.write_call(call);
                let arg = arg.show(&Values::new());
                format!("{method}({})", arg.trim_start_matches('[').trim_end_matches(']'))
            },
        }
    }
}

/// A harness that many systems share.
pub(super) struct Shared<H>(pub(super) Arc<H>);

impl<H: Harness> Harness for Shared<H> {
    type Message = H::Message;
    type Specification = H::Specification;

    fn specification(&self) -> H::Specification {
        self.0.specification()
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<H::Message>>> {
        self.0.actors()
    }

    fn request(&self, call: &CallOf<H>, n: u32) -> H::Message {
        self.0.request(call, n)
    }

    fn response(&self, message: &H::Message) -> Option<ReturnOf<H>> {
        self.0.response(message)
    }

    fn answers(&self, request: &H::Message, response: &H::Message) -> bool {
        self.0.answers(request, response)
    }

    fn key(&self, message: &H::Message) -> Option<u64> {
        self.0.key(message)
    }

    fn name(&self, message: &H::Message) -> String {
        self.0.name(message)
    }

    fn properties(&self) -> Vec<Property<H::Message>> {
        self.0.properties()
    }
}

/// A harness and a scenario.
pub(super) struct Staged<H: Harness> {
    pub(super) harness: Arc<H>,
    pub(super) scenario: Scenario<CallOf<H>>,
    pub(super) style: Style<H::Specification>,
}

impl<H: Harness + 'static> Play for Staged<H> {
    fn calls(&self) -> usize {
        self.scenario.calls.len()
    }

    fn program(&self) -> Vec<String> {
        let specification = self.harness.specification();
        let line = |it: &ClientCall<CallOf<H>>| {
            let call = (self.style.call)(&specification, &it.call);
            format!("{} asks {} for {call}", ActorId::client(it.client), it.to)
        };
        self.scenario.calls.iter().map(line).collect()
    }

    fn stage(&self, calls: &[usize], rules: Rules) -> Result<Box<dyn Scene>, BadScenario> {
        let calls = calls.iter().filter_map(|it| self.scenario.calls.get(*it)).cloned().collect();
        let scenario = Scenario { calls, clients: self.scenario.clients };
        let system = ActorSystem::new(Shared(Arc::clone(&self.harness)), scenario, rules)?;
        Ok(Box::new(Set { system, style: self.style }))
    }
}

struct Set<H: Harness> {
    system: ActorSystem<Shared<H>>,
    style: Style<H::Specification>,
}

impl<H: Harness + 'static> Scene for Set<H> {
    fn engine(&self) -> Engine {
        self.system.engine()
    }

    fn verdicts(&self) -> Verdicts {
        let cast = self.system.shared_cast();
        let (specification, calls) = {
            let cast = self.system.cast();
            let calls = cast.scenario().calls.iter().map(|it| it.call.clone()).collect();
            (cast.harness().specification(), calls)
        };
        let by_frontier = ByFrontier::<H> { cast, frontiers: Frontiers::new(specification, calls) };
        Verdicts::new(Box::new(Stepwise::new(by_frontier)))
    }

    fn histories(&self) -> MutexGuard<'_, Histories> {
        self.system.histories()
    }

    fn properties(&self) -> Vec<(&'static str, When)> {
        self.system.cast().harness().properties().iter().map(|it| (it.name, it.when)).collect()
    }

    fn message(&self, id: MessageId) -> (String, String) {
        let cast = self.system.cast();
        let message = cast.message(id);
        (cast.harness().name(message), format!("{message:?}"))
    }

    fn history(&self, events: &[HistoryEvent]) -> Box<dyn Case> {
        let history = self.system.chronicle(events);
        let cast = self.system.cast();
        let clients = cast.scenario().calls.iter().map(|it| it.client + 1).max().unwrap_or(0);
        let mut values = Values::new();
        let processes = (0..clients).map(|it| values.symbol(&ActorId::client(it).to_string())).collect();
        let names = Names { processes, ..Names::default() };
        Box::new(Named { case: (self.style.case)(cast.harness().specification(), history), names, values })
    }

    fn flow(&self) -> Vec<(ActorId, ActorId, String)> {
        let cast = self.system.cast();
        let messages = cast.envelopes().iter().filter(|it| !it.is_timer);
        let mut flow: Vec<_> =
            messages.map(|it| (it.from, it.to, cast.harness().name(cast.message(it.message)))).collect();
        flow.sort();
        flow.dedup();
        flow
    }
}

/// Judges histories from what matters of their beginnings.
struct ByFrontier<H: Harness> {
    cast: Arc<Mutex<Cast<Shared<H>>>>,
    frontiers: Frontiers<H::Specification>,
}

impl<H: Harness> Extend for ByFrontier<H> {
    fn start(&mut self) -> u32 {
        Frontiers::<H::Specification>::START.0
    }

    fn extend(&mut self, knowledge: u32, before: Summary, event: HistoryEvent) -> u32 {
        let HistoryEvent::Return(operation, ret) = event else { return knowledge };
        let cast = self.cast.lock().expect("no handler panicked");
        self.frontiers.returned(FrontierId(knowledge), before.called, operation, cast.returned(ret)).0
    }

    fn judgement(&mut self, knowledge: u32) -> Judgement {
        if self.frontiers.is_violated(FrontierId(knowledge)) { Judgement::Violated } else { Judgement::Holds }
    }
}

/// A case whose processes are called as a schedule calls them: `C1`, `C2`.
#[derive(Debug)]
struct Named {
    case: Box<dyn Case>,
    names: Names,
    values: Values,
}

impl Case for Named {
    fn problems(&self) -> Vec<Problem<'_>> {
        self.case.problems()
    }

    fn label(&self, operation: OperationId) -> String {
        self.case.label(operation)
    }

    fn process(&self, operation: OperationId) -> ProcessId {
        self.case.process(operation)
    }

    fn object(&self, operation: OperationId) -> ObjectId {
        self.case.object(operation)
    }

    fn source(&self, operation: OperationId) -> usize {
        self.case.source(operation)
    }

    fn spans(&self) -> &[Span] {
        self.case.spans()
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn recording(&self) -> Option<Recording> {
        self.case.recording()
    }
}
