//! The parameter after a specification's name and a colon: usually a capacity.

use clewline_core::{Datum, Elements, ErasedSpec, Footprint, Role, Value, Values};

use crate::collection_op::CollectionOp;

/// How many elements fit into a collection.
///
/// Adding to a bounded collection returns whether there was room; adding to an unbounded one
/// returns nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// `None` if there is no limit.
pub struct Capacity(Option<usize>);

impl Capacity {
    /// No limit.
    pub const UNBOUNDED: Capacity = Capacity(None);

    /// At most `limit` elements.
    #[must_use]
    pub const fn bounded(limit: usize) -> Capacity {
        Capacity(Some(limit))
    }

    /// The capacity that `parameter` specifies.
    pub(crate) fn parse(parameter: Option<&str>) -> Result<Capacity, String> {
        parameter.map(|it| parse_number(it, "a capacity", 1)).transpose().map(Capacity)
    }

    /// `name` followed by the parameter that specifies this capacity.
    pub(crate) fn name_with(self, name: &str) -> String {
        self.0.map_or_else(|| name.to_owned(), |limit| format!("{name}:{limit}"))
    }

    /// Whether a collection of `len` elements has room for another.
    pub(crate) fn admits(self, len: usize) -> bool {
        self.0.is_none_or(|limit| len < limit)
    }

    /// At most this many elements; `None` if there is no limit.
    pub(crate) fn limit(self) -> Option<usize> {
        self.0
    }

    /// Whether there is no limit.
    pub(crate) fn is_unbounded(self) -> bool {
        self.0.is_none()
    }
}

impl CollectionOp<Value> {
    /// The footprint of the operation in a collection with this capacity. Whether a bounded
    /// collection is full depends on every element, but an element that fits also fits among fewer;
    /// and a collection that was empty is also empty with fewer elements.
    #[inline]
    pub(crate) fn footprint(self, capacity: Capacity, ret: Option<&Value>) -> Footprint {
        match (self, ret) {
            (CollectionOp::Add(_), Some(&Value::FALSE)) if !capacity.is_unbounded() => {
                Footprint::Reads(Elements::Any)
            }
            (CollectionOp::Add(value), _) => Footprint::Changes(Elements::One(value.word())),
            (CollectionOp::Remove, None) => Footprint::Changes(Elements::Any),
            (CollectionOp::Peek, None) | (CollectionOp::Remove | CollectionOp::Peek, Some(&Value::NIL)) => {
                Footprint::Reads(Elements::None)
            }
            (CollectionOp::Remove, Some(value)) => Footprint::Changes(Elements::One(value.word())),
            (CollectionOp::Peek, Some(value)) => Footprint::Reads(Elements::One(value.word())),
        }
    }

    /// Its role in an unbounded collection, which never refuses an element.
    #[inline]
    pub(crate) fn role(self, ret: Option<&Value>) -> Option<Role> {
        Some(match (self, ret) {
            (CollectionOp::Add(value), None | Some(&Value::TRUE)) => Role::Add(value.word()),
            (CollectionOp::Add(_), Some(_)) => return None,
            (CollectionOp::Remove, None) => Role::RemoveUnknown,
            (CollectionOp::Peek, None) => Role::NoEffect,
            (CollectionOp::Remove | CollectionOp::Peek, Some(&Value::NIL)) => Role::Empty,
            (CollectionOp::Remove, Some(value)) => Role::Remove(value.word()),
            (CollectionOp::Peek, Some(value)) => Role::Observe(value.word()),
        })
    }

    /// Whether it is a removal or a peek that found no element.
    #[inline]
    pub(crate) fn finds_nothing(self, ret: &Value) -> bool {
        !matches!(self, CollectionOp::Add(_)) && *ret == Value::NIL
    }
}

/// The specification with its type erased. The code that this instantiates is most of the compile
/// time of this crate, so it is done only where specifications are found by name.
#[cfg(feature = "catalog")]
pub(crate) fn boxed(specification: impl ErasedSpec + 'static) -> Result<Box<dyn ErasedSpec>, String> {
    Ok(Box::new(specification))
}

/// Without the catalog, a specification can be used only by its type.
#[cfg(not(feature = "catalog"))]
pub(crate) fn boxed(_specification: impl ErasedSpec + 'static) -> Result<Box<dyn ErasedSpec>, String> {
    Err("is known by its type alone: names of specifications need the feature `catalog`".to_owned())
}

/// A specification without a parameter.
pub(crate) fn without_parameter(
    specification: impl ErasedSpec + 'static,
    parameter: Option<&str>,
) -> Result<Box<dyn ErasedSpec>, String> {
    match parameter {
        None => boxed(specification),
        Some(found) => Err(format!("takes no parameter, found `{found}`")),
    }
}

/// The value that `parameter` specifies: an integer, `true`, `false`, `null`, or a text.
pub(crate) fn parse_value(parameter: &str) -> Value {
    match parameter {
        "true" => Value::TRUE,
        "false" => Value::FALSE,
        "null" => Value::NIL,
        text => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
    }
}

/// `name` followed by the parameter that specifies `value`, if that is not the `default`. `None` if
/// no parameter does.
pub(crate) fn name_with_value(name: &str, value: Value, default: Value) -> Option<String> {
    let parameter = match value.datum()? {
        _ if value == default => return Some(name.to_owned()),
        Datum::Text(text) => text.to_owned(),
        _ => Values::new().show(value).to_string(),
    };
    (parse_value(&parameter) == value).then(|| format!("{name}:{parameter}"))
}

/// Parses `what`, a number that is at least `least`.
pub(crate) fn parse_number(parameter: &str, what: &str, least: usize) -> Result<usize, String> {
    let number = parameter.parse().ok().filter(|it| least <= *it);
    number.ok_or_else(|| {
        format!("expected {what} after the colon, a whole number from {least}, found `{parameter}`")
    })
}
