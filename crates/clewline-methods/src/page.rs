//! Pages and entries of summaries: where what was judged meets how it is shown.

use clewline_core::{Problem, Verdict};
use clewline_report::render::{
    Judged,
    html::{DeadEnd, Page},
};

// So many orders that lead no further are shown, and so many steps are made to find them: a fraction of a second.
const SHOWN: usize = 8;
const STEPS: u64 = 200_000;

/// The page of a verdict, with the longest orders that work, one for each operation at which they end.
pub(crate) fn page_of(judged: &Judged<'_>, next: &[String]) -> Page {
    let mut page = Page::of(judged, next);
    page.tell_dead_ends(judged, &dead_ends(judged));
    page
}

/// The longest orders of the part of the history that is violated.
fn dead_ends(judged: &Judged<'_>) -> Vec<DeadEnd> {
    let Verdict::Violated(violation) = judged.verdict else { return Vec::new() };
    let Some(&first) = violation.core.first() else { return Vec::new() };
    let parts = judged.case.problems().into_iter().flat_map(Problem::into_parts);
    let Some(part) = parts.into_iter().find(|it| it.position(first).is_some()) else { return Vec::new() };
    let ends = clewline_check::dead_ends(&part, STEPS, SHOWN);
    ends.into_iter().map(|it| DeadEnd { prefix: it.prefix, next: it.next }).collect()
}

/// A first line without the verdict's word: `lost.jsonl is not linearizable as a queue`.
pub(crate) fn after_word(headline: &str) -> &str {
    headline.split_once(": ").map_or(headline, |it| it.1)
}

/// The paragraphs of a text that was broken into lines for a terminal.
pub(crate) fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    for block in text.split("\n\n") {
        let lines: Vec<&str> = block.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        if !lines.is_empty() {
            paragraphs.push(lines.join(" "));
        }
    }
    paragraphs
}
