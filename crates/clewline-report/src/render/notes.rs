//! Notes on a history, in words.

use clewline_core::{Note, Verdict};

use super::{CheckedHistory, grouped};

/// Where a note stands among the events, which are numbered from 1: `events 4 to 9`.
pub(super) fn place(note: &Note) -> String {
    let number = |events: u32| grouped(u64::from(events));
    let first = u64::from(note.from) + 1;
    match (note.from, note.until) {
        (_, None) => format!("from event {} on", grouped(first)),
        (from, Some(until)) if from + 1 < until => format!("events {} to {}", grouped(first), number(until)),
        (from, Some(until)) if from + 1 == until => format!("event {}", number(until)),
        (0, Some(_)) => "before event 1".to_owned(),
        (from, Some(_)) => format!("after event {}", number(from)),
    }
}

// A report in text lists this many notes.
const LISTED_NOTES_MAX: usize = 6;

/// The notes in one line, if there are any; those during the counterexample first.
pub(super) fn line(judged: &CheckedHistory<'_>) -> Option<String> {
    let mut notes: Vec<&Note> = judged.case.names().notes.iter().collect();
    if let Verdict::Violated(violation) = judged.verdict {
        let spans = || violation.counterexample.iter().map(|it| judged.case.spans()[it.index()]);
        let first = spans().map(|it| it.call()).min().unwrap_or(0);
        let last = spans().map(|it| it.ret().unwrap_or(it.call())).max().unwrap_or(u32::MAX);
        let is_outside = |it: &&Note| last < it.from || it.until.is_some_and(|until| until <= first);
        notes.sort_by_key(is_outside);
    }
    let (listed, rest) = notes.split_at(notes.len().min(LISTED_NOTES_MAX));
    let mut texts: Vec<String> = listed.iter().map(|it| format!("{} ({})", it.text, place(it))).collect();
    if !rest.is_empty() {
        texts.push(format!("and {} more", grouped(rest.len() as u64)));
    }
    (!texts.is_empty()).then(|| texts.join(", "))
}
