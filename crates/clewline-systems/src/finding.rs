//! Findings: a violating execution, with everything that a report shows about it.

use clewline_actors::{
    Action, ActorId, EnabledStep, ExecutedStep, Execution, Faults, HistoryEvent, MessageSchedule, Modality,
    ScheduleMismatch, StepKind, Token,
};
use clewline_check::{JudgeOptions, Judgement, judge};
use clewline_core::{Budget, ErasedHistory, OperationId};
use clewline_report::render::{Cause, CheckedHistory, Source};

use crate::staged::DynScenario;

/// The kind of violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// No linearization of the calls produces the results.
    NotLinearizable,
    /// The property of that name does not hold.
    Property(&'static str, Modality),
    /// No further step is possible, and some call has not returned.
    Stuck,
}

impl ViolationKind {
    /// Its cause.
    #[must_use]
    pub fn cause(self) -> Cause {
        match self {
            ViolationKind::NotLinearizable => Cause::NotLinearizable,
            ViolationKind::Property(..) => Cause::Property,
            ViolationKind::Stuck => Cause::Deadlock,
        }
    }
}

/// A violating execution.
#[derive(Debug)]
#[non_exhaustive]
pub struct ActorFinding {
    /// The kind of violation.
    pub why: ViolationKind,
    /// The replay token.
    pub token: Token,
    /// The budget of faults.
    pub faults: Faults,
    /// How many calls the scenario had before shrinking.
    pub calls_at_first: usize,
    /// The calls that are made, each with its client and actor.
    pub program: Vec<String>,
    /// The execution, step by step. Empty if no single execution shows the violation.
    pub steps: Vec<ActorStep>,
    /// Whether a limit was reached before its schedule was found: `steps` are empty then, too.
    pub is_given_up: bool,
    /// The messages that could still have been received at the end, each as the step that would
    /// receive it.
    pub waiting: Vec<ActorStep>,
    /// The history of the clients.
    pub case: Box<dyn ErasedHistory>,
    /// The verdict of the checker on that history.
    pub judgement: Judgement,
}

/// One step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorStep {
    /// The kind of step.
    pub kind: StepKind,
    /// The sender of the message that was received; for other steps, as `to`.
    pub from: ActorId,
    /// The actor or client of the step.
    pub to: ActorId,
    /// The name of the message.
    pub name: String,
    /// All that it says.
    pub message: String,
    /// The step that sent it, from 0; `None` if it is an initial message.
    pub sent_by: Option<usize>,
    /// The actors of one side, when a partition begins.
    pub side: Vec<ActorId>,
    /// The operations that were called in this step.
    pub calls: Vec<OperationId>,
    /// The operations that returned in this step.
    pub returns: Vec<OperationId>,
}

impl ActorFinding {
    /// The calls that have not returned.
    pub(super) fn pending(&self) -> impl Iterator<Item = OperationId> {
        let ids = (0..self.case.spans().len()).map(OperationId::from_index);
        ids.filter(|it| self.case.spans()[it.index()].is_pending())
    }

    /// The finding as a checked history.
    #[must_use]
    pub fn judged<'a>(&'a self, name: &'a str, spec: &'a str) -> CheckedHistory<'a> {
        CheckedHistory {
            name,
            source: Source::Program,
            spec,
            case: &*self.case,
            verdict: &self.judgement.verdict,
            others: &[],
            violated: 0,
            algorithm: &self.judgement.algorithm,
            parts: self.judgement.parts,
            configurations: self.judgement.configurations,
            elapsed: std::time::Duration::ZERO,
            stream: None,
            next: &[],
        }
    }
}

/// Which part of a play is on stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScenarioPart<'a> {
    /// The calls of the scenario that are made.
    pub(super) calls: &'a [usize],
    /// Every call, as a report writes it.
    pub(super) program: &'a [String],
    /// The budget of faults.
    pub(super) faults: Faults,
}

impl ScenarioPart<'_> {
    fn token(&self, schedule: &MessageSchedule) -> Token {
        let calls = (self.calls.len() != self.program.len()).then(|| self.calls.to_vec());
        Token { calls, schedule: schedule.clone() }
    }
}

