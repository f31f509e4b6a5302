//! The same systems for stateright, written for its interfaces.
//!
//! Its own clients and its own tester of linearizability are used, and its properties are those of
//! its examples: that histories are linearizable, and that somewhere a value is read.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use cpu_time::ProcessTime;
use stateright::{
    Checker, Expectation, Model,
    actor::{
        Actor, ActorModel, Id, Network, Out, model_peers,
        register::{RegisterActor, RegisterMsg},
    },
    semantics::{LinearizabilityTester, register::Register},
};

/// Searches depth first, with one thread.
pub(crate) fn run(system: &str, clients: u32) -> String {
    let (servers, clients) = (if system == "paxos" { 3 } else { 1 }, clients as usize);
    let start = ProcessTime::now();
    let (generated, unique) = match system {
        "paxos" => count(servers, clients, |it| Proposer { peers: model_peers(it, servers) }),
        _ => count(servers, clients, |_| Keeper),
    };
    let cpu = start.elapsed().as_secs_f64();
    super::row(system, clients as u32, "stateright, depth first, 1 thread", generated, unique, cpu)
}

fn count<A, I>(servers: usize, clients: usize, server: impl Fn(usize) -> A) -> (u64, u64)
where
    A: Actor<Msg = RegisterMsg<u64, char, I>, Timer = (), Random = (), Storage = ()>
        + Clone
        + Send
        + Sync
        + 'static,
    A::State: Send + Sync,
    I: Clone + std::fmt::Debug + Eq + std::hash::Hash + Ord + Send + Sync + 'static,
{
    let client = RegisterActor::Client { put_count: 1, server_count: servers };
    let model =
        ActorModel::new((), LinearizabilityTester::<Id, Register<char>>::new(Register(char::default())))
            .actors((0..servers).map(|it| RegisterActor::Server(server(it))))
            .actors((0..clients).map(|_| client.clone()))
            .init_network(Network::new_unordered_nonduplicating([]))
            .property(Expectation::Always, "linearizable", |_, state| {
                state.history.serialized_history().is_some()
            })
            .property(Expectation::Sometimes, "read", |_, state| {
                let mut messages = state.network.iter_deliverable();
                messages.any(|it| matches!(it.msg, RegisterMsg::GetOk(_, value) if u32::from(*value) != 0))
            })
            .record_msg_in(RegisterMsg::record_returns)
            .record_msg_out(RegisterMsg::record_invocations);
    let checker = model.checker().spawn_dfs().join();
    checker.assert_properties();
    (checker.state_count() as u64, checker.unique_state_count() as u64)
}

/// One server that keeps a value.
#[derive(Clone)]
struct Keeper;

impl Actor for Keeper {
    type Msg = RegisterMsg<u64, char, ()>;
    type State = char;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _id: Id, _storage: &Option<()>, _out: &mut Out<Self>) -> char {
        char::default()
    }

    fn on_msg(&self, _id: Id, state: &mut Cow<'_, char>, from: Id, message: Self::Msg, out: &mut Out<Self>) {
        match message {
            RegisterMsg::Put(n, value) => {
                *state.to_mut() = value;
                out.send(from, RegisterMsg::PutOk(n));
            }
            RegisterMsg::Get(n) => out.send(from, RegisterMsg::GetOk(n, **state)),
            RegisterMsg::PutOk(_) | RegisterMsg::GetOk(..) | RegisterMsg::Internal(()) => (),
        }
    }
}

type Ballot = (u32, Id);
type Proposal = (u64, Id, char);
type Accepted = Option<(Ballot, Proposal)>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Said {
    Prepare(Ballot),
    Prepared(Ballot, Accepted),
    Accept(Ballot, Proposal),
    Accepted(Ballot),
    Decided(Ballot, Proposal),
}

