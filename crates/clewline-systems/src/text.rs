//! The report of an exploration: the verdict, its evidence, the counts.

use clewline_actors::{FaultPlacement, Faults, Modality, StepKind, schedulers::ActorScheduler};
use clewline_core::{OperationId, Verdict};
use clewline_explore::{Coverage, Limit};
use clewline_report::render::{
    LINEARIZATION,
    block::{Block, Fact},
    count, grouped,
    text::{self, Style, duration},
};

use crate::{
    finding::{ActorFinding, ActorStep, ViolationKind},
    outcome::{ExploreOutcome, Metrics, PhaseTimes},
};

/// The context of a report.
#[derive(Clone, Copy, Debug)]
pub struct ExploreContext<'a> {
    /// The system, as its user names it.
    pub system: &'a str,
    /// The calls, as its user names them: `2r+1w`, or a file.
    pub harness: &'a str,
    /// The name of its specification.
    pub spec: &'a str,
    /// The scheduler.
    pub scheduler: ActorScheduler,
    /// Whether a single schedule was replayed.
    pub is_replay: bool,
    /// The commands to type next, best first.
    pub next: &'a [String],
}

/// The text after the verdict's word.
pub(super) fn headline(context: &ExploreContext<'_>, outcome: &ExploreOutcome) -> String {
    let ExploreContext { system, spec, .. } = context;
    let spec = text::with_article(spec);
    // Without calls there is nothing to linearize.
    let is = if outcome.program.is_empty() {
        "is as its properties say".to_owned()
    } else {
        format!("is linearizable as {spec}")
    };
    let finding = match &outcome.verdict {
        Verdict::Holds(()) => return format!("{system} {is} in {}", seen(context, outcome)),
        Verdict::Unknown(why) => return format!("whether {system} {is}: {why}"),
        Verdict::Violated(finding) => finding,
    };
    let property = |name: &str, what: &str| format!("{system} violates the property \"{name}\": {what}");
    match finding.why {
        ViolationKind::NotLinearizable => {
            format!("{} as {spec}", finding.why.cause().headline(system, None))
        }
        ViolationKind::Property(name, Modality::Always) => property(name, "it is not always true"),
        ViolationKind::Property(name, Modality::Sometimes) => property(name, "it is never true"),
        ViolationKind::Property(name, Modality::Eventually) => property(name, "it need not become true"),
        ViolationKind::Stuck => {
            let call = finding.pending().next().map(|it| finding.case.shown(it).call());
            finding.why.cause().headline(system, call.as_deref())
        }
    }
}

fn seen(context: &ExploreContext<'_>, outcome: &ExploreOutcome) -> String {
    if context.is_replay {
        return "the schedule that was executed again".to_owned();
    }
    match &outcome.coverage {
        Coverage::Exhausted => "every schedule".to_owned(),
        Coverage::Limited(Limit::Sampled) => "all schedules that were drawn".to_owned(),
        Coverage::Limited(_) => "all schedules within the bound".to_owned(),
    }
}

/// The meaning of the verdict, and its evidence.
pub(super) fn sentences(context: &ExploreContext<'_>, outcome: &ExploreOutcome, style: &Style) -> Vec<Block> {
    match &outcome.verdict {
        Verdict::Holds(()) => holds(context, outcome),
        Verdict::Unknown(_) => vec![Block::paragraph(unknown(context))],
        Verdict::Violated(finding) => {
            let mut blocks = violated(context, finding, style);
            blocks.extend(schedule_blocks(finding));
            blocks
        }
    }
}

fn holds(context: &ExploreContext<'_>, outcome: &ExploreOutcome) -> Vec<Block> {
    let sentence = match &outcome.coverage {
        _ if outcome.program.is_empty() => {
            "No client makes a call, and every property is true when it should be.".to_owned()
        }
        _ if context.is_replay => "The calls of this schedule have a linearization.".to_owned(),
        Coverage::Exhausted => format!(
            "Whatever the order of messages, the calls have a linearization: an order in which {LINEARIZATION}."
        ),
        Coverage::Limited(_) => {
            "In every schedule that was executed, the calls have a linearization. There are \
             schedules that were not executed."
                .to_owned()
        }
    };
    let mut blocks = vec![Block::paragraph(sentence)];
    if !outcome.immediate.is_empty() {
        blocks.push(Block::paragraph(format!(
            "The harness says that {} can be delivered at once: other orders of these messages were not explored.",
            outcome.immediate.join(", ")
        )));
    }
    if outcome.metrics.states.as_ref().is_some_and(|it| it.stuck != 0) {
        blocks.push(Block::paragraph(
            "Some calls never return, in some schedules, although nothing can happen any more. That is not against \
             linearizability; --stuck forbid takes it for a violation.",
        ));
    }
    blocks
}

fn unknown(context: &ExploreContext<'_>) -> String {
    match context.scheduler.unsound() {
        Some(entry) => format!(
            "No violation that is certainly real was found by {}, which leave out histories and may show some that no \
             execution has. Without --compat the rules are sound.",
            entry.about
        ),
        None => "No violation was found in what was seen, and that was not everything.".to_owned(),
    }
}

