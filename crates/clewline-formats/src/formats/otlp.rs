//! OpenTelemetry traces in OTLP's JSON, as the collector's file exporter writes them: a span is an
//! operation.
//!
//! ```json
//! {"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"spans":[{"name":"put",
//!  "startTimeUnixNano":"12","endTimeUnixNano":"15","attributes":[
//!  {"key":"clewline.process","value":{"intValue":"1"}},
//!  {"key":"clewline.op","value":{"stringValue":"put"}}]}]}]}]}
//! ```
//!
//! | part | attribute | otherwise |
//! |---|---|---|
//! | `process` | `clewline.process` | the host and the service of the resource |
//! | `op` | `clewline.op` | the span is skipped |
//! | `arg`, `ret`, `object`, `id`, `order` | `clewline.arg`, … | none |
//! | `outcome` | `clewline.outcome`: `ok`, `fail` or `info` | `info` if the span has an error, else `ok` |
//!
//! A [mapping](crate::Mapping) gives other names; `name` is the name of the span. Attributes of a
//! span come before those of its scope and of its resource. A span that has not ended is pending.

use std::io::{Read, Write};

use clewline_core::{Names, NotFound, RawCall, Recording, Skipped, TimedRow, TimedRows, Value, visible};
use serde_json::Value as JsonValue;

use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    event_reader::{EventTimes, Numbering, SourceLines},
    mapping::{ColumnNames, Mapping},
    text::{
        Sink,
        objects::{begins_with_object, for_each_object, member_names},
        shown_in_one_line, suggestion,
        tree::{shown_members, tree, value, value_of_text},
    },
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &Otlp;

/// What one export holds. Only the first has operations; the others may be in the same file.
const SIGNALS: [&str; 3] = ["resourceSpans", "resourceLogs", "resourceMetrics"];

struct Otlp;

impl Format for Otlp {
    fn name(&self) -> &'static str {
        "otlp"
    }

    fn about(&self) -> &'static str {
        "OpenTelemetry traces in JSON: spans are operations (reading only)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: false, pending: true, objects: Objects::Named, ids: true, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        begins_with_object(head) && member_names(head).iter().any(|it| SIGNALS.contains(it))
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut spans = Spans::new(options);
        let outcome = for_each_object(input, options.progress, |object| {
            let tree = tree(object)?;
            spans
                .batch(object.line, &tree)
                .map_err(|message| ReadError::in_line(object.line, visible(&message).to_string()))
        });
        outcome.map_err(|error| ReadError { read: spans.len(), ..error })?;
        spans.finish()
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        Err(WriteError::CannotHold("traces are only read".to_owned()))
    }
}

/// The attributes of a span, and of what it is in.
#[derive(Clone, Copy)]
struct Attributes<'t> {
    name: &'t str,
    // The span's first.
    lists: [&'t [JsonValue]; 3],
}

impl<'t> Attributes<'t> {
    fn find(&self, name: &str) -> Option<&'t JsonValue> {
        let is_it = |it: &&JsonValue| it.get("key").and_then(JsonValue::as_str) == Some(name);
        self.lists.iter().find_map(|list| list.iter().find(is_it))?.get("value")
    }

    /// The names of all attributes.
    fn names(&self) -> impl Iterator<Item = String> {
        let key = |it: &'t JsonValue| it.get("key")?.as_str().map(str::to_owned);
        self.lists.into_iter().flatten().filter_map(key)
    }

    /// The attribute that is a text, or the name of the span.
    fn text(&self, name: &str) -> Option<&'t str> {
        match self.find(name) {
            Some(value) => value.get("stringValue").and_then(JsonValue::as_str),
            None => (name == "name").then_some(self.name),
        }
    }
}

/// The spans of a file, which become its history.
pub(super) struct Spans<'a> {
    options: &'a ReadOptions<'a>,
    sink: Sink,
    processes: Numbering,
    objects: Numbering,
    rows: TimedRows,
    ids: Vec<Value>,
    orders: Vec<Option<i64>>,
    times: EventTimes,
    skipped: Skipped,
    // The line and the attributes of the first operation; whether any has what the mapping names.
    first: Option<(usize, Vec<String>)>,
    has_process: bool,
    has_object: bool,
}

