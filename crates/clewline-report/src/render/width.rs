//! How wide a text is on a terminal.
//!
//! Letters of East Asian scripts and most pictures take two columns; marks that belong to the letter before them take
//! none. Terminals differ in details, so only the large blocks are told apart.

/// A space at which no line is broken.
pub(super) const GLUE: char = '\u{a0}';

/// How many columns `text` takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// How many columns a character takes.
pub(super) fn char_width(char: char) -> usize {
    match char as u32 {
        // Marks above and below letters, joiners, and the choice between text and picture.
        0x0300..=0x036F | 0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0x33FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xA000..=0xA4CF
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1F9FF
        | 0x1FA70..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}
