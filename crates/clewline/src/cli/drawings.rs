//! Reports that are looked at: a page, and a picture of the core.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use clewline::{
    Report,
    formats::jsonl::{self, Times},
    render::html,
};

use super::{DASH, Failure};

/// Which of them to write, and where.
#[derive(Debug, clap::Args)]
pub(super) struct Drawings {
    /// Write a page with the whole history as a timeline, to open in a browser
    ///
    /// One file, which needs no network. `docs/reports.md` tells what is on it.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write a picture of the operations that contradict each other, for a paper or an issue
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Drawings {
    pub(super) fn are_asked_for(&self) -> bool {
        self.html.is_some() || self.svg.is_some()
    }

    pub(super) fn have_page(&self) -> bool {
        self.html.is_some()
    }

    /// Refuses what cannot be drawn: a file holds one history.
    pub(super) fn accept(&self, histories: usize) -> Result<(), Failure> {
        let option = if self.html.is_some() { "--html" } else { "--svg" };
        if self.are_asked_for() && 1 < histories {
            let why = format!("{option} draws one history; found {histories} files to judge");
            return Err(Failure::Told(why));
        }
        Ok(())
    }

    /// Writes what was asked for about the history in `file`, with commands to type `next`.
    pub(super) fn write(&self, report: &Report<'_>, file: &Path, next: &[String]) -> Result<(), Failure> {
        let write = |path: &PathBuf, text: String| {
            fs::write(path, text).map_err(|it| Failure::at(&path.display().to_string(), it))
        };
        if let Some(path) = &self.html {
            let mut page = report.page(next);
            if let Some(times) = times(file) {
                page.history.tell_times(&times);
            }
            write(path, html::write(&page))?;
        }
        if let Some(path) = &self.svg {
            write(path, report.svg())?;
        }
        Ok(())
    }
}

/// The times that stand in a file, which are read again: a history keeps only their order. What was read from standard input is gone.
fn times(file: &Path) -> Option<Vec<Times>> {
    if file.as_os_str() == DASH {
        return None;
    }
    jsonl::times(&mut File::open(file).ok()?)
}
