//! A data race, in words.

use clewline_report::render::count;
use clewline_threads::control::{CellAccess, DataRace, RacingAccess, Remedy, RemedyKind};

/// The two accesses, and what would have ordered them.
pub(super) fn sentences(race: &DataRace) -> String {
    let has_sizes = race.first.size != race.second.size;
    let [first, second] = [&race.first, &race.second].map(|it| access(it, has_sizes));
    let all: Vec<String> = race.remedies.iter().map(remedy).collect();
    let remedies = match race.first.size {
        Some(_) if all.is_empty() => {
            " Nothing orders them: a lock that is held at both would, or a release store after the first and an acquire \
             load of it before the second. Atomic accesses do not race with each other."
                .to_owned()
        }
        _ if all.is_empty() => String::new(),
        _ => format!(" {} would order them.", capitalized(&all.join(", and "))),
    };
    format!(" One thread {first}, and the other {second}.{remedies}")
}

/// `writes it at src/lib.rs:3`.
fn access(racing: &RacingAccess, has_size: bool) -> String {
    let access = match racing.access {
        CellAccess::Read => "reads it",
        CellAccess::Write => "writes it",
        CellAccess::Drop => "drops it",
        CellAccess::Pointer => "takes a pointer to it",
        CellAccess::VolatileRead => "reads it (volatile, which is not atomic)",
        CellAccess::VolatileWrite => "writes it (volatile, which is not atomic)",
        CellAccess::AtomicRead => "reads it atomically",
        CellAccess::AtomicWrite => "writes it atomically",
        CellAccess::Free => "frees it",
    };
    let size = racing.size.filter(|_| has_size).map(|it| format!(" ({})", count(it.into(), "byte", "bytes")));
    format!("{access}{} at {}", size.unwrap_or_default(), racing.place)
}

fn remedy(it: &Remedy) -> String {
    let place = it.place;
    match it.kind {
        RemedyKind::Release => format!("a release store at {place}"),
        RemedyKind::Acquire => format!("an acquire load at {place}"),
        RemedyKind::LockForFirst => {
            format!("the lock that the second thread has taken at {place}, held at the first access,")
        }
        RemedyKind::LockForSecond => {
            format!("the lock that the first thread has taken at {place}, held at the second access,")
        }
    }
}

/// With a first letter that begins a sentence.
pub(super) fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}", first.to_uppercase())
}
