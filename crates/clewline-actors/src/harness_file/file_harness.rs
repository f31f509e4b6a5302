//! Harnesses that a file describes.

use std::{
    fmt,
    hash::BuildHasher,
    sync::{Mutex, MutexGuard},
};

use clewline_core::{Codec, Datum, Encoded, NotFound, Specification, Value, Values};
use rustc_hash::FxBuildHasher;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use super::{
    HarnessFile, Key, Mapping, NUMBER, Placed, Request,
    cursor::{HarnessFileError, Place},
    term::Bindings,
    variants::variants,
};
use crate::{
    actor::{AnyActor, Message},
    harness::{ClientCall, Harness, Property},
};

/// A message that a harness file can name: it can be written and read by serde. Its variants are
/// tagged by their names, as serde does without further attributes.
pub trait FileMessage: Message + Serialize + DeserializeOwned {}

impl<M: Message + Serialize + DeserializeOwned> FileMessage for M {}

/// A harness whose messages map to calls and results as a [`HarnessFile`] says.
pub struct FileHarness<M, S: Specification> {
    specification: S,
    actors: Vec<Box<dyn AnyActor<M>>>,
    properties: fn() -> Vec<Property<M>>,
    mapping: Mapping,
    // The calls whose requests were asked for, with their numbers and requests.
    requests: Mutex<Vec<(S::Call, u32, Json)>>,
}

impl<M, S: Specification> fmt::Debug for FileHarness<M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileHarness").field("mapping", &self.mapping).finish_non_exhaustive()
    }
}

impl<M, S: Specification> FileHarness<M, S> {
    /// The harness of these actors.
    #[must_use]
    pub fn new(file: &HarnessFile, specification: S, actors: Vec<Box<dyn AnyActor<M>>>) -> Self {
        let (mapping, requests) = (file.mapping.clone(), Mutex::new(Vec::new()));
        FileHarness { specification, actors, properties: Vec::new, mapping, requests }
    }

    /// The same with properties of global states.
    #[must_use]
    pub fn with_properties(self, properties: fn() -> Vec<Property<M>>) -> Self {
        FileHarness { properties, ..self }
    }

    fn requests(&self) -> MutexGuard<'_, Vec<(S::Call, u32, Json)>> {
        self.requests.lock().expect("no handler panicked")
    }
}

impl<M: FileMessage, S: Codec> FileHarness<M, S> {
    /// The result that `message` carries, or why it is an error. `Ok(None)`: it is to be ignored.
    fn result(&self, message: &M) -> Result<Option<S::Return>, String> {
        let json = json(message);
        let (mut found, mut problem) = (None, None);
        for rule in &self.mapping.responses {
            let mut bindings = Bindings::new();
            if !rule.message.term.matches(&json, &mut bindings) {
                continue;
            }
            problem.get_or_insert_with(|| "no call has such a request".to_owned());
            for (call, _, request) in self.requests().iter() {
                let mut bindings = bindings.clone();
                if !rule.to.term.matches(request, &mut bindings) {
                    continue;
                }
                let ret = value(&rule.result.build(&bindings));
                match self.specification.read_return(&Values::new(), call, ret) {
                    Err(error) => problem = Some(error.to_string()),
                    Ok(read) if *found.get_or_insert_with(|| read.clone()) == read => (),
                    Ok(_) => {
                        return Err("it is another result for another call that it responds to".to_owned());
                    }
                }
            }
        }
        match (found, problem) {
            (None, Some(problem)) => Err(problem),
            (None, None) if !is_any(&self.mapping.ignored, &json) => {
                Err("it matches no line that begins with `response` or `ignore`".to_owned())
            }
            (found, _) => Ok(found),
        }
    }
}

