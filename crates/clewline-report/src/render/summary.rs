//! Summaries of many histories, matrices or systems, for people and for continuous integration.
//!
//! A [`Summary`] is a list of entries, one for each thing that was judged. It is written as a
//! [table](table()), as [Markdown](markdown()), as [JUnit's XML](junit()) and as
//! [annotations](annotations()), as GitHub's runners read them.
//!
//! Invariants: the same summary gives the same bytes, and durations are shown only with
//! [`Durations::Shown`]. An unknown or unreadable entry never looks like a success.

mod junit;
mod markdown;

use std::time::Duration;

use clewline_core::{VerdictKind, visible};

use super::{
    block::{Block, line, wrap},
    cause::Cause,
    count,
    grid::{LINE_COLUMNS_MAX, aligned},
    grouped,
    table::{Cell, Column, ReportTable},
    text::Style,
};

pub use junit::junit;
pub use markdown::markdown;

/// The outcomes of everything that was checked.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The tool: `clewline check`.
    pub tool: &'static str,
    /// The noun of an entry, singular and plural: `("history", "histories")`.
    pub nouns: (&'static str, &'static str),
    /// The unit of [`SummaryEntry::work`]: `operations`.
    pub work: &'static str,
    /// The entries, in the order of the request.
    pub entries: Vec<SummaryEntry>,
}

/// One thing that was judged.
#[derive(Clone, Debug)]
pub struct SummaryEntry {
    /// Its name: a file, a matrix, a system.
    pub name: String,
    /// The verdict.
    pub verdict: Word,
    /// The cause of a violation.
    pub cause: Option<Cause>,
    /// The first line of its report, without the verdict's word.
    pub headline: String,
    /// The meaning of the verdict and its evidence. May be empty.
    pub blocks: Vec<Block>,
    /// The amount of work, if it is known.
    pub work: Option<u64>,
    /// The checker that decided; may be empty.
    pub algorithm: String,
    /// How long it took.
    pub elapsed: Duration,
    /// The file that it is about, and the first line to inspect.
    pub place: Option<(String, Option<usize>)>,
    /// Commands to type next, best first.
    pub next: Vec<String>,
    /// The link to its own page from the page of the summary.
    pub page: Option<String>,
}

impl SummaryEntry {
    /// An entry without a report: its headline says all.
    #[must_use]
    pub fn new(name: String, verdict: Word, headline: String) -> SummaryEntry {
        SummaryEntry {
            name,
            verdict,
            cause: None,
            headline,
            blocks: Vec::new(),
            work: None,
            algorithm: String::new(),
            elapsed: Duration::ZERO,
            place: None,
            next: Vec::new(),
            page: None,
        }
    }

    /// The report, in lines as a terminal shows them.
    fn text(&self) -> String {
        wrap(&self.blocks, Style::default().width)
    }
}

/// A verdict in a word, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// There is no linearization.
    Violated,
    /// It could not be judged at all.
    Unreadable,
    /// A limit was hit.
    Unknown,
    /// All is well.
    Holds,
    /// It was not run, as its author wants.
    Ignored,
}

impl Word {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Word::Violated => "violated",
            Word::Unreadable => "unreadable",
            Word::Unknown => "unknown",
            Word::Holds => "holds",
            Word::Ignored => "ignored",
        }
    }

    /// The word for a verdict; `None` if it is not one.
    #[must_use]
    pub fn find(word: &str) -> Option<Word> {
        [Word::Violated, Word::Unreadable, Word::Unknown, Word::Holds, Word::Ignored]
            .into_iter()
            .find(|it| it.as_str() == word)
    }
}

impl From<VerdictKind> for Word {
    fn from(verdict: VerdictKind) -> Word {
        match verdict {
            VerdictKind::Holds(()) => Word::Holds,
            VerdictKind::Violated(()) => Word::Violated,
            VerdictKind::Unknown(()) => Word::Unknown,
        }
    }
}

/// Whether a summary shows durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durations {
    /// It does, so it differs from run to run.
    Shown,
    /// It does not.
    Hidden,
}

impl Summary {
    /// The word for all entries: the worst. If there is none, or all are ignored, the verdict is
    /// unknown.
    #[must_use]
    pub fn word(&self) -> Word {
        let verdicts = self.entries.iter().map(|it| it.verdict);
        verdicts.filter(|it| *it != Word::Ignored).min().unwrap_or(Word::Unknown)
    }

    /// How many entries have that verdict.
    #[must_use]
    pub fn count(&self, word: Word) -> usize {
        self.entries.iter().filter(|it| it.verdict == word).count()
    }

    /// `13 histories: 1 violated, 2 unreadable, 10 hold`.
    #[must_use]
    pub fn totals(&self) -> String {
        let kinds = [
            (Word::Violated, "violated"),
            (Word::Unreadable, "unreadable"),
            (Word::Unknown, "unknown"),
            (Word::Holds, if self.count(Word::Holds) == 1 { "holds" } else { "hold" }),
            (Word::Ignored, "ignored"),
        ];
        let counts: Vec<String> = kinds
            .iter()
            .map(|&(word, ending)| (self.count(word), ending))
            .filter(|it| it.0 != 0)
            .map(|(count, counts)| format!("{count} {counts}"))
            .collect();
        let (one, many) = self.nouns;
        let all = count(self.entries.len() as u64, one, many);
        if counts.is_empty() { all } else { format!("{all}: {}", counts.join(", ")) }
    }

