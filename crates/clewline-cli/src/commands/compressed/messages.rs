//! Messages that were compressed one by one, each behind its length in four bytes, the highest
//! first: OpenTelemetry's collector writes them with `compression: zstd`.
//!
//! What is read is what the collector writes without compression: an object of JSON with a line
//! end, any other message behind its length.

use std::io::{self, BufRead, Read};

use super::zstd::Frames;

// As long as a message may be that is not compressed.
const MESSAGE_BYTES_MAX: u64 = 64 << 20;

/// The contents of all messages of an input.
pub(super) struct Messages<R> {
    input: R,
    message: io::Cursor<Vec<u8>>,
}

impl<R: BufRead> Messages<R> {
    /// The contents of `input`.
    pub(super) fn new(input: R) -> Messages<R> {
        Messages { input, message: io::Cursor::default() }
    }

    /// The next message.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.input.read_exact(&mut length)?;
        let length = u64::from(u32::from_be_bytes(length));
        let mut compressed = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut compressed)?;
        if (compressed.len() as u64) < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut message = vec![0; 4];
        Frames::new(&compressed[..]).take(MESSAGE_BYTES_MAX + 1).read_to_end(&mut message)?;
        let Some(length) =
            u32::try_from(message.len() - 4).ok().filter(|it| u64::from(*it) <= MESSAGE_BYTES_MAX)
        else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is longer than 64 MiB"));
        };
        if message.get(4) == Some(&b'{') {
            message.push(b'\n');
            message.drain(..4);
        } else {
            message[..4].copy_from_slice(&length.to_be_bytes());
        }
        Ok(message)
    }
}

impl<R: BufRead> Read for Messages<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.message.fill_buf()?.is_empty() && !self.input.fill_buf()?.is_empty() {
            self.message = io::Cursor::new(self.next()?);
        }
        self.message.read(buffer)
    }
}
