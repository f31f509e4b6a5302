//! The report of a stress test: the verdict, its evidence, how it was found.
//!
//! Written for readers who have never heard of linearizability.

use std::time::Duration;

use clewline_core::{ErasedHistory, Reason, ValueDomain, Verdict};
use clewline_report::render::{
    LINEARIZATION, Present,
    block::{Block, Fact},
    count, grouped,
    text::{Style, duration, judged_by, line_numbers, with_article},
    trace,
};
use clewline_threads::{Noise, Panicked, Pinning, RunEnding, StuckThread};

use super::{
    outcome::{RunFailure, Saved, Shrinking, StressFinding, StressOutcome, pending},
    plan::Workload,
};
use crate::relaxed::{self, QuasiReading, QuasiRequest};

/// The text after the verdict's word.
pub(super) fn headline(outcome: &StressOutcome) -> String {
    match outcome.shown() {
        Some(finding) => found(outcome, finding),
        None if outcome.holds() => nothing_found(outcome),
        None => given_up(outcome),
    }
}

/// The meaning of the verdict, and its evidence.
pub(super) fn sentences(outcome: &StressOutcome, style: &Style) -> Vec<Block> {
    let Some(finding) = outcome.shown() else {
        return if outcome.holds() { holds(outcome) } else { vec![Block::paragraph(unknown(outcome))] };
    };
    let mut blocks = Vec::new();
    if let RunFailure::NotLinearizable(_) = &finding.failure {
        blocks.extend(finding.report.sentences(style));
        if let (Some(breaking), Verdict::Violated(violation)) =
            (&outcome.failure_point, finding.report.verdict())
        {
            blocks.push(Block::caption("The events in their order, up to the failure point:"));
            blocks.extend(trace(&finding.report.judged(), violation, breaking, style.width));
        }
    }
    blocks.extend(failure_blocks(outcome, finding));
    blocks
}

/// Failures other than results: stuck operations, and panics.
pub(super) fn failure_blocks(outcome: &StressOutcome, finding: &StressFinding) -> Vec<Block> {
    let mut blocks = Vec::new();
    match &finding.failure {
        RunFailure::NotLinearizable(RunEnding::Full) => (),
        RunFailure::NotLinearizable(RunEnding::Stuck(patience, standings, panics)) => {
            blocks.extend(stuck(finding, *patience, standings));
            if !panics.is_empty() {
                blocks.push(panicked(finding, panics));
            }
        }
        RunFailure::NotLinearizable(RunEnding::Panicked(panics)) => blocks.push(panicked(finding, panics)),
        RunFailure::Stuck(patience, standings) => {
            blocks.extend(stuck(finding, *patience, standings));
            blocks.push(besides(outcome, finding));
        }
        RunFailure::Panicked(panics) => {
            blocks.push(panicked(finding, panics));
            blocks.push(besides(outcome, finding));
        }
    }
    blocks
}

fn found(outcome: &StressOutcome, finding: &StressFinding) -> String {
    let thread = match &finding.failure {
        RunFailure::NotLinearizable(_) => return finding.report.headline(),
        RunFailure::Stuck(_, threads) => threads.first().map(|it| it.thread),
        RunFailure::Panicked(panics) => panics.first().map(|it| it.thread),
    };
    let operation = thread.and_then(|it| pending(finding.report.case(), it));
    finding.failure.cause().headline(&outcome.subject, operation.as_deref())
}

/// The operations that do not return, and where their threads are.
fn stuck(finding: &StressFinding, patience: Duration, standings: &[StuckThread]) -> [Block; 2] {
    let pending = standings.len() as u64;
    let returned = (finding.report.operations() as u64).saturating_sub(pending);
    let sentence = format!(
        "{} had returned, and then none did for {}. {} not come back:",
        count(returned, "operation", "operations"),
        show_patience(patience),
        count(pending, "thread has", "threads have"),
    );
    let line = |it: &StuckThread| stuck_thread(finding.report.case(), &finding.workload, it);
    [Block::paragraph(sentence), Block::List(standings.iter().map(line).collect())]
}

