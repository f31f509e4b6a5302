//! Tables of figures, ours beside published ones: as aligned text, as CSV, and as JSON lines.
//!
//! A missing figure is distinguished from zero: `–` for people, an empty field in CSV, null in
//! JSON.

use std::fmt::Write;

use clewline_core::visible;
use serde_json::Value as Json;

use super::{grouped, timeline::shorten};

// Longer names are shortened.
const TEXT_COLUMNS_MAX: usize = 80;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportTable {
    /// Its title, in one line.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// Notes for the reader: a sentence or two each.
    pub notes: Vec<String>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name for programs: `witness_s`.
    pub key: &'static str,
    /// Its name for people: `with witness, s`.
    pub heading: &'static str,
}

/// One entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A count.
    Count(u64),
    /// A measurement, of which six digits are written at most.
    Number(f64),
    /// There is no such figure.
    Missing,
}

impl Cell {
    /// `number`, or that it is missing.
    #[must_use]
    pub fn of(number: Option<f64>) -> Cell {
        number.filter(|it| it.is_finite()).map_or(Cell::Missing, Cell::Number)
    }

    fn text(&self) -> String {
        match self {
            Cell::Text(text) => shorten(&visible(text), TEXT_COLUMNS_MAX),
            Cell::Count(count) => grouped(*count),
            Cell::Number(number) => digits(*number),
            Cell::Missing => "–".to_owned(),
        }
    }