/// The violation.
fn violated(context: &ExploreContext<'_>, finding: &ActorFinding, style: &Style) -> Vec<Block> {
    let sentence = match finding.why {
        ViolationKind::NotLinearizable => {
            return text::sentences(&finding.judged(context.system, context.spec), style);
        }
        ViolationKind::Property(name, Modality::Always) => {
            let place = if finding.is_given_up { "a state" } else { "the state" };
            let sentence =
                if finding.is_given_up { "that can be reached" } else { "to which this schedule leads" };
            format!("\"{name}\" is false in {place} {sentence}.")
        }
        ViolationKind::Property(name, Modality::Sometimes) => {
            format!("In none of the states that can be reached is \"{name}\" true.")
        }
        ViolationKind::Property(name, Modality::Eventually) => format!(
            "\"{name}\" is true in no state of this schedule, which then cannot go on, or comes back to a state in which it \
             was before and can repeat without end."
        ),
        ViolationKind::Stuck => {
            let schedule = if finding.is_given_up { "some schedule" } else { "this schedule" };
            let judged = finding.judged(context.system, context.spec);
            let call =
                |it: OperationId| format!("{} of {}", finding.case.shown(it).call(), judged.process(it));
            let pending: Vec<String> = finding.pending().map(call).collect();
            let have = if pending.len() == 1 { "has" } else { "have" };
            format!(
                "After {schedule} no message is left to deliver, and {} {have} not returned.",
                pending.join(" and ")
            )
        }
    };
    vec![Block::paragraph(sentence)]
}

/// The messages that lead to the violation.
fn schedule_blocks(finding: &ActorFinding) -> Vec<Block> {
    let mut blocks = Vec::new();
    if finding.is_given_up {
        blocks.push(Block::caption("A limit was hit before it was found out which messages lead there."));
    }
    if !finding.steps.is_empty() {
        blocks.push(Block::caption("How it came about, message by message:"));
        blocks.push(Block::Drawing(schedule(finding)));
    }
    blocks
}

/// The steps, numbered.
fn schedule(finding: &ActorFinding) -> Vec<String> {
    let lines: Vec<String> = finding.steps.iter().map(line).collect();
    let digits = lines.len().to_string().len();
    let noted = lines.iter().zip(&finding.steps).filter(|(_, it)| !notes(finding, it).is_empty());
    let width = noted.map(|(it, _)| it.chars().count()).max().unwrap_or(0).min(44);
    let shown = |(at, (line, step)): (usize, (&String, &ActorStep))| {
        let notes = notes(finding, step).join("; ");
        format!("{:>digits$}: {line:width$}  {notes}", at + 1).trim_end().to_owned()
    };
    lines.iter().zip(&finding.steps).enumerate().map(shown).collect()
}

/// `N2 ──FindSuccessor──► N1`, or another event.
pub(super) fn line(step: &ActorStep) -> String {
    let ActorStep { from, to, name, .. } = step;
    match step.kind {
        StepKind::Begin => "the actors start".to_owned(),
        StepKind::Message => format!("{from} ──{name}──► {to}"),
        StepKind::Timer => format!("{to}: timer {name}"),
        StepKind::Lose => format!("{from} ──{name}──✕ {to}  lost"),
        StepKind::Duplicate => format!("{from} ──{name}──► {to}  will arrive twice"),
        StepKind::Crash => format!("{to} crashes"),
        StepKind::Restart => format!("{to} starts again"),
        StepKind::Cut => {
            let side: Vec<String> = step.side.iter().map(ToString::to_string).collect();
            format!("{} cut off from the others", side.join(", "))
        }
        StepKind::Heal => "all hear each other again".to_owned(),
    }
}

pub(super) fn notes(finding: &ActorFinding, step: &ActorStep) -> Vec<String> {
    let called = step.calls.iter().map(|it| format!("calls {}", finding.case.shown(*it).call()));
    called.chain(step.returns.iter().map(|it| format!("returns {}", finding.case.label(*it)))).collect()
}

/// The replay command, and the counts.
pub(super) fn facts(context: &ExploreContext<'_>, outcome: &ExploreOutcome) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |name: &'static str, value: String| facts.push(Fact::Named(name, value));
    let program = outcome.finding().map_or(&outcome.program, |it| &it.program);
    if !program.is_empty() {
        fact("calls", program.join(", "));
    }
    if let Some(finding) = outcome.finding()
        && finding.program.len() < finding.calls_at_first
    {
        let left = finding.calls_at_first - finding.program.len();
        fact("found in", format!("{} calls, of which {left} could be left out", finding.calls_at_first));
    }
    if let Some(text) = faults(outcome.faults) {
        fact("faults", text);
    }
    if let Some(finding) = outcome.finding().filter(|it| !it.steps.is_empty()) {
        fact("schedule", format!("{} ({} steps)", finding.token, finding.steps.len()));
    }
    if !context.is_replay {
        explored(&mut fact, context, outcome);
    }
    fact("took", duration_text(outcome));
    facts
}