/// `thread 0 in read(): runs`.
fn stuck_thread(case: &dyn ErasedHistory, workload: &Workload, standing: &StuckThread) -> String {
    let operation = pending(case, standing.thread);
    let operation = operation.unwrap_or_else(|| "no operation: it drops the subject".to_owned());
    format!("{} in {operation}: {standing}", workload.thread_name(standing.thread))
}

/// Why threads that do not return are no deadlock for certain.
pub(super) fn no_proof_of_deadlock(
    case: &dyn ErasedHistory,
    workload: &Workload,
    patience: Duration,
    standings: &[StuckThread],
) -> String {
    let threads: Vec<String> = standings.iter().map(|it| stuck_thread(case, workload, it)).collect();
    format!(
        "no operation returned for {}, but it is not certain that none would ({})",
        show_patience(patience),
        threads.join("; "),
    )
}

/// `3 s`: a setting, not a measurement.
fn show_patience(patience: Duration) -> String {
    duration(patience).replace(".0 s", " s")
}

/// The operations that panicked, and their messages.
fn panicked(finding: &StressFinding, panics: &[Panicked]) -> Block {
    let line = |Panicked { thread, message, .. }: &Panicked| {
        let operation = pending(finding.report.case(), *thread).unwrap_or_else(|| "no operation".to_owned());
        format!("{} in {operation} panicked: {message}", finding.workload.thread_name(*thread))
    };
    Block::List(panics.iter().map(line).collect())
}

/// Whether at least the results were correct.
fn besides(outcome: &StressOutcome, finding: &StressFinding) -> Block {
    Block::paragraph(match finding.report.verdict() {
        Verdict::Holds(_) => {
            format!(
                "No result was wrong: what had returned until then is {}. So this is a {}.",
                judged_as(outcome),
                finding.failure.cause(),
            )
        }
        Verdict::Unknown(reason) => {
            format!("Whether the results until then were right is not known: {reason}.")
        }
        Verdict::Violated(_) => unreachable!("then that is the cause"),
    })
}

/// How it was found, and the settings to find it again; or the rate, if there is no finding.
pub(super) fn facts(outcome: &StressOutcome) -> Vec<Fact> {
    let mut facts = match outcome.shown() {
        Some(finding) => how_found(outcome, finding),
        None => rate(outcome),
    };
    if !outcome.may_fail.is_empty() {
        facts.push(Fact::Named("allowed", outcome.may_fail.sentence()));
    }
    facts
}

fn how_found(outcome: &StressOutcome, finding: &StressFinding) -> Vec<Fact> {
    let first = outcome.finding.as_ref().unwrap_or(finding);
    let found = format!(
        "in execution {}, after {} and {}, in executions of {}",
        grouped(first.execution + 1),
        count(outcome.operations, "operation", "operations"),
        duration(first.after),
        show_workload(&outcome.workload),
    );
    let seed = format!(
        "{}. It determines the calls and the noise, but not how the system schedules the threads. So the same \
         seed may show it sooner or later, in other operations, or not at all.",
        outcome.seed
    );
    let mut facts = vec![Fact::Named("found", found)];
    facts.extend(shrinking(outcome, finding).map(|it| Fact::Named("smaller", it)));
    facts.push(setting(outcome));
    facts.push(Fact::Named("judged", judged_by(&finding.report.judged())));
    facts.extend(saved(outcome, finding).map(|it| Fact::Named("saved", it)));
    facts.push(Fact::Named("seed", seed));
    facts
}

/// The result of shrinking.
fn shrinking(outcome: &StressOutcome, finding: &StressFinding) -> Option<String> {
    Some(match &outcome.shrinking {
        Shrinking::Off => return None,
        Shrinking::TooSlow => {
            "not tried: to see that a smaller execution is stuck takes as long each time".to_owned()
        }
        Shrinking::Tried { smallest, attempts, elapsed, is_finished, .. } => {
            let tried = format!(
                "{} in {}",
                count(*attempts, "smaller workload was tried", "smaller workloads were tried"),
                duration(*elapsed)
            );
            let rest = if *is_finished { "" } else { ", then time was up" };
            match smallest {
                None => format!("it was not found with less ({tried}{rest})"),
                Some(smallest) => format!(
                    "it was also found with {} ({tried}{rest}){}",
                    show_change(&outcome.workload, smallest),
                    // The drawing may show another one: that with the smallest counterexample.
                    if finding.workload == *smallest {
                        "; such an execution is shown".to_owned()
                    } else {
                        format!("; shown is an execution of {}", show_workload(&finding.workload))
                    },
                ),
            }
        }
    })
}

