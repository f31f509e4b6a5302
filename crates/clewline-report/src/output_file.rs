//! Files that are written aside, and renamed when they are complete.
//!
//! After a full disk or a crash, and for a reader at the wrong moment, the old file is there or the
//! new one, and never a part of it.

use std::{
    ffi::OsString,
    fs::{self, File, Metadata},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// A file that is being written. It gets its name with [`commit`](Self::commit); without that
/// nothing is left of it.
///
/// What is no regular file (a terminal, a pipe, `/dev/null`) cannot be replaced: it is written to
/// directly.
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
        let old = match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                let out = File::options().write(true).open(path)?;
                return Ok(OutputFile { out: Some(BufWriter::new(out)), path: path.to_owned(), aside: None });
            }
            outcome => outcome.ok(),
        };
        // Not a file that must not be written, although it could be replaced.
        if old.is_some() {
            File::options().append(true).open(path)?;
        }
        // A link stays one: its target is replaced.
        let path = if path.is_symlink() { link_target(path)? } else { path.to_owned() };
        let (file, aside) = create_beside(&path)?;
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
    /// If not all of it could be written. What was there before is unchanged.
    pub fn commit(mut self) -> io::Result<()> {
        let Some(mut out) = self.out.take() else { return Ok(()) };
        out.flush()?;
        let Some(aside) = &self.aside else { return Ok(()) };
        // So that a full disk is an error now, and not after the old file is gone.
        match out.get_ref().sync_all() {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(error),
            Ok(()) | Err(_) => (),
        }
        drop(out);
        fs::rename(aside, &self.path)?;
        self.aside = None;
        Ok(())
    }
}

/// Replaces the file at `path` by `text`.
///
/// # Errors
///
/// If it cannot be written. What was there before is unchanged.
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
            let _best_effort = fs::remove_file(aside);
        }
    }
}

// Links that lead further are taken for a circle, as by the system.
const LINKS_MAX: usize = 40;

/// Where a link leads, even if there is nothing yet.
fn link_target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        if !path.is_symlink() {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A new file in the folder of `path`, with a name of its own.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut aside = OsString::from(".");
        aside.push(name);
        aside.push(format!(".{}-{number}.part", process::id()));
        let aside = path.with_file_name(aside);
        match File::create_new(&aside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            outcome => return outcome.map(|file| (file, aside)),
        }
    }
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
