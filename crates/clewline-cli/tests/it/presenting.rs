//! Every method reports the same in its text, on its page, as JSON and in summaries, since all of
//! them are made from the same data.

use std::time::Duration;

use clewline_core::Value;
use clewline_lab::systems::{NamedSystem, Shape, find_system};
use clewline_matrix::Component;
use clewline_methods::{
    Check, Quasi, QuasiReading, Report,
    line_up::{
        self, LineUp, PresentedMatrix,
        text::{Audience, InterleavingDetail},
    },
    stress::{Stress, StressOutcome},
};
use clewline_report::render::{
    Publish, WitnessShown,
    block::{Block, wrap},
    present,
    text::Style,
};
use clewline_specs::queue::{self, Queue};
use clewline_systems::{self as systems, ExploreProgress};
use clewline_threads::{
    Subject,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};
use serde_json::Value as Json;

use crate::run::{BAD, GOOD};

/// What is written, as one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_presented(shown: &dyn Publish, word: &str) {
    let style = Style::default();
    let (text, page, entry) = (present::text(shown, &style), shown.page(), shown.entry());
    assert_eq!(shown.word(), word, "{text}");
    let qualifier = shown.qualifier().map_or_else(String::new, |it| format!(" {it}"));
    let headline = shown.headline();
    assert!(text.starts_with(&format!("{word}{qualifier}: {headline}\n")), "{headline:?} of\n{text}");
    assert_eq!((page.verdict, page.headline.as_str()), (word, headline.as_str()));
    assert_eq!((entry.verdict.as_str(), entry.headline.as_str()), (word, headline.as_str()));
    let json: Json = serde_json::from_str(&shown.json(WitnessShown::Whole).to_string()).unwrap();
    assert_eq!(json["verdict"], word, "{json}");
    for paragraph in &page.words {
        assert!(unwrapped(&text).contains(&unwrapped(paragraph)), "{paragraph:?} is not in\n{text}");
    }
    assert!(text.contains(&wrap(&entry.blocks, style.width)), "{:?}\n{text}", entry.blocks);
    assert_eq!((page.next.as_slice(), entry.next.as_slice()), (&shown.next()[..], &shown.next()[..]));
    // A page must have text for users who cannot see the drawing.
    let has_words = |it: &Block| matches!(it, Block::Paragraph(_) | Block::Where(_) | Block::List(_));
    assert_eq!(shown.sentences(&style).iter().any(has_words), !page.words.is_empty(), "{text}");
}

fn judged(check: Check, text: &str) -> Report<'static> {
    let mut report = check.reader("overtaken.jsonl", text.as_bytes(), "queue").run().unwrap();
    report.set_next(vec!["clewline check …".to_owned(), "clewline check … --witness".to_owned()]);
    report
}

#[test]
fn a_check_is_reported_everywhere_alike() {
    check_presented(&judged(Check::new(), GOOD), "holds");
    check_presented(&judged(Check::new(), BAD), "violated");
    // Too many operations for the oracle.
    let line =
        |it| format!("{{\"process\": {it}, \"op\": \"enq\", \"arg\": {it}, \"call\": 0, \"return\": 1}}\n");
    let long: String = (0..100).map(line).collect();
    check_presented(&judged(Check::new().algorithm("oracle".parse().unwrap()), &long), "unknown");
    for (factors, reading, word) in [
        ("deq=?", QuasiReading::Relaxed, "holds"),
        ("deq=0", QuasiReading::Relaxed, "violated"),
        ("deq=?", QuasiReading::Displacement, "holds"),
        ("enq=0,deq=0", QuasiReading::Displacement, "violated"),
    ] {
        let quasi = factors.parse::<Quasi>().unwrap().with_reading(reading);
        check_presented(&judged(Check::new().quasi(quasi), BAD), word);
    }
}

/// A queue with one result, or none.
struct Stubborn(Option<Value>);

