//! Standard input that says when nothing has come for a while, so that what has come can be judged.

use std::{
    io::{self, Read},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

const TICK: Duration = Duration::from_millis(200);
const PIECE: usize = 1 << 18;
// How many pieces may wait to be read.
const AHEAD: usize = 4;

/// An input that fails with [`io::ErrorKind::TimedOut`] when nothing has come for a while, and then goes on.
pub(super) struct Ticking {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    // How much of the piece has been read.
    read: usize,
}

impl Ticking {
    pub(super) fn stdin() -> Ticking {
        Ticking::new(io::stdin())
    }

    fn new(mut input: impl Read + Send + 'static) -> Ticking {
        let (sender, pieces) = mpsc::sync_channel(AHEAD);
        // It ends with the input, or with the process: nobody can interrupt a read.
        thread::spawn(move || {
            loop {
                let mut piece = vec![0; PIECE];
                let outcome = match input.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    outcome => outcome.map(|read| {
                        piece.truncate(read);
                        piece
                    }),
                };
                let is_last = !matches!(&outcome, Ok(piece) if !piece.is_empty());
                if sender.send(outcome).is_err() || is_last {
                    return;
                }
            }
        });
        Ticking { pieces, piece: Vec::new(), read: 0 }
    }
}

impl Read for Ticking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.piece.len() {
            self.piece = match self.pieces.recv_timeout(TICK) {
                Ok(piece) => piece?,
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::TimedOut.into()),
                Err(RecvTimeoutError::Disconnected) => Vec::new(),
            };
            self.read = 0;
        }
        let read = (&self.piece[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_read_and_silence_is_told() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut input = Ticking::new(reader);
        let mut buffer = [0; 8];
        assert_eq!(input.read(&mut buffer).expect_err("nothing yet").kind(), io::ErrorKind::TimedOut);
        io::Write::write_all(&mut writer, b"abc").expect("it is open");
        assert_eq!(input.read(&mut buffer).expect("something"), 3);
        drop(writer);
        assert_eq!(input.read(&mut buffer).expect("the end"), 0);
        assert_eq!(input.read(&mut buffer).expect("still the end"), 0);
    }
}
