//! A reference explorer of actor systems: enumerates every order, by cloning worlds.
//!
//! It shares only the user's interface with the product's explorer. Two worlds are equal if their
//! `Debug` texts are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use clewline_actors::{
    ActorId, AnyActor, Clients, Context, GlobalState, Harness, Ignored, Modality, Output, Scenario,
};
use clewline_core::{Random, Specification};

/// The results of exhaustive exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Exploration {
    /// Paths from the initial world to final ones; `None` if there is a cycle.
    pub(super) schedules: Option<u128>,
    pub(super) states: usize,
    pub(super) edges: usize,
    /// Canonical histories at the end of paths, those without pending calls, and those that are not
    /// linearizable.
    pub(super) histories: usize,
    pub(super) complete: usize,
    pub(super) violated: usize,
    /// Properties that should always hold and did not.
    pub(super) broken: BTreeSet<&'static str>,
    /// There were more states than were allowed.
    pub(super) is_cut: bool,
}

type Call<H> = <<H as Harness>::Specification as Specification>::Call;
type WorldOf<H> = World<<H as Harness>::Message, Return<H>>;
type Return<H> = <<H as Harness>::Specification as Specification>::Return;

/// One operation of a canonical history: its result, and the operations that had returned before it
/// was called.
pub(super) type Operation<R> = (Option<R>, u64);
type Operations<R> = BTreeMap<usize, Operation<R>>;

/// A value, and the number of its `Debug` text.
#[derive(Clone)]
struct Numbered<T> {
    number: u32,
    it: T,
}

/// The actor, the number of actors it has created, and its state.
type ActorEntry<M> = (ActorId, u32, Box<dyn AnyActor<M>>);

#[derive(Clone)]
struct World<M, R> {
    actors: Vec<Numbered<ActorEntry<M>>>,
    in_flight: Vec<Numbered<(ActorId, ActorId, M)>>,
    timers: Vec<Numbered<(ActorId, M)>>,
    operations: Operations<R>,
}

type Reaction<'a, M> = dyn Fn(&mut dyn AnyActor<M>, &mut Context<M>) + 'a;

/// An enabled action.
#[derive(Clone, Copy)]
enum Action {
    Deliver(usize),
    Fire(usize),
}

pub(super) struct Oracle<'a, H: Harness> {
    harness: &'a H,
    scenario: &'a Scenario<Call<H>>,
    ignored: Ignored,
    limit: usize,
    numbers: HashMap<String, u32>,
    // The number of paths from a world to an end; `None` while it is being counted.
    paths: HashMap<Vec<u32>, Option<u128>>,
    ends: HashSet<Vec<(usize, Operation<Return<H>>)>>,
    goes_round: bool,
    seen: Exploration,
}

pub(super) fn explore<H: Harness>(
    harness: &H,
    scenario: &Scenario<Call<H>>,
    ignored: Ignored,
    limit: usize,
) -> Exploration {
    let mut oracle = Oracle::new(harness, scenario, ignored, limit);
    let first = oracle.first();
    let schedules = oracle.count_paths(&first);
    let specification = harness.specification();
    let calls: Vec<_> = scenario.calls.iter().map(|it| it.call.clone()).collect();
    let mut seen = oracle.seen;
    seen.schedules = (!oracle.goes_round && !seen.is_cut).then_some(schedules);
    seen.states = oracle.paths.len();
    seen.histories = oracle.ends.len();
    for end in &oracle.ends {
        let is_complete = end.len() == calls.len() && end.iter().all(|(_, it)| it.0.is_some());
        seen.complete += usize::from(is_complete);
        seen.violated += usize::from(!is_linearizable(&specification, &calls, end));
    }
    seen
}

/// The properties that do not hold somewhere on this number of random paths of limited length.
pub(super) fn wander<H: Harness>(
    harness: &H,
    scenario: &Scenario<Call<H>>,
    ignored: Ignored,
    paths: usize,
) -> BTreeSet<&'static str> {
    let mut oracle = Oracle::new(harness, scenario, ignored, 0);
    let mut random = Random::new(7);
    for _ in 0..paths {
        let mut world = oracle.first();
        // An incorrect system may run forever.
        for _ in 0..200 {
            oracle.look(&world);
            let actions = oracle.actions(&world);
            let mut next: Vec<_> = actions.into_iter().flat_map(|it| oracle.act(&world, it)).collect();
            if next.is_empty() {
                break;
            }
            world = next.swap_remove(random.below(next.len()));
        }
    }
    oracle.seen.broken
}

impl<'a, H: Harness> Oracle<'a, H> {
    fn new(harness: &'a H, scenario: &'a Scenario<Call<H>>, ignored: Ignored, limit: usize) -> Self {
        Oracle {
            harness,
            scenario,
            ignored,
            limit,
            numbers: HashMap::new(),
            paths: HashMap::new(),
            ends: HashSet::new(),
            goes_round: false,
            seen: Exploration::default(),
        }
    }

