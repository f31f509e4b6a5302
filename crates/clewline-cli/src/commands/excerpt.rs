//! The line of an input that an error is about, as it is there, with a mark below the place.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use clewline_core::visible;
use clewline_methods::Error;

use super::compressed::Decoded;

// Of a longer line, what is around the place is shown.
const SHOWN_CHARS_MAX: usize = 100;
const BEFORE_CHARS_MAX: usize = 60;

/// `error` with the line that it is about: from its file, or from an input of which a part was
/// `kept`.
pub(super) fn with_excerpt(error: Error, kept: &KeptInput) -> Error {
    let Some(line) = error.line() else { return error };
    let column = error.column().unwrap_or(0);
    let kept = kept.lock();
    let shown = match error.file().map(Path::new) {
        Some(path) if kept.head.is_empty() && path.is_file() => {
            File::open(path).ok().and_then(|it| excerpt(BufReader::new(Decoded::new(it)), 1, (line, column)))
        }
        _ => kept.excerpt(line, column),
    };
    match shown {
        Some(shown) if 0 < column || !quotes(&error.to_string(), &shown) => error.with_excerpt(shown),
        _ => error,
    }
}

/// Whether the message shows the line of the excerpt already.
fn quotes(message: &str, excerpt: &str) -> bool {
    let line = excerpt.split_once(" | ").map_or(excerpt, |it| it.1);
    message.contains(&format!("`{}", line.trim_end_matches('…')))
}

/// The beginning of an input that cannot be read again, and what was read last.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptInput(Arc<Mutex<KeptBytes>>);

#[derive(Debug, Default)]
struct KeptBytes {
    head: Vec<u8>,
    // How many lines end between both.
    dropped_lines: usize,
    is_cut: bool,
    recent: Vec<u8>,
}

// Of each of the two parts; the second may grow to twice as much.
const KEPT_PART_BYTES: usize = 1 << 20;

impl KeptInput {
    /// `input`, of which a part is kept here.
    pub(super) fn of<R: Read>(&self, input: R) -> Keeping<R> {
        Keeping { input, kept: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, KeptBytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An input that is kept.
pub(super) struct Keeping<R> {
    input: R,
    kept: KeptInput,
}

impl<R: Read> Read for Keeping<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.kept.lock().take(&buffer[..read]);
        Ok(read)
    }
}

impl KeptBytes {
    fn take(&mut self, bytes: &[u8]) {
        let (head, recent) = bytes.split_at(bytes.len().min(KEPT_PART_BYTES - self.head.len()));
        self.head.extend_from_slice(head);
        self.recent.extend_from_slice(recent);
        if 2 * KEPT_PART_BYTES < self.recent.len() {
            let cut = self.recent.len() - KEPT_PART_BYTES;
            self.dropped_lines += lines(&self.recent[..cut]);
            self.recent.drain(..cut);
            self.is_cut = true;
        }
    }

    fn excerpt(&self, line: usize, column: usize) -> Option<String> {
        let before = lines(&self.head);
        if line <= before || !self.is_cut {
            return excerpt((&*self.head).chain(&*self.recent), 1, (line, column));
        }
        // The first line of what is left is not whole.
        let first = before + self.dropped_lines + 1;
        if first < line { excerpt(&*self.recent, first, (line, column)) } else { None }
    }
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|it| **it == b'\n').count()
}

/// A line of `input`, whose first line has the number `first`, with a mark below the column; 0 is
/// none. `None` if there is no such line, or if this is no text.
fn excerpt(mut input: impl BufRead, first: usize, (line, column): (usize, usize)) -> Option<String> {
    let from = column.saturating_sub(BEFORE_CHARS_MAX);
    let (mut number, mut chars, mut shown) = (first, 0, Vec::new());
    'reading: loop {
        let piece = input.fill_buf().ok()?;
        for &byte in piece {
            if byte.is_ascii_control() && !b"\t\r\n".contains(&byte) {
                return None;
            }
            if byte == b'\n' && number == line {
                break 'reading;
            }
            number += usize::from(byte == b'\n');
            if number < line {
                continue;
            }
            // Each character has one byte that does not continue another.
            chars += usize::from(byte & 0xc0 != 0x80 && byte != b'\n');
            if from + SHOWN_CHARS_MAX < chars {
                break 'reading;
            }
            if from < chars {
                shown.push(byte);
            }
        }
        let read = piece.len();
        if read == 0 {
            break;
        }
        input.consume(read);
    }
    let text = String::from_utf8_lossy(&shown);
    let text = text.trim_end();
    if text.is_empty() {
        return None;
    }
    let begin = if from == 0 { "" } else { "…" };
    let end = if from + SHOWN_CHARS_MAX < chars { "…" } else { "" };
    let number = line.to_string();
    let mut drawn = format!("  {number} | {begin}{}{end}", visible(text));
    if 0 < column {
        let before: String = text.chars().take(column - 1 - from).collect();
        let before = begin.chars().count() + visible(&before).chars().count();
        drawn.push_str(&format!("\n  {0:1$} | {0:2$}^", "", number.len(), before));
    }
    Some(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, line: usize, column: usize, expected: &str) {
        assert_eq!(excerpt(text.as_bytes(), 1, (line, column)).unwrap_or_default(), expected);
    }

    #[test]
    fn the_line_is_shown_with_a_mark() {
        check("a\n{\"é\": x}\r\nb", 2, 7, "  2 | {\"é\": x}\n    |       ^");
        check("a\nb", 2, 0, "  2 | b");
        check("a\tb", 1, 3, "  1 | a\\tb\n    |    ^");
        check("ab", 1, 3, "  1 | ab\n    |   ^");
        check("a\n\nb", 2, 1, "");
        check("a\n", 4, 1, "");
        check("a\u{1}\nb", 2, 1, "");
    }

    #[test]
    fn of_a_long_line_what_is_around_the_place_is_shown() {
        let text = format!("{}x{}", "a".repeat(200), "b".repeat(200));
        let expected = format!("  1 | …{}x{}…\n    | {}^", "a".repeat(59), "b".repeat(40), " ".repeat(60));
        check(&text, 1, 201, &expected);
        check(&text, 1, 0, &format!("  1 | {}…", "a".repeat(100)));
    }

    #[test]
    fn a_line_that_the_message_quotes_is_not_shown_again() {
        let shown = |line: &str| excerpt(line.as_bytes(), 1, (1, 0)).expect("there is a line");
        let long = "a b ".repeat(50);
        for line in ["2026-11-01 startup archives unpack", &long] {
            let message = format!("line 1: all 3 lines were skipped, and the first is `{:.120}`", line);
            assert!(quotes(&message, &shown(line)), "{message}");
        }
        assert!(!quotes("line 1: no operation is called `write`", &shown("{\"op\": \"write\"}")));
    }

    #[test]
    fn of_a_long_stream_the_beginning_and_the_end_are_kept() {
        let kept = KeptInput::default();
        let line = |number: usize| format!("line {number}\n");
        let count = 500_000;
        let text: String = (1..=count).map(line).collect();
        assert!(4 * KEPT_PART_BYTES < text.len());
        io::copy(&mut kept.of(text.as_bytes()), &mut io::sink()).expect("memory");
        let kept = kept.lock();
        for number in [1, 2, 1000, count - 1000, count] {
            assert_eq!(kept.excerpt(number, 0), Some(format!("  {number} | line {number}")));
        }
        assert_eq!(kept.excerpt(count / 2, 0), None);
        assert!(kept.head.len() + kept.recent.len() < 4 * KEPT_PART_BYTES);
    }
}
