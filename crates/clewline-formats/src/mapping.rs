//! How the columns of a table, or the attributes of spans, are called that make an operation.
//!
//! ```json
//! {"process": "client.id", "op": "db.operation", "arg": ["db.key", "db.value"], "ret": "db.result",
//!  "ops": {"SET": "put", "GET": "get"}, "json": true}
//! ```

use std::{collections::BTreeMap, fmt};

use clewline_core::NotFound;
use serde_json::Value as JsonValue;

/// Names of columns or attributes. Where none is given, the format has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mapping {
    /// The process that calls.
    pub process: Option<String>,
    /// The method.
    pub op: Option<String>,
    /// The argument, or several that make a list.
    pub arg: Option<ColumnNames>,
    /// The result.
    pub ret: Option<String>,
    /// The object.
    pub object: Option<String>,
    /// The outcome: `ok`, `fail` or `info`.
    pub outcome: Option<String>,
    /// The time of the call.
    pub call: Option<String>,
    /// The time of the return.
    pub returned: Option<String>,
    /// The operation's own id.
    pub id: Option<String>,
    /// The order in which operations took effect, as a hint.
    pub order: Option<String>,
    /// The names of methods in the file, and what they are called here.
    pub ops: BTreeMap<String, String>,
    /// Whether texts of arguments and results are JSON.
    pub json: bool,
}

/// One column, or several that make a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnNames {
    /// One value.
    One(String),
    /// A list of values.
    List(Vec<String>),
}

const MEMBERS: [&str; 12] =
    ["arg", "call", "id", "json", "object", "op", "ops", "order", "outcome", "process", "ret", "return"];

impl Mapping {
    /// Reads a mapping from its JSON.
    ///
    /// # Errors
    ///
    /// If it is not an object of such members.
    pub fn parse(text: &str) -> Result<Mapping, MappingError> {
        let wrong = |error: serde_json::Error| {
            let (line, column, text) = (error.line(), error.column(), error.to_string());
            let text = text.split(" at line ").next().unwrap_or_default();
            MappingError(format!("line {line}, column {column}: expected JSON: {text}"))
        };
        let members: BTreeMap<String, JsonValue> = serde_json::from_str(text).map_err(wrong)?;
        let mut mapping = Mapping::default();
        for (name, value) in members {
            let text = |value: JsonValue| match value {
                JsonValue::String(text) => Ok(Some(text)),
                other => Err(MappingError(format!("`{name}`: expected a name in quotes, found {other}"))),
            };
            match &*name {
                "process" => mapping.process = text(value)?,
                "op" => mapping.op = text(value)?,
                "ret" => mapping.ret = text(value)?,
                "object" => mapping.object = text(value)?,
                "outcome" => mapping.outcome = text(value)?,
                "call" => mapping.call = text(value)?,
                "return" => mapping.returned = text(value)?,
                "id" => mapping.id = text(value)?,
                "order" => mapping.order = text(value)?,
                "arg" => {
                    mapping.arg = Some(match value {
                        JsonValue::Array(items) => ColumnNames::List(
                            items
                                .into_iter()
                                .map(text)
                                .map(|it| it.map(Option::unwrap_or_default))
                                .collect::<Result<_, _>>()?,
                        ),
                        one => ColumnNames::One(text(one)?.unwrap_or_default()),
                    });
                }
                "json" => {
                    mapping.json = value.as_bool().ok_or_else(|| {
                        MappingError(format!("`json`: expected true or false, found {value}"))
                    })?;
                }
                "ops" => {
                    let names = |_| MappingError("`ops`: expected an object of names in quotes".to_owned());
                    mapping.ops = serde_json::from_value(value).map_err(names)?;
                }
                _ => return Err(MappingError(NotFound::new("member", &name, MEMBERS).to_string())),
            }
        }
        Ok(mapping)
    }

    /// What the method is called here that the file calls `name`.
    pub(crate) fn method<'a>(&'a self, name: &'a str) -> &'a str {
        self.ops.get(name).map_or(name, String::as_str)
    }
}

/// A mapping cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingError(String);

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MappingError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_names_columns() {
        let mapping = Mapping::parse(
            r#"{"process": "p", "arg": ["k", "v"], "return": "end", "ops": {"SET": "put"}, "json": true}"#,
        );
        let mapping = mapping.expect("it is well-formed");
        assert_eq!(mapping.process.as_deref(), Some("p"));
        assert_eq!(mapping.returned.as_deref(), Some("end"));
        assert_eq!(mapping.arg, Some(ColumnNames::List(vec!["k".to_owned(), "v".to_owned()])));
        assert_eq!((mapping.method("SET"), mapping.method("GET"), mapping.json), ("put", "GET", true));
        assert_eq!(Mapping::parse("{}"), Ok(Mapping::default()));
    }

    #[test]
    fn what_is_wrong_with_a_mapping_is_said() {
        let error = |text: &str| Mapping::parse(text).expect_err("it is wrong").to_string();
        assert_eq!(error(r#"{"op": 3}"#), "`op`: expected a name in quotes, found 3");
        assert_eq!(error(r#"{"json": 3}"#), "`json`: expected true or false, found 3");
        assert!(error(r#"{"proces": "p"}"#).contains("process"), "{}", error(r#"{"proces": "p"}"#));
        assert!(error("{").starts_with("line 1, column 1: expected JSON"), "{}", error("{"));
    }
}
