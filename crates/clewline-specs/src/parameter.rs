//! What may follow a specification's name after a colon: mostly a capacity.

use clewline_core::{Elements, ErasedSpec, Footprint, Role, Value};

use crate::deed::Deed;

/// How many elements fit into a collection.
///
/// Adding to a bounded collection answers whether there was room; adding to an unbounded one answers nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// None if there is no limit.
pub struct Capacity(Option<usize>);

impl Capacity {
    /// As many as there are.
    pub const UNBOUNDED: Capacity = Capacity(None);

    /// At most `limit` elements.
    #[must_use]
    pub const fn bounded(limit: usize) -> Capacity {
        Capacity(Some(limit))
    }

    /// The capacity that `parameter` asks for.
    pub(crate) fn parse(parameter: Option<&str>) -> Result<Capacity, String> {
        parameter.map(|it| number(it, "a capacity", 1)).transpose().map(Capacity)
    }

    /// `name` with the parameter that asks for this capacity.
    pub(crate) fn after(self, name: &str) -> String {
        self.0.map_or_else(|| name.to_owned(), |limit| format!("{name}:{limit}"))
    }

    /// Whether a collection of `len` elements has room for another.
    pub(crate) fn admits(self, len: usize) -> bool {
        self.0.is_none_or(|limit| len < limit)
    }

    /// Whether everything fits.
    pub(crate) fn is_unbounded(self) -> bool {
        self.0.is_none()
    }
}

impl Deed<Value> {
    /// What it touches in a collection with room for so many. Whether a bounded one is full depends on every element, but what
    /// fits still does with less in it; and one that was empty is so with less in it.
    #[inline]
    pub(crate) fn footprint(self, capacity: Capacity, ret: Option<&Value>) -> Footprint {
        match (self, ret) {
            (Deed::Add(_), Some(&Value::FALSE)) if !capacity.is_unbounded() => {
                Footprint::Reads(Elements::Any)
            }
            (Deed::Add(value), _) => Footprint::Changes(Elements::One(value.word())),
            (Deed::Remove, None) => Footprint::Changes(Elements::Any),
            (Deed::Look, None) | (Deed::Remove | Deed::Look, Some(&Value::NIL)) => {
                Footprint::Reads(Elements::None)
            }
            (Deed::Remove, Some(value)) => Footprint::Changes(Elements::One(value.word())),
            (Deed::Look, Some(value)) => Footprint::Reads(Elements::One(value.word())),
        }
    }

    /// Its role in an unbounded collection, which never refuses an element.
    #[inline]
    pub(crate) fn role(self, ret: Option<&Value>) -> Option<Role> {
        Some(match (self, ret) {
            (Deed::Add(value), None | Some(&Value::TRUE)) => Role::Add(value.word()),
            (Deed::Add(_), Some(_)) => return None,
            (Deed::Remove, None) => Role::RemoveUnknown,
            (Deed::Look, None) => Role::NoEffect,
            (Deed::Remove | Deed::Look, Some(&Value::NIL)) => Role::Empty,
            (Deed::Remove, Some(value)) => Role::Remove(value.word()),
            (Deed::Look, Some(value)) => Role::Observe(value.word()),
        })
    }

    /// Whether it looked for an element, and there was none.
    #[inline]
    pub(crate) fn finds_nothing(self, ret: &Value) -> bool {
        !matches!(self, Deed::Add(_)) && *ret == Value::NIL
    }
}

/// The specification, with its type forgotten. What that instantiates is most of what this crate costs, so that it is done only
/// where specifications are found by their names.
#[cfg(feature = "catalog")]
pub(crate) fn boxed(specification: impl ErasedSpec + 'static) -> Result<Box<dyn ErasedSpec>, String> {
    Ok(Box::new(specification))
}

/// The specification is there with its type alone.
#[cfg(not(feature = "catalog"))]
pub(crate) fn boxed(_specification: impl ErasedSpec + 'static) -> Result<Box<dyn ErasedSpec>, String> {
    Err("is known by its type alone: names of specifications need the feature `catalog`".to_owned())
}

/// A specification that takes no parameter.
pub(crate) fn none(
    specification: impl ErasedSpec + 'static,
    parameter: Option<&str>,
) -> Result<Box<dyn ErasedSpec>, String> {
    match parameter {
        None => boxed(specification),
        Some(found) => Err(format!("takes no parameter, found `{found}`")),
    }
}

/// Reads `what`, a number that is not below `least`.
pub(crate) fn number(parameter: &str, what: &str, least: usize) -> Result<usize, String> {
    let number = parameter.parse().ok().filter(|it| least <= *it);
    number.ok_or_else(|| {
        format!("expected {what} after the colon, a whole number from {least}, found `{parameter}`")
    })
}
