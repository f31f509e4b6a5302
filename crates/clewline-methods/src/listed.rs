//! Histories as texts, so that those of two explorations can be compared.

use clewline_core::Recording;
use clewline_formats::formats::jsonl;

/// The operations of a history in JSON lines. Their times are the places of their ends among all
/// ends.
///
/// # Errors
///
/// If a value cannot be written.
pub(crate) fn json_lines(recording: &Recording) -> Result<String, String> {
    let mut lines = Vec::new();
    jsonl::ENTRY.write(recording, &mut lines).map_err(|it| it.to_string())?;
    String::from_utf8(lines).map_err(|it| it.to_string())
}

/// An array of histories, each an array of its operations.
#[cfg(feature = "html")]
pub(crate) fn to_json(histories: &[String]) -> serde_json::Value {
    let operation =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| line.into());
    histories.iter().map(|it| it.lines().map(operation).collect::<Vec<_>>()).collect::<Vec<_>>().into()
}
