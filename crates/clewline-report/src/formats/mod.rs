//! The formats that histories are written in, one file each.
//!
//! A new one owes three things, and being in the table has them tested: it reads what it writes, its errors
//! name line and column, and no input whatever makes it panic.

use crate::Format;

clewline_core::registry! {
    /// Every format, by name.
    FORMATS: &dyn Format;
    jepsen, jepsen_log, jsonl, observations, porcupine_kv,
}

/// The format called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|it| it.name() == name)
}

/// The format of a file that begins with `head`, its first few KiB, and whose name ends in `.extension`.
///
/// What a file holds counts for more than what it is called: the extension decides only between formats that
/// look alike, and where there is nothing to look at.
#[must_use]
pub fn detect(head: &[u8], extension: Option<&str>) -> Option<&'static dyn Format> {
    let named = |it: &&dyn Format| extension.is_some_and(|extension| it.extensions().contains(&extension));
    let alike: Vec<&'static dyn Format> = FORMATS.iter().copied().filter(|it| it.recognises(head)).collect();
    let among = if alike.is_empty() { FORMATS } else { &alike };
    among.iter().copied().find(named).or(alike.first().copied())
}
