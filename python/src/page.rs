//! The page of many objects.

use std::time::Duration;

use clewline_report::render::{
    html::{self, Page},
    summary::{Durations, Summary, SummaryEntry, Word},
};
use pyo3::{exceptions::PyValueError, prelude::*};

/// An object on the page: its name, verdict and sentence, how many operations it has, and the
/// address of its own page.
type Row = (String, String, String, Option<u64>, Option<String>);

/// A page with a table of objects.
#[pyfunction]
pub(crate) fn page_of_all(title: String, verdict: &str, rows: Vec<Row>) -> PyResult<String> {
    let word = |verdict: &str| {
        let unknown = || PyValueError::new_err(format!("`{verdict}` is no verdict"));
        Word::find(verdict).ok_or_else(unknown)
    };
    let own = word(verdict)?.as_str();
    let mut entries = Vec::with_capacity(rows.len());
    for (name, verdict, sentence, work, page) in rows {
        let entry = SummaryEntry::new(name, word(&verdict)?, sentence);
        entries.push(SummaryEntry { work, page, elapsed: Duration::ZERO, ..entry });
    }
    let nouns = ("object", "objects");
    let mut page = Page::new(format!("{own}: {title}"), own, title);
    if entries.iter().any(|it| it.page.is_some()) {
        page.words = vec!["An object that has a page of its own is linked with it.".to_owned()];
    }
    let summary = Summary { tool: "clewline check", nouns, work: "operations", entries };
    page.summary = Some((summary, Durations::Hidden));
    Ok(html::write(&page))
}
