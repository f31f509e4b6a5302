//! Rust panics, as the panic hook reports them on standard error.

use clewline_threads::control::{FailureKind, Panic};

// This many are shown: a thread that waits for a panicking thread often panics as well.
const PANICS_SHOWN_MAX: usize = 3;

/// The reason why a Rust program failed, from its standard output and standard error.
pub(super) fn panic_in_output([out, err]: &[String; 2]) -> Option<Panic> {
    panicked(err).or_else(|| err.lines().chain(out.lines()).find_map(failure_without_panic))
}

/// The failure of a test that did not panic, as the test harness reports it.
fn failure_without_panic(line: &str) -> Option<Panic> {
    if let Some(rest) = line.strip_prefix("note: test did not panic as expected") {
        let place = rest.strip_prefix(" at ").map(without_column);
        let message = "the test did not panic, though it should".to_owned();
        return Some(Panic { kind: FailureKind::Failure, message, place, step: None });
    }
    let error = line.strip_prefix("Error: ")?;
    let message = format!("the test returned an error: {error}");
    Some(Panic { kind: FailureKind::Failure, message, ..Panic::default() })
}

/// Combines the reported panics: each but the last has its place in the message.
fn panicked(said: &str) -> Option<Panic> {
    let mut all = panics_in(said);
    all.truncate(PANICS_SHOWN_MAX);
    let last = all.pop()?;
    let before = all.iter().map(|it| match &it.place {
        Some(place) => format!("{} ({place}); after that: ", it.message),
        None => format!("{}; after that: ", it.message),
    });
    let message = before.chain([last.message]).collect();
    Some(Panic { kind: FailureKind::Panic, message, place: last.place, step: None })
}

/// `thread 'a' panicked at src/lib.rs:3:5:`, and the message in the lines that follow.
fn panics_in(said: &str) -> Vec<Panic> {
    let mut panics: Vec<Panic> = Vec::new();
    let mut is_message = false;
    for line in said.lines() {
        let header =
            Some(line).filter(|it| it.starts_with("thread '")).and_then(|it| it.split_once(" panicked at "));
        if let Some((_, place)) = header {
            is_message = true;
            panics.push(Panic { place: Some(without_column(place)), ..Panic::default() });
        } else if line.starts_with("note: ") || line.starts_with("stack backtrace:") || line.is_empty() {
            is_message = false;
        } else if is_message && let Some(last) = panics.last_mut() {
            if !last.message.is_empty() {
                last.message.push(' ');
            }
            last.message.push_str(line.trim());
        }
    }
    panics
}

/// `src/lib.rs:3` of `src/lib.rs:3:5:`.
fn without_column(place: &str) -> String {
    let place = place.strip_suffix(':').unwrap_or(place);
    place.rsplit_once(':').map_or(place, |it| it.0).to_owned()
}
