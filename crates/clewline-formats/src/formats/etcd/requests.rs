//! Requests and their responses, as operations of a map.

use std::collections::{HashMap, HashSet};

use clewline_core::{Names, RawCall, Skipped, TimedRow, TimedRows, Value, Values};
use serde_json::Value as JsonValue;

use crate::{
    event_reader::{EventTimes, Numbering},
    text::{Sink, shown_in_one_line, suggestion, tree::shown_members},
};

/// All requests so far.
pub(super) struct Requests {
    sink: Sink,
    clients: Numbering,
    skipped: Skipped,
    keeps_times: bool,
    read: usize,
    drafts: Vec<Draft>,
    // The keys with a lease, by its number.
    leased: HashMap<i64, HashSet<Value>>,
    // The values of keys by the revision that wrote them.
    revisions: HashMap<(Value, i64), Value>,
    // How often each value is written to a key.
    writes: HashMap<(Value, Value), usize>,
}

/// An operation that may depend on what others say.
#[derive(Clone, Debug)]
struct Draft {
    line: usize,
    client: u32,
    called: i64,
    // `None` if it is not known whether it was executed.
    returned: Option<i64>,
    // The revision of the response.
    revision: Option<i64>,
    action: Action,
}

#[derive(Clone, Debug)]
enum Action {
    // The key and what was found; nothing is known while pending.
    Get(Value, Value),
    Put(Value, Value),
    Erase(Value),
    // A put of a key that was last modified by this revision; whether it was.
    PutIf(Value, i64, Value, bool),
    // The end of a lease.
    Revoke(i64),
}

/// The types of requests.
const TYPES: [&str; 6] = ["range", "txn", "leaseGrant", "leaseRevoke", "defragment", "compact"];

