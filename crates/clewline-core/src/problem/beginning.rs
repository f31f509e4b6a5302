//! The beginning of a text.

use std::fmt;

/// The first letters of what something is in `Debug`. No more than these are written: a state may be large.
pub(super) fn beginning(state: &impl fmt::Debug, most: usize) -> String {
    struct Limited {
        text: String,
        left: usize,
    }
    impl fmt::Write for Limited {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            for char in more.chars() {
                if self.left == 0 {
                    return Err(fmt::Error);
                }
                self.left -= 1;
                self.text.push(char);
            }
            Ok(())
        }
    }
    let mut limited = Limited { text: String::new(), left: most };
    match fmt::write(&mut limited, format_args!("{state:?}")) {
        Ok(()) => limited.text,
        Err(fmt::Error) => limited.text + "…",
    }
}