fn setting(outcome: &StressOutcome) -> Fact {
    let pinned = match outcome.pinning {
        Pinning::Pinned => "each thread on its processor",
        Pinning::Free => "threads where the system puts them",
    };
    Fact::Named("recorded", format!("with {}, {pinned}", outcome.clock))
}

fn saved(outcome: &StressOutcome, finding: &StressFinding) -> Option<String> {
    Some(match &outcome.saved {
        Saved::Off => return None,
        Saved::File(path) => {
            let more = match finding.report.verdict() {
                // The displacement reading has no small counterexample, and nothing is drawn.
                Verdict::Violated(_) if finding.report.displaced().is_some() => String::new(),
                Verdict::Violated(violation) => {
                    let lines = line_numbers(&finding.report.judged(), &violation.counterexample);
                    format!(" (drawn above: {lines})")
                }
                // A check cannot show that more returns were expected.
                Verdict::Holds(_) => " (its results are right, and `check` says so)".to_owned(),
                Verdict::Unknown(_) => String::new(),
            };
            format!("{}{more}", clewline_report::relative_to_project(path).display())
        }
        Saved::Text(path) => format!(
            "{} (operations as `Debug` shows them, for people; see there for a file that can be read again)",
            clewline_report::relative_to_project(path).display()
        ),
        Saved::Failed(folder, why) => format!("nowhere: {}: {why}", folder.display()),
    })
}

/// The text about the factor between the word and the colon, if one was requested.
pub(super) fn qualifier(outcome: &StressOutcome) -> Option<String> {
    let needed = outcome.needed.as_ref().filter(|_| outcome.holds())?;
    Some(format!("with factor {} and no smaller one", needed.factor()))
}

fn nothing_found(outcome: &StressOutcome) -> String {
    let executions =
        format!("{} of {}", count(outcome.executions, "execution", "executions"), outcome.subject);
    if outcome.needed.is_some() { executions } else { format!("no violation found in {executions}") }
}

fn holds(outcome: &StressOutcome) -> Vec<Block> {
    let sentence = format!(
        "{} in executions of {}. Every execution was recorded and judged, and is {}: {}",
        count(outcome.operations, "operation", "operations"),
        show_workload(&outcome.workload),
        judged_as(outcome),
        match outcome.asked.as_ref().map(QuasiRequest::reading) {
            None | Some(QuasiReading::Relaxed) =>
                format!("its operations have a linearization, an order in which {LINEARIZATION}."),
            Some(QuasiReading::Displacement) =>
                "there is an order that respects real time, and one in which every result is right, and no operation's places in the \
                 two differ by more."
                    .to_owned(),
        },
    );
    let others = match &outcome.needed {
        Some(_) => "may need a greater factor.",
        None => "may still go wrong.",
    };
    let proof =
        format!("That is no proof. Other schedules of the threads, of which there are very many, {others}");
    let mut blocks = vec![Block::Paragraph(vec![sentence, proof])];
    blocks.extend(outcome.needed.as_ref().map(|it| Block::Drawing(relaxed::distribution(it, "executions"))));
    blocks
}

/// `linearizable as a queue`, or another property.
fn judged_as(outcome: &StressOutcome) -> String {
    let spec = with_article(&outcome.spec);
    match outcome.asked.as_ref().map(|it| (it.reading(), it.quasi())) {
        None => format!("linearizable as {spec}"),
        Some((QuasiReading::Relaxed, _)) => match &outcome.needed {
            Some(needed) => format!("linearizable as {spec}:{}", needed.factor()),
            None => format!("linearizable as {spec}"),
        },
        Some((QuasiReading::Displacement, quasi)) => match &outcome.needed {
            Some(_) => format!("quasi linearizable as {spec} with that factor"),
            None => format!("quasi linearizable as {spec} with {quasi}"),
        },
    }
}

