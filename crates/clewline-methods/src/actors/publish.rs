//! What came of exploring a system as a page, as a picture, for programs, and as an entry of a summary.

use clewline_actors::{ActorId, StepKind};
use clewline_core::OperationId;
use clewline_report::render::{
    Publish, WitnessShown,
    html::{Core, Happening, Message, Messages, Otherwise, Page},
    json::Object,
    publish::{plain_entry, plain_page},
    summary::Entry,
    svg::{self, Ground},
};

use super::{
    finding::{Finding, Step, Why},
    json,
    outcome::Verdict,
    present::Presented,
    text,
};
use crate::page::page_of;

impl Publish for Presented<'_> {
    /// If something was found, what clients saw is on the page, and every message. Nothing on it depends on how long anything took.
    fn page(&self) -> Page {
        let mut page = plain_page(self);
        page.facts.retain(|it| it.0 != "took");
        match &self.outcome.verdict {
            Verdict::Violated(finding) => self.page_with(finding, page),
            Verdict::Holds(()) | Verdict::Unknown(_) => page,
        }
    }

    fn json(&self, _: WitnessShown) -> Object {
        json::object(&self.context, self.outcome)
    }

    fn entry(&self) -> Entry {
        let metrics = &self.outcome.metrics;
        let states = metrics.states.as_ref().map(|it| it.unique);
        Entry {
            name: format!("{} {}", self.context.system, self.context.harness),
            work: states.or(metrics.schedules.and_then(|it| u64::try_from(it).ok())),
            algorithm: self.context.scheduler.name().to_owned(),
            elapsed: self.outcome.elapsed,
            ..plain_entry(self)
        }
    }
}

impl Presented<'_> {
    /// What clients saw, or what of it cannot be, as a picture that stands by itself; none if nothing was found.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let judged = self.outcome.finding()?.judged(self.context.system, self.context.spec);
        Some(svg::counterexample(&judged, Ground::Paper).svg)
    }

    /// The page of what was found, with what is told on `page`.
    fn page_with(&self, finding: &Finding, page: Page) -> Page {
        let Page { title, verdict, headline, words, next, facts, .. } = page;
        let judged = page_of(&finding.judged(self.context.system, self.context.spec));
        let mut page = Page { title, verdict, headline, words, next, facts, ..judged };
        match finding.why {
            Why::NotLinearizable => (),
            Why::Property(..) | Why::Stuck => (page.counterexample, page.picture) = (Core::default(), None),
        }
        if finding.why == Why::Stuck {
            let ids = (0..finding.case.spans().len()).map(OperationId::from_index);
            page.counterexample = Core {
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
}

/// The schedule as messages between actors, clients first, and what happened besides.
fn messages(finding: &Finding) -> Messages {
    let mut actors: Vec<ActorId> = finding
        .steps
        .iter()
        .chain(&finding.waiting)
        .flat_map(|it| match it.kind {
            StepKind::Message | StepKind::Timer | StepKind::Lose | StepKind::Duplicate => {
                vec![it.from, it.to]
            }
            StepKind::Crash | StepKind::Restart => vec![it.to],
            StepKind::Cut => it.side.clone(),
            StepKind::Begin | StepKind::Heal => Vec::new(),
        })
        .collect();
    actors.sort_unstable_by_key(|it| (!it.is_client(), it.index()));
    actors.dedup();
    let column = |it: ActorId| actors.iter().position(|actor| *actor == it).unwrap_or(0);
    let (mut messages, mut happenings) = (Vec::new(), Vec::new());
    for (at, step) in finding.steps.iter().enumerate() {
        let number = at + 1;
        messages.extend(message(step, number, &column));
        let happening =
            |actor, told, operation| Happening { step: number, actor, description: told, operation };
        match step.kind {
            StepKind::Message | StepKind::Timer | StepKind::Lose => (),
            StepKind::Duplicate => {
                let told = format!("{} to {} will arrive twice", step.name, step.to);
                happenings.push(happening(Some(column(step.to)), told, None));
            }
            StepKind::Crash => happenings.push(happening(Some(column(step.to)), "crashes".to_owned(), None)),
            StepKind::Restart => {
                happenings.push(happening(Some(column(step.to)), "starts again".to_owned(), None))
            }
            StepKind::Begin | StepKind::Cut | StepKind::Heal => {
                happenings.push(happening(None, text::line(step), None))
            }
        }
        let own = step.calls.iter().chain(&step.returns).zip(text::notes(finding, step));
        for (&operation, told) in own {
            let actor = (step.kind != StepKind::Begin).then(|| column(step.to));
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
        StepKind::Message | StepKind::Timer => Some(number),
        StepKind::Lose => None,
        StepKind::Duplicate
        | StepKind::Begin
        | StepKind::Crash
        | StepKind::Restart
        | StepKind::Cut
        | StepKind::Heal => return None,
    };
    Some(Message {
        from: column(step.from),
        to: column(step.to),
        label: if step.kind == StepKind::Timer { format!("timer {}", step.name) } else { step.name.clone() },
        sent: step.sent_by.map_or(0, |it| it + 1),
        received,
        otherwise: Otherwise::Lost,
        operation: None,
    })
}
