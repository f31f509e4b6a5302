//! Walks: one execution at a time, step by step, there and back.
//!
//! This is what schedulers drive that look at schedules and not at states. Here a message has a *causal* identity: which event
//! sent it, and as which of its sends. Two messages that say the same are still two.
//!
//! Receives are offered in the order in which their messages were sent, so a schedule is the same whatever else was
//! explored before.

use std::fmt;

use crate::{
    actor::ActorId,
    engine::Engine,
    histories::{Histories, HistoryEvent, HistoryId, Summary},
    interned::{BadHandler, EnvelopeId, LocalId, MessageId},
    world::{Action, Delivery, Ignored, World},
};

/// What kind of thing a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// Actors start, in one of several ways.
    Begin,
    /// A message is received.
    Message,
    /// A timer goes off.
    Timer,
    /// A message is lost.
    Lose,
    /// A message will arrive twice.
    Duplicate,
    /// An actor goes down.
    Crash,
    /// It starts again.
    Restart,
    /// A partition begins.
    Cut,
    /// It ends.
    Heal,
}

/// Something that can happen next: usually that a message is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnabledStep {
    /// What kind of thing it is.
    pub kind: StepKind,
    /// The action, in the world in which this is offered.
    pub action: Action,
    /// Who sent the message; for everything else whom it happens to, as in `to`.
    pub from: ActorId,
    /// Who receives it.
    pub to: ActorId,
    /// What it says, if it is about a message or a timer.
    pub message: Option<MessageId>,
    /// Which part of the state the message is about.
    pub key: Option<u64>,
    /// The event that sent the message: its index in [`Execution::events`]. `None` if it was there at first.
    pub sent_by: Option<u32>,
    /// As which of that event's sends.
    pub ordinal: u32,
    /// Which of the ways in which this can go: there are several if the actor chooses.
    pub outcome: u16,
    /// The operation that it calls, where a call happens when it is received.
    pub calls: Option<u32>,
    /// Whether a message that says the same from the same to the same was offered before this one: what comes of it differs in
    /// nothing but in who sent it.
    pub is_repeat: bool,
}

impl EnabledStep {
    /// What tells it from all others that can happen, in this world and in those after it in which it has not happened yet.
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

    /// The same for all the ways in which it can go, and different for everything else that can happen.
    #[must_use]
    pub fn origin(&self) -> StepIdentity {
        StepIdentity { outcome: 0, ..self.identity() }
    }
}

/// See [`Receive::identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepIdentity {
    kind: StepKind,
    to: ActorId,
    sent_by: Option<u32>,
    ordinal: u32,
    outcome: u16,
    what: u64,
}

/// What happened in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutedStep {
    /// The step.
    pub receive: EnabledStep,
    /// What clients did or saw, in order.
    pub history: Vec<HistoryEvent>,
    /// What it put in flight, in order: an ordinal is an index here.
    pub sends: Vec<EnvelopeId>,
    /// The clients that were told something when it was sent, whether or not it returned anything to them.
    pub notified: Vec<ActorId>,
}

impl ExecutedStep {
    fn empty(receive: EnabledStep) -> Self {
        ExecutedStep { receive, history: Vec::new(), sends: Vec::new(), notified: Vec::new() }
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

/// Whether going back brings actors back to what they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snapshots {
    /// As it should be.
    #[default]
    Sound,
    /// Actors stay as they are when a walk goes back: only messages and histories are brought back. Emulates an explorer whose
    /// snapshots alias mutable state, and is good for nothing else.
    Aliased,
}

/// One execution, step by step, there and back.
pub struct Execution {
    engine: Engine,
    // One more than events.
    frames: Vec<Frame>,
    events: Vec<ExecutedStep>,
    // What clients did at the very beginning.
    prelude: Vec<HistoryEvent>,
    snapshots: Snapshots,
    locals: Vec<LocalId>,
    actions: Vec<Action>,
    taken: u64,
    // What was taken back: memory to be used again.
    spare_frames: Vec<Frame>,
    spare_events: Vec<ExecutedStep>,
}

#[derive(Default)]
struct Frame {
    world: World,
    in_flight: Vec<InFlight>,
    enabled: Vec<EnabledStep>,
}

// Something in flight, or a timer that is set. In the order they were sent.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    envelope: EnvelopeId,
    sent_by: Option<u32>,
    ordinal: u32,
}

impl Execution {
    /// A walk that has made no step yet.
    #[must_use]
    pub fn new(mut engine: Engine, snapshots: Snapshots) -> Self {
        let world = engine.unstarted_world();
        let mut actions = Vec::new();
        engine.enabled(&world, &mut actions);
        let mut frame = Frame { world, in_flight: Vec::new(), enabled: Vec::new() };
        let mut prelude = Vec::new();
        // That actors start is a step of its own only if it can go in several ways.
        if let [action] = actions[..] {
            frame.world = engine.apply(&frame.world, action).expect("a start is never left out");
            prelude.extend_from_slice(engine.planned_events());
            frame.in_flight = flying(engine.planned_sends(), None).collect();
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

    /// What can happen next, messages in the order they were sent. Empty if this is the end of the execution.
    #[must_use]
    pub fn enabled(&self) -> &[EnabledStep] {
        &self.top().enabled
    }

    /// What happened so far.
    #[must_use]
    pub fn events(&self) -> &[ExecutedStep] {
        &self.events
    }

    /// What was enabled before the `index`-th event happened; all events have one, and so has what comes next.
    #[must_use]
    pub fn enabled_before(&self, index: usize) -> &[EnabledStep] {
        &self.frames[index].enabled
    }

    /// The world before the `index`-th event happened.
    #[must_use]
    pub fn world_before(&self, index: usize) -> &World {
        &self.frames[index].world
    }

    /// The global state.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.top().world
    }

    /// What clients have seen, canonically.
    #[must_use]
    pub fn history(&self) -> HistoryId {
        self.world().history
    }

    /// What clients have seen, at a glance.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.engine.summary(self.history())
    }

