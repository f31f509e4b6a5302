//! A reference explorer for tests: it enumerates schedules on real actors, and shares no code with
//! the engine.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    ActorId, AnyActor, Clients, Context, Delivery, Harness, Mailbox, Output, Restart, Rules, Scenario,
    samples::{Call, Register},
};

/// A canonical history: for each operation that was called, the operations that had returned
/// before, and its result.
pub(crate) type CanonicalHistory = BTreeMap<usize, (BTreeSet<usize>, Option<u8>)>;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Enumeration {
    pub(crate) schedules: u128,
    pub(crate) finals: BTreeSet<CanonicalHistory>,
    /// The longest schedule.
    pub(crate) depth: u64,
}

struct ReferenceState<M> {
    actors: BTreeMap<ActorId, (Box<dyn AnyActor<M>>, u32)>,
    in_flight: Vec<(ActorId, ActorId, M)>,
    timers: Vec<(ActorId, M)>,
    down: BTreeSet<ActorId>,
    lost: u8,
    duplicated: u8,
    crashed: u8,
    cuts: u8,
    cut: Option<BTreeSet<u32>>,
    seen: CanonicalHistory,
    returned: BTreeSet<usize>,
}

impl<M: Clone> Clone for ReferenceState<M> {
    fn clone(&self) -> Self {
        ReferenceState {
            actors: self.actors.clone(),
            in_flight: self.in_flight.clone(),
            timers: self.timers.clone(),
            down: self.down.clone(),
            cut: self.cut.clone(),
            seen: self.seen.clone(),
            returned: self.returned.clone(),
            ..*self
        }
    }
}

pub(crate) struct ReferenceExplorer<'a, H: Harness<Specification = Register>> {
    pub(crate) harness: &'a H,
    pub(crate) scenario: &'a Scenario<Call>,
    pub(crate) rules: Rules,
    pub(crate) found: Enumeration,
    /// Gives up beyond this many.
    pub(crate) schedules_max: u128,
}

enum Input<M> {
    Start,
    Message(ActorId, M),
    Timer(M),
    Restart,
}

