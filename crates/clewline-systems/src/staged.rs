//! Type-erased actor systems, ready to be explored.
//!
//! Left of [`DynHarness`] everything is generic in a harness, right of it nothing is, so that
//! exploration, checking and reports are compiled once.

use std::sync::{Arc, Mutex, MutexGuard};

use clewline_actors::{
    ActorId, ActorSystem, AnyActor, BadScenario, ClientCall, Engine, Envelope, Harness, Histories,
    HistoryEvent, HistorySummary, IncrementalJudge, InternedModel, Message, MessageId, Modality, Property,
    ReturnLookup, Rules, Scenario, Stepwise, Verdicts,
};
use clewline_core::{
    Codec, ErasedHistory, History, HistoryView, Names, Specification, Values, Verdict, VerdictKind,
    erase_with_codec, erase_with_debug,
};

use crate::frontier::{FrontierId, Frontiers};

/// A system that can be staged with a subset of the calls of its scenario, under any rules.
pub(super) trait DynHarness: Send + Sync {
    /// How many calls the whole scenario has.
    fn calls(&self) -> usize;

    /// The calls as a report shows them, each with its client and actor.
    fn program(&self) -> Vec<String>;

    /// See [`Harness::immediate`].
    fn immediate(&self) -> Vec<String>;

    /// The system with those calls of the scenario.
    fn stage(&self, calls: &[usize], rules: Rules) -> Result<Box<dyn DynScenario>, BadScenario>;
}

/// A system that is explored.
pub(super) trait DynScenario {
    /// The exploration engine.
    fn engine(&self) -> Engine;

    /// A checker of its histories.
    fn verdicts(&self) -> Verdicts;

    /// The histories observed so far. No exploration runs while this is held.
    fn histories(&self) -> MutexGuard<'_, Histories>;

    /// Its properties: their names and modalities.
    fn properties(&self) -> Vec<(&'static str, Modality)>;

    /// The name of a message, and its full text.
    fn message(&self, id: MessageId) -> (String, String);

    /// The client history, for the checker and for reports.
    fn history(&self, events: &[HistoryEvent]) -> Box<dyn ErasedHistory>;

    /// Every message that was sent: sender, receiver, name. Timers are not included.
    fn flow(&self) -> Vec<(ActorId, ActorId, String)>;
}

/// Makes a case of a history.
type MakeHistory<S> =
    fn(S, History<<S as Specification>::Call, <S as Specification>::Return>) -> Box<dyn ErasedHistory>;

/// How operations are written in reports.
pub(super) struct OperationFormat<S: Specification> {
    case: MakeHistory<S>,
    call: fn(&S, &S::Call) -> String,
}

impl<S: Specification> Clone for OperationFormat<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Specification> Copy for OperationFormat<S> {}

impl<S> OperationFormat<S>
where
    S: Specification<Call: Send + Sync + 'static, Return: Send + Sync + 'static>
        + Clone
        + Send
        + Sync
        + 'static,
{
    /// As their types are in `Debug`.
    pub(super) fn shown() -> Self {
        OperationFormat { case: erase_with_debug::<S>, call: |_, call| format!("{call:?}") }
    }

    /// As files write them.
    pub(super) fn noted() -> Self
    where
        S: Codec,
    {
        OperationFormat {
            case: erase_with_codec::<S>,
            call: |specification, call| {
                let (method, arg) = specification.write_call(call);
                let arg = arg.show(&Values::new());
                format!("{method}({})", arg.trim_start_matches('[').trim_end_matches(']'))
            },
        }
    }
}

/// A harness that several systems share. Its type is erased, so that wrappers of a harness are not
/// compiled again.
pub(super) struct SharedHarness<M, S>(Arc<dyn Harness<Message = M, Specification = S>>);

impl<M: Message, S: ReplicatedObject> Harness for SharedHarness<M, S> {
    type Message = M;
    type Specification = S;

    fn specification(&self) -> S {
        self.0.specification()
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<M>>> {
        self.0.actors()
    }

    fn request(&self, call: &S::Call, n: u32) -> M {
        self.0.request(call, n)
    }

    fn response(&self, message: &M) -> Option<S::Return> {
        self.0.response(message)
    }

    fn is_response_to(&self, request: &M, response: &M) -> bool {
        self.0.is_response_to(request, response)
    }

    fn key(&self, message: &M) -> Option<u64> {
        self.0.key(message)
    }

    fn mistake(&self, calls: &[ClientCall<S::Call>]) -> Option<String> {
        self.0.mistake(calls)
    }

    fn misunderstood(&self, message: &M) -> Option<String> {
        self.0.misunderstood(message)
    }

    fn is_immediate(&self, message: &M) -> bool {
        self.0.is_immediate(message)
    }

    fn name(&self, message: &M) -> String {
        self.0.name(message)
    }

    fn properties(&self) -> Vec<Property<M>> {
        self.0.properties()
    }
}

/// An object that actors may implement.
pub(super) trait ReplicatedObject:
    Specification<Call: Send + Sync + 'static, Return: Send + Sync + 'static> + Clone + Send + Sync + 'static
{
}

impl<S> ReplicatedObject for S where
    S: Specification<Call: Send + Sync + 'static, Return: Send + Sync + 'static>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A harness and a scenario.
pub(super) struct StagedScenario<M, S: Specification> {
    harness: Arc<dyn Harness<Message = M, Specification = S>>,
    scenario: Scenario<S::Call>,
    style: OperationFormat<S>,
}

impl<M: Message, S: ReplicatedObject> StagedScenario<M, S> {
    /// `harness` with these calls.
    pub(super) fn boxed<H>(
        harness: H,
        scenario: Scenario<S::Call>,
        style: OperationFormat<S>,
    ) -> Box<dyn DynHarness>
    where
        H: Harness<Message = M, Specification = S> + 'static,
    {
        Box::new(StagedScenario { harness: Arc::new(harness), scenario, style })
    }
}

impl<M: Message, S: ReplicatedObject> DynHarness for StagedScenario<M, S> {
    fn calls(&self) -> usize {
        self.scenario.calls.len()
    }

