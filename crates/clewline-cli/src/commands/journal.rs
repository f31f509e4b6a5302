//! Journals: what a command has finished, so that the same command goes on from there.
//!
//! A journal is a file of JSON lines that only grows. Its first line says which command it is of;
//! each further line is one unit of work that is finished: a file, a matrix, a round. A line that
//! is not complete, because the process was killed, is ignored and overwritten. Nothing is added
//! after an interruption, so that no unit in it was cut short.

use std::{
    collections::VecDeque,
    fs::{File, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use clewline_core::is_interrupted;
use serde_json::{Value as Json, json};

use super::status::{Failure, print_note};

/// The journal of a command.
#[derive(Debug, clap::Args)]
pub(super) struct JournalFlag {
    /// Keep a journal of what is finished: the same command continues from it, also after a kill
    #[arg(long, value_name = "FILE")]
    pub(super) journal: Option<PathBuf>,
}

impl JournalFlag {
    /// The file.
    pub(super) fn file(&self) -> Option<&Path> {
        self.journal.as_deref()
    }

    /// Opens the journal, if one is requested. Without `seed`, a new one is used; it is noted.
    pub(super) fn open(&self, seed: Option<u64>) -> Result<Option<Journal>, Failure> {
        self.open_for(seed, None)
    }

    /// The same, of a command that explores a program with this fingerprint.
    pub(super) fn open_for(
        &self,
        seed: Option<u64>,
        program: Option<u64>,
    ) -> Result<Option<Journal>, Failure> {
        let open = |it: &PathBuf| Journal::open(it, std::env::args().skip(1), seed, program);
        self.journal.as_ref().map(open).transpose()
    }
}

/// A journal that is open.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Units that earlier processes have finished, and that were not taken.
    finished: VecDeque<Json>,
    seed: Option<u64>,
    /// How long earlier processes took until the last of these.
    before: Duration,
    begun: Instant,
}

// The format of the lines.
const VERSION: u64 = 1;
const FIRST_WORD: &str = "{\"journal\":";

// A process that is being started has a copy of the lock for a moment.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(25);

/// Whether another process has locked the file; it is locked now if not. Where files cannot be
/// locked, users have to take care.
fn is_in_use(file: &File) -> bool {
    (0..LOCK_ATTEMPTS).all(|attempt| {
        if attempt != 0 {
            thread::sleep(LOCK_RETRY_INTERVAL);
        }
        matches!(file.try_lock(), Err(TryLockError::WouldBlock))
    })
}

impl Journal {
    /// Opens the journal of the command with these arguments.
    ///
    /// # Errors
    ///
    /// If it is of another command, is in use, or cannot be written.
    fn open(
        path: &Path,
        arguments: impl Iterator<Item = String>,
        seed: Option<u64>,
        program: Option<u64>,
    ) -> Result<Journal, Failure> {
        let failed = |it: io::Error| Failure::at(&path.display().to_string(), it);
        let refused = |why: &str| Failure::at(&path.display().to_string(), why);
        let mut file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        if is_in_use(&file) {
            return Err(refused("another process writes this journal"));
        }
        let (mut lines, mut length) = (VecDeque::new(), 0);
        let mut reader = BufReader::new(&file);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(failed)? != 0 && line.ends_with(b"\n") {
            let Ok(unit) = serde_json::from_slice::<Json>(&line) else {
                return Err(refused("this is not a journal, so it is not overwritten"));
            };
            length += line.len() as u64;
            lines.push_back(unit);
            line.clear();
        }
        if lines.is_empty() && !FIRST_WORD.as_bytes().starts_with(&line[..line.len().min(FIRST_WORD.len())]) {
            return Err(refused("this is not a journal, so it is not overwritten"));
        }
        file.set_len(length).and_then(|()| file.seek(io::SeekFrom::End(0))).map_err(failed)?;
        let identity = identity(arguments);
        let mut journal = Journal {
            path: path.to_owned(),
            file,
            finished: VecDeque::new(),
            seed,
            before: Duration::ZERO,
            begun: Instant::now(),
        };
        let Some(first) = lines.pop_front() else {
            // Its first word says what it is, even if the rest is torn.
            let (seed, program) = (json!(seed), json!(program));
            journal.write(&format!(
                "{FIRST_WORD}{VERSION},\"command\":{identity},\"program\":{program},\"seed\":{seed}}}"
            ))?;
            return Ok(journal);
        };
        if first["journal"] != VERSION {
            return Err(refused("this is not a journal, or one of another version"));
        }
        if first["command"] != identity {
            return Err(refused(&format!(
                "this is the journal of another command: {}; remove it, or name another file",
                first["command"]
            )));
        }
        if first["program"] != json!(program) {
            return Err(refused("the program has changed since; remove the journal, or name another file"));
        }
        journal.seed = first["seed"].as_u64().or(seed);
        journal.before = lines.back().map_or(Duration::ZERO, |it| milliseconds(&it["after_ms"]));
        if !lines.is_empty() {
            print_note(format!("{}: {} units were finished before", path.display(), lines.len()));
        }
        journal.finished = lines;
        Ok(journal)
    }

    /// The seed of the command: that of the process that began the journal.
    pub(super) fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// How long earlier processes worked for this command.
    pub(super) fn before(&self) -> Duration {
        self.before
    }

    /// The last unit that an earlier process has finished, before one is taken.
    pub(super) fn last(&self) -> Option<&Json> {
        self.finished.back()
    }

    /// The next unit that an earlier process has finished, if it is the one that is wanted.
    pub(super) fn take_if(&mut self, is_wanted: impl Fn(&Json) -> bool) -> Option<Json> {
        self.finished.front().filter(|it| is_wanted(it))?;
        self.finished.pop_front()
    }

    /// The next unit that an earlier process has finished.
    pub(super) fn take(&mut self) -> Option<Json> {
        self.finished.pop_front()
    }

    /// The last unit that an earlier process has finished; those before it are given up.
    pub(super) fn take_last(&mut self) -> Option<Json> {
        std::mem::take(&mut self.finished).pop_back()
    }

    /// Adds a unit that is finished: an object. After an interruption this does nothing.
    pub(super) fn add(&mut self, mut unit: Json) -> Result<(), Failure> {
        let after = self.before.saturating_add(self.begun.elapsed());
        unit["after_ms"] = (after.as_millis() as u64).into();
        if is_interrupted() { Ok(()) } else { self.write(&unit.to_string()) }
    }

    /// An error that names the journal.
    pub(super) fn misfit(&self, why: &str) -> Failure {
        Failure::at(&self.path.display().to_string(), why)
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        // In one call, so that a killed process leaves at most one line that is not complete.
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|it| Failure::at(&self.path.display().to_string(), it))
    }
}

