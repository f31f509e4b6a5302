//! Outcomes of explorations as a page, as a picture, for programs, and as an entry of a summary.

use clewline_actors::{ActorId, StepKind};
use clewline_core::Verdict;
use clewline_methods::page_of;
use clewline_report::render::{
    Publish, WitnessShown,
    html::{ActorEvent, DiagramMessage, NotReceived, Page, PageCounterexample, SequenceDiagram},
    json::Object,
    publish::{plain_page, plain_row},
    summary::SummaryEntry,
    svg::{self, Ground},
};

use crate::{
    finding::{ActorFinding, ActorStep, ViolationKind},
    json,
    present::PresentedExploration,
    text,
};

impl Publish for PresentedExploration<'_> {
    /// The page of a finding shows the client history and every message. The page does not depend
    /// on durations.
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

    fn row(&self) -> SummaryEntry {
        let metrics = &self.outcome.metrics;
        let states = metrics.states.as_ref().map(|it| it.unique);
        SummaryEntry {
            name: format!("{} {}", self.context.system, self.context.harness),
            work: states.or(metrics.schedules.and_then(|it| u64::try_from(it).ok())),
            algorithm: self.context.scheduler.name().to_owned(),
            elapsed: self.outcome.elapsed,
            ..plain_row(self)
        }
    }
}

impl PresentedExploration<'_> {
    /// The client history, or its counterexample, as a standalone picture; none without a finding.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let judged = self.outcome.finding()?.judged(self.context.system, self.context.spec);
        Some(svg::counterexample(&judged, Ground::Paper).svg)
    }

    /// The page of the finding, starting from `page`.
    fn page_with(&self, finding: &ActorFinding, page: Page) -> Page {
        let Page { title, verdict, headline, words, next, facts, .. } = page;
        let judged = page_of(&finding.judged(self.context.system, self.context.spec));
        let mut page = Page { title, verdict, headline, words, next, facts, ..judged };
        match finding.why {
            ViolationKind::NotLinearizable => (),
            ViolationKind::Property(..) | ViolationKind::Stuck => {
                (page.counterexample, page.picture) = (PageCounterexample::default(), None)
            }
        }
        if finding.why == ViolationKind::Stuck {
            page.counterexample = PageCounterexample {
                operations: finding.pending().collect(),
                title: "The calls that never return".to_owned(),
                each: "it never returns".to_owned(),
            };
        }
        if !finding.steps.is_empty() {
            page.messages = Some(messages(finding));
        }
        page
    }
}

/// The schedule as a sequence diagram of actors, clients first, with other events.
fn messages(finding: &ActorFinding) -> SequenceDiagram {
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
            |actor, sentence, operation| ActorEvent { step: number, actor, description: sentence, operation };
        match step.kind {
            StepKind::Message | StepKind::Timer | StepKind::Lose => (),
            StepKind::Duplicate => {
                let sentence = format!("{} to {} will arrive twice", step.name, step.to);
                happenings.push(happening(Some(column(step.to)), sentence, None));
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
        for (&operation, sentence) in own {
            let actor = (step.kind != StepKind::Begin).then(|| column(step.to));
            happenings.push(happening(actor, sentence, Some(operation)));
        }
    }
    for step in &finding.waiting {
        let on_its_way =
            |it: DiagramMessage| DiagramMessage { received: None, otherwise: NotReceived::OnItsWay, ..it };
        messages.extend(message(step, 0, &column).map(on_its_way));
    }
    // In the order in which they were sent; initial messages come first.
    messages.sort_by_key(|it: &DiagramMessage| it.sent);
    SequenceDiagram { actors: actors.iter().map(ToString::to_string).collect(), messages, happenings }
}

/// The message that a step receives or loses, if it does.
fn message(step: &ActorStep, number: usize, column: &dyn Fn(ActorId) -> usize) -> Option<DiagramMessage> {
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
    Some(DiagramMessage {
        from: column(step.from),
        to: column(step.to),
        label: if step.kind == StepKind::Timer { format!("timer {}", step.name) } else { step.name.clone() },
        sent: step.sent_by.map_or(0, |it| it + 1),
        received,
        otherwise: NotReceived::Lost,
        operation: None,
    })
}
