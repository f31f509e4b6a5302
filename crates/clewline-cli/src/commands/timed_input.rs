//! Standard input, or a pipe, with a read timeout, so that the lines read so far can be checked,
//! and a time limit is kept although nothing comes.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

const READ_TIMEOUT: Duration = Duration::from_millis(200);
const CHUNK_BYTES: usize = 1 << 18;
// Capacity of the channel.
const CHUNKS_AHEAD_MAX: usize = 4;

/// An input whose `read` fails with [`io::ErrorKind::TimedOut`] after 200 ms without data; the next
/// `read` continues.
pub(super) struct TimedInput {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    // Bytes of the chunk that were read.
    read: usize,
}

impl TimedInput {
    pub(super) fn stdin() -> TimedInput {
        TimedInput::new(io::stdin())
    }

    /// What is at `path`, if that is not a regular file: a pipe blocks until it is written to.
    pub(super) fn of_device(path: &Path) -> Option<TimedInput> {
        let is_device = fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir());
        let path = path.to_owned();
        is_device.then(|| TimedInput::opened(move || File::open(path)))
    }

    fn new(input: impl Read + Send + 'static) -> TimedInput {
        TimedInput::opened(move || Ok(input))
    }

    fn opened<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> TimedInput {
        let (sender, chunks) = mpsc::sync_channel(CHUNKS_AHEAD_MAX);
        // The thread ends with the input or with the process: a blocking read cannot be
        // interrupted.
        thread::spawn(move || {
            let mut input = match open() {
                Ok(input) => input,
                Err(error) => {
                    let _gone = sender.send(Err(error));
                    return;
                }
            };
            loop {
                let mut chunk = vec![0; CHUNK_BYTES];
                let outcome = match input.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    outcome => outcome.map(|read| {
                        chunk.truncate(read);
                        chunk
                    }),
                };
                let is_last = !matches!(&outcome, Ok(chunk) if !chunk.is_empty());
                if sender.send(outcome).is_err() || is_last {
                    return;
                }
            }
        });
        TimedInput { chunks, chunk: Vec::new(), read: 0 }
    }
}

impl Read for TimedInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.chunk.len() {
            self.chunk = match self.chunks.recv_timeout(READ_TIMEOUT) {
                Ok(chunk) => chunk?,
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::TimedOut.into()),
                Err(RecvTimeoutError::Disconnected) => Vec::new(),
            };
            self.read = 0;
        }
        let read = (&self.chunk[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_read_and_a_pause_is_a_timeout() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut input = TimedInput::new(reader);
        let mut buffer = [0; 8];
        assert_eq!(input.read(&mut buffer).expect_err("nothing yet").kind(), io::ErrorKind::TimedOut);
        io::Write::write_all(&mut writer, b"abc").expect("it is open");
        assert_eq!(input.read(&mut buffer).expect("something"), 3);
        drop(writer);
        assert_eq!(input.read(&mut buffer).expect("the end"), 0);
        assert_eq!(input.read(&mut buffer).expect("still the end"), 0);
    }
}
