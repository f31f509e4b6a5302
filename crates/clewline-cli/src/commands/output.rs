//! Standard output, and files that may be standard output.

use std::{
    fs::{self, Metadata},
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    path::{Path, PathBuf},
};

use clewline_core::{NotFound, Recording, is_interrupted, visible};
use clewline_formats::{Format, WriteError, formats};
use clewline_report::{
    OutputFile, is_same_file, place_of,
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
    // What was printed, if it is wanted.
    kept: Option<String>,
}

impl Stdout {
    pub(super) fn new() -> Stdout {
        Stdout { lock: Some(io::stdout().lock()), kept: None }
    }

    /// The same, and keeps what is printed.
    pub(super) fn keeping() -> Stdout {
        Stdout { kept: Some(String::new()), ..Stdout::new() }
    }

    /// What was printed, if it was kept.
    pub(super) fn into_kept(self) -> Option<String> {
        self.kept
    }

    /// Writes all of `text`, at once.
    pub(super) fn print(&mut self, text: &[u8]) -> Result<(), Failure> {
        if let Some(kept) = &mut self.kept {
            kept.push_str(&String::from_utf8_lossy(text));
        }
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
            let is_usual = |it: &&dyn Format| it.carries().is_written && it.extensions().contains(&extension);
            let usual = formats::FORMATS.iter().copied().find(is_usual);
            return usual.ok_or_else(|| {
                let is_columns = ["parquet", "arrow", "arrows", "feather"].contains(&extension);
                if let Some(why) = formats::missing_columns().filter(|_| is_columns) {
                    return Failure::Message(why.to_owned());
                }
                let written = formats::FORMATS.iter().filter(|it| it.carries().is_written);
                let known = written.map(|it| it.name()).collect::<Vec<_>>().join(", ");
                Failure::Message(format!("unknown file extension `.{extension}`: choose a format with --output-format, one of {known}"))
            });
        }
    };
    let unknown = || Failure::at("--output-format", NotFound::new("format", name, formats::FORMATS.names()));
    formats::find(name).ok_or_else(unknown)
}

/// Writes `recording` to `path`, or to standard output.
pub(super) fn write(recording: &Recording, format: &dyn Format, path: &Path) -> Result<(), Failure> {
    if recording.initial.is_some() && !format.has_initial_state() {
        let able = formats::FORMATS.iter().filter(|it| it.has_initial_state()).map(|it| it.name());
        let able = able.collect::<Vec<_>>().join(", ");
        let error = WriteError::CannotHold(format!("only {able} can hold an initial state"));
        return Err(Failure::Message(cannot(format, &error)));
    }
    if path.as_os_str() == DASH {
        let mut out = BufWriter::new(UntilInterrupted(io::stdout().lock()));
        return match format.write(recording, &mut out).and_then(|()| Ok(out.flush()?)) {
            Ok(()) => Ok(()),
            Err(WriteError::Io(error)) => Err(error.into()),
            Err(error) => Err(Failure::Message(cannot(format, &error))),
        };
    }
    let write = || -> Result<(), WriteError> {
        let mut out = UntilInterrupted(OutputFile::create(path)?);
        format.write(recording, &mut out)?;
        Ok(out.0.commit()?)
    };
    write().map_err(|it| Failure::at(&path.display().to_string(), cannot(format, &it)))
}

/// An output that ends with an error when the process is interrupted.
struct UntilInterrupted<W>(W);

impl<W: Write> Write for UntilInterrupted<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if is_interrupted() { Err(io::Error::other("interrupted")) } else { self.0.write(buffer) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
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
    clewline_report::replace_file(path, text).map_err(|it| Failure::at(&path.display().to_string(), it))
}

/// Whether to list histories, which only JSON has.
pub(super) fn lists_histories(histories: bool, format: Output) -> Result<bool, Failure> {
    if histories && format != Output::Json {
        return Err(Failure::Message("--histories needs --format json".to_owned()));
    }
    Ok(histories)
}

/// Refuses to write a file that is read, or to write one file twice, by whatever names. What is no
/// file (`/dev/null`, a pipe) may be read and written as often as one likes.
pub(super) fn check_outputs<'a>(
    inputs: impl IntoIterator<Item = &'a Path>,
    outputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let inputs: Vec<Named<'_>> = inputs.into_iter().map(Named::input).collect();
    let mut written: Vec<Named<'_>> = Vec::new();
    for output in outputs.into_iter().filter(|it| it.as_os_str() != DASH) {
        let output = Named { path: output, place: place_of(output).ok(), found: fs::metadata(output).ok() };
        if output.found.as_ref().is_some_and(|it| !it.is_file()) {
            continue;
        }
        let name = output.path.display().to_string();
        if let Some(input) = inputs.iter().find(|it| it.is_same(&output)) {
            let input = input.path.display().to_string();
            let other = if input == name { String::new() } else { format!(" ({})", visible(&input)) };
            let why = format!("this file is an input{other}, so it is not overwritten");
            return Err(Failure::at(&name, why));
        }
        if written.iter().any(|it| it.is_same(&output)) {
            return Err(Failure::at(&name, "this file would be written twice"));
        }
        written.push(output);
    }
    Ok(())
}

/// A file that a command reads or writes.
struct Named<'a> {
    path: &'a Path,
    /// Its only name, if its folder exists.
    place: Option<PathBuf>,
    /// What is there, if anything is.
    found: Option<Metadata>,
}

impl<'a> Named<'a> {
    fn input(path: &'a Path) -> Named<'a> {
        let place = (path.as_os_str() != DASH).then(|| place_of(path).ok()).flatten();
        Named { path, place, found: metadata(path) }
    }

    fn is_same(&self, other: &Named<'_>) -> bool {
        let is_one_place = || Some(self.place.as_ref()? == other.place.as_ref()?);
        let is_one_file = || Some(is_same_file(self.found.as_ref()?, other.found.as_ref()?));
        self.path == other.path || is_one_place() == Some(true) || is_one_file() == Some(true)
    }
}

/// The file that `path` names, or that is standard input.
fn metadata(path: &Path) -> Option<Metadata> {
    if path.as_os_str() != DASH {
        return fs::metadata(path).ok();
    }
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        fs::File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
    }
    #[cfg(not(unix))]
    None
}
