//! Quoted texts, as JSON and EDN write them: both have the same escapes.

/// Writes a text with its quotes.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' => out.push_str(&format!("\\u{:04x}", u32::from(it))),
            _ => out.push(it),
        }
    }
    out.push('"');
}
