//! Summaries of all verdicts of a command, for continuous integration.

use std::path::{Path, PathBuf};

use clewline_report::render::summary::{self, Durations, Summary, SummaryEntry};

use super::{output::save, status::Failure};

/// The summaries to write, and where.
#[derive(Debug, clap::Args)]
pub(super) struct Summaries {
    /// Write all verdicts as JUnit XML, for continuous integration
    ///
    /// `violated` is a failure; `unknown` and unreadable input are errors.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write all verdicts as Markdown: a table, and a section for each that does not hold
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Print GitHub Actions annotations for all verdicts that do not hold, on standard error
    #[arg(long)]
    annotations: bool,

    /// Include durations in these files (they then differ between runs)
    #[arg(long)]
    times: bool,
}

/// The words of a command for its entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nouns {
    /// The command, for example `clewline check`.
    pub(super) tool: &'static str,
    /// The checked entries, singular and plural.
    pub(super) nouns: (&'static str, &'static str),
    /// The unit in which the work is counted.
    pub(super) work: &'static str,
}

impl Nouns {
    /// The summary of these entries.
    pub(super) fn summary(self, entries: Vec<SummaryEntry>) -> Summary {
        let Nouns { tool, nouns, work } = self;
        Summary { tool, nouns, work, entries }
    }
}

impl Summaries {
    pub(super) fn are_asked_for(&self) -> bool {
        self.junit.is_some() || self.markdown.is_some() || self.annotations
    }

    /// The files to write.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.junit.iter().chain(&self.markdown).map(PathBuf::as_path)
    }

    pub(super) fn clock(&self) -> Durations {
        if self.times { Durations::Shown } else { Durations::Hidden }
    }

    /// Writes the requested summaries.
    pub(super) fn write(&self, summary: &Summary) -> Result<(), Failure> {
        if let Some(path) = &self.junit {
            save(path, &summary::junit(summary, self.clock()))?;
        }
        if let Some(path) = &self.markdown {
            save(path, &summary::markdown(summary, self.clock()))?;
        }
        if self.annotations {
            eprint!("{}", summary::annotations(summary));
        }
        Ok(())
    }
}
