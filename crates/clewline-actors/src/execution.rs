//! Executions: executed step by step, with undo.
//!
//! Schedulers that enumerate or sample schedules, rather than states, drive these. Here a message
//! has a *causal* identity: the event that sent it, and its index among the sends of that event.
//! Two equal messages are still two.
//!
//! Receives are offered in the order in which their messages were sent. A schedule therefore does
//! not depend on what was explored before.

use std::fmt;

use crate::{
    actor::ActorId,
    engine::Engine,
    histories::{Histories, HistoryEvent, HistoryId, HistorySummary},
    interned::{BadHandler, EnvelopeId, LocalId, MessageId},
    world::{Action, Delivery, Ignored, World},
};

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// The actors start, with one of several outcomes.
    Begin,
    /// A message is received.
    Message,
    /// A timer fires.
    Timer,
    /// A message is lost.
    Lose,
    /// A message will arrive twice.
    Duplicate,
    /// An actor crashes.
    Crash,
    /// An actor restarts.
    Restart,
    /// A partition begins.
    Cut,
    /// A partition ends.
    Heal,
}

/// A step that can be executed next; usually the receipt of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnabledStep {
    /// Its kind.
    pub kind: StepKind,
    /// The action, in the world in which this step is offered.
    pub action: Action,
    /// The sender of the message; for other kinds the same as `to`.
    pub from: ActorId,
    /// The receiver, or the actor affected.
    pub to: ActorId,
    /// The message or timer, if the step is about one.
    pub message: Option<MessageId>,
    /// The part of the state that the message is about.
    pub key: Option<u64>,
    /// The event that sent the message: its index in [`Execution::events`]. `None` if it was in
    /// flight initially.
    pub sent_by: Option<u32>,
    /// Its index among the sends of that event.
    pub ordinal: u32,
    /// The index of the outcome: there are several if the actor chooses.
    pub outcome: u16,
    /// The operation it calls, if the call takes place at the receipt.
    pub calls: Option<u32>,
    /// Whether an equal message from the same sender to the same receiver was offered before this
    /// one: their effects differ only in which event sent the message.
    pub is_repeat: bool,
}

impl EnabledStep {
    /// Distinguishes it from all other steps, in this world and in later ones in which it has not
    /// been executed yet.
    #[must_use]
    pub fn identity(&self) -> StepIdentity {
        let what = match self.action {
            Action::Cut { side } => side,
            Action::Begin { .. }
            | Action::Deliver { .. }
            | Action::Lose { .. }
            | Action::Duplicate { .. }
            | Action::Crash { .. }
            | Action::Restart { .. }
            | Action::Heal => 0,
        };
        StepIdentity {
            kind: self.kind,
            to: self.to,
            sent_by: self.sent_by,
            ordinal: self.ordinal,
            outcome: self.outcome,
            what,
        }
    }

    /// The same for all outcomes of a step, and different for all other steps.
    #[must_use]
    pub fn origin(&self) -> StepIdentity {
        StepIdentity { outcome: 0, ..self.identity() }
    }
}

/// See [`EnabledStep::identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepIdentity {
    kind: StepKind,
    to: ActorId,
    sent_by: Option<u32>,
    ordinal: u32,
    outcome: u16,
    what: u64,
}

/// The effects of one executed step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutedStep {
    /// The step.
    pub step: EnabledStep,
    /// The calls and returns of clients, in order.
    pub history: Vec<HistoryEvent>,
    /// The messages it put in flight, in order: an ordinal is an index here.
    pub sends: Vec<EnvelopeId>,
    /// The clients that were sent a response at once, whether or not it made an operation return.
    pub notified: Vec<ActorId>,
}

impl ExecutedStep {
    fn empty(step: EnabledStep) -> Self {
        ExecutedStep { step, history: Vec::new(), sends: Vec::new(), notified: Vec::new() }
    }

    /// The operations that were called.
    pub fn calls(&self) -> impl Iterator<Item = u32> {
        self.history.iter().filter_map(|it| match *it {
            HistoryEvent::Call(operation) => Some(operation),
            HistoryEvent::Return(..) => None,
        })
    }

