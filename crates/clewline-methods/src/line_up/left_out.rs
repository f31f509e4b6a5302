//! What bounds left out, in words.

use clewline_report::render::count;
use clewline_threads::control::MemoryModel;

use super::options::LineUpOptions;

/// What was explored. `bounded` is the number of matrices of which a bound left something out;
/// `elsewhere`, what was under [another model](elsewhere), if that was not all.
pub(super) fn schedules(options: &LineUpOptions, bounded: u64, elsewhere: Option<&str>) -> String {
    if !options.scheduler.is_exhaustive {
        return "Schedules were drawn; others may still go wrong".to_owned();
    }
    let explored = match limits(options, bounded) {
        None => "Every schedule was explored".to_owned(),
        Some(limits) if limits.is_empty() => "Not every schedule was explored".to_owned(),
        Some(limits) => format!("Every schedule with at most {limits} was explored"),
    };
    match (elsewhere, bounded) {
        (None, 0) => explored,
        (None, _) if limits(options, bounded).is_some_and(|it| !it.is_empty()) => {
            format!("{explored}; those with more may still go wrong")
        }
        (None, _) => format!("{explored}; others may still go wrong"),
        (Some(elsewhere), _) => format!("{explored}, but {elsewhere}; others may still go wrong"),
    }
}

/// What was explored under another model than the first: nothing if that was everything.
pub(super) fn elsewhere(options: &LineUpOptions, bounded: u64) -> Option<String> {
    let model = options.memory.model.name();
    limits(options, bounded).map(|it| match &*it {
        "" => format!("not under {model}"),
        limits => format!("under {model} only those with at most {limits}"),
    })
}

/// `2 preemptions and 2 stale reads`, if such bounds left something out; empty if the bound has no
/// number.
fn limits(options: &LineUpOptions, bounded: u64) -> Option<String> {
    let bound = options.bound().map(|(bound, most)| bound.count(most));
    let all: Vec<String> = bound.into_iter().chain(stale_reads(options)).collect();
    (bounded != 0).then(|| all.join(" and "))
}

/// `2 stale reads`, if they are bounded.
pub(super) fn stale_reads(options: &LineUpOptions) -> Option<String> {
    let stale = options.memory.stale_max.filter(|_| options.memory.model == MemoryModel::ReleaseAcquire);
    stale.map(|it| count(it.into(), "stale read", "stale reads"))
}
