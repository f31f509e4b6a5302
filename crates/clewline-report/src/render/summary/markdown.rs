//! Markdown, for the summary of a build or a comment.

use clewline_core::visible;

use super::{
    super::block::line, super::grouped, super::text::duration, Durations, Summary, SummaryEntry, Word,
};

// Of more entries that hold only the number is shown, and of more others the rest have no section.
const HOLDING_ROWS_MAX: usize = 100;
const SECTIONS_MAX: usize = 20;

/// The summary as Markdown: the totals, a table, and a section for each entry that does not hold.
#[must_use]
pub fn markdown(summary: &Summary, clock: Durations) -> String {
    // Nothing was judged, which is not a number of the totals.
    let (totals, word) = (summary.totals(), summary.word());
    let unsaid = word == Word::Unknown && !totals.contains(word.as_str());
    let mut text = format!("## {}{}\n\n", plain(&totals), if unsaid { " (unknown)" } else { "" });
    let took = clock == Durations::Shown;
    text.push_str(&format!("| verdict | {} | {} | decided by |", summary.nouns.0, summary.work));
    text.push_str(if took { " took |\n" } else { "\n" });
    text.push_str(if took { "|---|---|---:|---|---:|\n" } else { "|---|---|---:|---|\n" });
    let mut holding = 0;
    for entry in summary.ordered() {
        holding += usize::from(matches!(entry.verdict, Word::Holds | Word::Ignored));
        if holding <= HOLDING_ROWS_MAX {
            row(&mut text, entry, clock);
        }
    }
    if HOLDING_ROWS_MAX < holding {
        text.push_str(&format!("\n… and {} more that hold.\n", holding - HOLDING_ROWS_MAX));
    }
    let is_wrong = |it: &&SummaryEntry| !matches!(it.verdict, Word::Holds | Word::Ignored);
    let wrong: Vec<&SummaryEntry> = summary.ordered().into_iter().filter(is_wrong).collect();
    for entry in wrong.iter().take(SECTIONS_MAX) {
        section(&mut text, entry);
    }
    if SECTIONS_MAX < wrong.len() {
        text.push_str(&format!("\n… and {} more that do not hold.\n", wrong.len() - SECTIONS_MAX));
    }
    text
}

fn row(text: &mut String, entry: &SummaryEntry, clock: Durations) {
    let word = match entry.verdict {
        Word::Holds | Word::Ignored => entry.verdict.as_str().to_owned(),
        Word::Violated | Word::Unreadable | Word::Unknown => format!("**{}**", entry.verdict.as_str()),
    };
    let work = entry.work.map_or_else(|| "–".to_owned(), grouped);
    text.push_str(&format!("| {word} | {} | {work} | {} |", plain(&entry.name), plain(&entry.algorithm)));
    if clock == Durations::Shown {
        text.push_str(&format!(" {} |", duration(entry.elapsed)));
    }
    text.push('\n');
}

fn section(text: &mut String, entry: &SummaryEntry) {
    text.push_str(&format!("\n### {}: {}\n", entry.verdict.as_str(), plain(&entry.headline)));
    let report = entry.text();
    let report = report.trim_end();
    if !report.is_empty() {
        let fence = fence(report);
        text.push_str(&format!("\n{fence}text\n{report}\n{fence}\n"));
    }
    for (place, command) in entry.next.iter().enumerate() {
        let word = if place == 0 { "Next" } else { "Or" };
        let fence = fence(command);
        text.push_str(&format!("\n{word}:\n\n{fence}sh\n"));
        line(text, command);
        text.push_str(&format!("{fence}\n"));
    }
}

/// More backticks than the longest run in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// `text` with everything escaped that Markdown or HTML would take for markup.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for char in visible(text).chars() {
        match char {
            '<' => plain.push_str("&lt;"),
            '&' => plain.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => {
                plain.push('\\');
                plain.push(char);
            }
            it => plain.push(it),
        }
    }
    plain
}
