//! A stream of JSON objects: within an array or not, over several lines or many on one.
//!
//! The text is cut into its outermost objects, each with its place; what is in an object is read by
//! another. An input is never held as a whole.

use std::io::Read;

use super::{FORM_BYTES_MAX, TextError, blocks::not_utf8, found, is_near};
use crate::ReadError;

// How much is read at a time.
const READ_BYTES: usize = 1 << 18;

/// An object, and the place at which it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a> {
    /// All of it.
    pub text: &'a str,
    /// The line of its first character, from 1.
    pub line: usize,
    // The column of its first character, from 1.
    column: usize,
}

impl Object<'_> {
    /// An error in its text, with its place in the input.
    #[cold]
    pub(crate) fn locate(&self, error: TextError) -> ReadError {
        let before = self.text.get(..error.at).unwrap_or(self.text);
        let place = Place { line: self.line, column: self.column }.after(before.as_bytes());
        ReadError { line: place.line, column: place.column, message: error.message, read: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// The place after `passed`, which begins here.
    fn after(self, passed: &[u8]) -> Place {
        // Each character has one byte that does not continue another.
        let characters = |it: &[u8]| it.iter().filter(|it| **it & 0xc0 != 0x80).count();
        match memchr::memrchr(b'\n', passed) {
            None => Place { line: self.line, column: self.column + characters(passed) },
            Some(last) => Place {
                line: self.line + memchr::memchr_iter(b'\n', passed).count(),
                column: 1 + characters(&passed[last + 1..]),
            },
        }
    }
}

/// What may come between two objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    // An object, or an array of objects.
    Outside,
    // An object, or the end of the array, which has just begun.
    First,
    // An object, after a comma.
    Next,
    // A comma, or the end of the array.
    Comma,
}

impl Between {
    fn expected(self) -> &'static str {
        match self {
            Between::Outside => "an object `{` or an array `[` of objects",
            Between::First => "an object `{` or the end `]` of the array",
            Between::Next => "an object `{`",
            Between::Comma => "`,` or `]`",
        }
    }
}

/// Cuts a text that comes in pieces into its objects.
#[derive(Debug)]
pub(crate) struct ObjectCutter {
    between: Between,
    // The beginning of an object that is not complete; empty between objects.
    open: Vec<u8>,
    // How many brackets are open in it, and whether it ends within a text, behind a backslash.
    depth: u32,
    in_text: bool,
    is_escaped: bool,
    // The place of `open`, or else of what comes next.
    place: Place,
}

impl Default for ObjectCutter {
    fn default() -> Self {
        let place = Place { line: 1, column: 1 };
        ObjectCutter {
            between: Between::Outside,
            open: Vec::new(),
            depth: 0,
            in_text: false,
            is_escaped: false,
            place,
        }
    }
}

impl ObjectCutter {
    /// Takes the next bytes, and passes on the objects that end in them.
    ///
    /// # Errors
    ///
    /// If there is anything but objects, if one is too long, or if `each` fails.
    pub(crate) fn take(
        &mut self,
        mut bytes: &[u8],
        each: &mut dyn FnMut(Object<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        while !bytes.is_empty() {
            if self.depth == 0 {
                bytes = self.begin(bytes)?;
                continue;
            }
            let Some(end) = self.end(bytes) else {
                self.open.extend_from_slice(bytes);
                if FORM_BYTES_MAX < self.open.len() {
                    return Err(
                        self.error(format!("this object is longer than {} MiB", FORM_BYTES_MAX >> 20))
                    );
                }
                return Ok(());
            };
            let mut whole = std::mem::take(&mut self.open);
            whole.extend_from_slice(&bytes[..end]);
            let outcome = self.object(&whole, each);
            whole.clear();
            self.open = whole;
            outcome?;
            bytes = &bytes[end..];
        }
        Ok(())
    }

    /// There are no more bytes.
    ///
    /// # Errors
    ///
    /// If an object or an array has not ended.
    pub(crate) fn finish(&self) -> Result<(), ReadError> {
        if self.depth != 0 {
            return Err(self.error("expected the `}` of this object, found the end of the file".to_owned()));
        }
        match self.between {
            Between::Outside => Ok(()),
            between => Err(self.error(format!("expected {}, found the end of the file", between.expected()))),
        }
    }

    /// Passes what is between objects; returns the rest, which may begin with an object.
    fn begin<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], ReadError> {
        let mut at = 0;
        let mut place = self.place;
        while let Some(&byte) = bytes.get(at) {
            self.between = match (byte, self.between) {
                (b' ' | b'\t' | b'\r' | b'\n', between) => between,
                (b'{', Between::Outside | Between::First | Between::Next) => {
                    self.place = place.after(&bytes[..at]);
                    self.depth = 1;
                    self.between = match self.between {
                        Between::Outside => Between::Outside,
                        _ => Between::Comma,
                    };
                    // `end` looks behind the bracket.
                    self.open.push(b'{');
                    return Ok(&bytes[at + 1..]);
                }
                (b'[', Between::Outside) => Between::First,
                (b']', Between::First | Between::Comma) => Between::Outside,
                (b',', Between::Comma) => Between::Next,
                (_, between) => {
                    place = place.after(&bytes[..at]);
                    let shown = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 100)]);
                    let message =
                        format!("expected {}, found {}", between.expected(), found(&shown, 0, "file"));
                    return Err(ReadError { line: place.line, column: place.column, message, read: 0 });
                }
            };
            at += 1;
        }
        self.place = place.after(bytes);
        Ok(&[])
    }

    /// Where the open object ends in `bytes`, which go on with it.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            if self.in_text {
                if std::mem::take(&mut self.is_escaped) {
                    continue;
                }
                match byte {
                    b'"' => self.in_text = false,
                    b'\\' => self.is_escaped = true,
                    _ => at += memchr::memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at),
                }
                continue;
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                _ => (),
            }
        }
        None
    }

    fn object(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(Object<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let Place { line, column } = self.place;
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let place = self.place.after(&bytes[..error.valid_up_to()]);
            not_utf8(place.line, place.column)
        })?;
        self.place = self.place.after(bytes);
        each(Object { text, line, column })
    }

    #[cold]
    fn error(&self, message: String) -> ReadError {
        let Place { line, column } = self.place;
        ReadError { line, column, message, read: 0 }
    }
}

