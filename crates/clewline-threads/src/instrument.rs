//! The engine for other front ends: tasks that run code which was not written for it.
//!
//! The primitives of [`sync`](crate::sync) are one front end of the engine. Another front end may
//! observe accesses in any other way, for example through compiler instrumentation, and reports
//! them to a [`Control`]. Objects are identified by their addresses, and places by addresses of
//! code. [`Foreign`] is the interface in the other direction.

pub use crate::control::{
    Control, Foreign, ForeignAccess, Loaded, Missed, Need, Origin, Place, ReadModifyWrite, Resolver, Site,
    Stored, Until, Updated, set_resolver,
};

use crate::{
    control::{Calls, Limits},
    test_program::{TestProgram, TypedProgram},
};

/// A matrix of calls that run foreign code. `make` constructs a new subject, `call` makes a call
/// and returns a number, and `show` formats that number.
pub fn program<C: Clone + 'static>(
    labels: &Calls<String>,
    calls: Calls<C>,
    limits: &Limits,
    foreign: &'static dyn Foreign,
    make: impl Fn() + 'static,
    call: impl Fn(&C) -> i64 + 'static,
    show: impl Fn(i64) -> String + 'static,
) -> Box<dyn TestProgram> {
    let typed = TypedProgram::new(
        labels,
        calls,
        limits,
        make,
        move |(), it| call(it),
        move |_, it: &i64| show(*it),
        None,
    );
    Box::new(typed.foreign(foreign))
}
