//! Harness files: the calls of clients, and how messages map to calls and results of an object.
//!
//! ```text
//! # A register of three replicas.
//! spec register
//! actors 3
//! clients waiting                             # for the response, before the next call
//!
//! request write(v) = Write(n, v)              # n: the calls that the client made before
//! request read = Read(n)
//! response WriteAck(n) to Write(n, _) = true
//! response ReadAck(n, v) to Read(n) = v
//! ignore Progress(..)                         # to a client, and no response
//!
//! C1 N1 write(1)                              # client 1 asks actor 1
//! C1 N2 read
//! C2 N3 read
//! ```
//!
//! A [`HarnessFile`] is such a file, and a [`FileHarness`] is the [`Harness`](crate::Harness) that
//! it makes of actors.

mod cursor;
mod file_harness;
mod term;
mod variants;

use clewline_core::{Codec, Values, read_label};

use crate::{
    actor::ActorId,
    harness::{ClientCall, Clients},
};

pub use cursor::HarnessFileError;
pub use file_harness::{FileHarness, FileMessage};

use cursor::{Cursor, Place};
use term::Term;

/// A harness file, before the actors and the specification are known.
#[derive(Clone, Debug, Default)]
pub struct HarnessFile {
    /// The number of actors, and the line that sets it.
    pub actors: Option<(u32, usize)>,
    /// How clients make their calls, if the file sets it.
    pub clients: Option<Clients>,
    specification: Option<(String, Place)>,
    mapping: Mapping,
    calls: Vec<CallLine>,
}

#[derive(Clone, Debug)]
struct CallLine {
    place: Place,
    client: u32,
    to: u32,
    call: String,
}

/// How messages map to calls and results.
#[derive(Clone, Debug, Default)]
struct Mapping {
    requests: Vec<Request>,
    responses: Vec<Response>,
    ignored: Vec<Placed>,
    immediate: Vec<Placed>,
    keys: Vec<Key>,
    published_keys: Vec<Key>,
}

/// A pattern, and where it is.
#[derive(Clone, Debug)]
struct Placed {
    place: Place,
    term: Term,
}

/// `request write(v) = Write(n, v)`.
#[derive(Clone, Debug)]
struct Request {
    method: String,
    parameters: Vec<String>,
    message: Placed,
}

/// `response ReadAck(n, v) to Read(n) = v`.
#[derive(Clone, Debug)]
struct Response {
    message: Placed,
    to: Placed,
    result: Term,
}

/// `key Put(_, k, _) = k`.
#[derive(Clone, Debug)]
struct Key {
    message: Placed,
    key: Term,
}

/// The number of the calls that the client made before.
const NUMBER: &str = "n";
const LINE: &str = "a call as in `C1 N2 write(1)`, or a line that begins with `actors`, `clients`, `ignore`, \
                    `immediate`, `key`, `published`, `request`, `response` or `spec`";

