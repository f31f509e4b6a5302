//! Specifications in Starlark: an interpreter without dependencies, and [`Script`], a script as a
//! [`Specification`](clewline_core::Specification).
//!
//! # The specification
//!
//! * `initial()`: the state of a fresh object.
//! * `step(state, op, args, ret)`: the list of the next states if `op` is called with `args` in
//!   `state` and returns `ret`; `[]` if that is impossible.
//! * `part(op, args)`, optional: the key of the independent part that the operation accesses;
//!   `None` for all of them.
//! * `results(state, op, args)`, optional: the list of results that a pending operation may have.
//! * `operations`, optional: a dict from names of operations to lists of their parameters, or to
//!   dicts from parameters to the values that `generate` draws.
//! * `reads`, optional: the names of operations that never change the state.
//! * `name`, optional: what the object is called.
//!
//! `args` is a tuple. Where no `operations` are declared, an argument that is a list is several
//! arguments, and null is none. A state may be any value without functions; its dicts are sorted by
//! their keys.
//!
//! A pending operation has no result. `step` is then called with a `ret` of which every comparison
//! (`==`, `!=`, `in`, `not in`) and every test of its truth is tried both ways, so that all results
//! are covered, and none that is impossible. For a script that does anything else with it (`ret >
//! 3`), the error says that it has to define `results`.
//!
//! # The language
//!
//! A subset of [Starlark](https://github.com/bazelbuild/starlark/blob/master/spec.md), in which
//! what is accepted means what it means there:
//!
//! * values: `None`, booleans, integers of 64 bits (more is an error), strings, lists, tuples,
//!   dicts, ranges, functions;
//! * `def` and `lambda` with defaults and named arguments, closures, `if`, `for`, `break`,
//!   `continue`, `return`, `pass`, assignments to names, items and several of them, augmented ones;
//! * conditional expressions, comprehensions, slices, `and`, `or`, `not`, `in`, comparisons,
//!   `+ - * // % | & ^ ~ << >>`, `%` and `.format` of strings;
//! * `abs`, `all`, `any`, `bool`, `dict`, `enumerate`, `fail`, `int`, `len`, `list`, `max`, `min`,
//!   `range`, `repr`, `reversed`, `sorted`, `str`, `tuple`, `type`, `zip`, and the usual methods of
//!   strings, lists and dicts;
//! * no recursion, no `while`, no statements but definitions outside of functions; globals, states
//!   and arguments are frozen.
//!
//! Not there, each an error that names it: floating-point numbers, bytes, sets, `load`, `*args` and
//! `**kwargs`, methods as values, `print`, `hasattr` and its kin, types.
//!
//! Requires: nothing of the system. Cost: a step of a script takes some 50 ns for each node of its
//! tree; a call has a limit of steps.

mod builtin;
mod builtins;
mod convert;
mod equality;
mod error;
mod interpreter;
mod lexer;
mod method;
mod methods;
mod operators;
mod parser;
mod program;
mod resolver;
mod specification;
mod tree;
mod value;

pub use error::ScriptError;
pub use specification::{Script, ScriptCall, ScriptState};

#[cfg(test)]
mod tests;
