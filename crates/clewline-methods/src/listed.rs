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

/// An array of histories, each an array of its operations, in ascending order of its text.
#[cfg(feature = "html")]
pub(crate) fn to_json(histories: &[String]) -> serde_json::Value {
    use serde_json::Value as Json;
    let operation = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| Json::from(line));
    let history = |it: &String| Json::from(it.lines().map(operation).collect::<Vec<Json>>());
    let mut all: Vec<Json> = histories.iter().map(history).collect();
    all.sort_by_cached_key(Json::to_string);
    all.into()
}