    fn name<T: std::fmt::Debug>(&mut self, it: T) -> Numbered<T> {
        let fresh = u32::try_from(self.numbers.len()).unwrap();
        Numbered { number: *self.numbers.entry(format!("{it:?}")).or_insert(fresh), it }
    }

    fn first(&mut self) -> WorldOf<H> {
        let mut world =
            World { actors: vec![], in_flight: vec![], timers: vec![], operations: Operations::new() };
        let actors = self.harness.actors();
        for (index, actor) in (0..).zip(actors) {
            let actor = self.name((ActorId::new(index), 0, actor));
            world.actors.push(actor);
        }
        for index in 0..world.actors.len() {
            let mut started = self.react(&world, index, &[], &|it, context| it.on_start(context));
            assert_eq!(started.len(), 1, "no actor chooses when it starts");
            world = started.remove(0);
        }
        let clients: BTreeSet<u32> = self.scenario.calls.iter().map(|it| it.client).collect();
        for client in clients {
            self.ask(&mut world, client, 0);
        }
        world
    }

    /// The calls of a client, by their indices in the scenario.
    fn program(&self, client: u32) -> Vec<usize> {
        let calls = self.scenario.calls.iter().enumerate();
        calls.filter(|(_, it)| it.client == client).map(|(at, _)| at).collect()
    }

    fn request(&self, at: usize, n: usize) -> H::Message {
        self.harness.request(&self.scenario.calls[at].call, u32::try_from(n).unwrap())
    }

    fn ask(&mut self, world: &mut WorldOf<H>, client: u32, n: usize) {
        let Some(&at) = self.program(client).get(n) else { return };
        let request = self.request(at, n);
        let sent = self.name((ActorId::client(client), self.scenario.calls[at].to, request));
        world.in_flight.push(sent);
        if self.scenario.clients == Clients::Waiting {
            begin(world, at);
        }
    }

    /// A response reaches a client, or counts as having reached it. Returns whether it had an
    /// effect.
    fn deliver_to_client(&mut self, world: &mut WorldOf<H>, client: ActorId, message: &H::Message) -> bool {
        let Some(ret) = self.harness.response(message) else { return false };
        let program = self.program(client.index());
        let open = |at: &usize| world.operations.get(at).is_some_and(|it| it.0.is_none());
        let Some(n) = program.iter().position(open) else { return false };
        let request = self.request(program[n], n);
        if !self.harness.is_response_to(&request, message) {
            return false;
        }
        world.operations.get_mut(&program[n]).unwrap().0 = Some(ret);
        self.ask(world, client.index(), n + 1);
        true
    }

    fn count_paths(&mut self, world: &WorldOf<H>) -> u128 {
        let key = self.key(world);
        match self.paths.get(&key) {
            Some(Some(paths)) => return *paths,
            Some(None) => {
                self.goes_round = true;
                return 0;
            }
            None => (),
        }
        if self.limit <= self.paths.len() {
            self.seen.is_cut = true;
            return 0;
        }
        self.paths.insert(key.clone(), None);
        self.look(world);
        let mut paths = 0;
        let mut is_last = true;
        for action in self.actions(world) {
            for next in self.act(world, action) {
                is_last = false;
                self.seen.edges += 1;
                paths += self.count_paths(&next);
            }
        }
        if is_last {
            paths = 1;
            self.ends.insert(world.operations.clone().into_iter().collect());
        }
        self.paths.insert(key, Some(paths));
        paths
    }

    /// Everything that can happen; of equal messages one is enough.
    fn actions(&self, world: &WorldOf<H>) -> Vec<Action> {
        let mut seen = HashSet::new();
        let deliveries = world.in_flight.iter().map(|it| it.number).zip((0..).map(Action::Deliver));
        let timers = world.timers.iter().map(|it| it.number).zip((0..).map(Action::Fire));
        deliveries.chain(timers).filter(|it| seen.insert(it.0)).map(|it| it.1).collect()
    }

    fn key(&mut self, world: &WorldOf<H>) -> Vec<u32> {
        let mut key: Vec<u32> = world.actors.iter().map(|it| it.number).collect();
        let mut rest: Vec<u32> = world.in_flight.iter().map(|it| it.number).collect();
        rest.extend(world.timers.iter().map(|it| it.number));
        rest.sort_unstable();
        key.push(u32::MAX);
        key.extend(rest);
        key.push(self.name(&world.operations).number);
        key
    }

