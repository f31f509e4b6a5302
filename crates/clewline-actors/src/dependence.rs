//! Dependence: which pairs of steps do not commute.
//!
//! Two steps are independent if, wherever both are enabled, neither disables the other, and both
//! orders lead to the same world: the same actors, the same messages, and the same canonical
//! history. Partial-order reductions rely on nothing else.
//!
//! Different receivers alone do not make two messages independent. A return at one actor and a call
//! at another leave the same actor states in either order, but their order is part of the history.
//! A relation that ignores this loses violations.

use std::fmt;

use crate::{
    actor::ActorId,
    engine::Engine,
    execution::{ExecutedStep, Execution, StepKind},
    faults::Mailbox,
    histories::HistoryEvent,
    world::{Delivery, Rules},
};

/// Everything about a step that can matter to another step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepFootprint {
    /// The kind of the step.
    pub kind: StepKind,
    /// The sender of the message received.
    pub from: ActorId,
    /// The receiver.
    pub to: ActorId,
    /// The part of the state the message is about.
    pub key: Option<u64>,
    /// The operations it called, one bit each.
    pub calls: u64,
    /// The operations that returned, one bit each.
    pub returns: u64,
    // Sets of clients that called, of clients that were notified, and of receivers of its messages.
    // Two members may share a bit; this only adds dependences.
    callers: u64,
    notified: u64,
    receivers: u64,
}

fn bit(actor: ActorId) -> u64 {
    1 << ((actor.index() + u32::from(actor.is_client()) * 37) % 64)
}

impl StepFootprint {
    /// The footprint of an executed step.
    #[must_use]
    pub fn of(executed: &ExecutedStep, engine: &Engine) -> Self {
        let step = &executed.step;
        let receivers = executed.sends.iter().map(|it| bit(engine.envelope(*it).to));
        let copy = if step.kind == StepKind::Duplicate { bit(step.to) } else { 0 };
        let mut footprint = StepFootprint {
            kind: step.kind,
            from: step.from,
            to: step.to,
            key: step.key,
            calls: 0,
            returns: 0,
            callers: 0,
            notified: executed.notified.iter().fold(0, |set, it| set | bit(*it)),
            receivers: receivers.fold(copy, |set, it| set | it),
        };
        for event in &executed.history {
            match *event {
                HistoryEvent::Call(operation) => {
                    footprint.calls |= 1 << operation;
                    footprint.callers |= bit(engine.client_of(operation));
                }
                HistoryEvent::Return(operation, _) => footprint.returns |= 1 << operation,
            }
        }
        footprint
    }

    /// The footprint of the last step of `execution`.
    ///
    /// # Panics
    ///
    /// If no step was executed.
    #[must_use]
    pub fn of_last(execution: &Execution) -> Self {
        StepFootprint::of(execution.events().last().expect("a step was made"), execution.engine())
    }

    fn has_place(&self) -> bool {
        match self.kind {
            StepKind::Message
            | StepKind::Timer
            | StepKind::Lose
            | StepKind::Duplicate
            | StepKind::Crash
            | StepKind::Restart => true,
            StepKind::Begin | StepKind::Cut | StepKind::Heal => false,
        }
    }

    fn is_at_same_place(&self, other: &StepFootprint) -> bool {
        self.has_place() && other.has_place() && self.to == other.to
    }

    // Whether one step may disable the other, or change its effect other than by the state of an
    // actor.
    fn interferes(&self, other: &StepFootprint, rules: &Rules) -> bool {
        let is_overtaken = self.receivers & other.receivers != 0;
        let is_fifo = match rules.delivery {
            Delivery::Unordered => false,
            // One actor sends its messages one after the other: only a duplicate comes in between.
            Delivery::FifoPerChannel => self.kind == StepKind::Duplicate || other.kind == StepKind::Duplicate,
            Delivery::FifoPerReceiver => true,
        };
        (is_fifo && is_overtaken) || self.disables(other, rules) || other.disables(self, rules)
    }

    fn disables(&self, other: &StepFootprint, rules: &Rules) -> bool {
        // All faults of a kind share one budget.
        let is_rival = self.kind == other.kind;
        match self.kind {
            StepKind::Begin => true,
            StepKind::Lose | StepKind::Duplicate => is_rival,
            StepKind::Crash => {
                is_rival || (rules.faults.mailbox == Mailbox::Lost && other.receivers & bit(self.to) != 0)
            }
            StepKind::Cut | StepKind::Heal => match other.kind {
                StepKind::Cut | StepKind::Heal => true,
                StepKind::Message => !other.from.is_client() && !other.to.is_client(),
                StepKind::Begin
                | StepKind::Timer
                | StepKind::Lose
                | StepKind::Duplicate
                | StepKind::Crash
                | StepKind::Restart => false,
            },
            StepKind::Message | StepKind::Timer | StepKind::Restart => false,
        }
    }

    // Whether clients can observe the order of the two steps.
    fn is_ordered_for_clients(&self, other: &StepFootprint) -> bool {
        let is_one = |set: u64| set.is_power_of_two();
        let precedes =
            |calls: u64, returns: u64| calls != 0 && returns != 0 && !(calls == returns && is_one(calls));
        // Of two responses to one client only the first counts, and only after its call.
        let is_response_order =
            self.notified & (other.notified | other.callers) | other.notified & self.callers != 0;
        is_response_order || precedes(self.calls, other.returns) || precedes(other.calls, self.returns)
    }
}

/// Decides which steps are dependent.
pub trait Dependence: fmt::Debug + Sync {
    /// Whether the two steps do not commute. Symmetric.
    fn is_dependent(&self, one: &StepFootprint, other: &StepFootprint, rules: &Rules) -> bool;
}

/// Steps at the same actor are dependent, and no others. Ignores what clients observe, and so loses
/// violations: it exists only to demonstrate that.
#[derive(Clone, Copy, Debug)]
pub struct SameReceiver;

impl Dependence for SameReceiver {
    fn is_dependent(&self, one: &StepFootprint, other: &StepFootprint, rules: &Rules) -> bool {
        one.is_at_same_place(other) || one.interferes(other, rules)
    }
}

/// Steps at the same actor are dependent, and so are the return of one operation and the call of
/// another.
#[derive(Clone, Copy, Debug)]
pub struct HistoryAware;

impl Dependence for HistoryAware {
    fn is_dependent(&self, one: &StepFootprint, other: &StepFootprint, rules: &Rules) -> bool {
        SameReceiver.is_dependent(one, other, rules) || one.is_ordered_for_clients(other)
    }
}

/// As [`HistoryAware`], but messages with different [keys](super::Harness::key) are independent at
/// one actor, as the harness promises.
#[derive(Clone, Copy, Debug)]
pub struct Keyed;

impl Dependence for Keyed {
    fn is_dependent(&self, one: &StepFootprint, other: &StepFootprint, rules: &Rules) -> bool {
        let is_reaction = |it: &StepFootprint| matches!(it.kind, StepKind::Message | StepKind::Timer);
        // With ordered delivery, a common receiver may observe the order of the sends.
        let is_apart = is_reaction(one)
            && is_reaction(other)
            && (rules.delivery == Delivery::Unordered || one.receivers & other.receivers == 0)
            && one.key.zip(other.key).is_some_and(|(one, other)| one != other);
        (one.is_at_same_place(other) && !is_apart)
            || one.interferes(other, rules)
            || one.is_ordered_for_clients(other)
    }
}