    /// The operations that returned.
    pub fn returns(&self) -> impl Iterator<Item = u32> {
        self.history.iter().filter_map(|it| match *it {
            HistoryEvent::Call(_) => None,
            HistoryEvent::Return(operation, _) => Some(operation),
        })
    }
}

/// Whether undo restores the states of actors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snapshots {
    /// It does.
    #[default]
    Sound,
    /// Actors keep their state when a step is undone: only messages and histories are restored.
    /// Emulates an explorer whose snapshots alias mutable state; not for any other use.
    Aliased,
}

/// One execution, step by step, with undo.
pub struct Execution {
    engine: Engine,
    // One more than events.
    frames: Vec<Frame>,
    events: Vec<ExecutedStep>,
    // The calls that clients make at the very beginning.
    prelude: Vec<HistoryEvent>,
    snapshots: Snapshots,
    locals: Vec<LocalId>,
    actions: Vec<Action>,
    taken: u64,
    // Undone steps, kept to reuse their memory.
    spare_frames: Vec<Frame>,
    spare_events: Vec<ExecutedStep>,
}

#[derive(Default)]
struct Frame {
    world: World,
    in_flight: Vec<InFlight>,
    enabled: Vec<EnabledStep>,
}

// A message in flight, or a timer that is set; in the order in which they were sent.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    envelope: EnvelopeId,
    sent_by: Option<u32>,
    ordinal: u32,
}

impl Execution {
    /// An execution without steps.
    #[must_use]
    pub fn new(mut engine: Engine, snapshots: Snapshots) -> Self {
        let world = engine.unstarted_world();
        let mut actions = Vec::new();
        engine.enabled(&world, &mut actions);
        let mut frame = Frame { world, in_flight: Vec::new(), enabled: Vec::new() };
        let mut prelude = Vec::new();
        // Starting the actors is a step only if it has several outcomes.
        if let [action] = actions[..] {
            frame.world = engine.apply(&frame.world, action).expect("a start is never left out");
            prelude.extend_from_slice(engine.planned_events());
            frame.in_flight = in_flight_from(engine.planned_sends(), None).collect();
        }
        let locals = frame.world.locals.clone();
        let mut execution = Execution {
            engine,
            frames: Vec::new(),
            events: Vec::new(),
            prelude,
            snapshots,
            locals,
            actions,
            taken: 0,
            spare_frames: Vec::new(),
            spare_events: Vec::new(),
        };
        execution.push(frame);
        execution
    }

    /// The enabled steps, messages in the order in which they were sent. Empty at the end of the
    /// execution.
    #[must_use]
    pub fn enabled(&self) -> &[EnabledStep] {
        &self.top().enabled
    }

    /// The steps executed so far.
    #[must_use]
    pub fn events(&self) -> &[ExecutedStep] {
        &self.events
    }

    /// The steps that were enabled before the `index`-th event; `index` may also be the number of
    /// events.
    #[must_use]
    pub fn enabled_before(&self, index: usize) -> &[EnabledStep] {
        &self.frames[index].enabled
    }

    /// The world before the `index`-th event.
    #[must_use]
    pub fn world_before(&self, index: usize) -> &World {
        &self.frames[index].world
    }

