//! The fuzz target: one format reads arbitrary bytes.
//!
//! `fuzz/corpus/FORMAT` holds seeds made by hand; those that the format refuses are called `bad-…`.
//! Finds belong elsewhere, so give another folder first:
//!
//! ```text
//! CLEWLINE_FORMAT=jsonl cargo +nightly fuzz run format fuzz/target/jsonl fuzz/corpus/jsonl
//! ```

use clewline_formats::{ReadOptions, WriteError, formats};

/// Reads `input` in the format called `name`. It may be refused, but with a place; and what is read
/// can be written and read again, if the format can hold it.
///
/// # Panics
///
/// If any of this is not so: that is a find.
pub fn digest(name: &str, input: &[u8]) {
    let format = formats::find(name).expect("a format of that name");
    for keyed in [false, true] {
        let options = ReadOptions { keyed, ..ReadOptions::default() };
        let recording = match format.read(&mut &*input, &options) {
            Ok(recording) => recording,
            Err(error) => {
                assert!(1 <= error.line, "{error}");
                continue;
            }
        };
        let mut written = Vec::new();
        match format.write(&recording, &mut written) {
            Err(WriteError::CannotHold(_)) => continue,
            Err(error) => panic!("memory cannot fail: {error}"),
            Ok(()) => (),
        }
        let again = format.read(&mut &written[..], &options);
        let again = again.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&written)));
        assert_eq!(again.history.len(), recording.history.len());
        let mut rewritten = Vec::new();
        format.write(&again, &mut rewritten).expect("held before");
        let (written, rewritten) = (String::from_utf8_lossy(&written), String::from_utf8_lossy(&rewritten));
        assert_eq!(written, rewritten, "writing again what was read again changes nothing");
    }
}
