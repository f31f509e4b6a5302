//! Journals: what a command has finished, so that the same command goes on from there.
//!
//! A journal is a file of JSON lines that only grows. Its first line says which command it is of,
//! and which shard of it; each further line is one unit of work that is finished: a file, a matrix,
//! a round. The last line says that the command has come to its end. A line that is not complete,
//! because the process was killed, is ignored and overwritten. Nothing is added after an
//! interruption, so that no unit in it was cut short.

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

use super::{
    invocation,
    pattern::{is_pattern, matching},
    shard::Shard,
    status::{Failure, print_note},
};

/// The journal of a command.
#[derive(Debug, clap::Args)]
pub(super) struct JournalFlag {
    /// Record finished work in a file, from which the same command continues, also after a kill
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

    /// Opens the journal of a shard.
    pub(super) fn open_shard(&self, seed: Option<u64>, shard: Shard) -> Result<Journal, Failure> {
        let needed = || Failure::Message("--shard needs --journal".to_owned());
        let key = Key { seed, program: None, shard: Some(shard) };
        Journal::open(self.journal.as_ref().ok_or_else(needed)?, invocation::arguments(), key)
    }

    /// The same, of a command that explores a program with this fingerprint.
    pub(super) fn open_for(
        &self,
        seed: Option<u64>,
        program: Option<u64>,
    ) -> Result<Option<Journal>, Failure> {
        let key = Key { seed, program, shard: None };
        let open = |it: &PathBuf| Journal::open(it, invocation::arguments(), key);
        self.journal.as_ref().map(open).transpose()
    }
}

/// What the first line of a journal says besides the command.
#[derive(Clone, Copy, Debug)]
struct Key {
    seed: Option<u64>,
    /// The fingerprint of the explored program.
    program: Option<u64>,
    shard: Option<Shard>,
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
    synced: Instant,
    /// How many units are in it.
    units: u64,
    /// Its last line, if the command had come to its end, and where that line begins.
    ended: Option<(u64, Json)>,
}

// What was written is on the disk after this time at the latest, if more is written.
const SYNC_INTERVAL: Duration = Duration::from_secs(2);

// The member that only the last line has.
const END: &str = "end";

// The format of the lines.
const FORMAT_VERSION: u64 = 1;
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
        Key { seed, program, shard }: Key,
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
        let (mut lines, length, ended) = read_lines(path, &file)?;
        file.set_len(length).and_then(|()| file.seek(io::SeekFrom::End(0))).map_err(failed)?;
        let identity = identity(arguments);
        let mut journal = Journal {
            path: path.to_owned(),
            file,
            finished: VecDeque::new(),
            seed,
            before: Duration::ZERO,
            begun: Instant::now(),
            synced: Instant::now(),
            units: 0,
            ended,
        };
        let Some(first) = lines.pop_front() else {
            // Its first word says what it is, even if the rest is torn.
            let (seed, program, shard) = (json!(seed), json!(program), shard_json(shard));
            journal.write(&format!(
                "{FIRST_WORD}{FORMAT_VERSION},\"command\":{identity},\"program\":{program},\"seed\":{seed},\"shard\":{shard}}}"
            ))?;
            return Ok(journal);
        };
        if let Some(why) = mismatch(&first, &identity, program, shard) {
            return Err(refused(&why));
        }
        journal.seed = first["seed"].as_u64().or(seed);
        journal.before = lines.back().map_or(Duration::ZERO, |it| milliseconds(&it["after_ms"]));
        if !lines.is_empty() {
            print_note(format!("{}: {} units were finished before", path.display(), lines.len()));
        }
        journal.units = lines.len() as u64;
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
    #[cfg(feature = "lab")]
    pub(super) fn take_last(&mut self) -> Option<Json> {
        std::mem::take(&mut self.finished).pop_back()
    }

    /// Adds a unit that is finished: an object. After an interruption this does nothing.
    pub(super) fn add(&mut self, mut unit: Json) -> Result<(), Failure> {
        let after = self.before.saturating_add(self.begun.elapsed());
        unit["after_ms"] = (after.as_millis() as u64).into();
        if is_interrupted() {
            return Ok(());
        }
        self.units += 1;
        self.remove_end()?;
        self.write(&unit.to_string())?;
        if self.synced.elapsed() < SYNC_INTERVAL {
            return Ok(());
        }
        self.sync()
    }

    /// Adds the last line: the command has come to its end, and says this about it. After an
    /// interruption this does nothing.
    pub(super) fn end(&mut self, mut about: Json) -> Result<(), Failure> {
        if is_interrupted() {
            return Ok(());
        }
        about["units"] = self.units.into();
        let end = json!({END: about});
        if self.ended.as_ref().is_some_and(|it| it.1 == end) {
            return Ok(());
        }
        self.remove_end()?;
        self.write(&end.to_string())?;
        self.sync()
    }

    /// Removes the last line, if the command went on after its end.
    fn remove_end(&mut self) -> Result<(), Failure> {
        let Some((at, _)) = self.ended.take() else { return Ok(()) };
        self.file.set_len(at).map_err(|it| Failure::at(&self.path.display().to_string(), it))
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.synced = Instant::now();
        match self.file.sync_data() {
            // A pipe or a device has no disk.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            outcome => outcome.map_err(|it| Failure::at(&self.path.display().to_string(), it)),
        }
    }

    /// An error that names the journal.
    pub(super) fn mismatch(&self, why: &str) -> Failure {
        Failure::at(&self.path.display().to_string(), why)
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        // In one call, so that a killed process leaves at most one line that is not complete.
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|it| Failure::at(&self.path.display().to_string(), it))
    }
}