impl HarnessFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If the text is no such file.
    pub fn read(text: &str) -> Result<HarnessFile, HarnessFileError> {
        let mut file = HarnessFile::default();
        for (at, line) in text.lines().enumerate() {
            let mut cursor = Cursor::new(at + 1, line);
            if !cursor.rest().is_empty() {
                file.read_line(&mut cursor)?;
                cursor.expect_end()?;
            }
        }
        Ok(file)
    }

    fn read_line(&mut self, cursor: &mut Cursor<'_>) -> Result<(), HarnessFileError> {
        let start = cursor.place();
        let whole = cursor.rest();
        let mapping = &mut self.mapping;
        match cursor.word() {
            "actors" => {
                let actors = u32::try_from(cursor.integer()?);
                self.actors =
                    Some((actors.map_err(|_| start.error("expected a number of actors"))?, start.line));
            }
            "clients" => {
                let expected = cursor.expected("`tight` or `waiting`");
                self.clients = Some(match cursor.word() {
                    "tight" => Clients::Tight,
                    "waiting" => Clients::Waiting,
                    _ => return Err(expected),
                });
            }
            "spec" => {
                let place = cursor.place();
                let name = cursor.word();
                if name.is_empty() {
                    return Err(place.error("expected the name of a specification"));
                }
                self.specification = Some((name.to_owned(), place));
            }
            "request" => mapping.requests.push(request(cursor)?),
            "response" => mapping.responses.push(response(cursor)?),
            "ignore" => mapping.ignored.push(placed(cursor)?),
            "immediate" => mapping.immediate.push(placed(cursor)?),
            "key" => mapping.keys.push(key(cursor)?),
            "published" if cursor.eat("key") => mapping.published_keys.push(key(cursor)?),
            first => {
                let wrong = || start.error(format!("expected {LINE}, found `{whole}`"));
                let client = numbered(first, 'C').ok_or_else(wrong)?;
                let to = numbered(cursor.word(), 'N').ok_or_else(wrong)?;
                if ActorId::ROOTS_MAX <= client.max(to) {
                    let most = ActorId::ROOTS_MAX;
                    let expected = format!("expected clients and actors from 1 to {most}, found `{whole}`");
                    return Err(start.error(expected));
                }
                let (place, call) = (cursor.place(), cursor.rest().to_owned());
                if call.is_empty() {
                    return Err(wrong());
                }
                while !cursor.word().is_empty() {}
                self.calls.push(CallLine { place, client, to, call });
            }
        }
        Ok(())
    }

    /// The name of the specification, if the file names one.
    #[must_use]
    pub fn specification(&self) -> Option<&str> {
        self.specification.as_ref().map(|it| it.0.as_str())
    }

    /// An error at the name of the specification.
    #[must_use]
    pub fn bad_specification(&self, message: impl Into<String>) -> HarnessFileError {
        let start = Place { line: 1, column: 1 };
        self.specification.as_ref().map_or(start, |it| it.1).error(message)
    }

    /// Whether it has calls.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// The methods that can be called, in the order of the file.
    #[must_use]
    pub fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = self.mapping.requests.iter().map(|it| it.method.as_str()).collect();
        methods.dedup();
        methods
    }

    /// This file with the lines of `other` where it has none of a kind.
    #[must_use]
    pub fn or(mut self, other: &HarnessFile) -> HarnessFile {
        fn fill<T: Clone>(lines: &mut Vec<T>, others: &[T]) {
            if lines.is_empty() {
                lines.extend_from_slice(others);
            }
        }
        let (mine, others) = (&mut self.mapping, &other.mapping);
        fill(&mut mine.requests, &others.requests);
        fill(&mut mine.responses, &others.responses);
        fill(&mut mine.ignored, &others.ignored);
        fill(&mut mine.immediate, &others.immediate);
        fill(&mut mine.keys, &others.keys);
        fill(&mut mine.published_keys, &others.published_keys);
        fill(&mut self.calls, &other.calls);
        self.actors = self.actors.or(other.actors);
        self.clients = self.clients.or(other.clients);
        self.specification = self.specification.or_else(|| other.specification.clone());
        self
    }

    /// The calls, on an object and a system with this number of actors. A file without requests
    /// has calls of the methods in `offers`.
    ///
    /// # Errors
    ///
    /// If a line does not fit them.
    pub fn calls<S: Codec>(
        &self,
        specification: &S,
        offers: &[&str],
        actors: u32,
    ) -> Result<Vec<ClientCall<S::Call>>, HarnessFileError> {
        let mut calls = Vec::new();
        let methods = if self.mapping.requests.is_empty() { offers.to_vec() } else { self.methods() };
        for CallLine { place, client, to, call } in &self.calls {
            let mut values = Values::new();
            let (method, arg) = read_label(call, &mut values).map_err(|it| place.error(it.to_string()))?;
            if !methods.contains(&method) {
                let methods = methods.join(", ");
                return Err(place.error(format!("expected one of the calls {methods}; found `{method}`")));
            }
            // Systems make their values without a table, and equal ones must be equal to them.
            let read = specification.read_call(&values, method, values.share(arg));
            if actors <= *to {
                let place = Place { column: 1, ..*place };
                let found = to + 1;
                return Err(
                    place.error(format!("expected one of the actors N1 to N{actors}, found N{found}"))
                );
            }
            let call = read.map_err(|it| place.error(it.to_string()))?;
            calls.push(ClientCall { client: *client, to: ActorId::new(*to), call });
        }
        Ok(calls)
    }
}

/// The number of `C2` or `N3`, from 0.
fn numbered(name: &str, kind: char) -> Option<u32> {
    let number = name.strip_prefix(kind)?;
    if number.is_empty() || !number.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    // Whatever is that large is too large.
    number.parse().map_or(Some(u32::MAX), |it: u32| it.checked_sub(1))
}

fn placed(cursor: &mut Cursor<'_>) -> Result<Placed, HarnessFileError> {
    let place = cursor.place();
    Ok(Placed { place, term: Term::read(cursor)? })
}

/// The right side of a line: a template whose variables are `known`.
fn template(cursor: &mut Cursor<'_>, known: &[&str]) -> Result<(Place, Term), HarnessFileError> {
    cursor.expect("=")?;
    let place = cursor.place();
    let term = Term::read(cursor)?;
    if term.is_open() {
        return Err(place.error("expected a whole value, without `_` and `..`"));
    }
    match term.variables().into_iter().find(|it| !known.contains(it)) {
        Some(unknown) => Err(place.error(format!("`{unknown}` is not on the left side of the line"))),
        None => Ok((place, term)),
    }
}

fn request(cursor: &mut Cursor<'_>) -> Result<Request, HarnessFileError> {
    let method = cursor.name().ok_or_else(|| cursor.expected("a method as in `write(v)`"))?.to_owned();
    let mut parameters = Vec::new();
    if cursor.eat("(") {
        while !cursor.eat(")") {
            let name = cursor.name().ok_or_else(|| cursor.expected("the name of an argument"))?;
            parameters.push(name.to_owned());
            if !cursor.eat(",") {
                cursor.expect(")")?;
                break;
            }
        }
    }
    let known: Vec<&str> = parameters.iter().map(String::as_str).chain([NUMBER]).collect();
    let (place, term) = template(cursor, &known)?;
    Ok(Request { method, parameters, message: Placed { place, term } })
}

fn response(cursor: &mut Cursor<'_>) -> Result<Response, HarnessFileError> {
    let message = placed(cursor)?;
    cursor.expect("to")?;
    let to = placed(cursor)?;
    let known = [message.term.variables(), to.term.variables()].concat();
    let (_, result) = template(cursor, &known)?;
    Ok(Response { message, to, result })
}

fn key(cursor: &mut Cursor<'_>) -> Result<Key, HarnessFileError> {
    let message = placed(cursor)?;
    let (_, key) = template(cursor, &message.term.variables())?;
    Ok(Key { message, key })
}