    fn csv(&self) -> String {
        match self {
            Cell::Text(text) if text.contains(['"', ',', '\n', '\r']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Number(number) => rounded(*number).to_string(),
            Cell::Missing => String::new(),
        }
    }

    fn json(&self) -> Json {
        match self {
            Cell::Text(text) => text.as_str().into(),
            Cell::Count(count) => (*count).into(),
            Cell::Number(number) => rounded(*number).into(),
            Cell::Missing => Json::Null,
        }
    }
}

/// The number to six digits, more than the precision of any measurement.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// A number with three digits, or all of those before the point.
#[must_use]
pub fn digits(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        ..0.1 => format!("{number:.4}"),
        ..1.0 => format!("{number:.3}"),
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

// A wider table is shown in several blocks.
const TABLE_COLUMNS_MAX: usize = 100;

// A column of this name stands beside the one before it, with which its figures are compared.
const OURS: &str = "ours";

/// The table for people: title, aligned columns, notes of at most `width` characters a line.
///
/// A table that is too wide for most screens is shown in blocks, one below the other, each of which
/// begins with the first column.
#[must_use]
pub fn text(table: &ReportTable, width: usize) -> String {
    let headings = table.columns.iter().map(|it| it.heading.to_owned()).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(Cell::text).collect());
    let rows: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    let wide = |column: usize| {
        rows.iter().filter_map(|it| it.get(column)).map(|it| it.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(wide).collect();
    // Names are aligned left; figures right.
    let is_name = |at: usize| table.rows.iter().any(|row| matches!(row.get(at), Some(Cell::Text(_))));
    let is_name: Vec<bool> = (0..table.columns.len()).map(is_name).collect();
    let mut text = format!("{}\n\n", visible(&table.title));
    for (place, block) in blocks(&table.columns, &widths).iter().enumerate() {
        text += if place == 0 { "" } else { "\n" };
        for row in &rows {
            let mut line = String::from("  ");
            for &at in block {
                let cell = &row[at];
                let pad = " ".repeat(widths[at] - cell.chars().count());
                line += &if is_name[at] { format!("{cell}{pad}  ") } else { format!("{pad}{cell}  ") };
            }
            text += line.trim_end();
            text.push('\n');
        }
    }
    for note in &table.notes {
        text.push('\n');
        text += &filled(note, width);
    }
    text
}

/// The columns of each block.
fn blocks(columns: &[Column], widths: &[usize]) -> Vec<Vec<usize>> {
    let mut blocks: Vec<Vec<usize>> = vec![Vec::new()];
    let wide = |block: &[usize]| block.iter().map(|&it| widths[it] + 2).sum::<usize>();
    for pair in (0..columns.len()).collect::<Vec<_>>().chunk_by(|_, &it| columns[it].heading == OURS) {
        let last = blocks.last_mut().expect("there is always one");
        if last.len() < 2 || wide(last) + wide(pair) <= TABLE_COLUMNS_MAX {
            last.extend(pair);
        } else {
            blocks.push(std::iter::once(0).chain(pair.iter().copied()).collect());
        }
    }
    blocks
}

/// The table for spreadsheets: a line of keys, then one line a row (RFC 4180, except for the line
/// ends).
#[must_use]
pub fn csv(table: &ReportTable) -> String {
    let keys: Vec<&str> = table.columns.iter().map(|it| it.key).collect();
    let mut text = format!("{}\n", keys.join(","));
    for row in &table.rows {
        text += &row.iter().map(Cell::csv).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}

/// The first row in one line, each figure after its heading: `subject lazy, PB 2, pass 100`.
#[must_use]
pub fn line(table: &ReportTable) -> String {
    let row = table.rows.first().map_or(&[][..], Vec::as_slice);
    let given = table.columns.iter().zip(row).filter(|it| *it.1 != Cell::Missing);
    let words: Vec<String> =
        given.map(|(column, cell)| format!("{} {}", column.heading, cell.text())).collect();
    words.join(", ")
}

/// The table for programs: one JSON object a row, on one line, that begins with `"table": name`.
#[must_use]
pub fn json(table: &ReportTable, name: &str) -> String {
    let mut text = String::new();
    for row in &table.rows {
        let _written_to_a_string = write!(text, "{{\"table\":{}", Json::from(name));
        for (column, cell) in table.columns.iter().zip(row) {
            let _written_to_a_string = write!(text, ",{}:{}", Json::from(column.key), cell.json());
        }
        text += "}\n";
    }
    text
}

fn filled(note: &str, width: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in note.split_whitespace() {
        let length = word.chars().count();
        if column != 0 && width < column + 1 + length {
            text.push('\n');
            column = 0;
        } else if column != 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> ReportTable {
        ReportTable {
            title: "A table".to_owned(),
            columns: vec![
                Column { key: "object", heading: "object" },
                Column { key: "operations", heading: "operations" },
                Column { key: "ours_s", heading: "ours, s" },
                Column { key: "paper_s", heading: "paper, s" },
            ],
            rows: vec![
                vec![
                    Cell::Text("set".to_owned()),
                    Cell::Count(1_000_000),
                    Cell::Number(0.034_560_041),
                    Cell::Missing,
                ],
                vec![
                    Cell::Text("stack, \"deep\"".to_owned()),
                    Cell::Count(10),
                    Cell::of(Some(12.0)),
                    Cell::of(Some(f64::NAN)),
                ],
            ],
            notes: vec!["A note that is longer than the line that it stands on.".to_owned()],
        }
    }

    #[test]
    fn names_are_aligned_left_and_figures_right() {
        let expected = "\
A table

  object         operations  ours, s  paper, s
  set             1,000,000   0.0346         –
  stack, \"deep\"          10     12.0         –

A note that is longer than the
line that it stands on.
";
        assert_eq!(text(&example(), 30), expected);
    }

    #[test]
    fn a_table_that_is_too_wide_is_shown_in_blocks() {
        let name = "something with a name that is long";
        let mut table = example();
        table.columns = ["first", "paper", OURS, "second", "third", OURS]
            .map(|heading| Column { key: "key", heading })
            .to_vec();
        table.rows = vec![[name, "1", "2", name, name, "3"].map(|it| Cell::Text(it.to_owned())).to_vec()];
        table.notes.clear();
        let expected = format!(
            "A table\n\n  {:34}  paper  ours  second\n  {name}  1      2     {name}\n\n  {:34}  {:34}  ours\n  {name}  {name}  3\n",
            "first", "first", "third"
        );
        assert_eq!(text(&table, 80), expected);
    }

    #[test]
    fn fields_of_csv_are_quoted_where_they_must_be() {
        let expected = "\
object,operations,ours_s,paper_s
set,1000000,0.03456,
\"stack, \"\"deep\"\"\",10,12,
";
        assert_eq!(csv(&example()), expected);
    }

    #[test]
    fn each_row_is_a_json_object() {
        let text = json(&example(), "example");
        let rows: Vec<Json> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0]["table"], "example");
        assert_eq!(rows[0]["operations"], 1_000_000);
        assert_eq!(rows[1]["object"], "stack, \"deep\"");
        assert_eq!(rows[1]["paper_s"], Json::Null);
    }
}