/// The complete lines of a journal, their length in bytes, and its last line, if the command had
/// come to its end, with the place where that line begins.
type Lines = (VecDeque<Json>, u64, Option<(u64, Json)>);

fn read_lines(path: &Path, file: &File) -> Result<Lines, Failure> {
    let failed = |it: io::Error| Failure::at(&path.display().to_string(), it);
    let refused = || {
        let why = "this is not a journal, so it is not overwritten";
        Failure::at(&path.display().to_string(), why)
    };
    let (mut lines, mut length, mut ended) = (VecDeque::new(), 0, None);
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).map_err(failed)? != 0 && line.ends_with(b"\n") {
        let unit: Json = serde_json::from_slice(&line).map_err(|_| refused())?;
        let is_end = !lines.is_empty() && unit[END].is_object();
        if is_end {
            ended = Some((length, unit));
        } else {
            lines.push_back(unit);
        }
        length += line.len() as u64;
        line.clear();
        if is_end {
            break;
        }
    }
    let start = &line[..line.len().min(FIRST_WORD.len())];
    if lines.is_empty() && !FIRST_WORD.as_bytes().starts_with(start) {
        return Err(refused());
    }
    Ok((lines, length, ended))
}

/// Why a journal that begins with this line is not that of the command, if it is not.
fn mismatch(first: &Json, identity: &Json, program: Option<u64>, shard: Option<Shard>) -> Option<String> {
    let why = if first["journal"] != FORMAT_VERSION {
        "this is not a journal, or one of another version".to_owned()
    } else if first["command"] != *identity {
        let other = &first["command"];
        format!("this is the journal of another command: {other}; remove it, or name another file")
    } else if first["program"] != json!(program) {
        "the program has changed since; remove the journal, or name another file".to_owned()
    } else if first["shard"] != shard_json(shard) {
        let other = shard_of(&first["shard"]).map_or("the whole".to_owned(), |it| format!("shard {it}"));
        format!("this is the journal of {other}; remove it, or name another file")
    } else {
        return None;
    };
    Some(why)
}

/// The journal of a shard, as `merge` reads it.
#[derive(Debug)]
pub(super) struct ShardJournal {
    pub(super) path: PathBuf,
    pub(super) shard: Shard,
    /// The command: see [`identity`].
    pub(super) command: Json,
    pub(super) seed: Option<u64>,
    pub(super) units: Vec<Json>,
    /// What the last line says, if the shard is finished.
    pub(super) end: Option<Json>,
}

impl ShardJournal {
    /// Reads the journal of a shard; what comes after its last complete line is ignored.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is none.
    pub(super) fn read(path: &Path) -> Result<ShardJournal, Failure> {
        let name = path.display().to_string();
        let text = std::fs::read(path).map_err(|it| Failure::at(&name, it))?;
        let complete = text.split_inclusive(|it| *it == b'\n').filter(|it| it.ends_with(b"\n"));
        let mut lines = complete.map(serde_json::from_slice::<Json>);
        let refused = |why: &str| Failure::at(&name, why);
        let first = match lines.next() {
            Some(Ok(first)) if first["journal"] == FORMAT_VERSION => first,
            _ => return Err(refused("this is not a journal, or one of another version")),
        };
        let shard = shard_of(&first["shard"])
            .ok_or_else(|| refused("this is the journal of a whole command, not of a shard"))?;
        let (mut units, mut end) = (Vec::new(), None);
        for line in lines {
            match line {
                Ok(line) if line[END].is_object() => end = Some(line[END].clone()),
                Ok(unit) if end.is_none() => units.push(unit),
                _ => return Err(refused("this is not a journal: a line of it is none")),
            }
        }
        if let Some(end) = &end
            && end["units"].as_u64() != Some(units.len() as u64)
        {
            return Err(refused("this journal has lost lines, or has some twice"));
        }
        let seed = first["seed"].as_u64();
        Ok(ShardJournal { path: path.to_owned(), shard, command: first["command"].clone(), seed, units, end })
    }