impl<H: Harness<Specification = Register>> ReferenceExplorer<'_, H> {
    /// Whether all schedules were enumerated.
    pub(crate) fn run(&mut self) -> bool {
        let situation = ReferenceState {
            actors: BTreeMap::new(),
            in_flight: Vec::new(),
            timers: Vec::new(),
            down: BTreeSet::new(),
            lost: 0,
            duplicated: 0,
            crashed: 0,
            cuts: 0,
            cut: None,
            seen: CanonicalHistory::new(),
            returned: BTreeSet::new(),
        };
        let mut situations = vec![situation];
        for (at, actor) in self.harness.actors().into_iter().enumerate() {
            let id = ActorId::new(at as u32);
            let mut next = Vec::new();
            for mut it in situations {
                it.actors.insert(id, (actor.clone(), 0));
                next.extend(self.react(&it, id, &Input::Start));
            }
            situations = next;
        }
        for mut situation in situations {
            for at in 0..self.scenario.calls.len() {
                let mine = self.scenario.calls[at].client;
                if self.scenario.calls[..at].iter().all(|it| it.client != mine) {
                    self.request(&mut situation, at);
                }
            }
            self.go(&situation, 0);
        }
        self.found.schedules <= self.schedules_max
    }

    fn go(&mut self, now: &ReferenceState<H::Message>, depth: u64) {
        if self.schedules_max < self.found.schedules {
            return;
        }
        let mut next = self.deliveries(now);
        next.extend(self.fault_successors(now));
        if next.is_empty() {
            self.found.schedules += 1;
            self.found.finals.insert(now.seen.clone());
            self.found.depth = self.found.depth.max(depth);
        }
        for it in next {
            self.go(&it, depth + 1);
        }
    }

    fn deliveries(&mut self, now: &ReferenceState<H::Message>) -> Vec<ReferenceState<H::Message>> {
        let mut next = Vec::new();
        for (at, (from, to, message)) in now.in_flight.iter().enumerate() {
            let in_the_way = now.in_flight[..at].iter().any(|(f, t, _)| match self.rules.delivery {
                Delivery::Unordered => false,
                Delivery::FifoPerChannel => (f, t) == (from, to),
                Delivery::FifoPerReceiver => t == to,
            });
            let apart = now.cut.as_ref().is_some_and(|cut| {
                !from.is_client() && !to.is_client() && cut.contains(&root(*from)) != cut.contains(&root(*to))
            });
            let is_there = to.is_client() || (now.actors.contains_key(to) && !now.down.contains(to));
            if in_the_way || apart || !is_there {
                continue;
            }
            let mut then = now.clone();
            then.in_flight.remove(at);
            if to.is_client() {
                self.deliver_to_client(&mut then, *to, message);
                next.push(then);
                continue;
            }
            if from.is_client() && self.scenario.clients == Clients::Tight {
                self.called(&mut then, *from, *to, message);
            }
            next.extend(self.react(&then, *to, &Input::Message(*from, message.clone())));
        }
        for (at, (to, timer)) in now.timers.iter().enumerate() {
            if !now.down.contains(to) {
                let mut then = now.clone();
                then.timers.remove(at);
                next.extend(self.react(&then, *to, &Input::Timer(timer.clone())));
            }
        }
        next
    }

    fn fault_successors(&mut self, now: &ReferenceState<H::Message>) -> Vec<ReferenceState<H::Message>> {
        let faults = self.rules.faults;
        let mut next = Vec::new();
        let mut push = |change: &dyn Fn(&mut ReferenceState<H::Message>)| {
            let mut then = now.clone();
            change(&mut then);
            next.push(then);
        };
        for at in 0..now.in_flight.len() {
            if now.lost < faults.lose {
                push(&|it| {
                    it.in_flight.remove(at);
                    it.lost += 1;
                });
            }
            if now.duplicated < faults.duplicate {
                push(&|it| {
                    it.in_flight.push(now.in_flight[at].clone());
                    it.duplicated += 1;
                });
            }
        }
        for &actor in now.actors.keys() {
            if now.crashed < faults.crash && !now.down.contains(&actor) {
                push(&|it| {
                    it.down.insert(actor);
                    it.timers.retain(|(of, _)| *of != actor);
                    it.in_flight.retain(|(_, to, _)| faults.mailbox == Mailbox::Kept || *to != actor);
                    it.crashed += 1;
                });
            }
        }
        let roots = self.harness.actors().len() as u32;
        if now.cut.is_some() {
            push(&|it| it.cut = None);
        } else if now.cuts < faults.partition {
            for side in 1u32..1 << (roots - 1) {
                push(&|it| {
                    it.cut = Some((0..roots).filter(|root| side << 1 >> root & 1 == 1).collect());
                    it.cuts += 1;
                });
            }
        }
        for &actor in &now.down {
            if faults.restart == Restart::Always {
                let mut then = now.clone();
                then.down.remove(&actor);
                next.extend(self.react(&then, actor, &Input::Restart));
            }
        }
        next
    }

    fn request(&self, now: &mut ReferenceState<H::Message>, operation: usize) {
        let call = &self.scenario.calls[operation];
        let n = self.scenario.calls[..operation].iter().filter(|it| it.client == call.client).count();
        let message = self.harness.request(&call.call, n as u32);
        now.in_flight.push((ActorId::client(call.client), call.to, message));
        if self.scenario.clients == Clients::Waiting {
            now.seen.insert(operation, (now.returned.clone(), None));
        }
    }

    // A request is received: the call of the client's first operation that was not called yet, if
    // all earlier ones have returned.
    fn called(
        &self,
        now: &mut ReferenceState<H::Message>,
        client: ActorId,
        to: ActorId,
        message: &H::Message,
    ) {
        let mut mine = self.of(client).into_iter();
        let Some(operation) = mine.find(|it| !now.returned.contains(it)) else { return };
        let call = &self.scenario.calls[operation];
        let n = self.of(client).iter().take_while(|it| **it != operation).count();
        let is_it = call.to == to && self.harness.request(&call.call, n as u32) == *message;
        if is_it && !now.seen.contains_key(&operation) {
            now.seen.insert(operation, (now.returned.clone(), None));
        }
    }

    fn deliver_to_client(&self, now: &mut ReferenceState<H::Message>, client: ActorId, message: &H::Message) {
        let Some(ret) = self.harness.response(message) else { return };
        let mine = self.of(client);
        let open = mine.iter().find(|it| now.seen.get(it).is_some_and(|(_, ret)| ret.is_none()));
        let Some(&operation) = open else { return };
        now.seen.get_mut(&operation).expect("it is open").1 = Some(ret);
        now.returned.insert(operation);
        if let Some(&next) = mine.iter().find(|it| **it > operation) {
            self.request(now, next);
        }
    }

    fn of(&self, client: ActorId) -> Vec<usize> {
        let calls = self.scenario.calls.iter().enumerate();
        calls.filter(|(_, it)| ActorId::client(it.client) == client).map(|(at, _)| at).collect()
    }

    // The possible successors by an input, for every sequence of choices.
    fn react(
        &self,
        now: &ReferenceState<H::Message>,
        actor: ActorId,
        input: &Input<H::Message>,
    ) -> Vec<ReferenceState<H::Message>> {
        let mut all = Vec::new();
        let mut open = vec![Vec::new()];
        while let Some(scripted_choices) = open.pop() {
            let mut then = now.clone();
            let mut choices = Vec::new();
            self.react_once(&mut then, actor, input, &scripted_choices, &mut choices);
            if choices.len() <= scripted_choices.len() {
                all.push(then);
                continue;
            }
            for choice in 0..choices[scripted_choices.len()] {
                open.push([&scripted_choices[..], &[choice]].concat());
            }
        }
        all
    }

    fn react_once(
        &self,
        now: &mut ReferenceState<H::Message>,
        actor: ActorId,
        input: &Input<H::Message>,
        scripted_choices: &[u32],
        choices: &mut Vec<u32>,
    ) {
        let (mut value, children) = now.actors[&actor].clone();
        let mine = scripted_choices.get(choices.len()..).unwrap_or_default().to_vec();
        let mut context = Context::new(actor, children, mine);
        match input {
            Input::Start => value.on_start(&mut context),
            Input::Message(from, message) => value.on_message(*from, message, &mut context),
            Input::Timer(timer) => value.on_timer(timer, &mut context),
            Input::Restart => value.on_restart(&mut context),
        }
        let (outputs, children, made) = context.into_parts();
        choices.extend(made);
        now.actors.insert(actor, (value, children));
        for output in outputs {
            match output {
                Output::Send(to, message) if to.is_client() && self.scenario.clients == Clients::Tight => {
                    self.deliver_to_client(now, to, &message);
                }
                Output::Send(to, message) => now.in_flight.push((actor, to, message)),
                Output::SetTimer(timer) => {
                    if !now.timers.contains(&(actor, timer.clone())) {
                        now.timers.push((actor, timer));
                    }
                }
                Output::CancelTimer(timer) => now.timers.retain(|it| *it != (actor, timer.clone())),
                Output::Create(id, child) => {
                    now.actors.insert(id, (child, 0));
                    self.react_once(now, id, &Input::Start, scripted_choices, choices);
                }
            }
        }
    }
}

fn root(actor: ActorId) -> u32 {
    let mut index = actor.index();
    while 64 <= index {
        index = (index - 64) / 16;
    }
    index
}
