//! The first characters of a `Debug` text.

use std::fmt;

/// The first `max_chars` characters of `state` in `Debug` format. Formatting stops there: a state
/// may be large.
pub(super) fn debug_prefix(state: &impl fmt::Debug, max_chars: usize) -> String {
    struct LimitedWriter {
        text: String,
        chars_left: usize,
    }
    impl fmt::Write for LimitedWriter {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            for char in more.chars() {
                if self.chars_left == 0 {
                    return Err(fmt::Error);
                }
                self.chars_left -= 1;
                self.text.push(char);
            }
            Ok(())
        }
    }
    let mut writer = LimitedWriter { text: String::new(), chars_left: max_chars };
    match fmt::write(&mut writer, format_args!("{state:?}")) {
        Ok(()) => writer.text,
        Err(fmt::Error) => writer.text + "…",
    }
}
