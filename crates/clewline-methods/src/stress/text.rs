//! The report of a stress test, for people: the verdict, what it rests on, how it was found, what to do next.
//!
//! Written for someone who has never heard of linearizability.

use std::time::Duration;

use clewline_core::{Domain, Reason, Verdict};
use clewline_report::render::{
    count, grouped,
    text::{Paint, Style, checked_by, duration, evidence, line_numbers, painted, paragraph},
    trace,
};
use clewline_threads::{Ending, Noise, Panicked, Pinning, Standing};

use super::{Asked, Cause, Finding, Outcome, Saved, Shrinking, Workload, again::show_values};
use crate::{QuasiReading, relaxed};

const WIDTH: usize = 80;

/// Takes what a fact is called, and what is told.
pub(super) type Facts<'a> = dyn FnMut(&str, &str) + 'a;

/// The whole report.
pub(super) fn report(outcome: &Outcome, paint: Paint) -> String {
    let mut text = match outcome.shown() {
        Some(finding) => found(outcome, finding, paint),
        None => {
            let mut text = without_finding(outcome, paint);
            text.push('\n');
            if let Some(needed) = outcome.needed.as_ref().filter(|_| outcome.holds()) {
                text.push_str(&relaxed::distribution(needed, "runs"));
                text.push('\n');
            }
            rate(&mut |name, told| fact(&mut text, name, told), outcome);
            text
        }
    };
    for (place, command) in outcome.next.iter().enumerate() {
        let word = if place == 0 { "next" } else { "  or" };
        text.push_str(&format!("{word}: {command}\n"));
    }
    text
}

fn found(outcome: &Outcome, finding: &Finding, paint: Paint) -> String {
    let mut text = headline(outcome, finding, paint);
    text.push_str("\n\n");
    text.push_str(&shown(outcome, finding));
    text.push('\n');
    how(&mut |name, told| fact(&mut text, name, told), outcome, finding);
    text
}

/// What the finding rests on.
pub(super) fn shown(outcome: &Outcome, finding: &Finding) -> String {
    let mut text = String::new();
    match &finding.cause {
        Cause::NotLinearizable(ending) => {
            if let Some(told) = &finding.report.quasi {
                for sentence in told.why.iter().cloned().chain(told.about_least(finding.report.verdict())) {
                    paragraph(&mut text, &sentence, WIDTH);
                }
            }
            if is_drawn(finding) {
                let style = Style { width: WIDTH, ..Style::default() };
                text.push_str(&evidence(&finding.report.judged(), &style));
            }
            if let (Some(breaking), Verdict::Violated(violation)) =
                (&outcome.breaking, finding.report.verdict())
            {
                text.push_str("\n  What happened, one after the other, up to where it breaks:\n\n");
                text.push_str(&trace(&finding.report.judged(), violation, breaking, WIDTH));
            }
            if *ending != Ending::Full {
                text.push('\n');
            }
        }
        Cause::Stuck(..) | Cause::Panicked(_) => (),
    }
    text.push_str(&ended(outcome, finding));
    text
}

/// What went wrong besides answers: who is stuck, and who panicked.
pub(super) fn ended(outcome: &Outcome, finding: &Finding) -> String {
    let mut text = String::new();
    match &finding.cause {
        Cause::NotLinearizable(Ending::Full) => (),
        Cause::NotLinearizable(Ending::Stuck(patience, standings, panics)) => {
            stuck(&mut text, finding, *patience, standings);
            if !panics.is_empty() {
                text.push('\n');
                panicked(&mut text, finding, panics);
            }
        }
        Cause::NotLinearizable(Ending::Panicked(panics)) => panicked(&mut text, finding, panics),
        Cause::Stuck(patience, standings) => {
            stuck(&mut text, finding, *patience, standings);
            besides(&mut text, outcome, finding, "a deadlock, or a loop that never ends");
        }
        Cause::Panicked(panics) => {
            panicked(&mut text, finding, panics);
            besides(&mut text, outcome, finding, "a panic");
        }
    }
    text
}

