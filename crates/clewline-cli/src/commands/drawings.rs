//! Graphical reports: an HTML page, and an SVG image of the counterexample.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clewline_core::visible;
use clewline_methods::Report;
use clewline_report::{
    OutputFile,
    render::{
        Publish,
        html::{self, Page},
        summary::Summary,
    },
};

use super::{
    output::{check_outputs, save},
    status::{Failure, print_note},
    summaries::Summaries,
};

/// The reports to write, and where.
#[derive(Debug, clap::Args)]
pub(super) struct Drawings {
    /// Write an HTML report with a timeline of the history
    ///
    /// A single file that needs no network access. `docs/reference/reports.md` describes it.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write an SVG image of the counterexample
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

    pub(super) fn have_picture(&self) -> bool {
        self.svg.is_some()
    }

    /// The files to write.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.html.iter().chain(&self.svg).map(PathBuf::as_path)
    }

    /// Rejects an image of several histories.
    pub(super) fn accept(&self, histories: usize) -> Result<(), Failure> {
        if self.svg.is_some() && 1 < histories {
            let why = format!("--svg needs exactly one history; found {histories} files");
            return Err(Failure::Message(why));
        }
        Ok(())
    }

    /// Writes the requested reports: `page` makes the page, and `svg` the image, if there is one.
    pub(super) fn write(
        &self,
        page: impl FnOnce() -> Page,
        svg: impl FnOnce() -> Option<String>,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.html {
            save(path, &html::write(&page()))?;
        }
        self.write_picture(svg)
    }

    /// The same for a page that was written before.
    #[cfg(feature = "lab")]
    pub(super) fn write_kept(&self, page: &str, svg: Option<&str>) -> Result<(), Failure> {
        if let Some(path) = &self.html {
            save(path, page)?;
        }
        self.write_picture(|| svg.map(str::to_owned))
    }

    fn write_picture(&self, svg: impl FnOnce() -> Option<String>) -> Result<(), Failure> {
        if let Some(path) = &self.svg {
            match svg() {
                Some(svg) => save(path, &svg)?,
                None => {
                    let path = path.display().to_string();
                    print_note(format!("no history to draw: {} was not written", visible(&path)));
                }
            }
        }
        Ok(())
    }

    /// Writes the requested reports of the only history.
    pub(super) fn write_history(&self, report: &Report<'_>) -> Result<(), Failure> {
        self.write(|| report.page(), || Some(report.svg()))
    }

    /// Writes the page of one of several histories or tests into a folder that is named after the
    /// page of all of them. Returns its address relative to that page. It is none of the `inputs`
    /// of the command: some of them may be in that folder.
    pub(super) fn write_one_of_many(
        &self,
        number: usize,
        name: &str,
        inputs: &[PathBuf],
        page: impl FnOnce() -> Page,
    ) -> Result<Option<String>, Failure> {
        let Some(all) = &self.html else { return Ok(None) };
        let folder = all.with_extension("");
        // Without an extension, the file and the folder would have the same name.
        let folder = if folder == *all { all.with_extension("pages") } else { folder };
        fs::create_dir_all(&folder).map_err(|it| Failure::at(&folder.display().to_string(), it))?;
        let page_name = format!("{:03}-{}.html", number + 1, plain_name(name));
        let path = folder.join(&page_name);
        check_outputs(inputs.iter().map(PathBuf::as_path), [path.as_path()])?;
        let write = |page: &Page| -> io::Result<()> {
            let mut out = OutputFile::create(&path)?;
            out.write_all(html::write(page).as_bytes())?;
            // To wait for the disk took ten times as long as to write a page.
            out.commit_unsynced()
        };
        write(&page()).map_err(|it| Failure::at(&path.display().to_string(), it))?;
        let folder = folder.file_name().unwrap_or_default().to_string_lossy();
        Ok(Some(format!("{}/{page_name}", percent_encoded(&folder))))
    }

    /// Writes the page of several histories or tests: a table of their verdicts.
    pub(super) fn write_all(&self, summary: Summary, summaries: &Summaries) -> Result<(), Failure> {
        let Some(path) = &self.html else { return Ok(()) };
        save(path, &html::write(&page_of_all(summary, summaries)))
    }
}

/// A page with all verdicts.
fn page_of_all(summary: Summary, summaries: &Summaries) -> Page {
    let word = summary.word().as_str();
    let mut page = Page::new(format!("{word}: {}", summary.totals()), word, summary.totals());
    if summary.entries.iter().any(|it| it.page.is_some()) {
        page.words =
            vec![format!("Each {} has a page of its own, which its name leads to.", summary.nouns.0)];
    }
    page.summary = Some((summary, summaries.clock()));
    page
}

/// The name of a file or a test without characters that are special in an address or a shell.
fn plain_name(name: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.') { it } else { '-' };
    name.chars().take(60).map(plain).collect()
}

/// A percent-encoded name.
fn percent_encoded(name: &str) -> String {
    let mut address = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pages_and_folders_are_safe_in_addresses() {
        assert_eq!(plain_name("my #1 run?"), "my--1-run-");
        assert_eq!(percent_encoded("50 % of ä"), "50%20%25%20of%20%C3%A4");
    }
}
