//! Compressed inputs are read as what was compressed.

use std::io::Write;

use clewline_core::Random;

use super::*;

const TEXT: &[u8] = b"{\"process\": 0, \"op\": \"enq\", \"arg\": 1, \"call\": 0, \"return\": 3}\n";

fn compress(compression: Compression, text: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(text).expect("memory");
            writer.finish().expect("memory")
        }
        Compression::Zstd => {
            ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
        }
        Compression::ZstdMessages => {
            let message = compress(Compression::Zstd, text);
            [&u32::try_from(message.len()).expect("short").to_be_bytes()[..], &message].concat()
        }
        Compression::Bzip2 => {
            let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            writer.write_all(text).expect("memory");
            writer.finish().expect("memory")
        }
    }
}

/// What is read where `text` was compressed.
fn expected(compression: Compression, text: &[u8]) -> Vec<u8> {
    match compression {
        Compression::ZstdMessages if text.starts_with(b"{") => [text, b"\n"].concat(),
        Compression::ZstdMessages => {
            [&u32::try_from(text.len()).expect("short").to_be_bytes()[..], text].concat()
        }
        Compression::Gzip | Compression::Zstd | Compression::Bzip2 => text.to_vec(),
    }
}

/// An input that times out before every byte.
struct Slow<'a>(&'a [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        match self.1 {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => {
                let length = buffer.len().min(1);
                self.0.read(&mut buffer[..length])
            }
        }
    }
}

fn read_slowly(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut input = Decoded::new(Slow(bytes, false));
    let (mut read, mut piece) = (Vec::new(), [0; 7]);
    loop {
        match input.read(&mut piece) {
            Ok(0) => return Ok(read),
            Ok(length) => read.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => (),
            Err(error) => return Err(error),
        }
    }
}

fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    Decoded::new(bytes).read_to_end(&mut read).map(|_| read)
}

#[test]
fn what_was_compressed_is_read_again() {
    let long: Vec<u8> = TEXT.iter().copied().cycle().take(300_000).collect();
    for compression in Compression::ALL {
        for text in [&b""[..], &TEXT[..1], TEXT, &TEXT[1..], &long] {
            let bytes = compress(compression, text);
            assert_eq!(Compression::detect(&bytes), Ok(Some(compression)));
            let once = expected(compression, text);
            assert_eq!(read(&bytes).expect("it is whole"), once, "{compression:?}");
            let twice = [bytes.clone(), bytes].concat();
            assert_eq!(read(&twice).expect("it is whole"), once.repeat(2), "{compression:?} twice");
        }
        let bytes = compress(compression, TEXT);
        let once = expected(compression, TEXT);
        assert_eq!(read_slowly(&bytes).expect("it is whole"), once, "{compression:?}");
    }
}

#[test]
fn what_is_not_compressed_is_read_as_it_is() {
    for text in [
        &b""[..],
        b"{",
        b"(",
        b"\x1f",
        b"BZh",
        b"BZ: 1",
        b"\x28\xb5\x2f",
        b"Q*M",
        b"\0\0\0\x09\x28\xb5\x2f",
        b"\0",
        TEXT,
    ] {
        assert_eq!(read(text).expect("it is read"), text);
        assert_eq!(read_slowly(text).expect("it is read"), text);
    }
}

#[test]
fn frames_to_skip_are_skipped() {
    let mut bytes = vec![0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    bytes.extend(compress(Compression::Zstd, TEXT));
    assert_eq!(read(&bytes).expect("it is whole"), TEXT);
    let error = read(&bytes[..10]).expect_err("the frame does not end");
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
}

#[test]
fn damaged_input_is_an_error_that_names_the_compression() {
    let mut random = Random::new(7);
    for compression in Compression::ALL {
        let whole = compress(compression, &TEXT.repeat(20));
        let error = read(&whole[..whole.len() - 1]).expect_err("it is cut");
        assert!(error.to_string().starts_with(&format!("as {}: ", compression.name())), "{error}");
        let mut refused = 0;
        for _ in 0..300 {
            let mut bytes = whole.clone();
            for _ in 0..1 + random.below(3) {
                let at = MAGIC_BYTES + random.below(bytes.len() - MAGIC_BYTES);
                bytes[at] ^= 1 << random.below(8);
            }
            refused += usize::from(read(&bytes).is_err());
        }
        assert!(200 < refused, "{compression:?}: {refused} of 300 were refused");
    }
}
