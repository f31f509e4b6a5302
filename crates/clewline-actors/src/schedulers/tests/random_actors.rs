//! Actor systems that do anything at all, drawn from a seed.

use clewline_core::Random;

use crate::{
    Actor, ActorId, ActorSystem, AnyActor, ClientCall, Clients, Context, Delivery, Faults, Harness, Ignored,
    Mailbox, Restart, Rules, Scenario,
    samples::{Call, Register},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RandomMessage {
    // The client, from 0, whose request caused the message.
    client: u32,
    // The content; a message to a client returns this.
    value: u8,
    // Maximum length of a chain of messages caused by it.
    fuel: u8,
    key: u8,
}

/// The random parameters of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RandomConfig {
    seed: u64,
    actors: u32,
    clients: u32,
    has_keys: bool,
    has_timers: bool,
    has_choices: bool,
    // Written values are not overwritten by reads: such systems are more often correct.
    is_sane: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RandomActor {
    table: RandomConfig,
    // One part for each key.
    parts: [u8; 2],
}

impl RandomActor {
    fn roll(&self, salt: u64, me: ActorId, said: &RandomMessage, part: usize) -> Random {
        let mut seed = self.table.seed ^ salt << 56;
        for it in [me.index(), u32::from(said.value), u32::from(said.fuel), u32::from(self.parts[part])] {
            seed = seed.wrapping_mul(0x100_0000_01b3).wrapping_add(u64::from(it) + 1);
        }
        Random::new(seed)
    }

    fn react(&mut self, said: &RandomMessage, salt: u64, context: &mut Context<RandomMessage>) {
        let part = usize::from(said.key);
        let mut random = self.roll(salt, context.me(), said, part);
        if self.table.has_choices && random.below(4) == 0 && context.choose(2) == 1 {
            random = self.roll(salt + 1, context.me(), said, part);
        }
        if said.value != 0 || !self.table.is_sane {
            self.parts[part] = if random.below(3) == 0 { random.below(3) as u8 } else { said.value };
        }
        if said.fuel == 0 {
            context.send(ActorId::client(said.client), RandomMessage { value: self.parts[part], ..*said });
            return;
        }
        let less = RandomMessage { fuel: said.fuel - 1, ..*said };
        match random.below(8) {
            0 => {
                context.send(ActorId::client(said.client), RandomMessage { value: self.parts[part], ..less })
            }
            1 if self.table.has_timers => context.set_timer(less),
            2 if self.table.has_timers => context.cancel_timer(RandomMessage { value: 1, ..less }),
            // Another client receives a response to no request of its own.
            3 => {
                let client = random.below(self.table.clients as usize) as u32;
                context.send(ActorId::client(client), RandomMessage { value: self.parts[part], ..less });
            }
            _ => (),
        }
        for _ in 0..=random.below(2) {
            let to = ActorId::new(random.below(self.table.actors as usize) as u32);
            let key = if self.table.has_keys { random.below(2) as u8 } else { 0 };
            context.send(to, RandomMessage { key, ..less });
        }
    }
}

impl Actor for RandomActor {
    type Message = RandomMessage;

    fn on_start(&mut self, context: &mut Context<RandomMessage>) {
        if self.table.has_timers && context.me().index() == 0 {
            context.set_timer(RandomMessage { client: 0, value: 1, fuel: 0, key: 0 });
        }
    }

    fn on_message(&mut self, _from: ActorId, said: &RandomMessage, context: &mut Context<RandomMessage>) {
        self.react(said, 1, context);
    }

    fn on_timer(&mut self, said: &RandomMessage, context: &mut Context<RandomMessage>) {
        self.react(said, 3, context);
    }

    fn on_restart(&mut self, _context: &mut Context<RandomMessage>) {
        if self.table.seed.is_multiple_of(2) {
            self.parts = [0; 2];
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RandomHarness(RandomConfig);

impl Harness for RandomHarness {
    type Message = RandomMessage;
    type Specification = Register;

    fn specification(&self) -> Register {
        Register
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<RandomMessage>>> {
        let actor = RandomActor { table: self.0, parts: [0; 2] };
        (0..self.0.actors).map(|_| Box::new(actor.clone()) as Box<dyn AnyActor<RandomMessage>>).collect()
    }

    fn request(&self, call: &Call, n: u32) -> RandomMessage {
        let word = match *call {
            Call::Write(value) => value,
            Call::Read => 0,
        };
        let mut random = Random::new(self.0.seed ^ u64::from(n) << 8 ^ u64::from(word));
        let key = if self.0.has_keys { random.below(2) as u8 } else { 0 };
        RandomMessage { client: n, value: word, fuel: random.below(3) as u8, key }
    }

    // The result of a write is 0, whatever the response carries.
    fn response(&self, said: &RandomMessage) -> Option<u8> {
        Some(said.value)
    }

    fn key(&self, said: &RandomMessage) -> Option<u64> {
        self.0.has_keys.then_some(u64::from(said.key))
    }
}

/// A different system for each seed, and its description.
pub(super) fn draw(seed: u64) -> (ActorSystem<RandomHarness>, String) {
    draw_choosing(seed, 5)
}

/// As [`draw`]; actors choose in one of `n` systems.
pub(super) fn draw_choosing(seed: u64, n: usize) -> (ActorSystem<RandomHarness>, String) {
    let mut random = Random::new(seed);
    let mut some = |n: usize| random.below(n) == 0;
    let table = RandomConfig {
        seed,
        actors: if some(3) { 3 } else { 2 },
        clients: 2,
        has_keys: some(3),
        has_timers: some(4),
        has_choices: some(n),
        is_sane: some(2),
    };
    let faults = Faults {
        lose: u8::from(some(6)),
        duplicate: u8::from(some(6)),
        crash: u8::from(some(6)),
        restart: if some(2) { Restart::Always } else { Restart::Never },
        mailbox: if some(2) { Mailbox::Kept } else { Mailbox::Lost },
        partition: u8::from(some(8)),
    };
    let delivery = if some(2) {
        Delivery::Unordered
    } else if some(2) {
        Delivery::FifoPerChannel
    } else {
        Delivery::FifoPerReceiver
    };
    let ignored = if some(5) { Ignored::Stays } else { Ignored::Gone };
    let clients = if some(3) { Clients::Waiting } else { Clients::Tight };
    let calls = (0..if some(2) { 3 } else { 2 }).map(|at| ClientCall {
        client: at % 2,
        to: ActorId::new(u32::from(some(2))),
        call: if some(2) { Call::Write(1) } else { Call::Read },
    });
    let scenario = Scenario { calls: calls.collect(), clients };
    let rules = Rules { delivery, ignored, faults };
    let about = format!("seed {seed}: {table:?} {rules:?} {scenario:?}");
    (ActorSystem::new(RandomHarness(table), scenario, rules).expect("it fits"), about)
}