    fn program(&self) -> Vec<String> {
        let specification = self.harness.specification();
        let line = |it: &ClientCall<S::Call>| {
            let call = (self.style.call)(&specification, &it.call);
            format!("{} asks {} for {call}", ActorId::client(it.client), it.to)
        };
        self.scenario.calls.iter().map(line).collect()
    }

    fn immediate(&self) -> Vec<String> {
        self.harness.immediate()
    }

    fn stage(&self, calls: &[usize], rules: Rules) -> Result<Box<dyn DynScenario>, BadScenario> {
        let calls = calls.iter().filter_map(|it| self.scenario.calls.get(*it)).cloned().collect();
        let scenario = Scenario { calls, clients: self.scenario.clients };
        let system = ActorSystem::new(SharedHarness(Arc::clone(&self.harness)), scenario, rules)?;
        Ok(Box::new(ScenarioInstance { system, style: self.style }))
    }
}

struct ScenarioInstance<M: Message, S: ReplicatedObject> {
    system: ActorSystem<SharedHarness<M, S>>,
    style: OperationFormat<S>,
}

impl<M: Message, S: ReplicatedObject> DynScenario for ScenarioInstance<M, S> {
    fn engine(&self) -> Engine {
        self.system.engine()
    }

    fn verdicts(&self) -> Verdicts {
        let returns = self.system.shared_tables();
        let (specification, calls) = {
            let tables = self.system.tables();
            let calls = tables.scenario().calls.iter().map(|it| it.call.clone()).collect();
            (tables.harness().specification(), calls)
        };
        by_frontier(returns, specification, calls)
    }

    fn histories(&self) -> MutexGuard<'_, Histories> {
        self.system.histories()
    }

    fn properties(&self) -> Vec<(&'static str, Modality)> {
        self.system.tables().harness().properties().iter().map(|it| (it.name, it.when)).collect()
    }

    fn message(&self, id: MessageId) -> (String, String) {
        let tables = self.system.tables();
        let message = tables.message(id);
        (tables.harness().name(message), format!("{message:?}"))
    }

    fn history(&self, events: &[HistoryEvent]) -> Box<dyn ErasedHistory> {
        let history = self.system.chronicle(events);
        let tables = self.system.tables();
        let clients = tables.scenario().calls.iter().map(|it| it.client + 1).max().unwrap_or(0);
        Named::boxed((self.style.case)(tables.harness().specification(), history), clients)
    }

    fn flow(&self) -> Vec<(ActorId, ActorId, String)> {
        let tables = self.system.tables();
        let name = |id| tables.harness().name(tables.message(id));
        flow(tables.envelopes(), &name)
    }
}

fn flow(envelopes: &[Envelope], name: &dyn Fn(MessageId) -> String) -> Vec<(ActorId, ActorId, String)> {
    let messages = envelopes.iter().filter(|it| !it.is_timer);
    let mut flow: Vec<_> = messages.map(|it| (it.from, it.to, name(it.message))).collect();
    flow.sort();
    flow.dedup();
    flow
}

fn by_frontier<S: ReplicatedObject>(
    returns: Arc<Mutex<dyn ReturnLookup<S::Return>>>,
    specification: S,
    calls: Vec<S::Call>,
) -> Verdicts {
    let by_frontier = FrontierJudge { returns, frontiers: Frontiers::new(specification, calls) };
    Verdicts::new(Box::new(Stepwise::new(by_frontier)))
}

/// Checks histories from the relevant part of their prefixes.
struct FrontierJudge<S: ReplicatedObject> {
    returns: Arc<Mutex<dyn ReturnLookup<S::Return>>>,
    frontiers: Frontiers<S>,
}

impl<S: ReplicatedObject> IncrementalJudge for FrontierJudge<S> {
    fn start(&mut self) -> u32 {
        Frontiers::<S>::START.0
    }

    fn extend(&mut self, knowledge: u32, before: HistorySummary, event: HistoryEvent) -> u32 {
        let HistoryEvent::Return(operation, ret) = event else { return knowledge };
        let returns = self.returns.lock().expect("no handler panicked");
        self.frontiers.returned(FrontierId(knowledge), before.called, operation, returns.returned(ret)).0
    }

    fn judgement(&mut self, knowledge: u32) -> VerdictKind {
        if self.frontiers.is_violated(FrontierId(knowledge)) {
            Verdict::Violated(())
        } else {
            Verdict::Holds(())
        }
    }
}

/// A history whose processes have the names that schedules use: `C1`, `C2`.
#[derive(Debug)]
struct Named {
    case: Box<dyn ErasedHistory>,
    names: Names,
    values: Arc<Values>,
}

impl Named {
    fn boxed(case: Box<dyn ErasedHistory>, clients: u32) -> Box<dyn ErasedHistory> {
        let mut values = Values::new();
        let processes = (0..clients).map(|it| values.symbol(&ActorId::client(it).to_string())).collect();
        let names = Names { processes, ..Names::default() };
        Box::new(Named { case, names, values: Arc::new(values) })
    }
}

impl HistoryView for Named {
    fn history(&self) -> &dyn ErasedHistory {
        &*self.case
    }

    fn history_mut(&mut self) -> &mut dyn ErasedHistory {
        &mut *self.case
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn values(&self) -> &Arc<Values> {
        &self.values
    }
}