/// Passes on every object of `input`.
///
/// # Errors
///
/// If there is anything but objects, if reading fails, or if `each` fails.
pub(crate) fn for_each_object(
    input: &mut dyn Read,
    progress: &(dyn Fn(u64) + Sync),
    mut each: impl FnMut(Object<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut cutter = ObjectCutter::default();
    let mut piece = Vec::with_capacity(READ_BYTES);
    let mut read = 0;
    loop {
        piece.clear();
        let more = Read::take(&mut *input, READ_BYTES as u64).read_to_end(&mut piece);
        more.map_err(|error| cutter.error(format!("cannot be read: {error}")))?;
        let bytes = if read == 0 { without_mark(&piece) } else { &piece };
        cutter.take(bytes, &mut each)?;
        read += piece.len() as u64;
        progress(read);
        if piece.len() < READ_BYTES {
            return cutter.finish();
        }
    }
}

/// `bytes` without a byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(super::blocks::BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Whether a text that begins with `head` is one of objects with members, perhaps in an array.
pub(crate) fn begins_with_object(head: &[u8]) -> bool {
    let head = without_mark(head).trim_ascii_start();
    let head = head.strip_prefix(b"[").unwrap_or(head).trim_ascii_start();
    head.strip_prefix(b"{").is_some_and(|it| matches!(it.trim_ascii_start().first(), Some(b'"')))
}

/// The names of the members of the first object of a text that begins with `head`, as far as they
/// are in it: for the detection of formats.
pub(crate) fn member_names(head: &[u8]) -> Vec<&str> {
    let head = without_mark(head).trim_ascii_start();
    let head = head.strip_prefix(b"[").unwrap_or(head).trim_ascii_start();
    let (mut names, mut depth, mut at) = (Vec::new(), 0, 0);
    while let Some(&byte) = head.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => break,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let start = at;
                while let Some(&byte) = head.get(at).filter(|it| **it != b'"') {
                    at += if byte == b'\\' { 2 } else { 1 };
                }
                let Some(text) = head.get(start..at) else { break };
                at += 1;
                let is_name = head.get(at..).unwrap_or_default().trim_ascii_start().starts_with(b":");
                if depth == 1 && is_name {
                    names.extend(std::str::from_utf8(text));
                }
            }
            _ => (),
        }
    }
    names
}

/// The place of a member of the object `text` that may be a misspelt one of `names`, if there is
/// one, and its name. Members that `is_known` are none.
#[cold]
pub(crate) fn misspelt<'t>(
    text: &'t str,
    names: &[&str],
    is_known: impl Fn(&str) -> bool,
) -> Option<(usize, &'t str)> {
    let is_it = |it: &&str| !is_known(it) && names.iter().any(|name| is_near(it, name));
    let found = member_names(text.as_bytes()).into_iter().find(is_it)?;
    Some((text.find(&format!("\"{found}\""))?, found))
}