/// Whether operations contradict each other, and are drawn. By displacement no few of them do.
fn is_drawn(finding: &Finding) -> bool {
    finding.report.quasi.as_ref().is_none_or(|it| it.reading == QuasiReading::Relaxed)
}

pub(super) fn headline(outcome: &Outcome, finding: &Finding, paint: Paint) -> String {
    let word = painted("violated", paint);
    let subject = &outcome.subject;
    match &finding.cause {
        Cause::NotLinearizable(_) => finding.report.headline(paint),
        Cause::Stuck(patience, _) => {
            format!("{word}: {subject} got stuck: nothing returned for {}", show_patience(*patience))
        }
        Cause::Panicked(panics) => {
            let operation = panics.first().and_then(|it| finding.pending(it.thread));
            let place = operation.map_or_else(String::new, |it| format!(" in {it}"));
            format!("{word}: {subject} panicked{place}")
        }
    }
}

/// Which operations do not return, and where their threads stand.
fn stuck(text: &mut String, finding: &Finding, patience: Duration, standings: &[Standing]) {
    let pending = standings.len() as u64;
    let returned = (finding.report.operations() as u64).saturating_sub(pending);
    let told = format!(
        "{} had returned, and then none did for {}. {} not come back:",
        count(returned, "operation", "operations"),
        show_patience(patience),
        count(pending, "thread has", "threads have"),
    );
    paragraph(text, &told, WIDTH);
    text.push('\n');
    for standing in standings {
        let operation = finding
            .pending(standing.thread)
            .unwrap_or_else(|| "no operation: it drops the subject".to_owned());
        text.push_str(&format!("  thread {} in {operation}: {standing}\n", standing.thread));
    }
}

/// `3 s`: it was asked for, not measured.
fn show_patience(patience: Duration) -> String {
    duration(patience).replace(".0 s", " s")
}

/// Which operations panicked, and what they said.
fn panicked(text: &mut String, finding: &Finding, panics: &[Panicked]) {
    for Panicked { thread, message } in panics {
        let operation = finding.pending(*thread).unwrap_or_else(|| "no operation".to_owned());
        text.push_str(&format!("  thread {thread} in {operation} panicked: {message}\n"));
    }
}

/// Whether the answers, at least, were right.
fn besides(text: &mut String, outcome: &Outcome, finding: &Finding, what: &str) {
    text.push('\n');
    let told = match finding.report.verdict() {
        Verdict::Holds(_) => {
            format!(
                "No answer was wrong: what had returned until then is {}. So this is {what}.",
                judged_as(outcome)
            )
        }
        Verdict::Unknown(reason) => {
            format!("Whether the answers until then were right is not known: {reason}.")
        }
        Verdict::Violated(_) => unreachable!("then that is the cause"),
    };
    paragraph(text, &told, WIDTH);
}

/// How it was found, and what is needed to find it again.
pub(super) fn how(fact: &mut Facts<'_>, outcome: &Outcome, finding: &Finding) {
    let first = outcome.finding.as_ref().unwrap_or(finding);
    fact(
        "found",
        &format!(
            "in run {}, after {} and {}, in runs of {}",
            grouped(first.run + 1),
            count(outcome.operations, "operation", "operations"),
            duration(first.after),
            show_workload(&outcome.workload),
        ),
    );
    shrinking(fact, outcome, finding);
    setting(fact, outcome);
    fact("judged", checked_by(&finding.report.judged()).trim_end().trim_start_matches("checked "));
    saved(fact, outcome, finding);
    fact(
        "seed",
        &format!(
            "{}. The calls follow from it, and the noise; how the system schedules the threads does not. So the same \
             seed may show it sooner or later, in other operations, or not at all.",
            outcome.seed
        ),
    );
}

