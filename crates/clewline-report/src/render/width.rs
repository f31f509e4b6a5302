//! How wide a text is on a terminal.
//!
//! Texts are measured character by character, as drawings place them. Where several characters form
//! one glyph, this is more than some terminals show.

use unicode_width::UnicodeWidthChar;

/// A space at which no line is broken.
pub(super) const GLUE: char = '\u{a0}';

/// How many columns `text` takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// How many columns a character takes.
pub(super) fn char_width(char: char) -> usize {
    char.width().unwrap_or(1)
}
