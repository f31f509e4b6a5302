//! What may follow a specification's name after a colon: mostly a capacity.

use clewline_core::{Catalogued, Elements, Footprint, Role, Value};

use crate::given::Answer;

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

    /// What adding an element answers.
    pub(crate) fn answer(self) -> Answer {
        if self.0.is_none() { Answer::Nothing } else { Answer::Truth }
    }

    /// What adding `value` touches. Whether a bounded collection is full depends on every element; but what fits still does with less in it.
    pub(crate) fn added(self, value: Value, ret: Option<&Value>) -> Footprint {
        match (self.0, ret) {
            (Some(_), Some(&Value::FALSE)) => Footprint::Reads(Elements::Any),
            (None | Some(_), _) => Footprint::Changes(Elements::One(value.word())),
        }
    }

    /// What taking an element touches. A collection that was empty is so with less in it.
    pub(crate) fn taken(ret: Option<&Value>) -> Footprint {
        match ret {
            Some(&Value::NIL) => Footprint::Reads(Elements::None),
            Some(value) => Footprint::Changes(Elements::One(value.word())),
            None => Footprint::Changes(Elements::Any),
        }
    }
}

/// The role of adding an element to an unbounded collection, which never refuses.
pub(crate) fn adds(value: Value, ret: Option<&Value>) -> Option<Role> {
    ret.is_none_or(|it| *it == Value::TRUE).then(|| Role::Add(value.word()))
}

/// The role of taking the next element.
pub(crate) fn takes(ret: Option<&Value>) -> Role {
    match ret {
        None => Role::Take,
        Some(&Value::NIL) => Role::Empty,
        Some(value) => Role::Remove(value.word()),
    }
}

/// The role of a look at the next element.
pub(crate) fn looks(ret: Option<&Value>) -> Role {
    match ret {
        None => Role::Nothing,
        Some(&Value::NIL) => Role::Empty,
        Some(value) => Role::See(value.word()),
    }
}

/// What a look at the next element touches.
pub(crate) fn looked(ret: Option<&Value>) -> Footprint {
    Footprint::Reads(match ret {
        None | Some(&Value::NIL) => Elements::None,
        Some(value) => Elements::One(value.word()),
    })
}

/// A specification that takes no parameter.
pub(crate) fn none(
    specification: impl Catalogued + 'static,
    parameter: Option<&str>,
) -> Result<Box<dyn Catalogued>, String> {
    match parameter {
        None => Ok(Box::new(specification)),
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