    /// The arguments of its command, without those that concern the shard.
    pub(super) fn arguments(&self) -> Vec<String> {
        let words = self.command["arguments"].as_array().into_iter().flatten();
        words.filter_map(Json::as_str).map(str::to_owned).collect()
    }

    /// Whether this program wrote it: another build may have other subjects.
    pub(super) fn is_of_this_program(&self) -> bool {
        let this = identity(std::iter::empty());
        ["version", "program_bytes"].iter().all(|it| this[it] == self.command[it])
    }

    /// An error that names the journal.
    pub(super) fn mismatch(&self, why: &str) -> Failure {
        Failure::at(&self.path.display().to_string(), why)
    }
}

fn shard_json(shard: Option<Shard>) -> Json {
    shard.map_or(Json::Null, |it| json!([it.index, it.count]))
}

fn shard_of(json: &Json) -> Option<Shard> {
    Shard::new(json[0].as_u64()?, json[1].as_u64()?)
}

/// What a command is known by: this program, and its arguments without those that do not matter to
/// the result.
fn identity(arguments: impl Iterator<Item = String>) -> Json {
    const UNIMPORTANT: [&str; 3] = ["--journal", "--jobs", "--shard"];
    let mut kept = Vec::new();
    let mut arguments = arguments.filter(|it| it != "--fail-fast").peekable();
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
    let program = invocation::program().and_then(|it| it.metadata()).map_or(0, |it| it.len());
    json!({"version": env!("CARGO_PKG_VERSION"), "program_bytes": program, "arguments": kept})
}

/// The length and the hash of a file, by which it is recognized; of a pattern, those of all files.
pub(super) fn fingerprint(path: &Path) -> io::Result<Json> {
    if is_pattern(path) {
        let one = |it: &PathBuf| Ok(json!([it.display().to_string(), fingerprint(it)?]));
        return matching(path)?.iter().map(one).collect::<io::Result<Json>>();
    }
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
        let key = Key { seed: Some(7), program: None, shard: None };
        Journal::open(path, arguments, key).map_err(|it| format!("{it:?}"))
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
        let key = |program| Key { seed: Some(7), program: Some(program), shard: None };
        let open = |program| Journal::open(&path, ["cc".to_owned()].into_iter(), key(program));
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
    fn an_end_is_written_once_and_only_at_the_end() {
        let path = file("end");
        let mut first = journal(&path, "explore it").unwrap();
        first.add(json!({"n": 1})).unwrap();
        first.end(json!({"violated": 0})).unwrap();
        drop(first);
        let mut again = journal(&path, "explore it").unwrap();
        assert_eq!(again.take().unwrap()["n"], 1);
        assert_eq!(again.take(), None);
        again.add(json!({"n": 2})).unwrap();
        again.end(json!({})).unwrap();
        drop(again);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!((text.matches("\"end\"").count(), text.lines().count()), (1, 4), "{text}");
        assert!(text.ends_with("{\"end\":{\"units\":2}}\n"), "{text}");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn the_journal_of_a_shard_is_that_of_this_shard_only() {
        let path = file("shard");
        let open = |index| {
            let words = ["check", "--shard", "1/2", "--journal=x", "--fail-fast", "f"].map(str::to_owned);
            let key = Key { seed: None, program: None, shard: Shard::new(index, 2) };
            Journal::open(&path, words.into_iter(), key)
        };
        let mut one = open(1).unwrap();
        one.add(json!({"n": 1})).unwrap();
        let read = ShardJournal::read(&path).unwrap();
        assert_eq!(
            (read.arguments(), read.units.len(), read.end),
            (vec!["check".into(), "f".into()], 1, None)
        );
        one.end(json!({})).unwrap();
        drop(one);
        assert!(ShardJournal::read(&path).unwrap().end.is_some());
        assert!(format!("{:?}", open(0).unwrap_err()).contains("this is the journal of shard 1/2"));
        let text = fs::read_to_string(&path).unwrap();
        let unit = text.lines().nth(1).unwrap();
        fs::write(&path, text.replace(&format!("{unit}\n"), &format!("{unit}\n{unit}\n"))).unwrap();
        assert!(format!("{:?}", ShardJournal::read(&path).unwrap_err()).contains("some twice"));
        drop(fs::remove_file(&path));
        drop(journal(&path, "check f").unwrap());
        assert!(format!("{:?}", ShardJournal::read(&path).unwrap_err()).contains("not of a shard"));
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
