//! Reports for programs: one JSON object, on one line.
//!
//! The names of the fields, and their order, are stable: scripts depend on them.

use std::{borrow::Cow, fmt};

use clewline_core::{Criterion, Datum, Note, OperationId, Value, Values, Verdict, Violation, visible};
use serde_json::{Map, Value as Json};

use super::{CheckedHistory, WitnessShown, criteria, explain::explanation};

/// An object whose fields keep the order in which they were added. `Display` writes JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Field)>);

#[derive(Clone, Debug, PartialEq)]
enum Field {
    Value(Json),
    Object(Object),
}

/// Texts in JSON lines, each an array of the values of its lines, in the order of what is written.
#[must_use]
pub fn arrays_of_lines(texts: &[String]) -> Json {
    let value = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| Json::from(line));
    let array = |it: &String| Json::from(it.lines().map(value).collect::<Vec<Json>>());
    let mut all: Vec<Json> = texts.iter().map(array).collect();
    all.sort_by_cached_key(Json::to_string);
    all.into()
}

impl Object {
    /// One without fields.
    #[must_use]
    pub fn new() -> Object {
        Object::default()
    }

    /// Adds a field.
    pub fn add(&mut self, name: &str, value: impl Into<Json>) {
        self.0.push((name.to_owned(), Field::Value(value.into())));
    }

    /// Adds an object as a field, which keeps its order, too.
    pub fn add_object(&mut self, name: &str, object: Object) {
        self.0.push((name.to_owned(), Field::Object(object)));
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Json> {
        self.0.iter().find(|it| it.0 == name).map(|it| it.1.clone().into())
    }
}

/// Its fields in alphabetical order.
impl From<Map<String, Json>> for Object {
    fn from(fields: Map<String, Json>) -> Object {
        Object(fields.into_iter().map(|(name, value)| (name, Field::Value(value))).collect())
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Json {
        Json::Object(object.0.into_iter().map(|(name, field)| (name, field.into())).collect())
    }
}

impl From<Field> for Json {
    fn from(field: Field) -> Json {
        match field {
            Field::Value(value) => value,
            Field::Object(object) => object.into(),
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (place, (name, field)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}:", Json::from(name.as_str()))?;
            match field {
                Field::Value(value) => f.write_str(&harmless(&value.to_string()))?,
                Field::Object(object) => write!(f, "{object}")?,
            }
        }
        f.write_str("}")
    }
}

/// The same JSON, without the characters in its texts that a terminal would obey: they are escaped,
/// as JSON does it.
fn harmless(json: &str) -> Cow<'_, str> {
    if let Cow::Borrowed(_) = visible(json) {
        return json.into();
    }
    let escaped = |it: char| match visible(it.encode_utf8(&mut [0; 4])) {
        Cow::Borrowed(_) => it.to_string(),
        Cow::Owned(_) => format!("\\u{:04x}", u32::from(it)),
    };
    json.chars().map(escaped).collect()
}

/// The report on a history.
#[must_use]
pub fn report(judged: &CheckedHistory<'_>, witness: WitnessShown) -> Object {
    let mut report = start(judged);
    match judged.verdict {
        Verdict::Holds(found) => {
            if witness == WitnessShown::Whole {
                report.add("witness", ids(judged, &found.order));
            }
        }
        Verdict::Violated(violation) => {
            let mut explanation_object = explained(judged, violation);
            if let Some(line) = judged.stream.and_then(|it| it.line) {
                explanation_object.add("line", line);
            }
            explanation_object.add("text", explanation(judged, violation));
            if let Some(may_fail) = &violation.holds_if {
                explanation_object.add("holds_if", may_fail.to_string());
            }
            report.add_object("explanation", explanation_object);
            if 1 < judged.violated {
                report.add("violated_parts", judged.violated);
                let others = judged.others.iter().map(|it| {
                    let mut other = explained(judged, it);
                    other.add("text", explanation(judged, it));
                    Json::from(other)
                });
                report.add("others", others.collect::<Json>());
            }
        }
        Verdict::Unknown(reason) => report.add("reason", reason.to_string()),
    }
    let notes = &judged.case.names().notes;
    if !notes.is_empty() {
        let note = |it: &Note| serde_json::json!({"text": it.text, "from": it.from, "until": it.until});
        report.add("notes", notes.iter().map(note).collect::<Json>());
    }
    report
}

/// The first fields of an explanation: what is violated.
fn explained(judged: &CheckedHistory<'_>, violation: &Violation) -> Object {
    let mut explained = Object::new();
    if let Some(object) = violation.counterexample.first().and_then(|&it| judged.object(it)) {
        explained.add("object", json(judged.case.values(), object));
    }
    explained.add("counterexample", ids(judged, &violation.counterexample));
    if !violation.is_verified {
        explained.add("verified", false);
    }
    if !violation.is_minimal {
        explained.add("minimal", false);
    }
    explained
}

/// The first fields of the report on any history.
#[must_use]
pub fn start(judged: &CheckedHistory<'_>) -> Object {
    let mut report = Object::new();
    report.add("file", judged.name);
    report.add("verdict", judged.verdict.word());
    if let Verdict::Violated(_) = judged.verdict {
        report.add("cause", criteria::cause(judged).name());
    }
    add_criterion(judged, &mut report);
    report.add("operations", judged.operations());
    report.add("objects", judged.objects());
    report.add("algorithm", judged.algorithm);
    report.add("elapsed_ms", judged.elapsed.as_millis() as u64);
    if let Some((may_fail, failed)) = judged.case.may_fail() {
        report.add("may_fail", may_fail.to_string());
        report.add("failed", failed);
    }
    let skipped = &judged.case.names().skipped;
    if skipped.count != 0 {
        let mut object = Object::new();
        object.add("entries", skipped.count);
        object.add("line", skipped.line);
        object.add("text", skipped.text.as_str());
        report.add_object("skipped", object);
    }
    report
}

/// Adds the criterion, if it is not the usual one or there are crashes.
fn add_criterion(judged: &CheckedHistory<'_>, report: &mut Object) {
    let (criterion, tried) = judged.case.criterion();
    let crashes = judged.case.names().crashes.len();
    if criterion != Criterion::Linearizable || !tried.is_empty() || crashes != 0 {
        report.add("criterion", criterion.name());
    }
    if !tried.is_empty() {
        let mut object = Object::new();
        tried.iter().for_each(|(criterion, word)| object.add(criterion.name(), *word));
        report.add_object("criteria", object);
    }
    if crashes != 0 {
        report.add("crashes", crashes);
    }
}

/// The report on a file that could not be checked: `{"file": …, "error": …}`.
#[must_use]
pub fn failure(name: &str, error: &str) -> Object {
    let mut report = Object::new();
    report.add("file", name);
    report.add("error", error);
    report
}

fn ids(judged: &CheckedHistory<'_>, operations: &[OperationId]) -> Json {
    operations.iter().map(|&it| json(judged.case.values(), judged.id(it))).collect()
}

fn json(values: &Values, value: Value) -> Json {
    match values.get(value) {
        Datum::Absent | Datum::Nil => Json::Null,
        Datum::Bool(truth) => truth.into(),
        Datum::Int(int) => int.into(),
        Datum::Text(text) | Datum::Symbol(text) | Datum::Other(text) => text.into(),
        Datum::List(items) => items.iter().map(|&it| json(values, it)).collect(),
    }
}