    fn look(&mut self, world: &WorldOf<H>) {
        let properties = self.harness.properties();
        if properties.is_empty() {
            return;
        }
        let glance = GlobalState {
            actors: world.actors.iter().map(|it| (it.it.0, &*it.it.2)).collect(),
            in_flight: world.in_flight.iter().map(|it| (it.it.0, it.it.1, &it.it.2)).collect(),
            crashed: [].into_iter().collect(),
        };
        for property in properties.iter().filter(|it| it.when == Modality::Always) {
            if !(property.holds)(&glance) {
                self.seen.broken.insert(property.name);
            }
        }
    }

    fn act(&mut self, world: &WorldOf<H>, action: Action) -> Vec<WorldOf<H>> {
        let mut next = world.clone();
        match action {
            Action::Fire(at) => {
                let (id, timer) = next.timers.remove(at).it;
                let index = index_of(&next, id);
                self.react(&next, index, &[], &|it, context| it.on_timer(&timer, context))
            }
            Action::Deliver(at) => {
                let (from, to, message) = next.in_flight.remove(at).it;
                if to.is_client() {
                    return if self.deliver_to_client(&mut next, to, &message) { vec![next] } else { vec![] };
                }
                if from.is_client() && self.scenario.clients == Clients::Tight {
                    let open =
                        self.program(from.index()).into_iter().find(|it| !next.operations.contains_key(it));
                    begin(&mut next, open.unwrap());
                }
                let index = index_of(&next, to);
                let mut all =
                    self.react(&next, index, &[], &|it, context| it.on_message(from, &message, context));
                if self.ignored == Ignored::Stays {
                    let key = self.key(&next);
                    all.retain(|it| self.key(it) != key);
                }
                all
            }
        }
    }

    /// The successors by a reaction, for each sequence of choices that extends `scripted_choices`.
    fn react(
        &mut self,
        world: &WorldOf<H>,
        index: usize,
        scripted_choices: &[u32],
        react: &Reaction<'_, H::Message>,
    ) -> Vec<WorldOf<H>> {
        let (id, children, mut actor) = world.actors[index].it.clone();
        let mut context = Context::new(id, children, scripted_choices.to_vec());
        react(&mut *actor, &mut context);
        let (outputs, children, choices) = context.into_parts();
        if let Some(&width) = choices.get(scripted_choices.len()) {
            let longer = |it| scripted_choices.iter().copied().chain([it]).collect::<Vec<u32>>();
            return (0..width).flat_map(|it| self.react(world, index, &longer(it), react)).collect();
        }
        let mut next = world.clone();
        next.actors[index] = self.name((id, children, actor));
        for output in outputs {
            self.put(&mut next, id, output);
        }
        vec![next]
    }

    fn put(&mut self, world: &mut WorldOf<H>, id: ActorId, output: Output<H::Message>) {
        match output {
            Output::Send(to, message) if to.is_client() && self.scenario.clients == Clients::Tight => {
                self.deliver_to_client(world, to, &message);
            }
            Output::Send(to, message) => {
                let sent = self.name((id, to, message));
                world.in_flight.push(sent);
            }
            Output::SetTimer(timer) => {
                let timer = self.name((id, timer));
                if world.timers.iter().all(|it| it.number != timer.number) {
                    world.timers.push(timer);
                }
            }
            Output::CancelTimer(timer) => {
                let number = self.name((id, timer)).number;
                world.timers.retain(|it| it.number != number);
            }
            Output::Create(..) => panic!("none of these systems creates actors"),
        }
    }
}

fn index_of<M, R>(world: &World<M, R>, id: ActorId) -> usize {
    world.actors.iter().position(|it| it.it.0 == id).expect("messages go to actors that exist")
}

fn begin<M, R>(world: &mut World<M, R>, at: usize) {
    let returned = world.operations.iter().filter(|(_, it)| it.0.is_some());
    let before = returned.fold(0, |set, (at, _)| set | 1 << at);
    world.operations.insert(at, (None, before));
}

/// Whether a linearization of the operations exists: of those that returned, and of any of the
/// pending ones.
pub(super) fn is_linearizable<S: Specification>(
    specification: &S,
    calls: &[S::Call],
    operations: &[(usize, Operation<S::Return>)],
) -> bool {
    fn go_on<S: Specification>(
        specification: &S,
        calls: &[S::Call],
        operations: &[(usize, Operation<S::Return>)],
        done: u64,
        state: &S::State,
    ) -> bool {
        if operations.iter().all(|(at, it)| it.0.is_none() || done >> at & 1 == 1) {
            return true;
        }
        operations.iter().filter(|(at, it)| done >> at & 1 == 0 && it.1 & !done == 0).any(|(at, it)| {
            let mut next = Vec::new();
            specification.step(state, &calls[*at], it.0.as_ref(), &mut next);
            next.iter().any(|state| go_on(specification, calls, operations, done | 1 << at, state))
        })
    }
    go_on(specification, calls, operations, 0, &specification.initial())
}
