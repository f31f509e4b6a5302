//! Standard output, and files that may be standard output.

use std::{
    fs::{self, File},
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    path::Path,
};

use clewline_core::{ParseError, Recording};
use clewline_report::{
    Format, WriteError, formats,
    render::{
        Publish, WitnessShown, present,
        text::{Paint, Style},
    },
};

use super::status::Failure;

/// Standard output that ignores writes after its reader has closed it.
///
/// `clewline check … | head` must still return the exit code of all files.
pub(super) struct Stdout {
    // `None` after the reader has closed it.
    lock: Option<StdoutLock<'static>>,
}

impl Stdout {
    pub(super) fn new() -> Stdout {
        Stdout { lock: Some(io::stdout().lock()) }
    }

    /// Writes all of `text`, at once.
    pub(super) fn print(&mut self, text: &[u8]) -> Result<(), Failure> {
        let Some(lock) = &mut self.lock else { return Ok(()) };
        match lock.write_all(text).and_then(|()| lock.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.lock = None;
                Ok(())
            }
            Err(error) => Err(error.into()),
            Ok(()) => Ok(()),
        }
    }
}

/// An outcome as it is printed on standard output.
pub(super) fn written(outcome: &dyn Publish, format: Output, witness: WitnessShown) -> String {
    match format {
        Output::Text => present::text(outcome, &Style { paint: paint(), witness, ..Style::default() }),
        Output::Json => format!("{}\n", outcome.json(witness)),
    }
}

/// Appends `label` and `description`, wrapped at the width of the help.
#[cfg(feature = "lab")]
pub(super) fn append(text: &mut String, label: &str, description: &str) {
    const WIDTH_COLUMNS: usize = 100;
    text.extend(
        clewline_report::render::block::hanging(label, description, WIDTH_COLUMNS)
            .into_iter()
            .map(|it| it + "\n"),
    );
}

/// Colours only on a terminal, and only if the environment allows them (<https://no-color.org>).
pub(super) fn paint() -> Paint {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty())
        || std::env::var_os("TERM").is_some_and(|it| it == "dumb");
    if io::stdout().is_terminal() && !unwanted { Paint::Coloured } else { Paint::Plain }
}

/// The format called `name`; without a name, the format of the file extension of `path`.
pub(super) fn format_of(name: Option<&str>, path: &Path) -> Result<&'static dyn Format, Failure> {
    let extension = path.extension().and_then(|it| it.to_str());
    let name = match (name, extension) {
        (Some(name), _) => name,
        (None, None) => "jsonl",
        (None, Some(extension)) => {
            let usual = formats::FORMATS.iter().copied().find(|it| it.extensions().contains(&extension));
            return usual.ok_or_else(|| {
                let known = format_names();
                Failure::Message(format!("unknown file extension `.{extension}`: choose a format with --output-format, one of {known}"))
            });
        }
    };
    formats::find(name).ok_or_else(|| {
        Failure::at(
            "--output-format",
            ParseError::new(format!("one of the formats {}", format_names()), name),
        )
    })
}

pub(super) fn format_names() -> String {
    formats::FORMATS.names().collect::<Vec<_>>().join(", ")
}

/// Writes `recording` to `path`, or to standard output.
///
/// An incompletely written file is removed.
pub(super) fn write(recording: &Recording, format: &dyn Format, path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == DASH {
        let mut out = BufWriter::new(io::stdout().lock());
        return match format.write(recording, &mut out).and_then(|()| Ok(out.flush()?)) {
            Ok(()) => Ok(()),
            Err(WriteError::Io(error)) => Err(error.into()),
            Err(error) => Err(Failure::Message(cannot(format, &error))),
        };
    }
    let name = path.display().to_string();
    let file = File::create(path).map_err(|it| Failure::at(&name, it))?;
    let is_file = file.metadata().is_ok_and(|it| it.is_file());
    let mut out = BufWriter::new(file);
    let written = format.write(recording, &mut out).and_then(|()| Ok(out.flush()?));
    written.map_err(|error| {
        if is_file {
            let _best_effort = std::fs::remove_file(path);
        }
        Failure::at(&name, cannot(format, &error))
    })
}

fn cannot(format: &dyn Format, error: &WriteError) -> String {
    match error {
        WriteError::CannotHold(why) => format!("cannot be written as {}: {why}", format.name()),
        error => error.to_string(),
    }
}

/// The name that stands for standard input or output.
pub(super) const DASH: &str = "-";

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Output {
    /// For humans.
    Text,
    /// For programs: one JSON object per line.
    Json,
}

/// Writes a file.
pub(super) fn save(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|it| Failure::at(&path.display().to_string(), it))
}
