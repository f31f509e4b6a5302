//! The rows of a table.

use std::io::Read;

use crate::{
    ReadError,
    text::{
        FORM_BYTES_MAX,
        blocks::{Blocks, Lines},
        shown_in_one_line,
    },
};

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    /// Its text, without quotes.
    pub(super) text: String,
    /// Whether it is in quotes.
    pub(super) is_quoted: bool,
}

/// The rows of a table, of which a cell in quotes may have several lines.
pub(super) struct Records<'a> {
    blocks: Blocks<'a>,
    // The lines of the block, and the number of the first of them that is left.
    lines: std::vec::IntoIter<String>,
    line: usize,
    // An error behind these lines.
    error: Option<ReadError>,
    delimiter: Option<char>,
}

impl<'a> Records<'a> {
    /// The rows of `input`.
    pub(super) fn new(input: &'a mut dyn Read, progress: &'a (dyn Fn(u64) + Sync)) -> Records<'a> {
        let blocks = Blocks::new(input, progress);
        Records { blocks, lines: Vec::new().into_iter(), line: 1, error: None, delimiter: None }
    }

    /// The next row that is not blank, and its line.
    pub(super) fn next(&mut self) -> Result<Option<(usize, Vec<Cell>)>, ReadError> {
        let (line, mut text) = loop {
            match self.line()? {
                None => return Ok(None),
                Some((_, text)) if text.trim().is_empty() => (),
                Some(found) => break found,
            }
        };
        while text.matches('"').count() % 2 == 1 {
            let Some((_, more)) = self.line()? else {
                let message = "expected the closing quote of a cell, found the end of the file";
                return Err(ReadError::in_line(line, message.to_owned()));
            };
            text.push('\n');
            text.push_str(&more);
            if FORM_BYTES_MAX < text.len() {
                let message = format!("this row is longer than {} MiB", FORM_BYTES_MAX >> 20);
                return Err(ReadError::in_line(line, message));
            }
        }
        let delimiter = *self.delimiter.get_or_insert_with(|| delimiter(&text));
        cells(&text, delimiter)
            .map(|cells| Some((line, cells)))
            .map_err(|message| ReadError::in_line(line, message))
    }

    fn line(&mut self) -> Result<Option<(usize, String)>, ReadError> {
        loop {
            if let Some(text) = self.lines.next() {
                self.line += 1;
                return Ok(Some((self.line - 1, text)));
            }
            if let Some(error) = self.error.take() {
                return Err(error);
            }
            let mut block = Vec::new();
            let first = self.blocks.next(&mut block)?;
            if block.is_empty() {
                return Ok(None);
            }
            let (mut lines, mut found) = (Lines::new(&block, first), Vec::new());
            loop {
                match lines.next() {
                    Ok(Some(text)) => found.push(text.strip_suffix('\r').unwrap_or(text).to_owned()),
                    Ok(None) => break,
                    Err(error) => {
                        self.error = Some(error);
                        break;
                    }
                }
            }
            self.line = first;
            self.lines = found.into_iter();
        }
    }
}

/// The character that separates most cells.
fn delimiter(header: &str) -> char {
    let count = |it: char| header.matches(it).count();
    [',', ';', '\t'].into_iter().rev().max_by_key(|it| count(*it)).unwrap_or(',')
}

/// The cells of a row.
fn cells(row: &str, delimiter: char) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    let mut rest = row;
    loop {
        let (cell, behind) = match rest.trim_start_matches(' ').strip_prefix('"') {
            None => {
                let end = rest.find(delimiter).unwrap_or(rest.len());
                (Cell { text: rest[..end].to_owned(), is_quoted: false }, &rest[end..])
            }
            Some(inside) => quoted(inside)?,
        };
        cells.push(cell);
        match behind.strip_prefix(delimiter) {
            Some(next) => rest = next,
            None if behind.trim().is_empty() => return Ok(cells),
            None => {
                let found: String = behind.trim_start().chars().take(24).collect();
                let found = shown_in_one_line(&found);
                return Err(format!("expected {delimiter:?} behind a cell in quotes, found `{found}`"));
            }
        }
    }
}

/// The cell whose quote was opened before `inside`, and what is behind it.
fn quoted(inside: &str) -> Result<(Cell, &str), String> {
    let mut text = String::new();
    let mut rest = inside;
    loop {
        let Some(end) = rest.find('"') else {
            return Err("expected the closing quote of a cell, found the end of the row".to_owned());
        };
        text.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                text.push('"');
                rest = more;
            }
            None => return Ok((Cell { text, is_quoted: true }, rest.trim_start_matches(' '))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(row: &str, delimiter: char) -> Vec<String> {
        cells(row, delimiter).expect("a row").into_iter().map(|it| it.text).collect()
    }

    #[test]
    fn cells_may_be_in_quotes() {
        assert_eq!(texts("a,,b c,", ','), ["a", "", "b c", ""]);
        assert_eq!(texts("\"a,\"\"b\"\"\";\"\"; \"c\" ;d", ';'), ["a,\"b\"", "", "c", "d"]);
        assert!(cells("\"a\"b,c", ',').is_err());
        assert!(cells("\"a", ',').is_err());
    }

    #[test]
    fn rows_may_have_several_lines() {
        let mut text = &b"\n p;op\r\n\"a\n\nb\";c\n\n\"d"[..];
        let mut records = Records::new(&mut text, &|_| ());
        let mut row = || {
            records.next().map(|it| {
                it.map(|(line, cells)| (line, cells.into_iter().map(|it| it.text).collect::<Vec<_>>()))
            })
        };
        assert_eq!(row(), Ok(Some((2, vec![" p".to_owned(), "op".to_owned()]))));
        assert_eq!(row(), Ok(Some((3, vec!["a\n\nb".to_owned(), "c".to_owned()]))));
        assert!(row().is_err());
    }
}
