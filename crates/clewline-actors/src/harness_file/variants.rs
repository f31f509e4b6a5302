//! The names of the variants of an enum, from serde.

use std::fmt;

use serde::{
    Deserialize,
    de::{Deserializer, Error, Visitor},
    forward_to_deserialize_any,
};

/// The names of the variants of `M`; empty if it is no enum.
pub(super) fn variants<'de, M: Deserialize<'de>>() -> &'static [&'static str] {
    match M::deserialize(Probe) {
        Err(Found(variants)) => variants,
        Ok(_) => &[],
    }
}

/// Ends with an error that says which variants were expected.
struct Probe;

#[derive(Debug)]
struct Found(&'static [&'static str]);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing is read")
    }
}

impl std::error::Error for Found {}

impl Error for Found {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Found(&[])
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Found> {
        Err(Found(&[]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Found> {
        Err(Found(variants))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
