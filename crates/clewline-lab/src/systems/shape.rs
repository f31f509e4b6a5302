//! Shapes of scenarios: `2r+1w` and the like.

use std::{fmt, str::FromStr};

use clewline_actors::{ActorId, ClientCall, Clients, Scenario};
use clewline_core::{Codec, CodecError, ParseError, Values, read_label};

/// How an object is read and written, in whole or key by key: the typed calls of which shapes are
/// made.
#[derive(Clone, Copy, Debug)]
pub struct ReadsAndWrites {
    /// The write with this number, from 0: each writes another value and, if there are keys, to
    /// another key.
    pub write: fn(u32) -> String,
    /// The read with this number: if there are keys, two reads of each.
    pub read: fn(u32) -> String,
    /// A write of a distinct value to the location that every `read_shared` reads.
    pub write_shared: fn(u32) -> String,
    /// A read of what every `write_shared` writes.
    pub read_shared: &'static str,
}

impl ReadsAndWrites {
    /// A register.
    pub const REGISTER: ReadsAndWrites = ReadsAndWrites {
        write: |number| format!("write({})", number + 1),
        read: |_| "read".to_owned(),
        write_shared: |number| format!("write({})", number + 1),
        read_shared: "read",
    };

    /// A map.
    pub const MAP: ReadsAndWrites = ReadsAndWrites {
        write: |number| format!("put({}, {})", number + 1, 10 * (number + 1)),
        read: |number| format!("get({})", number / 2 + 1),
        write_shared: |number| format!("put(1, {})", 10 * (number + 1)),
        read_shared: "get(1)",
    };

    /// The first of `shapes` that is made of calls on such an object.
    pub fn of<'s>(shapes: &'s [ReadsAndWrites], specification: &impl Codec) -> Option<&'s ReadsAndWrites> {
        shapes.iter().find(|it| {
            let mut values = Values::new();
            let read = read_label(it.read_shared, &mut values);
            read.is_ok_and(|(method, arg)| specification.read_call(&values, method, arg).is_ok())
        })
    }

    /// Whether `method` only reads.
    pub(super) fn is_read(&self, method: &str) -> bool {
        self.read_shared.split('(').next() == Some(method)
    }
}

/// Which calls there are, without saying on what object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No calls: the actors act by themselves.
    Nothing,
    /// `2r+1w`, or `2r1w`: this number of reads and writes, each by a separate client; `2r` has no
    /// writes. The calls are numbered write, read, read, write, read, read and so on; the first
    /// writes and the first reads are taken, and call `i` goes to actor `i` modulo their number.
    /// Writes are to different keys.
    Calls {
        /// How many reads.
        reads: u32,
        /// How many writes.
        writes: u32,
    },
    /// `2c`: this number of clients, each of which writes and, when that has returned, reads.
    /// Client `i`, in a system of `n` actors, sends the write to actor `n + i` modulo `n` and the
    /// read to the next one. All use the same key.
    Clients(u32),
}

impl Shape {
    /// Maximum number of calls: more could not be explored.
    const CALLS_MAX: u32 = 64;

    /// These calls, typed according to `words`, on a system with this number of actors.
    ///
    /// # Errors
    ///
    /// If the object has no such calls.
    pub fn scenario<S: Codec>(
        self,
        specification: &S,
        words: &ReadsAndWrites,
        actors: u32,
        clients: Clients,
    ) -> Result<Scenario<S::Call>, CodecError> {
        let typed = self.typed(words, actors).into_iter();
        let calls = typed.map(|(client, to, label)| {
            let mut values = Values::new();
            let (method, arg) = read_label(&label, &mut values)?;
            let call = specification.read_call(&values, method, values.share(arg))?;
            Ok(ClientCall { client, to, call })
        });
        Ok(Scenario { calls: calls.collect::<Result<_, CodecError>>()?, clients })
    }

    /// The client, the actor and the call of each.
    fn typed(self, words: &ReadsAndWrites, actors: u32) -> Vec<(u32, ActorId, String)> {
        let to = |number: u32| ActorId::new(number % actors);
        let mut calls = Vec::new();
        match self {
            Shape::Nothing => (),
            Shape::Calls { reads, writes } => {
                let (mut read, mut written) = (0, 0);
                for place in 0.. {
                    let call = match place % 3 {
                        0 if written < writes => {
                            written += 1;
                            (words.write)(written - 1)
                        }
                        1 | 2 if read < reads => {
                            read += 1;
                            (words.read)(read - 1)
                        }
                        _ if (read, written) == (reads, writes) => break,
                        _ => continue,
                    };
                    let client = u32::try_from(calls.len()).expect("there are at most 64 calls");
                    calls.push((client, to(place), call));
                }
            }
            Shape::Clients(count) => {
                for client in 0..count {
                    calls.push((client, to(client), (words.write_shared)(client)));
                    calls.push((client, to(client + 1), words.read_shared.to_owned()));
                }
            }
        }
        calls
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Nothing => f.write_str("none"),
            Shape::Calls { reads, writes } => write!(f, "{reads}r+{writes}w"),
            Shape::Clients(count) => write!(f, "{count}c"),
        }
    }
}

impl FromStr for Shape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Shape, ParseError> {
        // The number before a unit at the beginning of a text, and the rest.
        fn count(text: &str, unit: char) -> Option<(u32, &str)> {
            let digits = text.find(|it: char| !it.is_ascii_digit())?;
            Some((text[..digits].parse().ok()?, text[digits..].strip_prefix(unit)?))
        }
        let shape = match (text, count(text, 'c'), count(text, 'r')) {
            ("none", ..) => Some(Shape::Nothing),
            (_, Some((count, "")), _) => Some(Shape::Clients(count)),
            (_, _, Some((reads, ""))) => Some(Shape::Calls { reads, writes: 0 }),
            (_, _, reads) => {
                let (reads, rest) = reads.unwrap_or((0, text));
                let writes = count(rest.strip_prefix('+').filter(|_| rest != text).unwrap_or(rest), 'w');
                writes.filter(|it| it.1.is_empty()).map(|(writes, _)| Shape::Calls { reads, writes })
            }
        };
        let calls = |shape: &Shape| match *shape {
            Shape::Nothing => 1,
            Shape::Calls { reads, writes } => reads.saturating_add(writes),
            Shape::Clients(count) => count.saturating_mul(2),
        };
        let is_sensible = |it: &Shape| (1..=Shape::CALLS_MAX).contains(&calls(it));
        shape.filter(is_sensible).ok_or_else(|| {
            let most = Shape::CALLS_MAX;
            let expected =
                format!("reads and writes as in `2r+1w`, or clients as in `2c`, at most {most} calls");
            ParseError::new(expected, text)
        })
    }
}
