//! Atomic commitment of a transaction (two-phase commit).
//!
//! The coordinator requests a vote from each participant. A participant that votes yes must do what
//! the coordinator decides; one that votes no has aborted already. If all have voted yes the
//! coordinator decides to commit, otherwise to abort.
//!
//! There are no calls and no history to judge here: the correctness condition is a property of all
//! states.
//!
//! Source: J. Gray, "Notes on data base operating systems", 1978.

use std::collections::BTreeSet;

use clewline_actors::{Actor, ActorId, AnyActor, Context, GlobalState, Modality, Property};
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::others,
    shape::ReadsAndWrites,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "two-phase-commit",
    about: "a transaction that all take part in, or none",
    source: "J. Gray, Notes on data base operating systems, 1978",
    spec: "register",
    offers: &[],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant { about: "the coordinator waits for all, and so do participants", ..FOUR },
        Variant {
            name: "impatient",
            about: "a participant that has said yes aborts if it hears nothing for long",
            flaw: Some(Symptom::Property(AGREE)),
            ..FOUR
        },
        Variant {
            name: "majority",
            about: "the coordinator commits if most say yes",
            flaw: Some(Symptom::Property(AGREE)),
            ..FOUR
        },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

const AGREE: &str = "no participant commits while another aborts";
const COMMITS: &str = "all commit";
const DECIDED: &str = "every participant commits or aborts";
const FOUR: Variant = Variant { actors: 4, calls: "none", ..Variant::PLAIN };

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, actors: u32, visitor: V) -> V::Output {
    let system = TwoPhaseCommit {
        actors,
        defect: match variant {
            "impatient" => Some(Defect::Impatient),
            "majority" => Some(Defect::Majority),
            _ => None,
        },
    };
    visit_file(include_str!("two_phase_commit.harness"), system.actors(), TwoPhaseCommit::properties, visitor)
}

/// Messages between coordinator and participants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Can you commit?
    Prepare,
    /// Yes.
    Yes,
    /// No.
    No,
    /// Then do.
    Commit,
    /// Then do not.
    Abort,
    /// A participant has waited for long: a timer.
    Impatience,
}

/// The defects of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    Impatient,
    Majority,
}

/// The coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Coordinator {
    actors: u32,
    defect: Option<Defect>,
    yes: BTreeSet<ActorId>,
    is_decided: bool,
}

impl Coordinator {
    fn decide(&mut self, decision: Message, context: &mut Context<Message>) {
        self.is_decided = true;
        others(self.actors, context.me()).for_each(|it| context.send(it, decision));
    }
}

impl Actor for Coordinator {
    type Message = Message;

    fn on_start(&mut self, context: &mut Context<Message>) {
        others(self.actors, context.me()).for_each(|it| context.send(it, Message::Prepare));
    }

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        let participants = self.actors as usize - 1;
        let needed = match self.defect {
            Some(Defect::Majority) => participants / 2 + 1,
            Some(Defect::Impatient) | None => participants,
        };
        match message {
            _ if self.is_decided => (),
            Message::Yes => {
                self.yes.insert(from);
                if self.yes.len() == needed {
                    self.decide(Message::Commit, context);
                }
            }
            Message::No if needed == participants => self.decide(Message::Abort, context),
            Message::No | Message::Prepare | Message::Commit | Message::Abort | Message::Impatience => (),
        }
    }
}

/// A participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Participant {
    defect: Option<Defect>,
    state: State,
}

/// The state of the transaction, as far as a participant knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Working,
    Prepared,
    Committed,
    Aborted,
}

impl Actor for Participant {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match message {
            // Another participant has voted no, and the coordinator's decision overtook its
            // request.
            Message::Prepare if self.state == State::Aborted => context.send(from, Message::No),
            // Whether it can commit is its own affair: both are explored.
            Message::Prepare if context.choose(2) == 0 => {
                self.state = State::Prepared;
                context.send(from, Message::Yes);
                if self.defect == Some(Defect::Impatient) {
                    context.set_timer(Message::Impatience);
                }
            }
            Message::Prepare => {
                self.state = State::Aborted;
                context.send(from, Message::No);
            }
            Message::Commit if self.state == State::Prepared => {
                self.state = State::Committed;
                context.cancel_timer(Message::Impatience);
            }
            Message::Abort => {
                self.state = State::Aborted;
                context.cancel_timer(Message::Impatience);
            }
            Message::Commit | Message::Yes | Message::No | Message::Impatience => (),
        }
    }

    fn on_timer(&mut self, _timer: &Message, _context: &mut Context<Message>) {
        self.state = State::Aborted;
    }
}

fn states<'a>(state: &'a GlobalState<'_, Message>) -> impl Iterator<Item = State> + 'a {
    state.all::<Participant>().map(|it| it.state)
}

/// The coordinator and the participants.
#[derive(Clone, Debug)]
struct TwoPhaseCommit {
    actors: u32,
    defect: Option<Defect>,
}

impl TwoPhaseCommit {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let coordinator =
            Coordinator { actors: self.actors, defect: self.defect, yes: BTreeSet::new(), is_decided: false };
        let mut actors: Vec<Box<dyn AnyActor<Message>>> = vec![Box::new(coordinator)];
        for _ in 1..self.actors {
            actors.push(Box::new(Participant { defect: self.defect, state: State::Working }));
        }
        actors
    }

    /// Properties of global states.
    fn properties() -> Vec<Property<Message>> {
        let agree = |state: &GlobalState<'_, Message>| {
            let is_any = |outcome| states(state).any(|it| it == outcome);
            !(is_any(State::Committed) && is_any(State::Aborted))
        };
        let decided = |state: &GlobalState<'_, Message>| {
            states(state).all(|it| matches!(it, State::Committed | State::Aborted))
        };
        vec![
            Property { name: AGREE, when: Modality::Always, holds: agree },
            Property {
                name: COMMITS,
                when: Modality::Sometimes,
                holds: |it| states(it).all(|it| it == State::Committed),
            },
            Property { name: DECIDED, when: Modality::Eventually, holds: decided },
        ]
    }
}
