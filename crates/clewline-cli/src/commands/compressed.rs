//! Compressed input: gzip, zstd and bzip2, recognised by their first bytes and decoded as a stream.
//!
//! Files of several members, frames or streams, as parallel compressors and `cat` make them, are
//! read as one. Checksums are verified. Messages that were compressed one by one, as the collector
//! of OpenTelemetry does with `compression: zstd`, are read as those that were not.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
};

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
    ZstdMessages,
    Bzip2,
}

// The longest magic number.
const MAGIC_BYTES: usize = 8;

// That of a frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

impl Compression {
    const ALL: [Compression; 4] =
        [Compression::Gzip, Compression::Zstd, Compression::ZstdMessages, Compression::Bzip2];

    fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::ZstdMessages => "messages in zstd",
            Compression::Bzip2 => "bzip2",
        }
    }

    /// Whether `head` begins as this compression does; `None` if it is too short to know.
    ///
    /// No history begins so: one is text, and the bytes `BZh` are followed by a digit and by bytes
    /// that no text has; or else it is a message of another kind behind its length.
    fn is_of(self, head: &[u8]) -> Option<bool> {
        let is_at = |at: usize, byte: u8| match self {
            Compression::Gzip => byte == [0x1f, 0x8b, 8, byte][at],
            Compression::Zstd => match at {
                // A frame that is to be skipped may come first.
                0 => byte == ZSTD[0] || (0x50..=0x5f).contains(&byte),
                _ if head[0] == ZSTD[0] => byte == ZSTD[at],
                _ => byte == [0, 0x2a, 0x4d, 0x18][at],
            },
            // The length of a message of at most 64 MiB, and a frame.
            Compression::ZstdMessages => match at {
                0 => byte <= 3,
                1..4 => true,
                _ => byte == ZSTD[at - 4],
            },
            Compression::Bzip2 => match at {
                0..3 => byte == b"BZh"[at],
                _ => (b'1'..=b'9').contains(&byte),
            },
        };
        let magic = if self == Compression::ZstdMessages { 8 } else { 4 };
        match head.iter().take(magic).enumerate().all(|(at, &byte)| is_at(at, byte)) {
            false => Some(false),
            true => (magic <= head.len()).then_some(true),
        }
    }

    /// The compression of an input that begins with `head`, if it has one; `Err` if `head` is too
    /// short to know.
    fn detect(head: &[u8]) -> Result<Option<Compression>, ()> {
        let mut is_open = false;
        for compression in Compression::ALL {
            match compression.is_of(head) {
                Some(true) => return Ok(Some(compression)),
                Some(false) => (),
                None => is_open = true,
            }
        }
        if is_open { Err(()) } else { Ok(None) }
    }

    #[cfg(feature = "compressed")]
    fn decoder<'a>(self, input: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        let input = io::BufReader::with_capacity(1 << 16, Patient(input));
        match self {
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Compression::Zstd => Box::new(zstd::Frames::new(input)),
            Compression::ZstdMessages => Box::new(messages::Messages::new(input)),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        }
    }

    #[cfg(not(feature = "compressed"))]
    fn decoder<'a>(self, _input: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        Box::new(Refused)
    }
}

/// An input that is decoded if it is compressed.
pub struct Decoded<'a> {
    // What is read from, after the head.
    state: State<'a>,
}

enum State<'a> {
    // These bytes are too few to know.
    Unknown(Vec<u8>, Option<Box<dyn Read + Send + 'a>>),
    Plain(Box<dyn Read + Send + 'a>),
    Compressed(Compression, Box<dyn Read + Send + 'a>),
}

impl<'a> Decoded<'a> {
    /// The contents of `input`.
    #[must_use]
    pub fn new(input: impl Read + Send + 'a) -> Decoded<'a> {
        Decoded { state: State::Unknown(Vec::new(), Some(Box::new(input))) }
    }

    /// Reads until it is known whether the input is compressed.
    fn decide(&mut self) -> io::Result<()> {
        while let State::Unknown(head, input) = &mut self.state {
            let Some(source) = input else { return Ok(()) };
            let mut piece = [0; MAGIC_BYTES];
            // If this fails, because no input comes for a while, it is called again.
            let read = source.read(&mut piece)?;
            head.extend_from_slice(&piece[..read]);
            let detected = match Compression::detect(head) {
                Err(()) if read != 0 => continue,
                Err(()) => None,
                Ok(detected) => detected,
            };
            let (head, source) = (std::mem::take(head), input.take());
            let Some(source) = source else { return Ok(()) };
            let whole = io::Cursor::new(head).chain(source);
            self.state = match detected {
                None => State::Plain(Box::new(whole)),
                Some(compression) => State::Compressed(compression, compression.decoder(whole)),
            };
        }
        Ok(())
    }
}

impl fmt::Debug for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compression = match &self.state {
            State::Unknown(..) => "unknown",
            State::Plain(_) => "none",
            State::Compressed(compression, _) => compression.name(),
        };
        f.debug_struct("Decoded").field("compression", &compression).finish_non_exhaustive()
    }
}

impl Read for Decoded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decide()?;
        match &mut self.state {
            State::Unknown(..) => Ok(0),
            State::Plain(input) => input.read(buffer),
            State::Compressed(compression, input) => input.read(buffer).map_err(|error| {
                if error.kind() == io::ErrorKind::Interrupted {
                    return error;
                }
                io::Error::new(error.kind(), format!("as {}: {error}", compression.name()))
            }),
        }
    }
}

/// Whether the file at `path` is compressed. What cannot be read is not, and fails when it is read.
#[must_use]
pub fn is_compressed(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|it| it.take(MAGIC_BYTES as u64).read_to_end(&mut head));
    read.is_ok() && matches!(Compression::detect(&head), Ok(Some(_)))
}

/// An input that waits where the inner one times out: decoders cannot continue after an error.
#[cfg(feature = "compressed")]
struct Patient<R>(R);

#[cfg(feature = "compressed")]
impl<R: Read> Read for Patient<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
                        && !clewline_core::is_interrupted() => {}
                outcome => return outcome,
            }
        }
    }
}

#[cfg(not(feature = "compressed"))]
struct Refused;

#[cfg(not(feature = "compressed"))]
impl Read for Refused {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("this program was built without the feature `compressed`"))
    }
}

#[cfg(feature = "compressed")]
mod messages;
#[cfg(feature = "compressed")]
mod zstd;

#[cfg(all(test, feature = "compressed"))]
mod tests;