/// `1.2 s, 3 ms of it to judge histories; the first violation after 40 ms`.
fn duration_text(outcome: &ExploreOutcome) -> String {
    let mut text = duration(outcome.elapsed);
    if let Some(PhaseTimes { judging, first_violation, .. }) = outcome.metrics.times {
        text.push_str(&format!(", {} of it to judge histories", duration(judging)));
        if let Some(after) = first_violation {
            text.push_str(&format!("; the first violation after {}", duration(after)));
        }
    }
    text
}

fn explored(
    fact: &mut dyn FnMut(&'static str, String),
    context: &ExploreContext<'_>,
    outcome: &ExploreOutcome,
) {
    let Metrics { schedules, incomplete, unique, .. } = outcome.metrics;
    let metrics = &outcome.metrics;
    let by = context.scheduler.name();
    let mut text = match &metrics.states {
        Some(states) => {
            let edges = count(states.edges, "edge", "edges");
            let mut text = format!("{}, {edges}", count(states.unique, "state", "states"));
            let those = match states.places {
                FaultPlacement::Few => {
                    text.push_str(", with faults where they make a difference");
                    "such "
                }
                _ => "",
            };
            match schedules {
                Some(n) => text.push_str(&format!(": {} {those}{}", big(n), schedules_noun(n))),
                None if states.has_cycle => text.push_str("; some go round, so there is no end of schedules"),
                None => (),
            }
            text
        }
        None => {
            let n = schedules.unwrap_or(0);
            format!("{} {} by {by}", big(n), if n == 1 { "execution" } else { "executions" })
        }
    };
    if let Some(redundant) = metrics.redundant.filter(|it| *it != 0) {
        text.push_str(&format!(", {} given up as redundant", grouped(redundant)));
    }
    if let Some(depth) = metrics.depth {
        text.push_str(&format!(", the longest of {depth} steps"));
    }
    if let Some(incomplete) = incomplete.filter(|it| *it != 0) {
        text.push_str(&format!("; in {} some call never returned", grouped(incomplete)));
    }
    if let Some(states) = metrics.states.as_ref().filter(|it| it.stuck != 0) {
        let (stuck, ends) = (grouped(states.stuck), grouped(states.ends));
        text.push_str(&format!("; in {stuck} of {ends} ends some call never returned"));
    }
    fact("explored", text);
    let mut text = seen_histories(outcome);
    if let Some(unique) = unique {
        text = format!("{} histories by the order of events, {text}", grouped(unique));
    }
    fact("seen", text);
    // They are shares of violated histories.
    let of_violated = |share: Option<f64>| share.filter(|_| !is_of_no_history(outcome));
    let shares = [
        ("quality", of_violated(metrics.quality())),
        ("progression", metrics.progression()),
        ("precision", of_violated(metrics.precision())),
    ];
    let shares: Vec<String> =
        shares.iter().filter_map(|(name, it)| Some(format!("{name} {:.2} %", 100.0 * (*it)?))).collect();
    if !shares.is_empty() {
        fact("metrics", shares.join(", "));
    }
    if let Some(nth) = metrics.first_violation {
        fact("first", format!("execution {} was the first with a violation", grouped(nth)));
    }
    fact("coverage", outcome.coverage.to_string());
}

/// Whether something is violated, and it is not a history: a property, or a call never returns.
fn is_of_no_history(outcome: &ExploreOutcome) -> bool {
    outcome.finding().is_some_and(|it| it.why != ViolationKind::NotLinearizable)
}

/// `35 canonical histories, 0 violated`; beside another violation, `all linearizable`.
fn seen_histories(outcome: &ExploreOutcome) -> String {
    let Metrics { canonical, violated, unknown, existing, .. } = outcome.metrics;
    let of_these = |all: u64, wrong: u64| match (wrong, unknown) {
        _ if !is_of_no_history(outcome) || wrong != 0 => format!(", {} violated", grouped(wrong)),
        _ if all == 0 => String::new(),
        (_, 0) => if all == 1 { ", linearizable" } else { ", all linearizable" }.to_owned(),
        _ => ", none known not to be linearizable".to_owned(),
    };
    let mut text = count(canonical, "canonical history", "canonical histories");
    text.push_str(&of_these(canonical, violated));
    if let Some((all, wrong)) = existing {
        text.push_str(&format!("; in all there are {}{}", grouped(all), of_these(all, wrong)));
    }
    text
}

fn schedules_noun(number: u128) -> &'static str {
    if number == 1 { "schedule" } else { "schedules" }
}

fn big(number: u128) -> String {
    u64::try_from(number).map_or_else(|_| number.to_string(), grouped)
}

/// The faults, in words.
fn faults(faults: Faults) -> Option<String> {
    let kinds = [
        (faults.lose, "lost message", "lost messages"),
        (faults.duplicate, "duplicate", "duplicates"),
        (faults.crash, "crash", "crashes"),
        (faults.partition, "partition", "partitions"),
    ];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|it| it.0 != 0)
        .map(|&(n, one, many)| format!("{n} {}", if n == 1 { one } else { many }))
        .collect();
    (!kinds.is_empty()).then(|| format!("at most {}", kinds.join(", ")))
}