impl<'a> Spans<'a> {
    pub(super) fn new(options: &'a ReadOptions<'a>) -> Spans<'a> {
        Spans {
            options,
            sink: Sink::default(),
            processes: Numbering::default(),
            objects: Numbering::default(),
            rows: TimedRows::default(),
            ids: Vec::new(),
            orders: Vec::new(),
            times: EventTimes::new(options.times),
            skipped: Skipped::default(),
            first: None,
            has_process: false,
            has_object: false,
        }
    }

    /// How many operations were read.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The spans of one export, which has the number `line`.
    pub(super) fn batch(&mut self, line: usize, tree: &JsonValue) -> Result<(), String> {
        if tree.get("resourceSpans").is_none() && tree.as_object().is_none_or(|it| !it.is_empty()) {
            self.skipped.add(line, &format!("{}, not `resourceSpans`", shown_members(tree)));
        }
        for resource in list(tree, "resourceSpans") {
            let of_resource = list(resource.get("resource").unwrap_or(&JsonValue::Null), "attributes");
            for scope in list(resource, "scopeSpans") {
                let of_scope = list(scope.get("scope").unwrap_or(&JsonValue::Null), "attributes");
                for span in list(scope, "spans") {
                    let name = span.get("name").and_then(JsonValue::as_str).unwrap_or_default();
                    let lists = [list(span, "attributes"), of_scope, of_resource];
                    self.span(line, span, Attributes { name, lists })?;
                }
            }
        }
        Ok(())
    }

    fn span(&mut self, line: usize, span: &JsonValue, attributes: Attributes<'_>) -> Result<(), String> {
        let mapping = &self.options.circumstances.mapping;
        let called = |name: &'a Option<String>, usual: &'static str| name.as_deref().unwrap_or(usual);
        let op = called(&mapping.op, "clewline.op");
        let Some(method) = attributes.text(op) else {
            self.skip(line, attributes, op);
            return Ok(());
        };
        let at = |what: &str| format!("the span `{}`: {what}", attributes.name);
        let begun =
            nanoseconds(span, "startTimeUnixNano").ok_or_else(|| at("expected `startTimeUnixNano`"))?;
        let ended = nanoseconds(span, "endTimeUnixNano").filter(|it| *it != 0);
        if ended.is_some_and(|it| it < begun) {
            return Err(at("it ends before it starts"));
        }
        let method = self.sink.values.text(mapping.method(method));
        self.first.get_or_insert_with(|| (line, attributes.names().collect()));
        let process = self.process(attributes, called(&mapping.process, "clewline.process"));
        let arg = self.argument(mapping, attributes).map_err(|it| at(&it))?;
        let found = |name: &Option<String>, usual: &str| attributes.find(name.as_deref().unwrap_or(usual));
        let ret = found(&mapping.ret, "clewline.ret").map(|it| self.value(it, mapping.json));
        let ret = ret.unwrap_or(Value::ABSENT);
        let object = found(&mapping.object, "clewline.object").map(|it| self.named(it));
        self.has_object |= object.is_some();
        let object = object.unwrap_or(Value::ABSENT);
        let id = found(&mapping.id, "clewline.id").map_or(Value::ABSENT, |it| self.named(it));
        let order = match found(&mapping.order, "clewline.order").map(|it| plain(it, 0)) {
            None => None,
            Some(order) => {
                let wrong = || at(&format!("expected an order, an integer, found {order}"));
                Some(order.as_i64().ok_or_else(wrong)?)
            }
        };
        let has_error = match span.get("status").and_then(|it| it.get("code")) {
            Some(JsonValue::String(code)) => code == "STATUS_CODE_ERROR",
            code => code.and_then(JsonValue::as_i64) == Some(2),
        };
        let returned = match attributes.text(called(&mapping.outcome, "clewline.outcome")) {
            Some("fail") => return Ok(()),
            Some("info") => None,
            Some("ok") => ended,
            None if has_error => None,
            None => ended,
            Some(other) => {
                let near = suggestion(other, &["ok", "fail", "info"]);
                return Err(at(&format!("expected the outcome ok, fail or info, found `{other}`{near}")));
            }
        };
        let (process, object) = (self.processes.number(process), self.objects.number(object));
        self.times.operation(line, begun, returned);
        let returned = returned.map(|time| (ret, time));
        let call = RawCall { method, arg };
        self.rows.push(TimedRow { line, process, object, call, called: begun, returned });
        self.ids.push(id);
        self.orders.push(order);
        Ok(())
    }

    /// Counts a span without the attribute `op`.
    fn skip(&mut self, line: usize, attributes: Attributes<'_>, op: &str) {
        let text = match self.skipped.count {
            0 => format!(
                "the span {}: {}",
                attributes.name,
                NotFound::new("attribute", op, attributes.names())
            ),
            _ => String::new(),
        };
        self.skipped.add(line, &text);
    }

    /// The process in the attribute `name`; without it, the host and the service.
    fn process(&mut self, attributes: Attributes<'_>, name: &str) -> Value {
        if let Some(process) = attributes.find(name) {
            self.has_process = true;
            return self.named(process);
        }
        let part = |it: &str| attributes.text(it).unwrap_or("?");
        let name = format!("{} {}", part("host.name"), part("service.name"));
        self.sink.values.text(&name)
    }

    fn argument(&mut self, mapping: &Mapping, attributes: Attributes<'_>) -> Result<Value, String> {
        let names = match &mapping.arg {
            None => {
                let found = attributes.find("clewline.arg");
                return Ok(found.map_or(Value::ABSENT, |it| self.value(it, mapping.json)));
            }
            Some(ColumnNames::One(name)) => {
                let found = attributes.find(name);
                return Ok(found.map_or(Value::ABSENT, |it| self.value(it, mapping.json)));
            }
            Some(ColumnNames::List(names)) => names,
        };
        let found: Vec<Option<&JsonValue>> = names.iter().map(|it| attributes.find(it)).collect();
        let given: Vec<&JsonValue> = found.iter().flatten().copied().collect();
        // Those at the end may be missing: `get` has a key, `put` a value as well.
        if let Some(gap) = found[..given.len()].iter().position(Option::is_none) {
            return Err(format!("expected the attribute `{}`", names[gap]));
        }
        let values: Vec<Value> = given.into_iter().map(|it| self.value(it, mapping.json)).collect();
        Ok(match values.as_slice() {
            [] => Value::ABSENT,
            [one] => *one,
            all => self.sink.values.list(all),
        })
    }

    /// The value of an attribute. Of a text, what it holds if it is JSON.
    fn value(&mut self, value: &JsonValue, json: bool) -> Value {
        match plain(value, 0) {
            JsonValue::String(text) if json => value_of_text(&mut self.sink, &text),
            other => self::value(&mut self.sink, &other),
        }
    }

    /// The name in an attribute: an integer, or a text.
    fn named(&mut self, value: &JsonValue) -> Value {
        match plain(value, 0) {
            JsonValue::String(text) => self.sink.values.text(&text),
            other => match other.as_i64() {
                Some(int) => self.sink.values.int(int),
                None => self.sink.values.text(&other.to_string()),
            },
        }
    }

    /// Checks that some span has what the mapping calls its process and its object. Without them,
    /// operations of several would be those of one.
    fn accept_names(&self) -> Result<(), ReadError> {
        let Mapping { process, object, .. } = &self.options.circumstances.mapping;
        let Some((line, names)) = &self.first else { return Ok(()) };
        for (name, is_found) in [(process, self.has_process), (object, self.has_object)] {
            if let (Some(name), false) = (name, is_found) {
                let error = NotFound::new("attribute", name, names.iter().cloned());
                let message = shown_in_one_line(&error.to_string());
                return Err(ReadError { read: self.rows.len(), ..ReadError::in_line(*line, message) });
            }
        }
        Ok(())
    }

    /// The history.
    pub(super) fn finish(self) -> Result<Recording, ReadError> {
        self.accept_names()?;
        let Spans { options, sink, processes, objects, rows, ids, orders, times, skipped, .. } = self;
        let read = rows.len();
        let mut processes = processes.into_names();
        let (columns, lines, own_times) = rows.into_columns(options.circumstances.skew, &mut processes);
        let lines: SourceLines = lines.into_iter().collect();
        let history = columns.finish().map_err(|malformed| ReadError {
            read,
            ..lines.locate(&malformed, lines.get(malformed.index()))
        })?;
        // Many spans are on one line.
        let own = |(position, id): (usize, Value)| if id.is_absent() { Value::from(position) } else { id };
        let names = Names {
            processes,
            objects: objects.into_names(),
            ids: Some(ids.into_iter().enumerate().map(own).collect()),
            lines: lines.into_lines(),
            times: times.finish(),
            orders: orders.iter().any(Option::is_some).then_some(orders),
            own_times,
            skipped,
            ..Names::default()
        };
        Ok(Recording::new(history, sink.values, names))
    }
}

