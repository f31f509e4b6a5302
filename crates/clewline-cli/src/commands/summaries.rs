//! What became of everything that a command judged, for machines that build software and for those who look at what they built.

use std::path::PathBuf;

use clewline_report::render::summary::{self, Clock, Entry, Summary};

use super::{output::save, status::Failure};

/// Which summaries to write, and where.
#[derive(Debug, clap::Args)]
pub(super) struct Summaries {
    /// Write what became of everything as JUnit's XML
    ///
    /// What is violated is a failure. What is unknown, or cannot be read, is an error.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write what became of everything as Markdown: a table, and a section for each that does not hold
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Tell on standard error what does not hold as annotations, which GitHub shows beside the file
    #[arg(long)]
    annotations: bool,

    /// Tell in these files how long everything took, so that they differ from run to run
    #[arg(long)]
    times: bool,
}

/// What a command calls what it judges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nouns {
    /// Who judged: `clewline check`.
    pub(super) tool: &'static str,
    /// What is judged, one and many.
    pub(super) nouns: (&'static str, &'static str),
    /// What it has many of.
    pub(super) work: &'static str,
}

impl Nouns {
    /// The summary of these entries.
    pub(super) fn summary(self, entries: Vec<Entry>) -> Summary {
        let Nouns { tool, nouns, work } = self;
        Summary { tool, nouns, work, entries }
    }
}

impl Summaries {
    pub(super) fn are_asked_for(&self) -> bool {
        self.junit.is_some() || self.markdown.is_some() || self.annotations
    }

    pub(super) fn clock(&self) -> Clock {
        if self.times { Clock::Shown } else { Clock::Hidden }
    }

    /// Writes what was asked for.
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
