//! Values as serde writes them: null, truth values, integers, texts and lists.

use std::fmt;

use ::serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};

use super::word::{Datum, Value};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.datum() {
            Some(Datum::Absent | Datum::Nil) => serializer.serialize_unit(),
            Some(Datum::Bool(it)) => serializer.serialize_bool(it),
            Some(Datum::Int(it)) => serializer.serialize_i64(it),
            Some(Datum::Text(it) | Datum::Symbol(it) | Datum::Other(it)) => serializer.serialize_str(it),
            Some(Datum::List(items)) => serializer.collect_seq(items),
            None => Err(::serde::ser::Error::custom("a value of a recording is written with its table")),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a truth value, an integer, a text or a list of these")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::NIL)
    }

    fn visit_bool<E: Error>(self, it: bool) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_i64<E: Error>(self, it: i64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_u64<E: Error>(self, it: u64) -> Result<Value, E> {
        i64::try_from(it).map(Value::from).map_err(|_| E::custom("an integer of more than 63 bits"))
    }

    fn visit_str<E: Error>(self, it: &str) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all: Vec<Value> = Vec::new();
        while let Some(it) = items.next_element()? {
            all.push(it);
        }
        Ok(all.into())
    }
}