    /// The global state.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.top().world
    }

    /// The canonical history so far.
    #[must_use]
    pub fn history(&self) -> HistoryId {
        self.world().history
    }

    /// The summary of the history so far.
    #[must_use]
    pub fn summary(&self) -> HistorySummary {
        self.engine.summary(self.history())
    }

    /// The calls and returns so far, in chronological order.
    #[must_use]
    pub fn history_events(&self) -> Vec<HistoryEvent> {
        let mut history_events = Vec::new();
        self.history_events_into(&mut history_events);
        history_events
    }

    /// Replaces `history_events` by the calls and returns so far, in chronological order.
    pub(crate) fn history_events_into(&self, history_events: &mut Vec<HistoryEvent>) {
        history_events.clear();
        history_events.extend_from_slice(&self.prelude);
        self.events.iter().for_each(|it| history_events.extend_from_slice(&it.history));
    }

    /// The number of steps executed, undone ones included.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The canonical history of these events, which are the events of one execution in some order.
    pub(crate) fn canonical(&mut self, events: &[HistoryEvent]) -> HistoryId {
        events.iter().fold(Histories::EMPTY, |history, event| self.engine.step(history, *event))
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A handler that is not pure, or that panicked: the results of the exploration are then
    /// unreliable.
    #[must_use]
    pub fn bad_handler(&self) -> Option<&BadHandler> {
        self.engine.bad_handler()
    }

    /// Executes the `index`-th enabled step.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn take(&mut self, index: usize) {
        self.taken += 1;
        let top = self.frames.last().expect("there is a first frame");
        let step = top.enabled[index];
        let event = self.events.len() as u32;
        let aliased = (self.snapshots == Snapshots::Aliased && top.world.is_begun).then(|| {
            let mut world = top.world.clone();
            world.locals.clone_from(&self.locals);
            world.fingerprint = self.engine.fingerprint(&world);
            world
        });
        let before = aliased.as_ref().unwrap_or(&top.world);
        let mut frame = self.spare_frames.pop().unwrap_or_default();
        let mut executed = self.spare_events.pop().unwrap_or_else(|| ExecutedStep::empty(step));
        // With aliased snapshots, an actor may now ignore the message.
        match self.engine.plan(before, step.action) {
            Some(_) => self.engine.build(before, &mut frame.world),
            None => frame.world.clone_from(before),
        }
        executed.step = step;
        executed.sends.clone_from(&self.engine.plan.sent);
        executed.history.clone_from(&self.engine.plan.events);
        executed.notified.clone_from(&self.engine.plan.notified);
        let Frame { world, in_flight, .. } = &mut frame;
        in_flight.clone_from(&top.in_flight);
        match step.action {
            Action::Deliver { .. } | Action::Lose { .. } => {
                in_flight.retain(|it| (it.sent_by, it.ordinal) != (step.sent_by, step.ordinal));
            }
            Action::Duplicate { at } => {
                in_flight.push(InFlight {
                    envelope: before.in_flight[at as usize],
                    sent_by: Some(event),
                    ordinal: 0,
                });
            }
            Action::Begin { .. }
            | Action::Crash { .. }
            | Action::Restart { .. }
            | Action::Cut { .. }
            | Action::Heal => (),
        }
        in_flight.extend(in_flight_from(&executed.sends, Some(event)));
        // Drops timers that were cancelled, and what a crash discards.
        in_flight.retain(|it| world.in_flight.contains(&it.envelope));
        self.locals.clone_from(&world.locals);
        self.events.push(executed);
        self.push(frame);
    }

    /// Executes these actions, as returned by [`trace`](super::trace), from the initial state.
    ///
    /// # Panics
    ///
    /// If steps were executed before, or if an action is not enabled.
    pub fn follow(&mut self, actions: &[Action]) {
        assert!(self.events.is_empty(), "a trace starts at the beginning");
        for &action in actions {
            if matches!(action, Action::Begin { .. }) && self.world().is_begun {
                continue;
            }
            let index = self.enabled().iter().position(|it| it.action == action);
            self.take(index.expect("what was traced can happen"));
        }
    }

    /// Undoes the last step.
    ///
    /// # Panics
    ///
    /// If no step was executed.
    pub fn back(&mut self) {
        self.spare_events.push(self.events.pop().expect("a step was made"));
        self.spare_frames.extend(self.frames.pop());
    }

    /// Undoes all steps.
    pub fn rewind(&mut self) {
        self.spare_events.append(&mut self.events);
        self.spare_frames.extend(self.frames.drain(1..));
    }

    fn top(&self) -> &Frame {
        self.frames.last().expect("there is a first frame")
    }

    fn push(&mut self, mut frame: Frame) {
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        frame.enabled.clear();
        self.engine.enabled(&frame.world, &mut actions);
        if self.engine.rules().ignored == Ignored::Stays {
            actions.retain(|&it| self.engine.plan(&frame.world, it).is_some());
        }
        let engine = &self.engine;
        for it in &frame.in_flight {
            for &action in &actions {
                let (Action::Deliver { at, .. } | Action::Lose { at } | Action::Duplicate { at }) = action
                else {
                    continue;
                };
                if frame.is_at(engine, it, action, at as usize) {
                    let step = frame.step(engine, it, action);
                    frame.enabled.push(step);
                }
            }
        }
        frame.enabled.sort_by_key(|it| match it.kind {
            StepKind::Lose => 1,
            StepKind::Duplicate => 2,
            StepKind::Begin
            | StepKind::Message
            | StepKind::Timer
            | StepKind::Crash
            | StepKind::Restart
            | StepKind::Cut
            | StepKind::Heal => 0,
        });
        // Slots are numbered in the order of discovery, so they are no canonical order.
        let first = frame.enabled.len();
        frame.enabled.extend(actions.iter().filter_map(|&it| without_message(engine, it)));
        frame.enabled[first..].sort_by_key(EnabledStep::identity);
        self.actions = actions;
        self.frames.push(frame);
    }
}

