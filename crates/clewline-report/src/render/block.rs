//! Report contents as data: paragraphs, lists, drawings and facts; and their layout in the lines of
//! a terminal.

use clewline_core::visible;

use super::{
    grid::LINE_COLUMNS_MAX,
    timeline::shorten,
    width::{GLUE, width as columns},
};

/// A part of a report. In a text an empty line separates two of them, with the exceptions named
/// below.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// A paragraph. In a text each part of it begins a line.
    Paragraph(Vec<String>),
    /// The source of the paragraph before: `In lost.jsonl: lines 1, 2.` In a text no empty line
    /// precedes it.
    Where(String),
    /// One item a line, which is wrapped where it is long. On a page they are a paragraph.
    List(Vec<String>),
    /// A transition from the paragraph before, which it continues, to the drawing that follows. Not
    /// on pages.
    Lead(String),
    /// A paragraph about a drawing, before it or after it. Not on pages.
    Caption(String),
    /// Preformatted lines, from the left margin, shortened to [`LINE_COLUMNS_MAX`]. Not on pages,
    /// which have their own timelines and tables.
    Drawing(Vec<String>),
}

impl Block {
    /// A paragraph of one part.
    #[must_use]
    pub fn paragraph(sentence: impl Into<String>) -> Block {
        Block::Paragraph(vec![sentence.into()])
    }

    /// A paragraph about a drawing.
    #[must_use]
    pub fn caption(text: impl Into<String>) -> Block {
        Block::Caption(text.into())
    }

    /// Its kind and its texts, from which [`of_kind`](Self::of_kind) makes the same again.
    #[must_use]
    pub fn kind(&self) -> (&'static str, &[String]) {
        use std::slice::from_ref;
        match self {
            Block::Paragraph(parts) => ("paragraph", parts),
            Block::Where(text) => ("where", from_ref(text)),
            Block::List(items) => ("list", items),
            Block::Lead(text) => ("lead", from_ref(text)),
            Block::Caption(text) => ("caption", from_ref(text)),
            Block::Drawing(lines) => ("drawing", lines),
        }
    }

    /// The block of that kind with these texts; `None` if there is none.
    #[must_use]
    pub fn of_kind(kind: &str, mut texts: Vec<String>) -> Option<Block> {
        Some(match kind {
            "paragraph" => Block::Paragraph(texts),
            "where" => Block::Where(texts.pop()?),
            "list" => Block::List(texts),
            "lead" => Block::Lead(texts.pop()?),
            "caption" => Block::Caption(texts.pop()?),
            "drawing" => Block::Drawing(texts),
            _ => return None,
        })
    }
}

/// Another fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// With a name: `seed`, `matrix`, `schedule`.
    Named(&'static str, String),
    /// A separate line: `checked by auto in 12 ms: 3 operations, 1 object`. A page shows it
    /// elsewhere.
    Line(String),
}

/// By how much everything is indented.
const INDENT_COLUMNS: usize = 2;

/// Blocks as text, in lines of at most `width` columns where possible.
#[must_use]
pub fn wrap(blocks: &[Block], width: usize) -> String {
    let room = width.saturating_sub(INDENT_COLUMNS);
    let mut text = String::new();
    let mut blocks = blocks.iter().peekable();
    while let Some(block) = blocks.next() {
        if !text.is_empty() && !matches!(block, Block::Where(_)) {
            text.push('\n');
        }
        let lines: Vec<String> = match block {
            Block::Paragraph(parts) => {
                let mut parts = parts.clone();
                if let (Some(last), Some(Block::Lead(lead))) =
                    (parts.last_mut(), blocks.next_if(|it| matches!(it, Block::Lead(_))))
                {
                    last.push_str(&format!(" {lead}"));
                }
                parts.iter().flat_map(|it| wrapped(it, room)).collect()
            }
            Block::Where(text) | Block::Lead(text) | Block::Caption(text) => wrapped(text, room),
            Block::List(items) => items.iter().flat_map(|it| wrapped(it, room)).collect(),
            Block::Drawing(lines) => {
                lines.iter().map(|it| shorten(it, LINE_COLUMNS_MAX - INDENT_COLUMNS)).collect()
            }
        };
        for it in &lines {
            let indent = if it.is_empty() { 0 } else { INDENT_COLUMNS };
            line(&mut text, &format!("{:indent$}{it}", ""));
        }
    }
    text
}

/// Appends a line, which is one line whatever is in it. One that begins with `::`, after spaces, is
/// a command to the runners of builds, so that is escaped, too.
pub(super) fn line(text: &mut String, line: &str) {
    let line = visible(line);
    let (start, rest) = line.split_at(line.len() - line.trim_start().len());
    text.push_str(start);
    match rest.strip_prefix("::") {
        Some(rest) => text.push_str(&format!("\\u{{3a}}:{rest}")),
        None => text.push_str(rest),
    }
    text.push('\n');
}

/// The paragraphs that a page has of these blocks.
#[must_use]
pub fn words(blocks: &[Block]) -> Vec<String> {
    let paragraph = |block: &Block| match block {
        Block::Paragraph(parts) => Some(parts.join(" ")),
        Block::Where(text) => Some(text.clone()),
        Block::List(lines) => Some(lines.join(" ")),
        Block::Lead(_) | Block::Caption(_) | Block::Drawing(_) => None,
    };
    blocks.iter().filter_map(paragraph).map(|it| unglued(&it)).collect()
}

/// `label` and, after it, `sentence`, in lines of at most `width` columns that are all indented as
/// the first one.
#[must_use]
pub fn hanging(label: &str, text: &str, width: usize) -> Vec<String> {
    let column = columns(label);
    let lines = wrapped(text, width.saturating_sub(column));
    let label = |place: usize| if place == 0 { label } else { "" };
    lines.iter().enumerate().map(|(place, it)| format!("{:column$}{it}", label(place))).collect()
}

/// `text` in lines of at most `room` columns.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for word in text.split(' ') {
        let length = columns(word);
        match lines.last_mut() {
            Some((used, line)) if *used + 1 + length <= room => {
                *used += 1 + length;
                line.push(' ');
                line.push_str(&unglued(word));
            }
            Some(_) | None => lines.push((length, unglued(word))),
        }
    }
    lines.into_iter().map(|it| it.1).collect()
}

/// With non-breaking spaces replaced by plain ones.
fn unglued(text: &str) -> String {
    text.replace(GLUE, " ")
}

#[cfg(test)]
mod tests;