/// The elements of a member; none if it is not there.
fn list<'t>(tree: &'t JsonValue, name: &str) -> &'t [JsonValue] {
    tree.get(name).and_then(JsonValue::as_array).map_or(&[], Vec::as_slice)
}

/// A time, which is a number or, as JSON has no such integers, a text.
fn nanoseconds(span: &JsonValue, name: &str) -> Option<i64> {
    match span.get(name)? {
        JsonValue::String(text) => text.parse().ok(),
        number => number.as_i64(),
    }
}

/// The value in an attribute's typed form.
fn plain(value: &JsonValue, depth: u32) -> JsonValue {
    let Some((kind, inner)) = value.as_object().and_then(|it| it.iter().next()) else {
        return JsonValue::Null;
    };
    let items = || list(inner, "values");
    match (&**kind, inner) {
        ("intValue", JsonValue::String(text)) => {
            text.parse::<i64>().map_or_else(|_| inner.clone(), JsonValue::from)
        }
        ("arrayValue", _) if depth < 16 => items().iter().map(|it| plain(it, depth + 1)).collect(),
        ("kvlistValue", _) if depth < 16 => {
            let member = |it: &JsonValue| {
                let key = it.get("key")?.as_str()?.to_owned();
                Some((key, plain(it.get("value")?, depth + 1)))
            };
            JsonValue::Object(items().iter().filter_map(member).collect())
        }
        (_, inner) => inner.clone(),
    }
}