impl Frame {
    // Whether `it` is the envelope in flight at index `at` of the world. With unordered delivery
    // equal messages share an index; otherwise the position in the lane decides.
    fn is_at(&self, engine: &Engine, it: &InFlight, action: Action, at: usize) -> bool {
        if self.world.in_flight[at] != it.envelope {
            return false;
        }
        if engine.rules().delivery == Delivery::Unordered || engine.envelope(it.envelope).is_timer {
            return true;
        }
        let lane = engine.lane(it.envelope);
        let mine = self.in_flight.iter().filter(|other| engine.lane(other.envelope) == lane);
        let place =
            mine.take_while(|other| (other.sent_by, other.ordinal) != (it.sent_by, it.ordinal)).count();
        let place = engine.lane_range(&self.world, lane).start + place;
        let is_first = matches!(action, Action::Deliver { .. });
        // A fault affects the first of several equal messages in a row, on behalf of all of them.
        place == at
            || !is_first
                && at < place
                && self.world.in_flight[at..place].iter().all(|other| *other == it.envelope)
    }

    fn step(&self, engine: &Engine, it: &InFlight, action: Action) -> EnabledStep {
        let envelope = engine.envelope(it.envelope);
        let (kind, outcome) = match action {
            Action::Deliver { outcome, .. } if envelope.is_timer => (StepKind::Timer, outcome),
            Action::Deliver { outcome, .. } => (StepKind::Message, outcome),
            Action::Lose { .. } => (StepKind::Lose, 0),
            Action::Duplicate { .. } => (StepKind::Duplicate, 0),
            Action::Begin { .. }
            | Action::Crash { .. }
            | Action::Restart { .. }
            | Action::Cut { .. }
            | Action::Heal => unreachable!("these are about no message"),
        };
        EnabledStep {
            kind,
            action,
            from: envelope.from,
            to: envelope.to,
            message: Some(envelope.message),
            key: envelope.key,
            sent_by: it.sent_by,
            ordinal: it.ordinal,
            outcome,
            calls: (kind == StepKind::Message)
                .then(|| engine.called_by(self.world.history, envelope))
                .flatten(),
            is_repeat: self.enabled.iter().any(|other| other.action == action),
        }
    }
}

fn without_message(engine: &Engine, action: Action) -> Option<EnabledStep> {
    let no_actor = ActorId::new(0);
    let (kind, to, outcome) = match action {
        Action::Begin { outcome } => (StepKind::Begin, no_actor, outcome),
        Action::Crash { slot } => (StepKind::Crash, engine.slot(slot), 0),
        Action::Restart { slot, outcome } => (StepKind::Restart, engine.slot(slot), outcome),
        Action::Cut { .. } => (StepKind::Cut, no_actor, 0),
        Action::Heal => (StepKind::Heal, no_actor, 0),
        Action::Deliver { .. } | Action::Lose { .. } | Action::Duplicate { .. } => return None,
    };
    Some(EnabledStep {
        kind,
        action,
        from: to,
        to,
        message: None,
        key: None,
        sent_by: None,
        ordinal: 0,
        outcome,
        calls: None,
        is_repeat: false,
    })
}

fn in_flight_from(sends: &[EnvelopeId], sent_by: Option<u32>) -> impl Iterator<Item = InFlight> {
    sends.iter().enumerate().map(move |(at, &envelope)| InFlight { envelope, sent_by, ordinal: at as u32 })
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution").field("events", &self.events).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