impl Subject<Queue> for Stubborn {
    fn call(&self, call: &queue::Call) -> Value {
        match *call {
            queue::Call::Enq(_) => Value::TRUE,
            queue::Call::Deq | queue::Call::Peek => self.0.expect("there is an answer"),
        }
    }
}

fn stressed(stress: Stress) -> StressOutcome {
    let stress = stress.threads(1).operations(20).executions(2).seed(1);
    stress.shrink(Duration::ZERO).without_saving().without_environment().run().unwrap()
}

#[test]
fn a_stress_test_is_reported_everywhere_alike() {
    let stress = |name: &str| clewline_lab::stress(name).unwrap();
    check_presented(&stressed(stress("ms-queue")), "holds");
    let refused = stress("treiber-stack").algorithm("queue-oriented".parse().unwrap());
    check_presented(&stressed(refused), "unknown");
    let least = stress("bk-queue").quasi("deq=?".parse().unwrap());
    check_presented(&stressed(least), "holds");
    check_presented(&stressed(Stress::new(Queue::default(), || Stubborn(Some(Value::TRUE)))), "violated");
    check_presented(&stressed(Stress::new(Queue::default(), || Stubborn(None))), "violated");
}

/// A counter that reads, and then writes.
fn losing() -> Component<AtomicU32> {
    Component::new(|| AtomicU32::new(0)).call("inc", |it: &AtomicU32| {
        let count = it.load(SeqCst);
        it.store(count + 1, SeqCst);
        count + 1
    })
}

#[test]
fn a_check_of_matrices_is_reported_everywhere_alike() {
    let counter = || LineUp::erased("counter", Box::new(losing()), None).without_environment();
    for (matrix, word) in [("inc inc | inc", "violated"), ("inc", "holds")] {
        let tested = counter().matrix(matrix).run().unwrap();
        check_presented(&tested, word);
        assert_eq!(tested.to_string(), present::text(&tested, &Style::default()));
    }
    let options = line_up::LineUpOptions::default();
    let telling = line_up::text::LineUpContext {
        subject: "counter",
        reader: Audience::Shell,
        is_replay: false,
        options: &options,
        next: &["clewline explore …".to_owned()],
        shown: InterleavingDetail::Short,
    };
    let check = |matrix: &str| line_up::check(&losing(), &matrix.parse().unwrap(), &options).unwrap();
    let (found, smallest, right) = (check("inc inc | inc"), check("inc | inc"), check("inc"));
    for (checked, smallest, word) in
        [(&found, Some(&smallest), "violated"), (&found, None, "violated"), (&right, None, "holds")]
    {
        check_presented(&PresentedMatrix { context: telling, checked, smallest }, word);
    }
}

#[test]
fn an_exploration_of_actors_is_reported_everywhere_alike() {
    for (system, states, stuck, word) in [
        ("edr", u64::MAX, systems::StuckCalls::Allow, "violated"),
        ("dr", u64::MAX, systems::StuckCalls::Allow, "holds"),
        ("adr", u64::MAX, systems::StuckCalls::Forbid, "violated"),
        ("chain:unnumbered", u64::MAX, systems::StuckCalls::Allow, "violated"),
        ("dr", 10, systems::StuckCalls::Allow, "unknown"),
    ] {
        let found = find_system(system).unwrap();
        let named = NamedSystem::new(found, found.variant.calls.parse::<Shape>().unwrap());
        let options = systems::ExploreOptions { states, stuck, ..systems::ExploreOptions::default() };
        let harness = named.harness(&options).unwrap();
        let outcome = systems::explore(&harness, &options, &ExploreProgress::default()).unwrap();
        let telling = systems::ExploreContext {
            system,
            harness: found.variant.calls,
            spec: found.system.spec,
            scheduler: options.scheduler,
            is_replay: false,
            next: &["clewline actors …".to_owned()],
        };
        check_presented(&systems::PresentedExploration { context: telling, outcome: &outcome }, word);
    }
}
