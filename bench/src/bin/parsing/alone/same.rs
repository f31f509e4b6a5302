//! Our format read with serde_json, as we would if we had no reader of our own.

use std::{collections::BTreeMap, fmt};

use clewline_core::{ObjectId, ProcessId, RawCall, Timed, Value, Values};
use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor},
};

use super::Columns;

/// Reads operations, a line each.
pub(super) fn read(text: &[u8]) -> Columns {
    let text = std::str::from_utf8(text).expect("a text");
    let mut tables = Tables::default();
    let mut columns = Columns::with_capacity(0);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        let mut line = serde_json::Deserializer::from_str(&text[start..end]);
        columns.push(Line(&mut tables).deserialize(&mut line).expect("a line of JSON"));
        line.end().expect("nothing follows");
        start = end + 1;
    }
    columns
}

#[derive(Default)]
struct Tables {
    values: Values,
    processes: Vec<Value>,
    objects: Vec<Value>,
}

/// The number of `name`; there are few.
fn number(names: &mut Vec<Value>, name: Value) -> u32 {
    let at = names.iter().position(|it| *it == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    at as u32
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Process,
    Op,
    Arg,
    Ret,
    Call,
    Return,
    Object,
    #[serde(other)]
    Other,
}

struct Line<'t>(&'t mut Tables);

impl<'de> DeserializeSeed<'de> for Line<'_> {
    type Value = Timed<RawCall, Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Line<'_> {
    type Value = Timed<RawCall, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an operation")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Tables { values, processes, objects } = self.0;
        let (mut process, mut op, mut arg, mut ret, mut object) = (None, None, None, None, None);
        let (mut call, mut returned): (Option<i64>, Option<Option<i64>>) = (None, None);
        while let Some(field) = map.next_key()? {
            let is_twice = match field {
                Field::Process => process.replace(map.next_value_seed(Any(values))?).is_some(),
                Field::Op => op.replace(map.next_value_seed(Any(values))?).is_some(),
                Field::Arg => arg.replace(map.next_value_seed(Any(values))?).is_some(),
                Field::Ret => ret.replace(map.next_value_seed(Any(values))?).is_some(),
                Field::Object => object.replace(map.next_value_seed(Any(values))?).is_some(),
                Field::Call => call.replace(map.next_value()?).is_some(),
                Field::Return => returned.replace(map.next_value()?).is_some(),
                Field::Other => map.next_value::<serde::de::IgnoredAny>().map(|_| false)?,
            };
            if is_twice {
                return Err(A::Error::custom("a member is given twice"));
            }
        }
        let missing = A::Error::missing_field;
        let ret = ret.unwrap_or(Value::ABSENT);
        let method = op.ok_or_else(|| missing("op"))?;
        Ok(Timed {
            process: ProcessId(number(processes, process.ok_or_else(|| missing("process"))?)),
            object: ObjectId(number(objects, object.unwrap_or(Value::ABSENT))),
            call: RawCall { method, arg: arg.unwrap_or(Value::ABSENT) },
            called: call.ok_or_else(|| missing("call"))?,
            returned: returned.flatten().map(|it| (ret, it)),
        })
    }
}

/// Any value, interned.
struct Any<'v>(&'v mut Values);

impl<'de> DeserializeSeed<'de> for Any<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Any<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(if it { Value::TRUE } else { Value::FALSE })
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(self.0.int(it))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(match i64::try_from(it) {
            Ok(it) => self.0.int(it),
            Err(_) => self.0.other(&it.to_string()),
        })
    }

    fn visit_f64<E>(self, it: f64) -> Result<Value, E> {
        Ok(self.0.other(&it.to_string()))
    }

    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(self.0.text(it))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::NIL)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Any(self.0))? {
            items.push(item);
        }
        Ok(self.0.list(&items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members: BTreeMap<String, serde_json::Value> = BTreeMap::new();
        while let Some((name, value)) = map.next_entry()? {
            members.insert(name, value);
        }
        let written = serde_json::to_string(&members).map_err(A::Error::custom)?;
        Ok(self.0.other(&written))
    }
}
