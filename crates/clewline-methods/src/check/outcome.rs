//! A verdict on one history, with its evidence.

use std::time::Duration;

use clewline_check::Judgement;
use clewline_core::ErasedHistory;
use clewline_report::render::{Source, Stream};

use crate::relaxed::QuasiEvidence;

/// A verdict on one history, with its evidence. `Display` writes the report.
#[must_use = "the verdict is in it: ask `verdict` or `holds`"]
#[derive(Debug)]
pub struct Report<'a> {
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) spec: String,
    pub(crate) case: Box<dyn ErasedHistory + 'a>,
    pub(crate) judgement: Judgement,
    pub(crate) elapsed: Duration,
    pub(crate) stream: Option<Stream>,
    pub(crate) quasi: Option<QuasiEvidence>,
    pub(crate) next: Vec<String>,
}
