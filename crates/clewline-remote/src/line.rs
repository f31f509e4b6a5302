//! Lines between two processes, which carry messages in both directions.

use std::{
    fmt,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
};

use crate::message::WireMessage;

/// The kind of a message with the reason why a process ends. No other kind is as large.
pub(crate) const GAVE_UP: u64 = u64::MAX - 1;

// Many small messages take one system call.
const BUFFER_BYTES: usize = 1 << 16;

/// One end of a line. Sent messages are buffered until something is received, or
/// [`flush`](Line::flush).
pub struct Line {
    from: BufReader<Box<dyn Read + Send>>,
    to: BufWriter<Box<dyn Write + Send>>,
    /// A message is being sent or received.
    is_busy: bool,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}

impl Line {
    /// A line that reads what the other end writes.
    pub fn new(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> Line {
        Line {
            from: BufReader::with_capacity(BUFFER_BYTES, Box::new(from)),
            to: BufWriter::with_capacity(BUFFER_BYTES, Box::new(to)),
            is_busy: false,
        }
    }

    /// Sends a message, at the latest when something is received.
    ///
    /// # Errors
    ///
    /// If the other process has ended.
    pub fn send(&mut self, message: &WireMessage) -> io::Result<()> {
        let length = u32::try_from(message.bytes().len()).map_err(io::Error::other)?;
        self.is_busy = true;
        self.to.write_all(&length.to_le_bytes())?;
        self.to.write_all(message.bytes())?;
        self.is_busy = false;
        Ok(())
    }

    /// Sends the reason why this process ends now, wherever it was interrupted: in the middle of
    /// another message nothing is sent.
    pub fn send_reason(&mut self, reason: &str) {
        if !self.is_busy {
            let mut message = WireMessage::new(GAVE_UP);
            message.put_text(reason);
            // The other process may have ended as well.
            let _sent = self.send(&message).and_then(|()| self.flush());
        }
    }

    /// Sends the buffered messages.
    ///
    /// # Errors
    ///
    /// If the other process has ended.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// Receives the next message into the memory of an old one.
    pub(crate) fn receive_again(&mut self, message: &mut WireMessage) -> io::Result<()> {
        let mut bytes = std::mem::take(message).into_bytes();
        self.receive_into(&mut bytes)?;
        *message = WireMessage::from_bytes(bytes);
        Ok(())
    }

    /// Receives the next message.
    ///
    /// # Errors
    ///
    /// If the other process has ended.
    pub fn receive(&mut self) -> io::Result<WireMessage> {
        let mut bytes = Vec::new();
        self.receive_into(&mut bytes)?;
        Ok(WireMessage::from_bytes(bytes))
    }

    fn receive_into(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.is_busy = true;
        self.receive_next(bytes)?;
        self.is_busy = false;
        Ok(())
    }

    fn receive_next(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.flush()?;
        let mut length = [0; 4];
        self.from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        bytes.clear();
        if let Some(there) = self.from.buffer().get(..length as usize) {
            bytes.extend(there);
            self.from.consume(length as usize);
            return Ok(());
        }
        // Memory is allocated for what arrives, not for the announced length.
        (&mut self.from).take(length.into()).read_to_end(bytes)?;
        if bytes.len() < length as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}
