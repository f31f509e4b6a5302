//! The page of a verdict.

use clewline_check::dead_ends;
use clewline_core::{PartialLinearization, Problem, Verdict};
use clewline_report::render::{CheckedHistory, html::Page};

// At most this number of dead ends is shown, found in at most this number of steps: a fraction of a
// second.
const DEAD_ENDS_SHOWN_MAX: usize = 8;
const DEAD_END_SEARCH_STEPS_MAX: u64 = 200_000;

/// The page of a verdict, with the longest dead ends, one for each operation at which they end.
#[must_use]
pub fn page_of(judged: &CheckedHistory<'_>) -> Page {
    let mut page = Page::of(judged);
    page.add_dead_ends(judged, &longest_orders(judged));
    page
}

/// The longest dead ends of the violated part of the history.
fn longest_orders(judged: &CheckedHistory<'_>) -> Vec<PartialLinearization> {
    let Verdict::Violated(violation) = judged.verdict else { return Vec::new() };
    if !judged.case.criterion().0.is_local() {
        return Vec::new();
    }
    let Some(&first) = violation.counterexample.first() else { return Vec::new() };
    let parts = judged.case.problems().into_iter().flat_map(Problem::into_parts);
    let Some(part) = parts.into_iter().find(|it| it.position(first).is_some()) else { return Vec::new() };
    dead_ends(&part, DEAD_END_SEARCH_STEPS_MAX, DEAD_ENDS_SHOWN_MAX)
}
