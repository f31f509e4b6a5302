//! Systems in exactly the form of stateright's examples, so that the numbers of states can be
//! compared.
//!
//! Source: J. Nadal, stateright 0.31, the examples `linearizable-register` and `paxos`; its
//! `single-copy-register` is [`single_copy`](super::single_copy) unchanged. Clients write and then
//! read, each waiting for its responses; they call the servers in turn. An ignored message stays in
//! flight, so that a busy server receives it later.
//!
//! There a request is identified by a number made of the client's and the number of its requests;
//! here by an equivalent [`Ticket`](super::Ticket).

pub mod abd;
pub mod paxos;
