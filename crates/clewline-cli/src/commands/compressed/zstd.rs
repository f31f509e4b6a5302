//! Zstandard files, which may have several frames.

use std::{
    fmt,
    io::{self, BufRead, Read},
};

use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

// The largest window that `zstd` decodes without being asked to: 128 MiB.
const WINDOW_BYTES_MAX: u64 = 1 << 27;

/// The contents of all frames of an input.
pub(super) struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    /// The contents of `input`.
    pub(super) fn new(input: R) -> Frames<R> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES_MAX);
        Frames { input, decoder, is_in_frame: false }
    }

    /// Goes to the next frame with contents, and returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.is_in_frame {
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.input) {
                Ok(()) => self.is_in_frame = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let mut skipped = self.input.by_ref().take(length);
                    if io::copy(&mut skipped, &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(true)
    }

    /// The frame has ended, and all of it has been returned.
    fn end(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(given), Some(found)) if given != found => Err(invalid("the checksum does not match")),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.begin()? {
            let Frames { input, decoder, .. } = self;
            while decoder.can_collect() == 0 && !decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                decoder.decode_blocks(&mut *input, one).map_err(invalid)?;
            }
            match decoder.read(buffer)? {
                0 if !buffer.is_empty() && decoder.is_finished() => self.end()?,
                read => return Ok(read),
            }
        }
        Ok(0)
    }
}

fn invalid(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