/// What shrinking achieved.
fn shrinking(fact: &mut Facts<'_>, outcome: &Outcome, finding: &Finding) {
    let told = match &outcome.shrinking {
        Shrinking::Off => return,
        Shrinking::TooSlow => {
            "not tried: to see that a smaller run is stuck takes as long each time".to_owned()
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
                    "it was found with {}, too ({tried}{rest}){}",
                    show_change(&outcome.workload, smallest),
                    // The drawing may show another run: the one with the fewest operations that contradict each other.
                    if finding.workload == *smallest {
                        ", and is shown as it was there".to_owned()
                    } else {
                        format!("; shown is a run of {}", show_workload(&finding.workload))
                    },
                ),
            }
        }
    };
    fact("smaller", &told);
}

fn setting(fact: &mut Facts<'_>, outcome: &Outcome) {
    let pinned = match outcome.pinning {
        Pinning::Pinned => "each thread on its processor",
        Pinning::Free => "threads where the system puts them",
    };
    fact("recorded", &format!("with {}, {pinned}", outcome.clock));
}

fn saved(fact: &mut Facts<'_>, outcome: &Outcome, finding: &Finding) {
    let told = match &outcome.saved {
        Saved::Off => return,
        Saved::File(path) => {
            let more = match finding.report.verdict() {
                Verdict::Violated(_) if !is_drawn(finding) => String::new(),
                Verdict::Violated(violation) => {
                    let lines = line_numbers(&finding.report.judged(), &violation.core);
                    format!(" (drawn above: {lines})")
                }
                // What a check cannot tell is that more was expected.
                Verdict::Holds(_) => " (its answers are right, and `check` says so)".to_owned(),
                Verdict::Unknown(_) => String::new(),
            };
            format!("{}{more}", path.display())
        }
        Saved::NoNotation => format!(
            "nowhere: a file needs a specification that says how operations are written (`Notation`), and {} does not",
            outcome.spec
        ),
        Saved::Failed(folder, why) => format!("nowhere: {}: {why}", folder.display()),
    };
    fact("saved", &told);
}

/// The verdict in a line and what it means, if nothing was found.
pub(super) fn without_finding(outcome: &Outcome, paint: Paint) -> String {
    if outcome.holds() { nothing_found(outcome, paint) } else { given_up(outcome, paint) }
}

fn nothing_found(outcome: &Outcome, paint: Paint) -> String {
    let runs = format!("{} of {}", count(outcome.runs, "run", "runs"), outcome.subject);
    let word = painted("holds", paint);
    let mut text = match &outcome.needed {
        Some(needed) => format!("{word} with factor {} and no smaller one: {runs}\n\n", needed.factor()),
        None => format!("{word}: no violation found in {runs}\n\n"),
    };
    let told = format!(
        "{} in runs of {}. Every run was recorded and judged, and is {}: {}",
        count(outcome.operations, "operation", "operations"),
        show_workload(&outcome.workload),
        judged_as(outcome),
        match outcome.asked.as_ref().map(Asked::reading) {
            None | Some(QuasiReading::Relaxed) =>
                "its operations can be put in one order, each happening at one moment between its call and its return, in which every \
                 answer is right.",
            Some(QuasiReading::Displacement) =>
                "there is an order that keeps what precedes what, and one in which every answer is right, and nobody's places in the two \
                 differ by more.",
        },
    );
    paragraph(&mut text, &told, WIDTH);
    let others = match &outcome.needed {
        Some(_) => "may need a greater factor.",
        None => "may still go wrong.",
    };
    let told =
        format!("That is no proof. Other schedules of the threads, of which there are very many, {others}");
    paragraph(&mut text, &told, WIDTH);
    text
}

/// `linearizable as a queue`, or whatever else was asked.
fn judged_as(outcome: &Outcome) -> String {
    let (spec, article) = (&outcome.spec, article(&outcome.spec));
    match outcome.asked.as_ref().map(|it| (it.reading(), it.quasi())) {
        None => format!("linearizable as {article} {spec}"),
        Some((QuasiReading::Relaxed, _)) => match &outcome.needed {
            Some(needed) => format!("linearizable as {article} {spec}:{}", needed.factor()),
            None => format!("linearizable as {article} {spec}"),
        },
        Some((QuasiReading::Displacement, quasi)) => match &outcome.needed {
            Some(_) => format!("quasi linearizable as {article} {spec} with that factor"),
            None => format!("quasi linearizable as {article} {spec} with {quasi}"),
        },
    }
}