impl Requests {
    /// Without any.
    pub(super) fn new(keeps_times: bool) -> Requests {
        Requests {
            sink: Sink::default(),
            clients: Numbering::default(),
            skipped: Skipped::default(),
            keeps_times,
            read: 0,
            drafts: Vec::new(),
            leased: HashMap::new(),
            revisions: HashMap::new(),
            writes: HashMap::new(),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.read
    }

    /// The request on `line`.
    ///
    /// # Errors
    ///
    /// If it is not one of etcd's tests.
    pub(super) fn push(&mut self, line: usize, tree: &JsonValue) -> Result<(), String> {
        let integer = |name: &str| match tree.get(name) {
            None => Err(format!("expected `{name}`, an integer, found {}", shown_members(tree))),
            Some(found) => found.as_i64().ok_or_else(|| {
                format!("expected `{name}`, an integer, found {}", shown_in_one_line(&found.to_string()))
            }),
        };
        let client = integer("ClientId")?;
        let client = self.sink.values.int(client);
        let client = self.clients.number(client);
        let no_input = || format!("expected `Input`, the request, found {}", shown_members(tree));
        let input = member(tree, "Input").ok_or_else(no_input)?;
        let no_type = || format!("expected the `Type` of `Input`, found {}", shown_members(input));
        let kind = input.get("Type").and_then(JsonValue::as_str).ok_or_else(no_type)?;
        let called = integer("Call")?;
        let nothing = JsonValue::Null;
        let output = tree.get("Output").unwrap_or(&nothing);
        let is_error =
            |name: &str| output.get(name).and_then(JsonValue::as_str).is_some_and(|it| !it.is_empty());
        let is_unknown = output.is_null()
            || is_error("Error")
            || is_error("ClientError")
            || output.get("PartialResponse").and_then(JsonValue::as_bool) == Some(true)
            || output.get("Persisted").and_then(JsonValue::as_bool) == Some(true);
        let returned = if is_unknown { None } else { Some(integer("Return")?) };
        let before = self.drafts.len();
        let revision = output.get("Revision").and_then(JsonValue::as_i64).filter(|&it| 0 < it);
        let revision = revision.filter(|_| !is_unknown);
        let draft = |action| Draft { line, client, called, returned, revision, action };
        match kind {
            "range" => self.range(input, output, &draft)?,
            "txn" => self.transaction(input, output, &draft)?,
            "leaseRevoke" => {
                let lease = member(input, "LeaseRevoke").and_then(|it| it.get("LeaseID")?.as_i64());
                let lease = lease.ok_or("expected the `LeaseID` of `LeaseRevoke`")?;
                self.drafts.push(draft(Action::Revoke(lease)));
            }
            "leaseGrant" | "defragment" | "compact" => (),
            other => {
                let near = suggestion(other, &TYPES);
                return Err(format!("expected the type {}, found `{other}`{near}", TYPES.join(", ")));
            }
        }
        self.read += 1;
        if self.drafts.len() == before {
            self.skipped.add(line, &format!("{kind} {input}"));
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Value {
        self.sink.values.text(text)
    }

    fn range(
        &mut self,
        input: &JsonValue,
        output: &JsonValue,
        draft: &dyn Fn(Action) -> Draft,
    ) -> Result<(), String> {
        let range = member(input, "Range").ok_or("expected the `Range` of a request for a range")?;
        let revision = |it: &JsonValue| it.get("Revision").and_then(JsonValue::as_i64);
        // A response with the revision -1 is marked as one that may be stale.
        let is_old = revision(range).is_some_and(|it| it != 0) || revision(output) == Some(-1);
        let found = member(output, "Range").and_then(|it| member(it, "KVs"));
        self.learn(found);
        if !is_old {
            self.get(range, found, draft);
        }
        Ok(())
    }

    /// A read of one key, if it is one.
    fn get(&mut self, range: &JsonValue, found: Option<&JsonValue>, draft: &dyn Fn(Action) -> Draft) {
        let part = |name: &str| range.get(name).and_then(JsonValue::as_str).unwrap_or_default();
        if !part("End").is_empty() || part("Start").is_empty() {
            return;
        }
        let key = self.text(part("Start"));
        let found = found.and_then(JsonValue::as_array).and_then(|it| it.first());
        let found = found.map_or(Value::NIL, |it| self.stored(it.get("Value")));
        self.drafts.push(draft(Action::Get(key, found)));
    }

    /// Keeps which revision wrote the values of these keys.
    fn learn(&mut self, found: Option<&JsonValue>) {
        for pair in found.and_then(JsonValue::as_array).into_iter().flatten() {
            let key = pair.get("Key").and_then(JsonValue::as_str);
            let revision = pair.get("ModRevision").and_then(JsonValue::as_i64);
            if let (Some(key), Some(revision)) = (key, revision) {
                let key = self.text(key);
                let value = self.stored(pair.get("Value"));
                self.revisions.insert((key, revision), value);
            }
        }
    }

    /// A stored value, or the hash of a long one.
    fn stored(&mut self, value: Option<&JsonValue>) -> Value {
        let value = value.unwrap_or(&JsonValue::Null);
        match (value.get("Hash").and_then(JsonValue::as_u64), value.get("Value").and_then(JsonValue::as_str))
        {
            (Some(hash), _) if hash != 0 => self.text(&format!("hash {hash}")),
            (_, Some(text)) => self.text(text),
            (_, None) => self.text(""),
        }
    }

    fn transaction(
        &mut self,
        input: &JsonValue,
        output: &JsonValue,
        draft: &dyn Fn(Action) -> Draft,
    ) -> Result<(), String> {
        let request = member(input, "Txn").ok_or("expected the `Txn` of a transaction")?;
        let list =
            |name: &str| member(request, name).and_then(JsonValue::as_array).map_or(&[][..], Vec::as_slice);
        let (conditions, success, failure) =
            (list("Conditions"), list("OperationsOnSuccess"), list("OperationsOnFailure"));
        let response = member(output, "Txn");
        let is_pending = draft(Action::Revoke(0)).returned.is_none();
        let has_failed = response.and_then(|it| it.get("Failure")?.as_bool()).unwrap_or(false);
        let revision = output.get("Revision").and_then(JsonValue::as_i64);
        let results = response.and_then(|it| member(it, "Results")).and_then(JsonValue::as_array);
        // A put on a condition of its own key is one operation.
        let condition = match (conditions, success) {
            ([condition], [put]) if put.get("Type").and_then(JsonValue::as_str) == Some("put-operation") => {
                self.condition(condition, put)
            }
            _ => None,
        };
        let Some((key, expected, value)) = condition else {
            let chosen = if has_failed { failure } else { success };
            // Of both branches of a transaction that may have been executed, either may be.
            let other = if is_pending && !conditions.is_empty() { failure } else { &[] };
            self.operations(chosen, results.map(Vec::as_slice).filter(|_| !is_pending), revision, draft)?;
            return self.operations(other, None, None, draft);
        };
        self.lease(&success[0], key);
        *self.writes.entry((key, value)).or_default() += 1;
        if let (false, false, Some(revision)) = (is_pending, has_failed, revision) {
            self.revisions.insert((key, revision), value);
        }
        self.drafts.push(draft(Action::PutIf(key, expected, value, !has_failed)));
        if has_failed || is_pending {
            let results = results.map(Vec::as_slice).filter(|_| !is_pending);
            self.operations(failure, results, revision, draft)?;
        }
        Ok(())
    }

    /// The key, the expected revision and the new value of a put on a condition of its own key.
    fn condition(&mut self, condition: &JsonValue, put: &JsonValue) -> Option<(Value, i64, Value)> {
        let put = member(put, "Put")?;
        let key = put.get("Key")?.as_str()?;
        let is_by_version =
            condition.get("ExpectedVersion").and_then(JsonValue::as_i64).is_some_and(|it| it != 0);
        if condition.get("Key")?.as_str()? != key || is_by_version {
            return None;
        }
        let expected = condition.get("ExpectedRevision").and_then(JsonValue::as_i64)?;
        let key = self.text(key);
        let value = self.stored(put.get("Value"));
        Some((key, expected, value))
    }

    /// Notes that a put gives `key` a lease.
    fn lease(&mut self, operation: &JsonValue, key: Value) {
        let lease = operation.get("Put").and_then(|it| it.get("LeaseID")?.as_i64()).unwrap_or(0);
        if lease != 0 {
            self.leased.entry(lease).or_default().insert(key);
        }
    }

    /// The operations of a transaction, each on its own. Of several on one key the last write
    /// counts.
    fn operations(
        &mut self,
        operations: &[JsonValue],
        results: Option<&[JsonValue]>,
        revision: Option<i64>,
        draft: &dyn Fn(Action) -> Draft,
    ) -> Result<(), String> {
        let mut written: HashMap<Value, Action> = HashMap::new();
        let mut order = Vec::new();
        for (at, operation) in operations.iter().enumerate() {
            let result = results.and_then(|it| it.get(at));
            match operation.get("Type").and_then(JsonValue::as_str) {
                Some("range-operation") => {
                    let found = result.and_then(|it| member(it, "KVs"));
                    self.learn(found);
                    let range = member(operation, "Range").ok_or("expected the `Range` of an operation")?;
                    // Beside writes it may have read what this transaction wrote.
                    if order.is_empty() && result.is_some() {
                        self.get(range, found, draft);
                    }
                }
                Some("put-operation") => {
                    let put = member(operation, "Put").ok_or("expected the `Put` of an operation")?;
                    let key =
                        put.get("Key").and_then(JsonValue::as_str).ok_or("expected the `Key` of a put")?;
                    let key = self.text(key);
                    let value = self.stored(put.get("Value"));
                    self.lease(operation, key);
                    *self.writes.entry((key, value)).or_default() += 1;
                    if let (Some(revision), Some(_)) = (revision, result) {
                        self.revisions.insert((key, revision), value);
                    }
                    order.push(key);
                    written.insert(key, Action::Put(key, value));
                }
                Some("delete-operation") => {
                    let key = member(operation, "Delete").and_then(|it| it.get("Key")?.as_str());
                    let key = self.text(key.ok_or("expected the `Key` of a delete")?);
                    order.push(key);
                    written.insert(key, Action::Erase(key));
                }
                found => {
                    const TYPES: [&str; 3] = ["range-operation", "put-operation", "delete-operation"];
                    let found = found.unwrap_or_default();
                    let near = suggestion(found, &TYPES);
                    return Err(format!(
                        "expected an operation of the type {}, found `{found}`{near}",
                        TYPES.join(", ")
                    ));
                }
            }
        }
        for key in order {
            self.drafts.extend(written.remove(&key).map(draft));
        }
        Ok(())
    }

    /// The rows, their values, and the names of clients.
    pub(super) fn finish(mut self) -> (TimedRows, Values, Names) {
        let mut rows = TimedRows::default();
        let mut times = EventTimes::new(self.keeps_times);
        let mut orders: Vec<Option<i64>> = Vec::new();
        for draft in std::mem::take(&mut self.drafts) {
            let Draft { line, client: process, called, returned, revision, .. } = draft;
            let is_pending = returned.is_none();
            for (method, arg, ret) in self.calls(draft.action, is_pending) {
                let returned = returned.filter(|_| ret != Outcome::Unknown);
                let ret = match ret {
                    Outcome::Is(ret) => ret,
                    Outcome::Unknown => Value::ABSENT,
                };
                times.operation(line, called, returned);
                let is_change = method != "get" && ret != Value::FALSE;
                orders.push(revision.map(|it| order(it, is_change)));
                let call = RawCall { method: self.text(method), arg };
                let returned = returned.map(|time| (ret, time));
                rows.push(TimedRow { line, process, object: 0, call, called, returned });
            }
        }
        let objects = if rows.is_empty() { Vec::new() } else { vec![Value::ABSENT] };
        let names = Names {
            processes: self.clients.into_names(),
            objects,
            times: times.finish(),
            orders: orders.iter().any(Option::is_some).then_some(orders),
            skipped: self.skipped,
            ..Names::default()
        };
        (rows, self.sink.values, names)
    }

    /// The calls that are certain, or that may have been made, and what they returned.
    fn calls(&mut self, action: Action, is_pending: bool) -> Vec<(&'static str, Value, Outcome)> {
        let nothing = Outcome::Is(Value::ABSENT);
        match action {
            // A read of unknown outcome says nothing.
            Action::Get(..) if is_pending => Vec::new(),
            Action::Get(key, found) => vec![("get", key, Outcome::Is(found))],
            Action::Put(key, value) => vec![("put", self.sink.values.list(&[key, value]), nothing)],
            Action::Erase(key) => vec![("erase", key, nothing)],
            Action::Revoke(lease) => {
                let mut keys: Vec<Value> = self.leased.get(&lease).into_iter().flatten().copied().collect();
                keys.sort_unstable();
                keys.into_iter().map(|key| ("erase", key, Outcome::Unknown)).collect()
            }
            Action::PutIf(key, revision, value, has_put) => {
                let old = match revision {
                    0 => Some(Value::NIL),
                    revision => self.revisions.get(&(key, revision)).copied(),
                };
                // Another revision may have written the same value.
                let is_certain = old.is_some_and(|old| {
                    old == Value::NIL || self.writes.get(&(key, old)).is_none_or(|it| *it == 1)
                });
                match (old, has_put) {
                    (Some(old), true) => {
                        vec![("cas", self.sink.values.list(&[key, old, value]), Outcome::Is(Value::TRUE))]
                    }
                    (None, true) => vec![("put", self.sink.values.list(&[key, value]), nothing)],
                    (Some(old), false) if is_certain => {
                        vec![("cas", self.sink.values.list(&[key, old, value]), Outcome::Is(Value::FALSE))]
                    }
                    (_, false) => Vec::new(),
                }
            }
        }
    }
}

/// What a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Is(Value),
    // It may not have been made at all.
    Unknown,
}

/// The member of that name, if it is there and not null.
fn member<'t>(tree: &'t JsonValue, name: &str) -> Option<&'t JsonValue> {
    tree.get(name).filter(|it| !it.is_null())
}

/// When an operation took effect, by the revision of its response: what changes a key comes before
/// what finds it changed.
fn order(revision: i64, is_change: bool) -> i64 {
    revision.saturating_mul(2).saturating_add(i64::from(!is_change))
}
