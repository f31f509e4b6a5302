//! Small systems for tests.

use std::collections::BTreeSet;

use clewline_core::{Deterministic, Verdict, VerdictKind};

use crate::{
    Actor, ActorId, ActorSystem, AnyActor, ClientCall, Clients, Context, Harness, Histories, HistoryEvent,
    HistoryId, Rules, Scenario,
};

/// A register of small integers.
#[derive(Clone, Debug)]
pub(crate) struct Register;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Write(u8),
    Read,
}

impl Deterministic for Register {
    type State = u8;
    type Call = Call;
    type Return = u8;

    fn initial(&self) -> u8 {
        0
    }

    fn apply(&self, state: &mut u8, call: &Call) -> Option<u8> {
        if let Call::Write(value) = *call {
            *state = value;
            return Some(0);
        }
        Some(*state)
    }
}

/// Whether a history of a register is linearizable: tries every order.
pub(crate) fn is_linearizable(events: &[HistoryEvent], calls: &[Call], returns: &dyn Fn(u32) -> u8) -> bool {
    let returned: BTreeSet<u32> = events
        .iter()
        .filter_map(|it| match *it {
            HistoryEvent::Return(operation, _) => Some(operation),
            HistoryEvent::Call(_) => None,
        })
        .collect();
    let span = |operation: u32| {
        let call = events.iter().position(|it| *it == HistoryEvent::Call(operation)).expect("called");
        let ret = events.iter().position(|it| matches!(it, HistoryEvent::Return(o, _) if *o == operation));
        (call, ret.unwrap_or(usize::MAX))
    };
    let result_of = |operation: u32| {
        events.iter().find_map(|it| match *it {
            HistoryEvent::Return(o, ret) if o == operation => Some(returns(ret.0)),
            HistoryEvent::Return(..) | HistoryEvent::Call(_) => None,
        })
    };
    fn go(
        left: &BTreeSet<u32>,
        state: u8,
        must: &BTreeSet<u32>,
        calls: &[Call],
        span: &dyn Fn(u32) -> (usize, usize),
        result_of: &dyn Fn(u32) -> Option<u8>,
    ) -> bool {
        if left.is_disjoint(must) {
            return true;
        }
        left.iter().any(|&it| {
            if left.iter().any(|&other| span(other).1 < span(it).0) {
                return false;
            }
            let mut next = state;
            let result = Register.apply(&mut next, &calls[it as usize]);
            if result_of(it).is_some() && result_of(it) != result {
                return false;
            }
            let mut rest = left.clone();
            rest.remove(&it);
            go(&rest, next, must, calls, span, result_of)
        })
    }
    let called = events
        .iter()
        .filter_map(|it| match *it {
            HistoryEvent::Call(operation) => Some(operation),
            HistoryEvent::Return(..) => None,
        })
        .collect();
    go(&called, 0, &returned, calls, &span, &result_of)
}

/// Judges histories of registers.
pub(crate) fn judge<H>(
    system: &ActorSystem<H>,
) -> impl FnMut(&Histories, HistoryId) -> VerdictKind + Send + use<H>
where
    H: Harness<Specification = Register> + 'static,
{
    let shared = system.shared_tables();
    move |histories: &Histories, id: HistoryId| {
        let tables = shared.lock().expect("no handler panicked");
        let calls: Vec<Call> = tables.scenario().calls.iter().map(|it| it.call).collect();
        let returns = |it| *tables.returned(crate::ReturnId(it));
        if is_linearizable(&histories.events(id), &calls, &returns) {
            Verdict::Holds(())
        } else {
            Verdict::Violated(())
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Message {
    Write(u8),
    Read,
    Replicate(ActorId, u8),
    Replicated(ActorId),
    WriteDone,
    ReadDone(u8),
}

/// A replica of a register that responds to a write as soon as one other replica has it, and to a
/// read at once. It is not linearizable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Hasty {
    value: u8,
    acknowledged: BTreeSet<ActorId>,
    leader: ActorId,
    replicas: u32,
}

impl Actor for Hasty {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Write(_) if context.me() != self.leader => context.send(self.leader, *message),
            Message::Write(value) => {
                self.value = value;
                let me = context.me();
                let others = (0..self.replicas).map(ActorId::new).filter(|it| *it != me);
                others.for_each(|it| context.send(it, Message::Replicate(from, value)));
            }
            Message::Replicate(client, value) => {
                self.value = value;
                context.send(from, Message::Replicated(client));
            }
            Message::Replicated(client) => {
                if self.acknowledged.insert(client) {
                    context.send(client, Message::WriteDone);
                }
            }
            Message::Read => context.send(from, Message::ReadDone(self.value)),
            Message::WriteDone | Message::ReadDone(_) => (),
        }
    }
}

/// The erroneous replicated register of DS2, three replicas.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HastyRegister;

impl Harness for HastyRegister {
    type Message = Message;
    type Specification = Register;

    fn specification(&self) -> Register {
        Register
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let replica = Hasty { value: 0, acknowledged: BTreeSet::new(), leader: ActorId::new(0), replicas: 3 };
        (0..3).map(|_| Box::new(replica.clone()) as Box<dyn AnyActor<Message>>).collect()
    }

    fn request(&self, call: &Call, _n: u32) -> Message {
        match *call {
            Call::Write(value) => Message::Write(value),
            Call::Read => Message::Read,
        }
    }

    fn response(&self, message: &Message) -> Option<u8> {
        match *message {
            Message::WriteDone => Some(0),
            Message::ReadDone(value) => Some(value),
            Message::Write(_) | Message::Read | Message::Replicate(..) | Message::Replicated(_) => None,
        }
    }
}

/// Actors whose clients all send the same request. A call returns 0 with the message `done`.
pub(crate) struct OneRequest<M: 'static> {
    pub(crate) actors: fn() -> Vec<Box<dyn AnyActor<M>>>,
    pub(crate) request: M,
    pub(crate) done: Option<M>,
}

impl<M: crate::Message> Harness for OneRequest<M> {
    type Message = M;
    type Specification = Register;

    fn specification(&self) -> Register {
        Register
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<M>>> {
        (self.actors)()
    }

    fn request(&self, _call: &Call, _n: u32) -> M {
        self.request.clone()
    }

    fn response(&self, message: &M) -> Option<u8> {
        (self.done.as_ref() == Some(message)).then_some(0)
    }
}

/// The scenario of calls that each have a client of their own.
pub(crate) fn one_client_per_call(calls: &[(Call, u32)], clients: Clients) -> Scenario<Call> {
    let calls = calls.iter().enumerate().map(|(at, &(call, to))| ClientCall {
        client: at as u32,
        to: ActorId::new(to),
        call,
    });
    Scenario { calls: calls.collect(), clients }
}

/// The erroneous register with one write and two reads, each at another replica.
pub(crate) fn hasty() -> ActorSystem<HastyRegister> {
    let calls = [(Call::Write(1), 0), (Call::Read, 1), (Call::Read, 2)];
    ActorSystem::new(HastyRegister, one_client_per_call(&calls, Clients::Tight), Rules::default())
        .expect("it fits")
}