/// Some runs could not be judged, or none was made.
fn given_up(outcome: &Outcome, paint: Paint) -> String {
    let word = painted("unknown", paint);
    let subject = &outcome.subject;
    if outcome.runs == 0 {
        let mut text = format!("{word}: no run of {subject} was made\n\n");
        paragraph(&mut text, "Time was up before the first run, so nothing is known.", WIDTH);
        return text;
    }
    let reason = outcome.reason.as_ref().map_or_else(String::new, |it| format!(": {it}"));
    let mut text = format!(
        "{word}: {} of {} of {subject} could not be judged{reason}\n\n",
        grouped(outcome.unknown),
        count(outcome.runs, "run", "runs"),
    );
    let told = match outcome.runs - outcome.unknown {
        0 => "No run was judged, so nothing is known.".to_owned(),
        judged => format!(
            "{} judged, and nothing is wrong with {}; but those that were given up may hide a violation.",
            count(judged, "other run was", "other runs were"),
            if judged == 1 { "it" } else { "them" },
        ),
    };
    let advice = match outcome.reason {
        Some(Reason::Refused(_)) => {
            "Who was asked to judge cannot judge such runs; `auto` finds one who can."
        }
        Some(Reason::Configurations(_) | Reason::Memory(_) | Reason::Time(_) | Reason::Outrun) | None => {
            "Shorter runs, and values that are all different, are easier to judge."
        }
    };
    paragraph(&mut text, &format!("{told} {advice}"), WIDTH);
    text
}

/// How fast it was and how it was set up, if nothing was found.
pub(super) fn rate(fact: &mut Facts<'_>, outcome: &Outcome) {
    if outcome.runs != 0 {
        let per_second = outcome.operations as f64 / outcome.elapsed.as_secs_f64().max(1e-9);
        let told = format!(
            "{}: {} operations a second, recorded and judged",
            duration(outcome.elapsed),
            grouped(per_second as u64)
        );
        fact("took", &told);
    }
    setting(fact, outcome);
    fact("seed", &outcome.seed.to_string());
}

/// A line that says what `name` is, and more lines if it is long.
fn fact(text: &mut String, name: &str, told: &str) {
    // Where all of them begin. A paragraph is indented by two, which are taken away again.
    const COLUMN: usize = 10;
    let mut lines = String::new();
    paragraph(&mut lines, told, WIDTH - COLUMN + 2);
    for (place, line) in lines.lines().enumerate() {
        let label = if place == 0 { format!("{name}:") } else { String::new() };
        text.push_str(&format!("{label:COLUMN$}{}\n", line.trim_start()));
    }
}

/// `4 threads × 2,048 operations, without noise`.
fn show_workload(workload: &Workload) -> String {
    let Workload { threads, operations, noise, .. } = workload;
    format!(
        "{} × {}, {}",
        count(*threads as u64, "thread", "threads"),
        count(*operations as u64, "operation", "operations"),
        show_noise(*noise)
    )
}

/// What is different in `smaller`, and how many threads and operations there are in any case.
fn show_change(from: &Workload, smaller: &Workload) -> String {
    let mut told = format!(
        "{} × {}",
        count(smaller.threads as u64, "thread", "threads"),
        count(smaller.operations as u64, "operation", "operations")
    );
    if smaller.keys != from.keys {
        told.push_str(&format!(", {}", count(smaller.keys as u64, "key", "keys")));
    }
    if smaller.values != from.values {
        let values = match smaller.values {
            Domain::Below(bound) => count(u64::from(bound), "value", "values"),
            Domain::Distinct | Domain::Shuffled => format!("{} values", show_values(smaller.values)),
        };
        told.push_str(&format!(", {values}"));
    }
    told
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

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
