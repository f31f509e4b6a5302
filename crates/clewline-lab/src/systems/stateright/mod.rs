//! Systems in exactly the form of stateright's examples, so that the numbers of states can be compared.
//!
//! Source: J. Nadal, stateright 0.31, the examples `linearizable-register` and `paxos`; its `single-copy-register` is
//! [`single_copy`](super::single_copy) as it is. Clients write and then read, each waiting for its answers; servers are asked in turn;
//! a message that its receiver ignores stays where it is, so that a server that is busy gets it later.
//!
//! There a request is named by a number made of the client's and how many requests it made; here by a [`Ticket`](super::Ticket),
//! which is the same thing.

pub mod abd;
pub mod paxos;
