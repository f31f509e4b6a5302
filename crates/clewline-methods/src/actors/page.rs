//! What came of exploring a system as a page, as a picture, and as an entry of a summary.

use clewline_actors::{ActorId, Kind};
use clewline_core::OperationId;
use clewline_report::render::{
    html::{Core, Happening, Message, Messages, Otherwise, Page},
    summary::{Entry, Word},
    svg::{self, Ground},
};

use super::{
    Finding, Outcome, Step, Verdict, Why,
    text::{self, Telling},
};
use crate::page::{page_of, paragraphs};

/// The outcome as a page that stands by itself. If something was found, what clients saw is on it, and every message.
///
/// Nothing on it depends on how long anything took.
#[must_use]
pub fn page(telling: &Telling<'_>, outcome: &Outcome) -> Page {
    let mut page = match &outcome.verdict {
        Verdict::Violated(finding) => page_with(telling, finding),
        Verdict::Holds | Verdict::Unknown(_) => {
            let mut told = String::new();
            text::meaning(&mut told, telling, outcome);
            let word = outcome.verdict.word();
            let mut page = Page::new(String::new(), word, String::new());
            page.words = paragraphs(&told);
            page
        }
    };
    page.title = format!("{}: {}", outcome.verdict.word(), telling.system);
    page.verdict = outcome.verdict.word();
    page.headline = text::headline(telling, outcome);
    page.next = telling.next.to_vec();
    let mut fact = |name: &str, told: &str| {
        let name = name.trim_end_matches(':');
        if name != "took" {
            page.facts.push((name.to_owned(), told.to_owned()));
        }
    };
    text::facts(&mut fact, telling, outcome);
    page
}

fn page_with(telling: &Telling<'_>, finding: &Finding) -> Page {
    let mut page = page_of(&finding.judged(telling.system, telling.spec), telling.next);
    match finding.why {
        Why::NotLinearizable => (),
        Why::Property(..) | Why::Stuck => {
            let mut told = String::new();
            text::violated(&mut told, telling, finding);
            page.words = paragraphs(&told);
            (page.core, page.picture) = (Core::default(), String::new());
        }
    }
    if finding.why == Why::Stuck {
        let ids = (0..finding.case.spans().len()).map(OperationId::from_index);
        page.core = Core {
            operations: ids.filter(|it| finding.case.spans()[it.index()].is_pending()).collect(),
            title: "What never returns".to_owned(),
            each: "it never returns".to_owned(),
        };
    }
    if !finding.steps.is_empty() {
        page.messages = Some(messages(finding));
    }
    page
}

/// What clients saw, or what of it cannot be, as a picture that stands by itself; none if nothing was found.
#[must_use]
pub fn svg(telling: &Telling<'_>, outcome: &Outcome) -> Option<String> {
    Some(svg::core(&outcome.finding()?.judged(telling.system, telling.spec), Ground::Paper))
}

/// What a summary says about the system, with its `harness`.
#[must_use]
pub fn entry(telling: &Telling<'_>, harness: &str, outcome: &Outcome) -> Entry {
    let mut told = String::new();
    match &outcome.verdict {
        Verdict::Violated(finding) => text::evidence_of(&mut told, telling, finding),
        Verdict::Holds | Verdict::Unknown(_) => text::meaning(&mut told, telling, outcome),
    }
    let states = outcome.metrics.states.as_ref().map(|it| it.unique);
    Entry {
        name: format!("{} {harness}", telling.system),
        verdict: Word::find(outcome.verdict.word()).expect("verdicts have these words"),
        headline: text::headline(telling, outcome),
        told,
        work: states.or(outcome.metrics.schedules.and_then(|it| u64::try_from(it).ok())),
        algorithm: telling.scheduler.name().to_owned(),
        elapsed: outcome.elapsed,
        place: None,
        next: telling.next.to_vec(),
        page: None,
    }
}

/// The schedule as messages between actors, clients first, and what happened besides.
fn messages(finding: &Finding) -> Messages {
    let mut actors: Vec<ActorId> = finding
        .steps
        .iter()
        .chain(&finding.waiting)
        .flat_map(|it| match it.kind {
            Kind::Message | Kind::Timer | Kind::Lose | Kind::Duplicate => vec![it.from, it.to],
            Kind::Crash | Kind::Restart => vec![it.to],
            Kind::Cut => it.side.clone(),
            Kind::Begin | Kind::Heal => Vec::new(),
        })
        .collect();
    actors.sort_unstable_by_key(|it| (!it.is_client(), it.index()));
    actors.dedup();
    let column = |it: ActorId| actors.iter().position(|actor| *actor == it).unwrap_or(0);
    let (mut messages, mut happenings) = (Vec::new(), Vec::new());
    for (at, step) in finding.steps.iter().enumerate() {
        let number = at + 1;
        messages.extend(message(step, number, &column));
        let happening = |actor, told, operation| Happening { step: number, actor, told, operation };
        match step.kind {
            Kind::Message | Kind::Timer | Kind::Lose => (),
            Kind::Duplicate => {
                let told = format!("{} to {} will arrive twice", step.name, step.to);
                happenings.push(happening(Some(column(step.to)), told, None));
            }
            Kind::Crash => happenings.push(happening(Some(column(step.to)), "crashes".to_owned(), None)),
            Kind::Restart => {
                happenings.push(happening(Some(column(step.to)), "starts again".to_owned(), None))
            }
            Kind::Begin | Kind::Cut | Kind::Heal => happenings.push(happening(None, text::line(step), None)),
        }
        let own = step.calls.iter().chain(&step.returns).zip(text::notes(finding, step));
        for (&operation, told) in own {
            let actor = (step.kind != Kind::Begin).then(|| column(step.to));
            happenings.push(happening(actor, told, Some(operation)));
        }
    }
    for step in &finding.waiting {
        let on_its_way = |it: Message| Message { received: None, otherwise: Otherwise::OnItsWay, ..it };
        messages.extend(message(step, 0, &column).map(on_its_way));
    }
    // As they were sent; those that were there at first come first.
    messages.sort_by_key(|it: &Message| it.sent);
    Messages { actors: actors.iter().map(ToString::to_string).collect(), messages, happenings }
}

/// The message that a step receives or loses, if it does.
fn message(step: &Step, number: usize, column: &dyn Fn(ActorId) -> usize) -> Option<Message> {
    let received = match step.kind {
        Kind::Message | Kind::Timer => Some(number),
        Kind::Lose => None,
        Kind::Duplicate | Kind::Begin | Kind::Crash | Kind::Restart | Kind::Cut | Kind::Heal => return None,
    };
    Some(Message {
        from: column(step.from),
        to: column(step.to),
        label: if step.kind == Kind::Timer { format!("timer {}", step.name) } else { step.name.clone() },
        sent: step.sent_by.map_or(0, |it| it + 1),
        received,
        otherwise: Otherwise::Lost,
        operation: None,
    })
}
