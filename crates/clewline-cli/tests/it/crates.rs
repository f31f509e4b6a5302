//! Published crates as subjects: the correct ones hold, and all of them can be built.
//!
//! Runs here are few and short: only longer runs find the bugs.

use std::time::Duration;

use clewline_lab::{FoundSubject, crates::CRATES, subjects};

fn crates() -> impl Iterator<Item = FoundSubject> {
    subjects().filter(|it| CRATES.iter().any(|entry| entry.name == it.entry.name))
}

#[test]
fn correct_crates_hold_in_short_runs() {
    let mut held = 0;
    for found in crates().filter(|it| it.variant.flaw.is_none()) {
        let stress = clewline_lab::stress(&found.name()).unwrap();
        // The watchdog is for stuck threads, not for a busy machine.
        stress.seed(4).operations(40).executions(5).patience(Duration::from_secs(60)).assert();
        held += 1;
    }
    assert!(10 <= held, "{held} crates are right");
}

#[test]
fn every_crate_holds_its_specification() {
    for found in crates() {
        let testable = (found.variant.build)();
        assert_eq!(testable.specification().as_deref(), Some(found.entry.spec), "{}", found.name());
    }
}

#[test]
fn known_bugs_name_their_version() {
    for found in crates().filter(|it| it.variant.flaw.is_some()) {
        let version = found.variant.name;
        assert!(version.starts_with(|it: char| it.is_ascii_digit()), "{}", found.name());
    }
}