/// A server of single-decree Paxos.
#[derive(Clone)]
struct Proposer {
    peers: Vec<Id>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server {
    ballot: Ballot,
    proposal: Option<Proposal>,
    prepared: BTreeMap<Id, Accepted>,
    acceptors: BTreeSet<Id>,
    accepted: Accepted,
    is_decided: bool,
}

impl Proposer {
    fn majority(&self) -> usize {
        self.peers.len().div_ceil(2) + 1
    }

    fn tell(&self, said: &Said, out: &mut Out<Self>) {
        out.broadcast(&self.peers, &RegisterMsg::Internal(said.clone()));
    }

    fn hear(&self, id: Id, state: &mut Cow<'_, Server>, from: Id, said: Said, out: &mut Out<Self>) {
        match said {
            Said::Prepare(ballot) if state.ballot < ballot => {
                state.to_mut().ballot = ballot;
                out.send(from, RegisterMsg::Internal(Said::Prepared(ballot, state.accepted)));
            }
            Said::Prepared(ballot, accepted) if state.ballot == ballot => {
                let state = state.to_mut();
                state.prepared.insert(from, accepted);
                if state.prepared.len() == self.majority() {
                    let newest = state.prepared.values().max().copied().flatten().map(|it| it.1);
                    let proposal = newest.or(state.proposal).expect("who leads has proposed");
                    state.proposal = Some(proposal);
                    state.accepted = Some((ballot, proposal));
                    state.acceptors.insert(id);
                    self.tell(&Said::Accept(ballot, proposal), out);
                }
            }
            Said::Accept(ballot, proposal) if state.ballot <= ballot => {
                let state = state.to_mut();
                (state.ballot, state.accepted) = (ballot, Some((ballot, proposal)));
                out.send(from, RegisterMsg::Internal(Said::Accepted(ballot)));
            }
            Said::Accepted(ballot) if state.ballot == ballot => {
                let state = state.to_mut();
                state.acceptors.insert(from);
                if state.acceptors.len() == self.majority() {
                    state.is_decided = true;
                    let proposal = state.proposal.expect("who leads has proposed");
                    self.tell(&Said::Decided(ballot, proposal), out);
                    out.send(proposal.1, RegisterMsg::PutOk(proposal.0));
                }
            }
            Said::Decided(ballot, proposal) => {
                let state = state.to_mut();
                (state.ballot, state.accepted) = (ballot, Some((ballot, proposal)));
                state.is_decided = true;
            }
            Said::Prepare(_) | Said::Prepared(..) | Said::Accept(..) | Said::Accepted(_) => (),
        }
    }
}

impl Actor for Proposer {
    type Msg = RegisterMsg<u64, char, Said>;
    type State = Server;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _id: Id, _storage: &Option<()>, _out: &mut Out<Self>) -> Server {
        Server {
            ballot: (0, Id::from(0)),
            proposal: None,
            prepared: BTreeMap::new(),
            acceptors: BTreeSet::new(),
            accepted: None,
            is_decided: false,
        }
    }

    fn on_msg(&self, id: Id, state: &mut Cow<'_, Server>, from: Id, message: Self::Msg, out: &mut Out<Self>) {
        match message {
            RegisterMsg::Get(n) => {
                if let (true, Some((_, (_, _, value)))) = (state.is_decided, state.accepted) {
                    out.send(from, RegisterMsg::GetOk(n, value));
                }
            }
            RegisterMsg::Put(n, value) if !state.is_decided && state.proposal.is_none() => {
                let state = state.to_mut();
                state.proposal = Some((n, from, value));
                state.ballot = (state.ballot.0 + 1, id);
                state.prepared = BTreeMap::from([(id, state.accepted)]);
                state.acceptors = BTreeSet::new();
                self.tell(&Said::Prepare(state.ballot), out);
            }
            RegisterMsg::Internal(said) if !state.is_decided => self.hear(id, state, from, said, out),
            RegisterMsg::Put(..)
            | RegisterMsg::PutOk(_)
            | RegisterMsg::GetOk(..)
            | RegisterMsg::Internal(_) => (),
        }
    }
}