/// Whether lines of a text that begins with `head` are objects, one a line. `None` if more of the
/// text is needed to know.
pub(crate) fn is_object_a_line(head: &[u8], is_whole: bool) -> Option<bool> {
    let head = without_mark(head).trim_ascii_start();
    if head.starts_with(b"[") {
        return Some(false);
    }
    let Some(inside) = head.strip_prefix(b"{") else {
        // No object: lines give the better message.
        return if head.is_empty() && !is_whole { None } else { Some(true) };
    };
    let mut cutter = ObjectCutter { depth: 1, ..ObjectCutter::default() };
    let line = memchr::memchr(b'\n', inside);
    let Some(end) = cutter.end(inside) else {
        // An object that is continued on the next line ends its first line with one of these.
        let first = inside[..line.unwrap_or(inside.len())].trim_ascii_end();
        let is_continued = matches!(first.last(), None | Some(b'{' | b'[' | b',' | b':'));
        return match line {
            None if !is_whole => None,
            None => Some(true),
            Some(_) => Some(!is_continued),
        };
    };
    if line.is_some_and(|line| line < end) {
        return Some(false);
    }
    let rest = &inside[end..];
    let next = rest.iter().position(|it| !matches!(it, b' ' | b'\t' | b'\r'));
    match next.map(|it| rest[it]) {
        None if !is_whole => None,
        Some(b'{') => Some(false),
        None | Some(_) => Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(text: &[u8], piece: usize) -> Result<Vec<(String, usize, usize)>, String> {
        let mut cutter = ObjectCutter::default();
        let mut seen = Vec::new();
        let mut each = |it: Object<'_>| {
            seen.push((it.text.to_owned(), it.line, it.column));
            Ok(())
        };
        let cut = text.chunks(piece).try_for_each(|it| cutter.take(it, &mut each));
        cut.and_then(|()| cutter.finish()).map_err(|it| it.to_string())?;
        Ok(seen)
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, usize, usize)]) {
        for piece in 1..=text.len().max(1) {
            let expected = expected.iter().map(|it| (it.0.to_owned(), it.1, it.2)).collect();
            assert_eq!(objects(text.as_bytes(), piece), Ok(expected), "{text:?} by {piece}");
        }
    }

    #[test]
    fn objects_are_found_wherever_they_are() {
        check("", &[]);
        check(" [\n] ", &[]);
        check("{}{}", &[("{}", 1, 1), ("{}", 1, 3)]);
        check("[ {\"a\":\n[{}]}, {}\n]", &[("{\"a\":\n[{}]}", 1, 3), ("{}", 2, 8)]);
        check(r#"{"é\"}\\":"{"} {}"#, &[(r#"{"é\"}\\":"{"}"#, 1, 1), ("{}", 1, 16)]);
        check("[{}][{}]\n{}", &[("{}", 1, 2), ("{}", 1, 6), ("{}", 2, 1)]);
    }

    #[test]
    fn what_is_between_objects_is_checked() {
        let error = |text: &str| objects(text.as_bytes(), 3).expect_err("it is refused");
        assert_eq!(error("[{} {}]"), "line 1, column 5: expected `,` or `]`, found `{`");
        assert_eq!(error("[{},]"), "line 1, column 5: expected an object `{`, found `]`");
        assert_eq!(
            error("[\n1]"),
            "line 2, column 1: expected an object `{` or the end `]` of the array, found `1`"
        );
        assert_eq!(
            error("{},{}"),
            "line 1, column 3: expected an object `{` or an array `[` of objects, found `,`"
        );
        assert_eq!(error("[{}"), "line 1, column 4: expected `,` or `]`, found the end of the file");
        assert_eq!(
            error("{}\n{\"a"),
            "line 2, column 1: expected the `}` of this object, found the end of the file"
        );
        assert_eq!(
            objects(b"{}\n{\"\xff\"}", 2).expect_err("no text"),
            "line 2, column 3: expected text in UTF-8, found other bytes"
        );
    }

    #[test]
    fn members_of_the_first_object_are_found() {
        assert_eq!(
            member_names(br#"[{"a": {"b": 1}, "c\"": ":", "d": ["e"], "f": 1}, {"g": 2}]"#),
            ["a", "c\\\"", "d", "f"]
        );
        assert_eq!(member_names(br#"{"a": 1, "b"#), ["a"]);
        assert_eq!(member_names(br#"{"a": 1, "b\"#), ["a"]);
        assert!(member_names(b"").is_empty());
    }

    #[test]
    fn an_object_a_line_is_distinguished_from_a_stream() {
        let layout = |head: &str| is_object_a_line(head.as_bytes(), false);
        assert_eq!(layout("{\"a\": 1}\n"), Some(true));
        assert_eq!(layout("\u{feff} \n{\"a\": {}} \r\n{"), Some(true));
        assert_eq!(layout("{\"a\": 1}"), None);
        assert_eq!(is_object_a_line(b"{\"a\": 1}", true), Some(true));
        assert_eq!(layout("{\"a\": 1} {"), Some(false));
        assert_eq!(layout("{\"a\": 1},"), Some(true));
        assert_eq!(layout(" [ "), Some(false));
        assert_eq!(layout("{\n"), Some(false));
        assert_eq!(layout("{\"a\":\n1}"), Some(false));
        assert_eq!(layout("{\"a\": [1,\n"), Some(false));
        assert_eq!(layout("{\"a\": 1\n{"), Some(true));
        assert_eq!(layout("{\"a\": 1"), None);
        assert_eq!(layout("x"), Some(true));
        assert_eq!(layout(""), None);
    }
}
