//! Harness files: client, actor and call, one call a line.
//!
//! ```text
//! # Two clients and three actors. A client waits for the response before its next call.
//! actors 3
//! C1 N1 write(1)
//! C1 N2 read
//! C2 N3 read
//! ```

use clewline_actors::{ActorId, ClientCall, Clients};
use clewline_core::{Codec, Values, read_label};
use clewline_formats::ReadError;

/// A file of calls, before the object is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HarnessFile {
    /// The number of actors, and the line that sets it.
    pub actors: Option<(u32, usize)>,
    /// How clients make their calls, if the file sets it.
    pub clients: Option<Clients>,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    number: usize,
    client: u32,
    to: u32,
    call: String,
}

const LINE: &str = "a call as in `C1 N2 write(1)`, or `actors 3`, or `clients waiting`";

impl HarnessFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If the text is no such file.
    pub fn read(text: &str) -> Result<HarnessFile, ReadError> {
        let mut program = HarnessFile::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let number = at + 1;
            let wrong =
                |expected: &str| ReadError::in_line(number, format!("expected {expected}, found `{line}`"));
            let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
            let rest = rest.trim();
            match first {
                "" => (),
                "actors" => {
                    let actors = rest.parse().map_err(|_| wrong("a number of actors"))?;
                    program.actors = Some((actors, number));
                }
                "clients" => {
                    program.clients = Some(match rest {
                        "tight" => Clients::Tight,
                        "waiting" => Clients::Waiting,
                        _ => return Err(wrong("`clients tight` or `clients waiting`")),
                    });
                }
                _ => {
                    let (to, call) = rest.split_once(' ').ok_or_else(|| wrong(LINE))?;
                    let client = named(first, 'C').ok_or_else(|| wrong(LINE))?;
                    let to = named(to, 'N').ok_or_else(|| wrong(LINE))?;
                    if ActorId::ROOTS_MAX <= client.max(to) {
                        return Err(wrong(&format!("clients and actors from 1 to {}", ActorId::ROOTS_MAX)));
                    }
                    program.lines.push(Line { number, client, to, call: call.trim().to_owned() });
                }
            }
        }
        let last = text.lines().count().max(1);
        let nothing = || ReadError::in_line(last, format!("expected {LINE}, found no call at all"));
        if program.lines.is_empty() { Err(nothing()) } else { Ok(program) }
    }

    /// The calls, on an object and a system with this number of actors and these methods.
    ///
    /// # Errors
    ///
    /// If a line does not fit them.
    pub fn calls<S: Codec>(
        &self,
        specification: &S,
        offers: &[&str],
        actors: u32,
    ) -> Result<Vec<ClientCall<S::Call>>, ReadError> {
        let mut calls = Vec::new();
        for Line { number, client, to, call } in &self.lines {
            let wrong = |message: String| ReadError::in_line(*number, message);
            let mut values = Values::new();
            let (method, arg) = read_label(call, &mut values).map_err(|it| wrong(it.to_string()))?;
            if !offers.contains(&method) {
                let offers = offers.join(", ");
                return Err(wrong(format!("expected one of the calls {offers}; found `{method}`")));
            }
            if values.texts().next().is_some() {
                return Err(wrong(format!("expected integers, found `{call}`")));
            }
            // Systems make their values without a table, and equal ones must be equal to them.
            let read = specification.read_call(&values, method, values.share(arg));
            if actors <= *to {
                return Err(wrong(format!("expected one of the actors N1 to N{actors}, found N{}", to + 1)));
            }
            let call = read.map_err(|it| wrong(it.to_string()))?;
            calls.push(ClientCall { client: *client, to: ActorId::new(*to), call });
        }
        Ok(calls)
    }
}

/// The number of `C2` or `N3`, from 0.
fn named(name: &str, kind: char) -> Option<u32> {
    let number = name.strip_prefix(kind)?;
    if number.is_empty() || !number.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    // Whatever is that large is too large.
    number.parse::<u32>().unwrap_or(u32::MAX).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use clewline_specs::register::{Call, Register};

    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let program = HarnessFile::read(text).map_err(|it| it.to_string())?;
        let calls = program.calls(&Register::new(), &["read", "write"], 2).map_err(|it| it.to_string())?;
        let show = |it: &ClientCall<Call>| format!("{} {} {:?}", it.client, it.to, it.call);
        Ok(calls.iter().map(show).collect())
    }

    #[test]
    fn calls_are_read_line_by_line() {
        let calls = read("# two calls\nactors 2\nclients waiting\n\nC1 N1 write(1) # first\nC2 N2 read\n");
        let calls = calls.unwrap();
        assert_eq!(calls.len(), 2);
        assert!(calls[0].starts_with("0 N1 Write"), "{calls:?}");
        assert_eq!(calls[1], "1 N2 Read");
    }

    #[test]
    fn large_integers_are_the_values_that_a_program_makes() {
        let text = "actors 2\nclients waiting\nC1 N1 write(5000000000)\nC2 N2 write(6000000000)\n";
        let program = HarnessFile::read(text).unwrap();
        let calls = program.calls(&Register::new(), &["read", "write"], 2).unwrap();
        let calls: Vec<Call> = calls.into_iter().map(|it| it.call).collect();
        assert_eq!(calls, [5_000_000_000_i64, 6_000_000_000].map(|it| Call::Write(it.into())));
    }

    #[test]
    fn errors_name_their_line() {
        for (text, message) in [
            ("", "line 1: expected a call as in"),
            ("C1 N1 read\nwrite(1)", "line 2: expected a call as in"),
            ("actors many", "line 1: expected a number of actors, found `actors many`"),
            ("clients lazy", "line 1: expected `clients tight`"),
            ("C0 N1 read", "line 1: expected a call as in"),
            ("C+1 N1 read", "line 1: expected a call as in"),
            ("C1 N99999999999 read", "line 1: expected clients and actors from 1 to"),
            ("C1 N3 read", "line 1: expected one of the actors N1 to N2, found N3"),
            ("C1 N1 push(1)", "line 1: expected one of the calls read, write; found `push`"),
            ("C1 N1 write(\"x\")", "line 1: expected integers"),
            ("C1 N1 write(1", "line 1: `write(1` lacks a closing bracket"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
