//! Files that are written aside, and renamed when they are complete.
//!
//! After a full disk or a crash, and for a reader at the wrong moment, the old file is there or the
//! new one, and never a part of it.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

/// The files beside their place that are neither complete nor removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what was written of files that are not complete: for a process that is about to exit.
/// Afterwards no file can be completed.
pub fn remove_unfinished_files() {
    let unfinished = unfinished();
    unfinished.iter().for_each(|it| drop(fs::remove_file(it)));
    // Held to the end of the process: another thread must not begin the next one.
    std::mem::forget(unfinished);
}

/// A file that is being written. It gets its name with [`commit`](Self::commit); without that
/// nothing is left of it.
///
/// What cannot be replaced is written to directly:
///
/// - what is no regular file (a terminal, a pipe, `/dev/null`);
/// - what is already open (`/dev/stdout`, `/proc/self/fd/3`), since its other writers would not see
///   the new file: the text is appended;
/// - a file in a folder that must not be written, or at which another one is mounted.
#[derive(Debug)]
pub struct OutputFile {
    // `None` after the commit.
    out: Option<BufWriter<File>>,
    path: PathBuf,
    // Where it is written, until it is renamed; `None` if directly to `path`.
    aside: Option<PathBuf>,
}

impl OutputFile {
    /// Begins to write the file that is to be at `path`.
    ///
    /// # Errors
    ///
    /// If no file can be written there.
    pub fn create(path: impl AsRef<Path>) -> io::Result<OutputFile> {
        let path = path.as_ref();
        let direct = |out, path: PathBuf| OutputFile { out: Some(BufWriter::new(out)), path, aside: None };
        // A link stays one: its target is replaced.
        let steps = follow(path)?;
        if steps.iter().any(|it| is_of_system(it)) {
            return Ok(direct(open_of_system(path, &steps)?, path.to_owned()));
        }
        let old = match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                return Ok(direct(File::options().write(true).open(path)?, path.to_owned()));
            }
            outcome => outcome.ok(),
        };
        // Not a file that must not be written, although it could be replaced.
        if old.is_some() {
            File::options().append(true).open(path)?;
        }
        let path = steps.into_iter().next_back().unwrap_or_default();
        let (file, aside) = match create_beside(&path) {
            Err(error) if old.is_some() && is_refusal(&error) => {
                return Ok(direct(File::options().write(true).truncate(true).open(&path)?, path));
            }
            outcome => outcome?,
        };
        let output = OutputFile { out: Some(BufWriter::new(file)), path, aside: Some(aside) };
        if let (Some(old), Some(out)) = (old, &output.out) {
            out.get_ref().set_permissions(old.permissions())?;
        }
        Ok(output)
    }

    /// Completes the file, which replaces the one that was there.
    ///
    /// # Errors
    ///
    /// If not all of it could be written. What was there before is unchanged, unless it had to be
    /// written to directly.
    pub fn commit(mut self) -> io::Result<()> {
        if let (Some(out), Some(_)) = (&mut self.out, &self.aside) {
            out.flush()?;
            // So that a full disk is an error now, and not after the old file is gone.
            match out.get_ref().sync_all() {
                Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(error),
                Ok(()) | Err(_) => (),
            }
        }
        self.commit_unsynced()
    }

    /// As [`commit`](Self::commit), but the system writes the file to the disk later, which saves
    /// about 5 ms a file. A crash of the machine may leave an empty file: so this is for one of
    /// many that the same command makes again.
    ///
    /// # Errors
    ///
    /// As for [`commit`](Self::commit); but a disk that turns out to be full later is no error.
    pub fn commit_unsynced(mut self) -> io::Result<()> {
        let Some(mut out) = self.out.take() else { return Ok(()) };
        out.flush()?;
        let Some(aside) = &self.aside else { return Ok(()) };
        drop(out);
        let mut unfinished = unfinished();
        match fs::rename(aside, &self.path) {
            // The copy is removed when `self` is dropped.
            Err(error) if is_refusal(&error) => overwrite(&self.path, aside, error),
            outcome => {
                outcome?;
                unfinished.retain(|it| it != aside);
                drop(unfinished);
                self.aside = None;
                Ok(())
            }
        }
    }
}

/// Replaces the file at `path` by `text`.
///
/// # Errors
///
/// If it cannot be written. What was there before is unchanged, unless it had to be written to
/// directly.
pub fn replace_file(path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_ref())?;
    file.commit()
}

