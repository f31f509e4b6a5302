//! The engine for other front ends: tasks that run code which was not written for it.
//!
//! The primitives of [`sync`](crate::sync) are one front end of the engine. Another one may learn of accesses in any other way, say from
//! what a compiler has put into the code, and tells a [`Control`] about them. Objects are known by their addresses, and places by
//! those of the code. [`Foreign`] is what the engine tells in turn.

pub use crate::control::{Control, Foreign, Need, Place, Resolver, Site, Until, set_resolver};

use crate::{
    control::{Calls, Limits},
    test_program::{TestProgram, TypedProgram},
};

/// A matrix of calls that run foreign code. `make` makes a fresh subject, `call` makes a call and answers a number, and `show` writes
/// that down.
pub fn program<C: Clone + 'static>(
    labels: &Calls<String>,
    calls: Calls<C>,
    limits: &Limits,
    foreign: &'static dyn Foreign,
    make: impl Fn() + 'static,
    call: impl Fn(&C) -> i64 + 'static,
    show: impl Fn(i64) -> String + 'static,
) -> Box<dyn TestProgram> {
    let typed =
        TypedProgram::new(labels, calls, limits, make, move |(), it| call(it), move |_, it: &i64| show(*it), None);
    Box::new(typed.foreign(foreign))
}
