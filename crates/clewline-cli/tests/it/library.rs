//! The public library.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use clewline::assert_linearizable;
use clewline_core::{Event, History, Reason, Verdict};
use clewline_methods::{Check, CheckProgress, check, check_file};

use crate::run::{BAD, Folder, GOOD, hard};

/// A register of integers.
#[derive(Debug)]
struct Register;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    Read,
    Write(i64),
}

impl clewline_core::Deterministic for Register {
    type State = i64;
    type Call = Call;
    type Return = Option<i64>;

    fn initial(&self) -> i64 {
        0
    }

    fn apply(&self, state: &mut i64, call: &Call) -> Option<Option<i64>> {
        match *call {
            Call::Read => Some(Some(*state)),
            Call::Write(value) => {
                *state = value;
                Some(None)
            }
        }
    }
}

/// A value is written, and then something is read.
fn write_then_read(seen: i64) -> History<Call, Option<i64>> {
    History::from_events([
        Event::call(0, Call::Write(1)),
        Event::ret(0, None),
        Event::call(1, Call::Read),
        Event::ret(1, Some(seen)),
    ])
    .expect("well formed")
}

#[test]
fn a_typed_history_is_checked() {
    assert!(check(&Register, &write_then_read(1)).holds());
    let bad = write_then_read(0);
    let report = check(&Register, &bad);
    assert!(matches!(report.verdict(), Verdict::Violated(_)));
    assert_eq!((report.operations(), report.objects()), (2, 1));
    assert!(report.to_string().starts_with("violated: the history is not linearizable as a Register\n"));
}

#[test]
fn the_assertion_is_silent_on_what_holds() {
    assert_linearizable(&Register, &write_then_read(1));
}

#[test]
fn the_assertion_panics_with_the_whole_report() {
    let history = write_then_read(0);
    let directly = std::panic::catch_unwind(|| assert_linearizable(&Register, &history));
    let configured = std::panic::catch_unwind(|| {
        Check::new().configurations(1_000).history(&Register, &history).assert();
    });
    for panic in [directly, configured] {
        let panic = panic.expect_err("a violation");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains("0: |--Write(1) → None--|"), "{message}");
        assert!(message.contains("\nchecked by "), "{message}");
    }
    Check::new().history(&Register, &write_then_read(1)).assert();
}

#[test]
fn a_limit_on_configurations_gives_unknown() {
    let history = write_then_read(0);
    let report =
        Check::new().configurations(0).history(&Register, &history).run().expect("no limit needs a thread");
    assert_eq!(*report.verdict(), Verdict::Unknown(Reason::Configurations(0)));
    assert!(!report.holds());
}

#[test]
fn files_are_checked_by_name() {
    let folder = Folder::new("library-files").with("good.jsonl", GOOD).with("lost.jsonl", BAD);
    assert!(check_file(folder.path("good.jsonl"), "queue").expect("readable").holds());
    assert!(!check_file(folder.path("lost.jsonl"), "queue").expect("readable").holds());
    let error = check_file(folder.path("nowhere.jsonl"), "queue").expect_err("no such file");
    assert!(error.is_input() && error.to_string().contains("nowhere.jsonl: "));
    let error = check_file(folder.path("good.jsonl"), "qeue").expect_err("no such specification");
    assert!(!error.is_input() && error.to_string().contains("`queue`"), "{error}");
}

#[test]
fn a_memory_limit_gives_unknown() {
    let report = Check::new().memory(1).reader("hard", hard().as_bytes(), "queue").run().expect("readable");
    assert_eq!(*report.verdict(), Verdict::Unknown(Reason::Memory(1)));
}

#[test]
fn a_time_limit_that_is_not_reached_changes_nothing() {
    let check = Check::new().timeout(Duration::from_secs(3_600)).jobs(2);
    assert!(check.reader("good", GOOD.as_bytes(), "queue").run().expect("readable").holds());
}

#[test]
fn progress_is_reported() {
    let judged = Arc::new(AtomicU64::new(0));
    let printed = Arc::clone(&judged);
    let check = Check::new().progress(move |it| {
        if let CheckProgress::Judging(_) = it {
            printed.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(check.reader("good", GOOD.as_bytes(), "queue").run().expect("readable").holds());
    assert_eq!(judged.load(Ordering::Relaxed), 1);
}