    /// What clients have seen, in the order it happened.
    #[must_use]
    pub fn history_events(&self) -> Vec<HistoryEvent> {
        let mut chronicle = Vec::new();
        self.history_events_into(&mut chronicle);
        chronicle
    }

    /// Puts what clients have seen, in the order it happened, in place of what `chronicle` was.
    pub(crate) fn history_events_into(&self, chronicle: &mut Vec<HistoryEvent>) {
        chronicle.clear();
        chronicle.extend_from_slice(&self.prelude);
        self.events.iter().for_each(|it| chronicle.extend_from_slice(&it.history));
    }

    /// How many steps were made, those that were taken back among them.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The canonical history of these events, which are those of one execution in some order.
    pub(crate) fn canonical(&mut self, events: &[HistoryEvent]) -> HistoryId {
        events.iter().fold(Histories::EMPTY, |history, event| self.engine.step(history, *event))
    }

    /// What explores.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A handler that was found not to be pure, or that panicked: what was explored says little.
    #[must_use]
    pub fn bad_handler(&self) -> Option<&BadHandler> {
        self.engine.bad_handler()
    }

    /// Makes the `index`-th step that is enabled.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn take(&mut self, index: usize) {
        self.taken += 1;
        let top = self.frames.last().expect("there is a first frame");
        let receive = top.enabled[index];
        let event = self.events.len() as u32;
        let aliased = (self.snapshots == Snapshots::Aliased && top.world.is_begun).then(|| {
            let mut world = top.world.clone();
            world.locals.clone_from(&self.locals);
            world.fingerprint = self.engine.fingerprint(&world);
            world
        });
        let before = aliased.as_ref().unwrap_or(&top.world);
        let mut frame = self.spare_frames.pop().unwrap_or_default();
        let mut happened = self.spare_events.pop().unwrap_or_else(|| ExecutedStep::empty(receive));
        // Actors that are not what they were may take no notice of a message now.
        match self.engine.plan(before, receive.action) {
            Some(_) => self.engine.build(before, &mut frame.world),
            None => frame.world.clone_from(before),
        }
        happened.receive = receive;
        happened.sends.clone_from(&self.engine.plan.sent);
        happened.history.clone_from(&self.engine.plan.events);
        happened.notified.clone_from(&self.engine.plan.notified);
        let Frame { world, in_flight, .. } = &mut frame;
        in_flight.clone_from(&top.in_flight);
        match receive.action {
            Action::Deliver { .. } | Action::Lose { .. } => {
                in_flight.retain(|it| (it.sent_by, it.ordinal) != (receive.sent_by, receive.ordinal));
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
        in_flight.extend(flying(&happened.sends, Some(event)));
        // Timers that were cancelled, and what a crash takes along.
        in_flight.retain(|it| world.in_flight.contains(&it.envelope));
        self.locals.clone_from(&world.locals);
        self.events.push(happened);
        self.push(frame);
    }

    /// Takes the steps that these actions are, as [`trace`](super::trace) gives them, from the very beginning.
    ///
    /// # Panics
    ///
    /// If some steps were made, or if an action is not enabled when it is its turn.
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

    /// Takes the last step back.
    ///
    /// # Panics
    ///
    /// If there was none.
    pub fn back(&mut self) {
        self.spare_events.push(self.events.pop().expect("a step was made"));
        self.spare_frames.extend(self.frames.pop());
    }

    /// Takes all steps back.
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
                    let receive = frame.receive(engine, it, action);
                    frame.enabled.push(receive);
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
        // Slots are numbered as actors are met, so they are no order to go by.
        let first = frame.enabled.len();
        frame.enabled.extend(actions.iter().filter_map(|&it| without_message(engine, it)));
        frame.enabled[first..].sort_by_key(EnabledStep::identity);
        self.actions = actions;
        self.frames.push(frame);
    }
}

impl Frame {
    // Whether `it` is what is in flight at this place of the world. Where order does not matter, messages that say the same are
    // at one place; where it does, it is for the place in the lane to say.
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
        // A fault happens to the first of several in a row that say the same, for all of them.
        place == at
            || !is_first
                && at < place
                && self.world.in_flight[at..place].iter().all(|other| *other == it.envelope)
    }

    fn receive(&self, engine: &Engine, it: &InFlight, action: Action) -> EnabledStep {
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
    let nobody = ActorId::new(0);
    let (kind, to, outcome) = match action {
        Action::Begin { outcome } => (StepKind::Begin, nobody, outcome),
        Action::Crash { slot } => (StepKind::Crash, engine.slot(slot), 0),
        Action::Restart { slot, outcome } => (StepKind::Restart, engine.slot(slot), outcome),
        Action::Cut { .. } => (StepKind::Cut, nobody, 0),
        Action::Heal => (StepKind::Heal, nobody, 0),
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

fn flying(sends: &[EnvelopeId], sent_by: Option<u32>) -> impl Iterator<Item = InFlight> {
    sends.iter().enumerate().map(move |(at, &envelope)| InFlight { envelope, sent_by, ordinal: at as u32 })
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("events", &self.events).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