/// Some executions have an unknown verdict, or there was none.
fn given_up(outcome: &StressOutcome) -> String {
    let subject = &outcome.subject;
    let unknown = grouped(outcome.unknown);
    let executions = count(outcome.executions, "execution", "executions");
    let reason = match &outcome.reason {
        Some(Reason::Interrupted) => return format!("interrupted after {executions} of {subject}"),
        _ if outcome.executions == 0 => return format!("no execution of {subject} was made"),
        reason => reason.as_ref().map_or_else(String::new, |it| format!(": {it}")),
    };
    format!("{unknown} of {executions} of {subject} could not be judged{reason}")
}

fn unknown(outcome: &StressOutcome) -> String {
    let sentence = match outcome.executions - outcome.unknown {
        0 if outcome.executions == 0 => return "There was no execution, so nothing is known.".to_owned(),
        0 => "No execution was judged, so nothing is known.".to_owned(),
        judged if outcome.reason == Some(Reason::Interrupted) => {
            return format!(
                "{} judged, and nothing is wrong with them.",
                count(judged, "execution was", "executions were")
            );
        }
        judged => format!(
            "{} judged, and nothing is wrong with {}; but those that were given up may hide a violation.",
            count(judged, "other execution was", "other executions were"),
            if judged == 1 { "it" } else { "them" },
        ),
    };
    let advice = match outcome.reason {
        Some(Reason::Refused(_)) => {
            "The chosen algorithm does not support such executions; `auto` selects one that does."
        }
        Some(Reason::Specification(_)) => {
            "The specification must have every operation that the structure has, and must not fail."
        }
        Some(Reason::NoReturn(_)) => {
            "A thread that runs, or sleeps for a limited time, may be in a livelock, or slow. More patience rules \
             out that it is slow; an exploration of all schedules finds livelocks for certain."
        }
        // Any other reason is a limit.
        Some(_) | None => "Shorter executions, and values that are all different, are easier to judge.",
    };
    format!("{sentence} {advice}")
}

/// The rate and the setting, if nothing was found.
fn rate(outcome: &StressOutcome) -> Vec<Fact> {
    let mut facts = Vec::new();
    if outcome.executions != 0 {
        let per_second = outcome.operations as f64 / outcome.elapsed.as_secs_f64().max(1e-9);
        let value = format!(
            "{}: {} operations a second, recorded and judged",
            duration(outcome.elapsed),
            grouped(per_second as u64)
        );
        facts.push(Fact::Named("took", value));
    }
    facts.push(setting(outcome));
    facts.push(Fact::Named("seed", outcome.seed.to_string()));
    facts
}

/// `4 threads × 2,048 operations, without noise`.
fn show_workload(workload: &Workload) -> String {
    format!("{}, {}", show_size(workload), show_noise(workload.noise))
}

/// `4 threads × 2,048 operations`, `3 threads (1 producer, 2 consumer) × 2,048 operations`.
fn show_size(Workload { threads, operations, roles, .. }: &Workload) -> String {
    let roles: Vec<String> = roles.iter().map(|it| format!("{} {}", it.threads, it.name)).collect();
    format!(
        "{}{} × {}",
        count(*threads as u64, "thread", "threads"),
        if roles.is_empty() { String::new() } else { format!(" ({})", roles.join(", ")) },
        count(*operations as u64, "operation", "operations"),
    )
}

/// The differences of `smaller`, and always its numbers of threads and operations.
fn show_change(from: &Workload, smaller: &Workload) -> String {
    let mut text = show_size(smaller);
    if smaller.keys != from.keys {
        text.push_str(&format!(", {}", count(smaller.keys as u64, "key", "keys")));
    }
    if smaller.values != from.values {
        let values = match smaller.values {
            ValueDomain::Below(bound) => count(u64::from(bound), "value", "values"),
            values => format!("{values} values"),
        };
        text.push_str(&format!(", {values}"));
    }
    text
}

fn show_noise(noise: Noise) -> String {
    let percent = |share: f64| format!("{} %", (share * 1e6).round() / 1e4);
    match (noise.between == 0.0, noise.inside == 0.0) {
        (true, true) => "without noise".to_owned(),
        (false, true) => format!("noise before {} of them", percent(noise.between)),
        (true, false) => format!("noise at {} of the points inside them", percent(noise.inside)),
        (false, false) => format!(
            "noise before {} of them and at {} of the points inside",
            percent(noise.between),
            percent(noise.inside)
        ),
    }
}
