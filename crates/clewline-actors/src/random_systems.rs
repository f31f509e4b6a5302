//! Random small actor systems, for tests.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{
    Actor, ActorId, AnyActor, ClientCall, Clients, Context, Delivery, Faults, GlobalState, Harness, Ignored,
    Mailbox, Modality, Property, Restart, Rules, Scenario,
    samples::{Call, Register},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Message {
    /// Maximum length of a chain of messages caused by it.
    pub(crate) life: u8,
    what: u8,
    /// The client of the request that caused it.
    client: Option<ActorId>,
}

/// An actor whose reactions are determined by a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RandomActor {
    seed: u64,
    state: u8,
    value: u8,
    features: Features,
}

/// Which outputs besides messages the actors of a system have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Features {
    pub(crate) timers: bool,
    pub(crate) children: bool,
    pub(crate) choices: bool,
}

fn hash_of(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl RandomActor {
    fn react(&mut self, to: &Message, salt: u8, context: &mut Context<Message>) {
        let hash = hash_of((self.seed, *self, context.me(), to, salt));
        let (a, b, c) = (hash % 8, hash >> 8 & 7, hash >> 16);
        self.state = (hash >> 24) as u8 % 3;
        if c % 3 == 0 {
            self.value = to.what;
        }
        let value = self.value;
        if let Some(client) = to.client
            && c % 4 < 3
        {
            let message = Message { life: 0, what: value, client: None };
            if a % 4 != 0 || to.life == 0 {
                context.send(client, message);
            }
        }
        let Some(life) = to.life.checked_sub(1) else { return };
        let other = Message { life, what: (hash >> 32) as u8 % 2, client: to.client.filter(|_| a % 4 == 0) };
        let whom = ActorId::new((hash >> 40) as u32 % 2);
        if b < 4 {
            context.send(whom, other);
        }
        if b == 1 {
            context.send(whom, other);
        }
        if self.features.timers && b < 6 {
            context.set_timer(Message { client: None, ..other });
            if b == 3 {
                context.cancel_timer(Message { life, what: 0, client: None });
            }
        }
        if self.features.children && b == 2 {
            let child = context.create(RandomActor { state: 0, ..*self });
            context.send(child, other);
        }
        if self.features.choices && a < 4 && context.choose(2) == 1 {
            self.value ^= 1;
            if context.choose(2) == 1 {
                self.state = 0;
            }
        }
    }
}

impl Actor for RandomActor {
    type Message = Message;

    fn on_start(&mut self, context: &mut Context<Message>) {
        let life = u8::from(self.seed.is_multiple_of(4) && context.me() == ActorId::new(0));
        self.react(&Message { life, what: 0, client: None }, 1, context);
    }

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        self.react(message, if from.is_client() { 2 } else { 3 }, context);
    }

    fn on_timer(&mut self, timer: &Message, context: &mut Context<Message>) {
        self.react(timer, 4, context);
    }

    fn on_restart(&mut self, context: &mut Context<Message>) {
        self.value = 0;
        self.react(&Message { life: 0, what: self.state, client: None }, 5, context);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomSystem {
    pub(crate) seed: u64,
    pub(crate) features: Features,
    pub(crate) life: u8,
}

impl Harness for RandomSystem {
    type Message = Message;
    type Specification = Register;

    fn specification(&self) -> Register {
        Register
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let actor = RandomActor { seed: self.seed, state: 0, value: 0, features: self.features };
        (0..2).map(|_| Box::new(actor) as Box<dyn AnyActor<Message>>).collect()
    }

    fn request(&self, call: &Call, n: u32) -> Message {
        let what = match *call {
            Call::Write(value) => value,
            Call::Read => 0,
        };
        // The client that receives the response follows from `n`: see `random`.
        Message { life: self.life, what, client: Some(ActorId::client(n % 2)) }
    }

    fn response(&self, message: &Message) -> Option<u8> {
        Some(message.what)
    }

    fn properties(&self) -> Vec<Property<Message>> {
        PROPERTIES.iter().map(|&(when, holds)| Property { name: "", when, holds }).collect()
    }
}

type Holds = fn(&GlobalState<'_, Message>) -> bool;

/// Properties of actors alone.
pub(crate) const PROPERTIES: [(Modality, Holds); 4] = [
    (Modality::Always, |it| !it.all::<RandomActor>().all(|it| it.state == 2)),
    (Modality::Sometimes, |it| it.all::<RandomActor>().all(|it| it.value == 1 && it.state == 1)),
    (Modality::Eventually, |it| it.all::<RandomActor>().any(|it| it.value == 1)),
    (Modality::Eventually, |it| it.all::<RandomActor>().any(|it| it.state == 2)),
];

/// The `seed`-th random system, its scenario, and the rules of its surroundings.
pub(crate) fn random(seed: u64) -> (RandomSystem, Scenario<Call>, Rules) {
    let roll = |what: &str, sides: u64| hash_of((seed, what)) % sides;
    let features = Features {
        timers: roll("timers", 4) == 0,
        children: roll("children", 4) == 0,
        choices: roll("choices", 4) == 0,
    };
    let calls = (0..2 + roll("calls", 2)).map(|at| ClientCall {
        client: (roll("clients", 2) * at) as u32 % 2,
        to: ActorId::new(roll(&format!("to{at}"), 2) as u32),
        call: if roll(&format!("call{at}"), 2) == 0 { Call::Read } else { Call::Write(1) },
    });
    let clients = if roll("waiting", 2) == 0 { Clients::Tight } else { Clients::Waiting };
    let delivery = match roll("delivery", 4) {
        0 => Delivery::FifoPerChannel,
        1 => Delivery::FifoPerReceiver,
        _ => Delivery::Unordered,
    };
    let budget = |what: &str| u8::from(roll(what, 6) == 0);
    let faults = Faults {
        lose: budget("lose"),
        duplicate: budget("duplicate"),
        crash: budget("crash"),
        restart: if roll("restart", 3) == 0 { Restart::Never } else { Restart::Always },
        mailbox: if roll("mailbox", 2) == 0 { Mailbox::Lost } else { Mailbox::Kept },
        partition: budget("partition"),
    };
    let system = RandomSystem { seed, features, life: 1 + roll("life", 2) as u8 };
    (system, Scenario { calls: calls.collect(), clients }, Rules { delivery, ignored: Ignored::Gone, faults })
}