/// What a command is known by: this program, and its arguments without those that do not matter to
/// the result.
fn identity(arguments: impl Iterator<Item = String>) -> Json {
    const UNIMPORTANT: [&str; 2] = ["--journal", "--jobs"];
    let mut kept = Vec::new();
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        if UNIMPORTANT.contains(&argument.as_str()) {
            arguments.next();
        } else if !UNIMPORTANT
            .iter()
            .any(|it| argument.strip_prefix(it).is_some_and(|it| it.starts_with('=')))
        {
            kept.push(argument);
        }
    }
    // Another build may have other subjects.
    let program = std::env::current_exe().and_then(|it| it.metadata()).map_or(0, |it| it.len());
    json!({"version": env!("CARGO_PKG_VERSION"), "program_bytes": program, "arguments": kept})
}

/// The length and the hash of a file, by which it is recognized.
pub(super) fn fingerprint(path: &Path) -> io::Result<Json> {
    // FNV-1a, 64 bits.
    let (mut file, mut hash, mut length) = (File::open(path)?, 0xcbf2_9ce4_8422_2325_u64, 0);
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = match file.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            outcome => outcome?,
        };
        if read == 0 {
            return Ok(json!([length, format!("{hash:016x}")]));
        }
        for byte in &piece[..read] {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        length += read as u64;
    }
}

/// A duration that was written as milliseconds.
pub(super) fn milliseconds(json: &Json) -> Duration {
    Duration::from_millis(json.as_u64().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn journal(path: &Path, arguments: &str) -> Result<Journal, String> {
        let arguments = arguments.split(' ').map(str::to_owned);
        Journal::open(path, arguments, Some(7), None).map_err(|it| format!("{it:?}"))
    }

    fn file(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("clewline-journal-{}-{name}", std::process::id()));
        let _not_there = fs::remove_file(&path);
        path
    }

    #[test]
    fn a_torn_line_is_dropped() {
        let path = file("torn");
        let mut first = journal(&path, "explore it").unwrap();
        first.add(json!({"n": 1})).unwrap();
        first.add(json!({"n": 2})).unwrap();
        drop(first);
        let text = fs::read_to_string(&path).unwrap();
        for cut in 0..=text.len() {
            fs::write(&path, &text[..cut]).unwrap();
            let mut again = journal(&path, "explore it --jobs 9 --journal=x").unwrap();
            let whole = text[..cut].matches('\n').count().saturating_sub(1) as u64;
            for n in 1..=whole {
                assert_eq!(again.take().unwrap()["n"], n, "{cut}");
            }
            assert_eq!(again.take(), None, "{cut}");
            again.add(json!({"n": whole + 1})).unwrap();
            drop(again);
            let mut last = journal(&path, "explore it").unwrap();
            assert_eq!(last.take_last().unwrap()["n"], whole + 1, "{cut}");
            assert_eq!(last.seed(), Some(7));
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_not_the_journal_of_the_command_is_not_touched() {
        let path = file("other");
        drop(journal(&path, "explore it").unwrap());
        let error = journal(&path, "explore that").unwrap_err();
        assert!(error.contains("this is the journal of another command"), "{error}");
        for text in ["int main() {}\n", "a history", "{\"process\": 0}\n", "[]\n", "{\"journal\":2}\n"] {
            fs::write(&path, text).unwrap();
            let error = journal(&path, "explore it").unwrap_err();
            assert!(error.contains("this is not a journal"), "{text}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn the_journal_of_another_program_is_refused() {
        let path = file("program");
        let open = |program| Journal::open(&path, ["cc".to_owned()].into_iter(), Some(7), Some(program));
        open(1).unwrap().add(json!({"n": 1})).unwrap();
        assert_eq!(open(1).unwrap().last().map(|it| it["n"].clone()), Some(json!(1)));
        assert!(format!("{:?}", open(2).unwrap_err()).contains("the program has changed since"));
        let mut again = open(1).unwrap();
        assert_eq!(again.take_if(|it| it["n"] == 2), None);
        assert!(again.take_if(|it| it["n"] == 1).is_some() && again.last().is_none());
        drop(again);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn two_processes_do_not_share_a_journal() {
        let path = file("shared");
        let _first = journal(&path, "explore it").unwrap();
        assert!(journal(&path, "explore it").unwrap_err().contains("another process"));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn files_are_recognized_by_their_contents() {
        let path = file("contents");
        fs::write(&path, "a").unwrap();
        let one = fingerprint(&path).unwrap();
        assert_eq!(one, json!([1, "af63dc4c8601ec8c"]));
        fs::write(&path, "b").unwrap();
        assert_ne!(fingerprint(&path).unwrap(), one);
        fs::remove_file(path).unwrap();
    }
}