    /// The entries, the worst first and otherwise in the order of the request.
    pub(super) fn ordered(&self) -> Vec<&SummaryEntry> {
        let mut entries: Vec<&SummaryEntry> = self.entries.iter().collect();
        entries.sort_by_key(|it| it.verdict);
        entries
    }
}

/// The summary as a table, the worst first: verdict, name, amount of work, checker, and perhaps
/// duration.
///
/// At most `most` rows are shown; a note says how many more there are.
#[must_use]
pub fn table(summary: &Summary, clock: Durations, most: usize) -> ReportTable {
    let mut columns = vec![
        Column { key: "verdict", heading: "verdict" },
        Column { key: "work", heading: summary.work },
        Column { key: "algorithm", heading: "decided by" },
        Column { key: "name", heading: summary.nouns.0 },
    ];
    if clock == Durations::Shown {
        columns.insert(3, Column { key: "elapsed", heading: "took" });
    }
    let row = |entry: &SummaryEntry| {
        let mut cells = vec![
            Cell::Text(entry.verdict.as_str().to_owned()),
            entry.work.map_or(Cell::Missing, Cell::Count),
            if entry.algorithm.is_empty() { Cell::Missing } else { Cell::Text(entry.algorithm.clone()) },
            Cell::Text(entry.name.clone()),
        ];
        if clock == Durations::Shown {
            cells.insert(3, Cell::Text(super::text::duration(entry.elapsed)));
        }
        cells
    };
    let ordered = summary.ordered();
    let (shown, rest) = ordered.split_at(most.min(ordered.len()));
    let notes = if rest.is_empty() { Vec::new() } else { vec![more(rest)] };
    ReportTable { title: summary.totals(), columns, rows: shown.iter().map(|it| row(it)).collect(), notes }
}

/// `… and 62 more, all of which hold.`
fn more(rest: &[&SummaryEntry]) -> String {
    let word = rest[0].verdict;
    let all =
        if rest.iter().all(|it| it.verdict == word) { format!(", all {}", of(word)) } else { String::new() };
    format!("… and {} more{all}.", rest.len())
}

fn of(word: Word) -> &'static str {
    match word {
        Word::Holds => "of which hold",
        Word::Violated | Word::Unreadable | Word::Unknown | Word::Ignored => word.as_str(),
    }
}

/// The summary as lines for a terminal: one for each entry, those that do not hold last, with their
/// headline and the command to look again; then the totals.
#[must_use]
pub fn lines(summary: &Summary) -> String {
    let mut ordered: Vec<&SummaryEntry> = summary.entries.iter().collect();
    ordered.sort_by_key(|it| std::cmp::Reverse(it.verdict));
    let row = |entry: &&SummaryEntry| {
        let work = entry.work.map_or_else(String::new, |it| format!("{} {}", grouped(it), summary.work));
        vec![
            entry.verdict.as_str().to_owned(),
            entry.name.clone(),
            work,
            match entry.verdict {
                Word::Ignored => String::new(),
                _ => super::text::duration(entry.elapsed),
            },
        ]
    };
    let rows: Vec<Vec<String>> = ordered.iter().map(row).collect();
    let mut text = String::new();
    for (entry, shown) in ordered.iter().zip(aligned(&rows, LINE_COLUMNS_MAX)) {
        line(&mut text, &shown);
        if !matches!(entry.verdict, Word::Holds | Word::Ignored) {
            for more in std::iter::once(&entry.headline).chain(entry.next.first()) {
                line(&mut text, &format!("    {more}"));
            }
        }
    }
    line(&mut text, &summary.totals());
    text
}

/// The summary as annotations: a line for each entry that does not hold, as GitHub's runners read
/// them in the output of a step.
#[must_use]
pub fn annotations(summary: &Summary) -> String {
    let mut text = String::new();
    for entry in &summary.entries {
        let level = match entry.verdict {
            Word::Violated | Word::Unreadable => "error",
            Word::Unknown => "warning",
            Word::Holds | Word::Ignored => continue,
        };
        let mut properties = Vec::new();
        if let Some((file, line)) = &entry.place {
            properties.push(format!("file={}", property(file)));
            properties.extend(line.map(|it| format!("line={it}")));
        }
        properties
            .push(format!("title={}", property(&format!("{}: {}", entry.verdict.as_str(), entry.name))));
        let mut message = visible(&entry.headline).into_owned();
        if !entry.blocks.is_empty() {
            message = format!("{message}\n\n{}", entry.text().trim_end());
        }
        text.push_str(&format!("::{level} {}::{}\n", properties.join(","), value(&message)));
    }
    text
}

/// The escaped message: a line break would end the command.
fn value(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The escaped property, which has further special characters.
fn property(text: &str) -> String {
    value(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests;