impl<M, S> Harness for FileHarness<M, S>
where
    M: FileMessage,
    S: Codec<Call: Send + Sync + 'static, Return: Send + Sync + 'static> + Clone + Send + Sync + 'static,
{
    type Message = M;
    type Specification = S;

    fn specification(&self) -> S {
        self.specification.clone()
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<M>>> {
        self.actors.clone()
    }

    fn mistake(&self, calls: &[ClientCall<S::Call>]) -> Option<String> {
        let check = || {
            self.mapping.check_variants(variants::<M>())?;
            calls
                .iter()
                .try_for_each(|it| self.mapping.request::<M, S>(&self.specification, &it.call, 0).map(drop))
        };
        check().err().map(|it| it.to_string())
    }

    fn request(&self, call: &S::Call, n: u32) -> M {
        let made = self.mapping.request(&self.specification, call, n);
        let (message, json) = made.expect("the calls were checked");
        let mut requests = self.requests();
        if !requests.iter().any(|it| it.0 == *call && it.1 == n) {
            requests.push((call.clone(), n, json));
        }
        message
    }

    fn response(&self, message: &M) -> Option<S::Return> {
        self.result(message).unwrap_or_default()
    }

    fn misunderstood(&self, message: &M) -> Option<String> {
        self.result(message).err()
    }

    fn is_response_to(&self, request: &M, response: &M) -> bool {
        let (request, response) = (json(request), json(response));
        self.mapping.responses.iter().any(|rule| {
            let mut bindings = Bindings::new();
            rule.message.term.matches(&response, &mut bindings)
                && rule.to.term.matches(&request, &mut bindings)
        })
    }

    fn key(&self, message: &M) -> Option<u64> {
        key_in(&self.mapping.keys, message)
    }

    fn published_key(&self, message: &M) -> Option<u64> {
        key_in(&self.mapping.published_keys, message)
    }

    fn is_immediate(&self, message: &M) -> bool {
        !self.mapping.immediate.is_empty() && is_any(&self.mapping.immediate, &json(message))
    }

    fn immediate(&self) -> Vec<String> {
        let names =
            self.mapping.immediate.iter().map(|it| it.term.variant().unwrap_or("a message").to_owned());
        names.collect()
    }

    fn properties(&self) -> Vec<Property<M>> {
        (self.properties)()
    }
}

impl Mapping {
    /// The request of a call, and what serde writes of it.
    fn request<M: FileMessage, S: Codec>(
        &self,
        specification: &S,
        call: &S::Call,
        n: u32,
    ) -> Result<(M, Json), HarnessFileError> {
        let (method, arg) = specification.write_call(call);
        let fits = |it: &&Request| it.method == method && arguments(&arg, it.parameters.len()).is_some();
        let rule = self.requests.iter().find(fits).ok_or_else(|| {
            let start = Place { line: 1, column: 1 };
            start.error(format!(
                "no line says what the request of `{method}` is, such as `request {method} = …`"
            ))
        })?;
        let values = arguments(&arg, rule.parameters.len()).unwrap_or_default();
        let mut bindings: Bindings = rule.parameters.iter().cloned().zip(values).collect();
        bindings.entry(NUMBER.to_owned()).or_insert_with(|| n.into());
        let json = rule.message.term.build(&bindings);
        match serde_json::from_value::<M>(json.clone()) {
            Ok(message) => Ok((message, json)),
            Err(error) => Err(rule.message.place.error(format!("this is no message of the actors: {error}"))),
        }
    }

    /// An error for the first pattern that no message can match.
    fn check_variants(&self, known: &[&str]) -> Result<(), HarnessFileError> {
        let responses = self.responses.iter().flat_map(|it| [&it.message, &it.to]);
        let keys = self.keys.iter().chain(&self.published_keys).map(|it| &it.message);
        let patterns = responses.chain(keys).chain(&self.ignored).chain(&self.immediate);
        for Placed { place, term } in patterns {
            if let Some(name) = term.variant()
                && !known.contains(&name)
            {
                return Err(place.error(NotFound::new("message", name, known.iter().copied()).to_string()));
            }
        }
        Ok(())
    }
}

fn is_any(patterns: &[Placed], json: &Json) -> bool {
    patterns.iter().any(|it| it.term.matches(json, &mut Bindings::new()))
}

fn key_in<M: FileMessage>(keys: &[Key], message: &M) -> Option<u64> {
    if keys.is_empty() {
        return None;
    }
    let json = json(message);
    keys.iter().find_map(|it| {
        let mut bindings = Bindings::new();
        let key = it.message.term.matches(&json, &mut bindings).then(|| it.key.build(&bindings))?;
        Some(key.as_i64().map_or_else(|| FxBuildHasher.hash_one(key.to_string()), i64::cast_unsigned))
    })
}

/// A message as serde writes it. What cannot be written matches nothing.
fn json<M: Serialize>(message: &M) -> Json {
    serde_json::to_value(message).unwrap_or_default()
}

/// The argument as a list of that many values.
fn arguments(arg: &Encoded, count: usize) -> Option<Vec<Json>> {
    match (encoded(arg), count) {
        (None, 0) => Some(Vec::new()),
        (Some(one), 1) => Some(vec![one]),
        (Some(Json::Array(items)), _) if items.len() == count => Some(items),
        _ => None,
    }
}

/// An argument in JSON; `None` if there is none.
fn encoded(arg: &Encoded) -> Option<Json> {
    Some(match arg {
        Encoded::Value(value) => return datum(*value),
        Encoded::Int(int) => (*int).into(),
        Encoded::Text(text) => (&**text).into(),
        Encoded::List(items) => items.iter().map(|it| encoded(it).unwrap_or_default()).collect(),
        Encoded::Other(written) => serde_json::from_str(written).unwrap_or_default(),
    })
}

fn datum(value: Value) -> Option<Json> {
    Some(match value.datum()? {
        Datum::Absent => return None,
        Datum::Nil => Json::Null,
        Datum::Bool(it) => it.into(),
        Datum::Int(it) => it.into(),
        Datum::Text(it) | Datum::Symbol(it) => it.into(),
        Datum::List(items) => items.iter().map(|it| datum(*it).unwrap_or_default()).collect(),
        Datum::Other(written) => serde_json::from_str(written).unwrap_or_default(),
    })
}

/// A result of an operation.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::NIL,
        Json::Bool(it) => (*it).into(),
        Json::Number(it) => it.as_i64().map_or_else(|| it.to_string().into(), Value::from),
        Json::String(it) => it.as_str().into(),
        Json::Array(items) => items.iter().map(value).collect::<Vec<Value>>().into(),
        Json::Object(_) => json.to_string().into(),
    }
}