impl Write for OutputFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(0), |it| it.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(aside) = &self.aside {
            // Writes nothing more, and drops the file before its name.
            drop(self.out.take().map(BufWriter::into_parts));
            let mut unfinished = unfinished();
            let _best_effort = fs::remove_file(aside);
            unfinished.retain(|it| it != aside);
        }
    }
}

// Links that lead further are taken for a circle, as by the system.
const LINKS_MAX: usize = 40;

/// `path`, and where its links lead, one after the other, even if there is nothing yet.
fn follow(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut path = path.to_owned();
    let mut steps = Vec::new();
    for _ in 0..LINKS_MAX {
        steps.push(path.clone());
        if !path.is_symlink() {
            return Ok(steps);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The folder of `path`, by its only name.
fn folder_of(path: &Path) -> io::Result<PathBuf> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => fs::canonicalize(folder),
        Some(_) | None => fs::canonicalize("."),
    }
}

/// Whether the system made this name, for a device or for a file that is open.
fn is_of_system(path: &Path) -> bool {
    // Shared memory holds files as any other folder does.
    let is_special =
        |it: PathBuf| it.starts_with("/proc") || (it.starts_with("/dev") && !it.starts_with("/dev/shm"));
    cfg!(unix) && folder_of(path).is_ok_and(is_special)
}

/// Opens what a name of the system stands for. What was written to it before stays.
fn open_of_system(path: &Path, steps: &[PathBuf]) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let open_files = fs::canonicalize("/dev/fd").ok();
        let is_open_file = |it: &Path, number: &str| {
            it.file_name().is_some_and(|it| it == number) && folder_of(it).ok() == open_files
        };
        // With the same position: what is opened anew has its own, and they would overwrite each
        // other.
        if open_files.is_some() && steps.iter().any(|it| is_open_file(it, "1")) {
            return Ok(io::stdout().as_fd().try_clone_to_owned()?.into());
        }
        if open_files.is_some() && steps.iter().any(|it| is_open_file(it, "2")) {
            return Ok(io::stderr().as_fd().try_clone_to_owned()?.into());
        }
    }
    let _only_there = steps;
    File::options().append(true).open(path)
}

/// Whether the file may be writable all the same, although its folder is not.
fn is_refusal(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), CrossesDevices | PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

/// Copies the file at `from` over the one at `path`, which could not be replaced because of
/// `refusal`.
fn overwrite(path: &Path, from: &Path, refusal: io::Error) -> io::Result<()> {
    let mut text = File::open(from)?;
    let mut out = File::options().write(true).truncate(true).open(path).map_err(|_| refusal)?;
    io::copy(&mut text, &mut out)?;
    Ok(())
}

/// A new file in the folder of `path`, with a name of its own.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    remove_stale(path, name);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut aside = OsString::from(".");
        aside.push(name);
        aside.push(format!(".{}-{number}.part", process::id()));
        let aside = path.with_file_name(aside);
        let mut unfinished = unfinished();
        match File::create_new(&aside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Ok(file) => {
                // Where files cannot be locked, what a killed process leaves behind stays.
                let _unlocked = file.try_lock();
                unfinished.push(aside.clone());
                return Ok((file, aside));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Removes what killed processes have left of the file `name` at `path`.
fn remove_stale(path: &Path, name: &OsStr) {
    // Without `/proc` it is not known which processes have ended.
    let (Some(name), true) = (name.to_str(), Path::new("/proc/self").exists()) else { return };
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let id = found.to_str().and_then(|it| {
            let rest = it.strip_prefix('.')?.strip_prefix(name)?.strip_prefix('.')?;
            rest.strip_suffix(".part")?.split_once('-')?.0.parse::<u32>().ok()
        });
        // The number alone is not enough: processes that share a folder need not see each other.
        let is_free = || File::open(entry.path()).is_ok_and(|it| it.try_lock().is_ok());
        if id.is_some_and(|it| !Path::new("/proc").join(it.to_string()).exists()) && is_free() {
            let _best_effort = fs::remove_file(entry.path());
        }
    }
}

/// The only name of the file that is written at `path`, even if there is none yet: links are
/// followed, and so are `.` and `..`.
///
/// # Errors
///
/// If its folder does not exist or cannot be read.
pub fn place_of(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let last = follow(path.as_ref())?.pop().unwrap_or_default();
    let name = last.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    Ok(folder_of(&last)?.join(name))
}

/// Whether two files that exist are one, by another name or through a link.
#[must_use]
pub fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino())
    }
    #[cfg(not(unix))]
    {
        let _unknown = (one, other);
        false
    }
}

#[cfg(test)]
mod tests;
