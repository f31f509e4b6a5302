//! Whole reports, as the journal of a shard keeps them: `merge` prints one of them as it is.

use clewline_report::render::{
    Publish, WitnessShown,
    html::{self, Page},
    present,
    text::Style,
};
use serde_json::{Value as Json, json};

use super::{
    drawings::Drawings,
    kept_entry,
    merged::Merged,
    output::{Output, Stdout},
    status::{Failure, Status},
    summaries::{Nouns, Summaries},
};

/// The texts of a report: as it is printed alone, or beside a page.
pub(super) struct Texts {
    verdict: &'static str,
    text: String,
    json: String,
    entry: Json,
}

/// The texts of the report on an outcome.
pub(super) fn of(outcome: &dyn Publish) -> Texts {
    Texts {
        verdict: outcome.word(),
        text: present::text(outcome, &Style::default()),
        json: format!("{}\n", outcome.json(WitnessShown::Not)),
        entry: kept_entry::to_json(&outcome.entry()),
    }
}

/// A report as it is kept.
pub(super) fn to_json(alone: &Texts, beside_page: &Texts, page: &Page, svg: Option<String>) -> Json {
    json!({
        "verdict": alone.verdict,
        "text": [alone.text, beside_page.text],
        "json": alone.json,
        "entry": [alone.entry, beside_page.entry],
        "page": html::write(page),
        "svg": svg,
    })
}

/// Prints and writes a report that was kept.
pub(super) fn show(
    report: &Json,
    (format, drawings, summaries): (Output, &Drawings, &Summaries),
    nouns: Nouns,
    merged: &Merged,
) -> Result<Status, Failure> {
    let wrong = || merged.first().mismatch("a report in it is not one");
    let which = usize::from(drawings.have_page());
    let text = match format {
        Output::Text => &report["text"][which],
        Output::Json => &report["json"],
    };
    Stdout::new().print(text.as_str().ok_or_else(wrong)?.as_bytes())?;
    let entry = kept_entry::from_json(&report["entry"][which]).ok_or_else(wrong)?;
    summaries.write(&nouns.summary(vec![entry]))?;
    let page = report["page"].as_str().ok_or_else(wrong)?;
    drawings.write_kept(page, report["svg"].as_str())?;
    Ok(match report["verdict"].as_str() {
        Some("holds") => Status::Done,
        Some("violated") => Status::Violated,
        _ => Status::Unknown,
    })
}