/// The finding that `schedule` shows.
pub(super) fn finding(
    scenario: &dyn DynScenario,
    part: ScenarioPart<'_>,
    schedule: &MessageSchedule,
    why: ViolationKind,
) -> Result<ActorFinding, ScheduleMismatch> {
    let mut execution = Execution::new(scenario.engine(), clewline_actors::Snapshots::Sound);
    execution.replay(schedule)?;
    Ok(finding_of(scenario, part, &execution, why))
}

/// The finding at the current state of `execution`.
pub(super) fn finding_of(
    scenario: &dyn DynScenario,
    part: ScenarioPart<'_>,
    execution: &Execution,
    why: ViolationKind,
) -> ActorFinding {
    let chronicle = execution.history_events();
    let order: Vec<u32> = chronicle
        .iter()
        .filter_map(|it| match *it {
            HistoryEvent::Call(operation) => Some(operation),
            HistoryEvent::Return(..) => None,
        })
        .collect();
    // Operations of a history are numbered as they were called.
    let id = |operation: u32| {
        let place = order.iter().position(|it| *it == operation);
        OperationId::from_index(place.expect("what happens to an operation happens after its call"))
    };
    let roots = execution.engine().roots() as u32;
    let steps = execution.events().iter().map(|event| step(scenario, event, roots, &id)).collect();
    let waiting = waiting(scenario, execution, roots);
    let program = part.calls.iter().filter_map(|it| part.program.get(*it)).cloned().collect();
    let token = part.token(&execution.schedule());
    let alone = finding_without_schedule(scenario, part, &chronicle, why);
    ActorFinding { token, program, steps, is_given_up: false, waiting, ..alone }
}

/// The finding for the client history `events`, if its schedule is not known.
pub(super) fn finding_without_schedule(
    scenario: &dyn DynScenario,
    part: ScenarioPart<'_>,
    events: &[HistoryEvent],
    why: ViolationKind,
) -> ActorFinding {
    let case = scenario.history(events);
    // The history of a few calls: the evidence is judged even if time is up.
    let options = JudgeOptions { budget: Budget::unlimited().urgent(), ..JudgeOptions::default() };
    let judgement = judge(case.problems(), &options);
    ActorFinding {
        why,
        token: part.token(&MessageSchedule::default()),
        faults: part.faults,
        calls_at_first: part.program.len(),
        program: part.program.to_vec(),
        steps: Vec::new(),
        is_given_up: true,
        waiting: Vec::new(),
        case,
        judgement,
    }
}

/// The messages that can be received next, each once, whatever the kind of step.
fn waiting(scenario: &dyn DynScenario, execution: &Execution, roots: u32) -> Vec<ActorStep> {
    let is_message = |it: &&EnabledStep| it.kind == StepKind::Message && it.outcome == 0;
    execution.enabled().iter().filter(is_message).map(|it| step_of(scenario, it, roots)).collect()
}

fn step(
    scenario: &dyn DynScenario,
    event: &ExecutedStep,
    roots: u32,
    id: &dyn Fn(u32) -> OperationId,
) -> ActorStep {
    ActorStep {
        calls: event.calls().map(id).collect(),
        returns: event.returns().map(id).collect(),
        ..step_of(scenario, &event.step, roots)
    }
}

/// A step in which nothing is called and nothing returns.
fn step_of(scenario: &dyn DynScenario, receive: &EnabledStep, roots: u32) -> ActorStep {
    let (name, message) = receive.message.map(|it| scenario.message(it)).unwrap_or_default();
    let side = match receive.action {
        Action::Cut { side } => (0..roots).filter(|it| side >> it & 1 == 1).map(ActorId::new).collect(),
        Action::Begin { .. }
        | Action::Deliver { .. }
        | Action::Lose { .. }
        | Action::Duplicate { .. }
        | Action::Crash { .. }
        | Action::Restart { .. }
        | Action::Heal => Vec::new(),
    };
    ActorStep {
        kind: receive.kind,
        from: receive.from,
        to: receive.to,
        name,
        message,
        sent_by: receive.sent_by.map(|it| it as usize),
        side,
        calls: Vec::new(),
        returns: Vec::new(),
    }
}
