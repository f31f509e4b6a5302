//! Observation files: the serial histories of a component, grouped by the calls and results of its
//! threads.
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi, R. Tan, "Line-Up: a complete and automatic
//! linearizability checker", 2010, section 4.2 and figure 7.
//!
//! ```xml
//! <observation>
//! <thread id="A">1 2</thread>
//! <thread id="B">3B</thread>
//! <op id="1" name="Add">value="200"</op>
//! <op id="2" name="TryTake">result="Fail"</op>
//! <op id="3" name="Take" />
//! <history>1[ ]1 2[ ]2 3[ #</history>
//! </observation>
//! ```
//!
//! Each `<history>` becomes an object of its own, with processes of its own, and they follow one
//! another. An operation that is blocked when its history gets stuck (`#`) is pending. A report of
//! a violation, which has the same elements without any around them, can be read too.

mod group;
pub mod write;

use std::io::{Read, Write};

use clewline_core::{Recording, Value};
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use self::group::{ElementText, Group, Groups};
use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    text::{TextError, blocks::not_utf8, shown_in_one_line},
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &Observations;

// Such files are for people. They are read as a whole, unlike all others.
const FILE_BYTES_MAX: u64 = 512 << 20;

struct Observations;

impl Format for Observations {
    fn name(&self) -> &'static str {
        "observations"
    }

    fn about(&self) -> &'static str {
        "Line-Up's observation files and reports of violations (reading only)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["xml"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: false, pending: true, objects: Objects::One, ids: false, times: false }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        let has = |it: &str| memchr::memmem::find(head, it.as_bytes()).is_some();
        head.trim_ascii_start().first() == Some(&b'<') || has("<observation") || has("<thread id=")
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut bytes = Vec::new();
        let whole = |message| ReadError { line: 1, column: 0, message, read: 0 };
        let read = Read::take(input, FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| whole(format!("cannot be read: {error}")))? as u64;
        if FILE_BYTES_MAX < read {
            return Err(whole(format!("this file is longer than {} MiB", FILE_BYTES_MAX >> 20)));
        }
        (options.progress)(read);
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(error) => {
                let text = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
                let (line, column) = place(text, text.len());
                return Err(not_utf8(line, column));
            }
        };
        // The XML reader skips it and does not count it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut groups = Groups::new(text);
        match elements(text, &mut groups) {
            Ok(()) => Ok(groups.finish()),
            Err(TextError { at, message }) => {
                let (line, column) = place(text, at);
                Err(ReadError { line, column, message, read: groups.len() })
            }
        }
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        // A section is about the calls of one test, which a recording does not know.
        Err(WriteError::CannotHold(
            "observation files are of the calls of a matrix; `clewline explore --observations` writes them"
                .to_owned(),
        ))
    }
}

/// Line and column, from 1, of a byte of `text`.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    (1 + before.matches('\n').count(), 1 + before[start..].chars().count())
}

// The elements that have elements inside and are open, from the outside.
#[derive(Default)]
struct Open {
    set: bool,
    // With its number, from 1.
    observation: Option<(usize, Group)>,
}

/// Reads every element into `groups`.
fn elements(text: &str, groups: &mut Groups<'_>) -> Result<(), TextError> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut open = Open::default();
    // Elements without a parent.
    let mut bare = Group::default();
    let mut observations = 0;
    loop {
        let at = reader.buffer_position() as usize;
        match event(&mut reader)? {
            Event::Start(tag) => match (tag.name().as_ref(), &mut open) {
                (b"observationset", Open { set: false, observation: None }) => open.set = true,
                (b"observation", Open { observation: None, .. }) => {
                    observations += 1;
                    open.observation = Some((observations, Group::default()));
                }
                (b"thread" | b"op" | b"history", Open { observation: Some((_, group)), .. }) => {
                    leaf(&mut reader, text, &tag, at, group, groups)?;
                }
                (b"thread" | b"op" | b"history", Open { set: false, observation: None }) => {
                    leaf(&mut reader, text, &tag, at, &mut bare, groups)?;
                }
                _ => return Err(unexpected(text, at, &open)),
            },
            // The reader has verified that it closes the open element.
            Event::End(_) => match open.observation.take() {
                Some((number, group)) => groups.take(group, Some(number))?,
                None => open.set = false,
            },
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                let inside = open.set || open.observation.is_some();
                let found = between(text, at, reader.buffer_position() as usize);
                if inside && !found.trim_ascii().is_empty() {
                    let blanks = found.len() - found.trim_ascii_start().len();
                    return Err(unexpected(text, at + blanks, &open));
                }
                if !inside && !found.trim().is_empty() {
                    groups.skip(place(text, at).0, found);
                }
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Empty(_) => (),
            Event::Eof if open.set || open.observation.is_some() => {
                return Err(unexpected(text, text.len(), &open));
            }
            Event::Eof => return groups.take(bare, None),
        }
    }
}

/// A part of `text` that the XML reader has marked off.
fn between(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

fn event<'a>(reader: &mut Reader<&'a [u8]>) -> Result<Event<'a>, TextError> {
    reader.read_event().map_err(|error| TextError {
        at: reader.error_position() as usize,
        message: format!("expected well-formed XML, found this: {}", shown_in_one_line(&error.to_string())),
    })
}

#[cold]
fn unexpected(text: &str, at: usize, open: &Open) -> TextError {
    let expected = match open {
        Open { observation: Some(_), .. } => "`<thread>`, `<op>`, `<history>` or `</observation>`",
        Open { set: true, .. } => "`<observation>` or `</observationset>`",
        Open { .. } => "`<observationset>`",
    };
    TextError::expected(expected, text, at, "file")
}

/// An element that has only text inside; `at` is where it begins.
fn leaf(
    reader: &mut Reader<&[u8]>,
    text: &str,
    tag: &BytesStart<'_>,
    at: usize,
    group: &mut Group,
    groups: &mut Groups<'_>,
) -> Result<(), TextError> {
    let start = reader.buffer_position() as usize;
    let end = loop {
        let end = reader.buffer_position() as usize;
        match event(reader)? {
            Event::Text(_) | Event::GeneralRef(_) => (),
            Event::End(_) => break end,
            _ => return Err(TextError::expected("text", text, end, "file")),
        }
    };
    let content = ElementText { at: start, text: between(text, start, end) };
    let (id, name) = attributes(text, tag, at)?;
    let need = |it: Option<String>, what: &str| {
        it.ok_or_else(|| TextError { at, message: format!("expected {what}, found an element without it") })
    };
    match tag.name().as_ref() {
        b"thread" => {
            let id: Value = groups.values().text(&need(id, "`id`")?);
            group.thread(id, at, &content)
        }
        b"op" => {
            let id = need(id, "`id`")?;
            let id = id.parse().map_err(|_| TextError {
                at,
                message: format!("expected an integer as `id`, found `{}`", shown_in_one_line(&id)),
            })?;
            let name = groups.values().text(&need(name, "`name`")?);
            group.operation(id, name, at, &content, groups.values())
        }
        _ => {
            group.history(&content);
            Ok(())
        }
    }
}

/// The attributes `id` and `name`.
fn attributes(
    text: &str,
    tag: &BytesStart<'_>,
    at: usize,
) -> Result<(Option<String>, Option<String>), TextError> {
    let (mut id, mut name) = (None, None);
    for attribute in tag.attributes() {
        let fault = |why: String| TextError {
            at,
            message: format!("expected well-formed attributes, found this: {}", shown_in_one_line(&why)),
        };
        let attribute = attribute.map_err(|error| fault(error.to_string()))?;
        let value = attribute.unescape_value().map_err(|error| fault(error.to_string()))?.into_owned();
        match attribute.key.as_ref() {
            b"id" => id = Some(value),
            b"name" => name = Some(value),
            _ => return Err(TextError::expected("no attributes but `id` and `name`", text, at, "file")),
        }
    }
    Ok((id, name))
}
