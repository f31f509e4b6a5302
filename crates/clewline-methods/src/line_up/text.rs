//! The report of a check: the verdict, its evidence, what was explored.
//!
//! Written for readers who have never heard of linearizability.

use std::time::Duration;

use clewline_core::{Verdict, VerdictKind};
use clewline_explore::{Coverage, Limit};
use clewline_matrix::Matrix;
use clewline_report::render::{
    Cause,
    block::{Block, Fact, hanging},
    count, grouped,
    text::{Style, duration, holds_if, shell_word, with_article},
};
use clewline_threads::{control::MemoryModel, source_place};

pub use super::drawing::InterleavingDetail;
use super::{
    drawing::{self, Threads, blocked_threads, call_with_result, label},
    finding::{Checked, LineUpFinding, ObservedOperation, ShownSerialHistory, is_stuck},
    left_out,
    options::{LineUpOptions, Reference},
    race,
};
use crate::relaxed::{FactorHistogram, Judging, Quasi, distribution};

/// The audience of a report, which determines how settings are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A user of the command line, which has flags.
    Shell,
    /// The author of a test, who has the methods of the builder, the attribute and the environment.
    Test,
}

/// The context of a report.
#[derive(Clone, Copy, Debug)]
pub struct LineUpContext<'a> {
    /// The subject, as its user names it.
    pub subject: &'a str,
    /// The audience.
    pub reader: Audience,
    /// Whether a single execution was replayed.
    pub is_replay: bool,
    /// How matrices were checked.
    pub options: &'a LineUpOptions,
    /// The commands to type next, best first.
    pub next: &'a [String],
    /// How much of an interleaving is shown.
    pub shown: InterleavingDetail,
}

/// The summary of the results of many matrices.
#[derive(Clone, Debug, Default)]
pub struct MatrixSummary {
    /// How many matrices were checked.
    pub matrices: u64,
    /// The first of them.
    pub first: Option<Matrix>,
    /// How many are violated.
    pub violated: u64,
    /// How many have an unknown verdict.
    pub unknown: u64,
    /// Why, of the first of these.
    pub reason: Option<String>,
    /// The limit that was hit there.
    pub limit: Option<Limit>,
    /// Serial histories, of all matrices.
    pub serial_histories: u64,
    /// Of these, those that got stuck.
    pub serial_stuck: u64,
    /// Executions of the second phase.
    pub executions: u64,
    /// Distinct histories of the second phase.
    pub histories: u64,
    /// Of these, those that got stuck.
    pub stuck: u64,
    /// Matrices with bounded preemptions.
    pub bounded: u64,
    /// A loop that was taken for a waiting loop, but may as well count.
    pub guess: Option<String>,
    /// Executions that are not conflict-serializable, if they were counted.
    pub unserializable: Option<u64>,
    /// Of each matrix, the factors that its histories need, if that was requested.
    pub needed: Vec<(Matrix, FactorHistogram)>,
    /// How long both phases took, added up.
    pub elapsed: Duration,
    /// Why there were not more matrices.
    pub stopped: Option<String>,
}

impl MatrixSummary {
    /// Adds the result of one matrix.
    #[must_use]
    pub fn of(checked: &Checked) -> MatrixSummary {
        let mut summary = MatrixSummary::default();
        summary.add(checked);
        summary
    }

    /// Takes one more check in.
    pub fn add(&mut self, checked: &Checked) {
        self.matrices += 1;
        if self.first.is_none() {
            self.first = Some(checked.matrix.clone());
        }
        match &checked.verdict {
            Verdict::Holds(()) => (),
            Verdict::Violated(_) => self.violated += 1,
            Verdict::Unknown(reason) => {
                self.unknown += 1;
                if self.reason.is_none() {
                    self.reason = Some(reason.clone());
                    self.limit = match &checked.coverage {
                        Coverage::Exhausted => None,
                        Coverage::Limited(limit) => Some(limit.clone()),
                    };
                }
            }
        }
        self.serial_histories += checked.serial_histories() as u64;
        self.serial_stuck += checked.serial_stuck as u64;
        self.executions += checked.executions;
        self.histories += checked.histories as u64;
        self.stuck += checked.stuck as u64;
        self.bounded += u64::from(checked.is_bounded);
        self.guess = self.guess.take().or_else(|| checked.guess.clone());
        if let Some(it) = &checked.unserializable {
            *self.unserializable.get_or_insert(0) += it.executions;
        }
        self.needed.extend(checked.needed.iter().map(|it| (checked.matrix.clone(), it.clone())));
        self.elapsed += checked.elapsed.iter().sum();
    }

    /// The verdict on all of them.
    pub fn verdict(&self) -> VerdictKind {
        if self.violated != 0 {
            VerdictKind::Violated(())
        } else if self.unknown != 0 || self.stopped.is_some() || self.matrices == 0 {
            VerdictKind::Unknown(())
        } else {
            VerdictKind::Holds(())
        }
    }
}

/// The violation, and its interleaving.
pub(super) fn evidence(
    context: &LineUpContext<'_>,
    checked: &Checked,
    finding: &LineUpFinding,
    is_smaller: bool,
    style: &Style,
) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(cause(context, finding))];
    blocks.extend(finding.holds_if.as_ref().map(|it| Block::paragraph(holds_if(it))));
    if is_stuck(finding) {
        blocks.push(Block::Paragraph(blocked_threads(&checked.matrix, finding)));
    }
    // A whole program is one call.
    if !matches!(context.options.against, Reference::Anything) {
        blocks.extend(calls_and_results(context, checked, finding, is_smaller, style));
    }
    if !finding.moments.is_empty() {
        let which = if finding.cause == Cause::Nondeterminism { "the second" } else { "it" };
        let part = finding.moments.iter().find(|it| it.offset != 0);
        let part = part.map_or_else(String::new, |it| format!("; +{0} is {0} bytes further", it.offset));
        blocks.push(Block::caption(format!(
            "How {which} came about, one step a line (x1, x2, … are atomics and locks{part}):"
        )));
        blocks.push(Block::Drawing(drawing::interleaving(&checked.matrix, finding, context.shown)));
    }
    blocks
}

/// The matrix, what its calls returned, and the serial histories it is compared with.
fn calls_and_results(
    context: &LineUpContext<'_>,
    checked: &Checked,
    finding: &LineUpFinding,
    is_smaller: bool,
    style: &Style,
) -> Vec<Block> {
    let is_alone = checked.matrix.columns.len() == 1;
    let mut blocks = vec![
        Block::caption(match (is_alone, is_smaller) {
            (true, _) => "The calls:",
            (false, true) => "The smallest matrix in which it shows; its columns run at the same time:",
            (false, false) => "The matrix, whose columns run at the same time:",
        }),
        Block::Drawing(drawing::matrix(&checked.matrix)),
    ];
    if finding.cause == Cause::Nondeterminism {
        blocks.push(Block::caption("Two serial executions are the same up to one call, and then differ:"));
        blocks.push(serial_histories(checked, finding, style));
    } else {
        let lines = match is_partial(finding) {
            true => "What is above a line happens before all that is below it",
            false => "What is above a line had returned before anything below it was called",
        };
        blocks.push(Block::caption(format!("What the calls returned. {lines}:")));
        blocks.push(Block::Drawing(drawing::history(&checked.matrix, &finding.operations, style.width)));
        blocks.extend(not_called(finding));
        blocks.extend(witnesses(context, checked, finding, style));
    }
    blocks
}

/// The text after the verdict's word for a violation.
pub(super) fn headline(context: &LineUpContext<'_>, checked: &Checked, finding: &LineUpFinding) -> String {
    let operation = failing_operation(finding).map(|it| it.call.as_str());
    let headline = finding.cause.headline(context.subject, operation);
    let headline = match finding.cause {
        Cause::NotLinearizable => match (&context.options.judging, &context.options.against) {
            (Judging::Displaced(factors, _), _) => {
                format!("{} is not quasi linearizable with {factors}", context.subject)
            }
            (Judging::LeastRelaxed(spec), _) => {
                format!("{headline} as {}, with any factor", with_article(spec))
            }
            (Judging::Linearizable, Reference::Named(spec)) => {
                format!("{headline} as {}", with_article(spec))
            }
            (Judging::Linearizable, _) => headline,
        },
        _ if finding.panic.is_some() && checked.executions == 0 => {
            format!("{headline}, one call at a time")
        }
        _ => headline,
    };
    // Serial executions are sequentially consistent.
    if finding.is_serial { headline } else { headline + &under(context.options) }
}

/// The memory model of the verdict, after the headline. By default there is none to name.
fn under(options: &LineUpOptions) -> String {
    match options.memory.model {
        MemoryModel::SequentiallyConsistent => String::new(),
        model => format!(", under {}", model.title()),
    }
}

/// The operation that blocks or fails.
fn failing_operation(finding: &LineUpFinding) -> Option<&ObservedOperation> {
    match (&finding.panic, finding.blocked.first()) {
        // It may fail before its first step, with which it would count as called.
        (Some((process, _)), _) => {
            finding.operations.iter().find(|it| it.process == *process && it.returned.is_none())
        }
        (None, Some(&blocked)) => finding.operations.get(blocked),
        (None, None) => None,
    }
}

/// The source of the expected behaviour.
fn learned(against: &Reference) -> &'static str {
    match against {
        Reference::Serial => "the same calls were made one at a time, in every order",
        Reference::Observed(_) => "a file was read that says what the calls do one at a time, in every order",
        Reference::Golden(_) => "the golden implementation was called one call at a time, in every order",
        Reference::Specification | Reference::Named(_) => "the specification was asked for every order",
        Reference::Anything => "nothing was asked",
    }
}

/// Whether happens-before determines which calls precede which.
pub(super) fn is_partial(finding: &LineUpFinding) -> bool {
    finding.operations.iter().any(|it| it.order.is_some())
}

/// The kind of root cause, in plain words.
pub(super) fn cause(context: &LineUpContext<'_>, finding: &LineUpFinding) -> String {
    let right = learned(&context.options.against);
    let order = if is_partial(finding) { "happens-before" } else { "real time" };
    match finding.cause {
        Cause::Nondeterminism => format!(
            "Two serial executions of the same calls return different results, so no deterministic specification \
             fits. If that is intended, allow it with {}.",
            match context.reader {
                Audience::Shell => "--nondeterminism allow",
                Audience::Test => "`nondeterministic`",
            }
        ),
        Cause::NotLinearizable if let Judging::Displaced(factors, _) = &context.options.judging => {
            displaced(context.options, factors, finding)
        }
        Cause::NotLinearizable if let Some(spec) = specification(context.options) => {
            let sentence = finding.explanation.as_deref().map(|it| format!(" {}.", race::capitalized(it)));
            format!(
                "There should be an order of the calls that respects {order}, and in which {spec} \
                 gives these results. There is none.{}",
                sentence.unwrap_or_default()
            )
        }
        Cause::NotLinearizable => format!(
            "First {right}, to learn what is right. When the calls overlap, they return results that no sequential \
             order consistent with {order} produces."
        ),
        Cause::Deadlock | Cause::Livelock => stuck_sentence(context, finding),
        Cause::DataRace => {
            let accesses = finding.race.as_ref().map(race::sentences).unwrap_or_default();
            format!(
                "Two threads access the same data, at least one of them writes, and no happens-before order exists \
                 between the accesses.{accesses}"
            )
        }
        Cause::MemoryLeak => {
            let places: Vec<String> = finding.leaks.iter().map(|it| it.place.to_string()).collect();
            let places = places.join(", ");
            format!("Still allocated after the subject was dropped: objects created at {places}.")
        }
        _ => {
            let message = finding.panic.as_ref().map(|(_, panic)| {
                let place = panic.place.as_deref().map(|it| format!(" ({})", source_place(it)));
                let lines: Vec<&str> = panic.message.lines().map(str::trim).collect();
                format!(" The message is: {}{}.", lines.join(", "), place.unwrap_or_default())
            });
            let fails = if finding.cause == Cause::Panic { "panics" } else { "fails" };
            format!("An operation {fails} instead of returning.{}", message.unwrap_or_default())
        }
    }
}

/// What it means that a call does not return.
fn stuck_sentence(context: &LineUpContext<'_>, finding: &LineUpFinding) -> String {
    let meaning = match finding.cause {
        Cause::Livelock => {
            "runs a loop that never ends: every thread that can run does, and all come back to the same state"
        }
        _ => "blocks forever: a cycle of locks, or a lost wake-up",
    };
    if let Reference::Anything = context.options.against {
        return format!("At least one thread {meaning}.");
    }
    format!(
        "First {}, to learn which calls block. When the calls overlap, one that returns in those orders {meaning}. \
         No result is wrong.",
        learned(&context.options.against)
    )
}

/// The name of the specification, if there is one.
fn specification(options: &LineUpOptions) -> Option<String> {
    match (&options.against, &options.judging) {
        (_, Judging::LeastRelaxed(spec)) => Some(format!("{spec}, with any factor,")),
        (Reference::Named(spec), _) => Some(spec.clone()),
        (Reference::Specification, _) => Some("the specification".to_owned()),
        (Reference::Serial | Reference::Golden(_) | Reference::Observed(_) | Reference::Anything, _) => None,
    }
}

/// The meaning of displacement, and the displaced operations.
fn displaced(options: &LineUpOptions, factors: &Quasi, finding: &LineUpFinding) -> String {
    let right = match &options.against {
        Reference::Golden(_) | Reference::Serial | Reference::Observed(_) | Reference::Anything => {
            "in which the golden implementation returns the same"
        }
        Reference::Specification | Reference::Named(_) => "that the specification allows",
    };
    let sentence = finding.explanation.as_deref().unwrap_or("there are none");
    format!(
        "There must be two orders of the calls: one that respects real time, and one \
         {right}. Counted within its class, no call's place may differ between the two by more than its factor ({factors}). Here, {sentence}."
    )
}

fn not_called(finding: &LineUpFinding) -> Option<Block> {
    let rest = finding.operations.iter().filter(|it| it.called.is_none()).count() as u64;
    (rest != 0).then(|| Block::caption(format!("{} never made.", count(rest, "call was", "calls were"))))
}

// More are counted, not shown.
const SERIAL_HISTORIES_SHOWN_MAX: usize = 10;

/// Serial histories with the same results, and why none of them is a witness.
fn witnesses(
    context: &LineUpContext<'_>,
    checked: &Checked,
    finding: &LineUpFinding,
    style: &Style,
) -> Vec<Block> {
    // In the displacement reading, serial histories with the same order show nothing.
    if !matches!(context.options.judging, Judging::Linearizable) {
        return Vec::new();
    }
    let has_serial = match &context.options.against {
        Reference::Serial | Reference::Golden(_) | Reference::Observed(_) => true,
        Reference::Specification | Reference::Named(_) | Reference::Anything => false,
    };
    let is_judged = finding.cause == Cause::NotLinearizable || is_stuck(finding);
    if !has_serial || !is_judged {
        return Vec::new();
    }
    let all = checked.serial_histories() as u64;
    if finding.tried.is_empty() {
        let (none, s) = match all {
            1 => ("The only serial history of these calls does not".to_owned(), ""),
            n => (format!("None of the {} serial histories of these calls", grouped(n)), "s"),
        };
        return vec![Block::Caption(match finding.blocked.first() {
            // Serial histories in which it does not block have a result of it, so none has exactly
            // these.
            Some(&it) if is_stuck(finding) => format!(
                "{none} block{s} in {} after the calls that returned here, with these results.",
                finding.operations[it].call
            ),
            _ => format!("{none} produce{s} these results."),
        })];
    }
    let sentence = format!(
        "Of {}, {} these results, and none is a witness:",
        count(all, "serial history", "serial histories"),
        count(finding.tried.len() as u64, "has", "have"),
    );
    vec![Block::Caption(sentence), serial_histories(checked, finding, style)]
}

fn serial_histories(checked: &Checked, finding: &LineUpFinding, style: &Style) -> Block {
    let threads = Threads::of(&checked.matrix);
    let room = style.width.saturating_sub(2);
    let mut lines = Vec::new();
    for (number, serial) in finding.tried.iter().take(SERIAL_HISTORIES_SHOWN_MAX).enumerate() {
        let sentence = serial_history_text(&threads, finding, serial);
        lines.extend(hanging(&format!("{}. ", number + 1), &sentence, room));
        if let Some(why) = why_not_a_witness(&threads, finding, serial) {
            lines.extend(hanging("   ", &format!("but {why}"), room));
        }
    }
    let rest = finding.tried.len().saturating_sub(SERIAL_HISTORIES_SHOWN_MAX) as u64;
    if rest != 0 {
        lines.push(format!("… and {}", count(rest, "more", "more")));
    }
    Block::Drawing(lines)
}

pub(super) fn serial_history_text(
    threads: &Threads,
    finding: &LineUpFinding,
    serial: &ShownSerialHistory,
) -> String {
    let process = |at: usize| threads.name(finding.operations[at].process);
    let complete = serial.complete.iter();
    let mut operations: Vec<String> = complete
        .map(|(at, result)| {
            format!("{}: {}", process(*at), call_with_result(&finding.operations[*at].call, result))
        })
        .collect();
    operations
        .extend(serial.stuck.map(|at| format!("{}: {} blocks", process(at), finding.operations[at].call)));
    operations.join(", ")
}

pub(super) fn why_not_a_witness(
    threads: &Threads,
    finding: &LineUpFinding,
    serial: &ShownSerialHistory,
) -> Option<String> {
    let operation = |at: usize| {
        let seen = &finding.operations[at];
        format!("{}'s {}", threads.name(seen.process), label(seen))
    };
    if let Some((first, second)) = serial.wrong_order {
        return Some(format!("{} had returned before {} was called", operation(first), operation(second)));
    }
    if !is_stuck(finding) {
        return None;
    }
    let blocked = *finding.blocked.first()?;
    let call = &finding.operations[blocked].call;
    match serial.stuck {
        Some(other) if other != blocked => {
            Some(format!("{} blocks there, not {}", operation(other), operation(blocked)))
        }
        Some(_) => None,
        None => Some(format!("no call blocks there, but {call} blocks here")),
    }
}

/// The commands that replay it. `found` is the first failing matrix, if it has been shrunk since.
pub(super) fn facts(
    context: &LineUpContext<'_>,
    checked: &Checked,
    finding: &LineUpFinding,
    found: Option<&Matrix>,
) -> Vec<Fact> {
    let mut facts = vec![Fact::Named("matrix", typed(&checked.matrix, context.reader))];
    facts.extend(found.map(|it| Fact::Named("found in", typed(it, context.reader))));
    if !finding.is_serial {
        let preemptions = count(finding.preemptions as u64, "preemption", "preemptions");
        let token = context.options.memory.model.token(&finding.schedule);
        facts.push(Fact::Named("schedule", format!("{token} with {preemptions}")));
    }
    facts
}

/// The matrix as it is typed.
#[must_use]
pub fn typed(matrix: &Matrix, reader: Audience) -> String {
    let (columns, before, after) = match reader {
        Audience::Shell => ("--matrix ", " --initial ", " --final "),
        Audience::Test => ("", ", initial: ", ", last: "),
    };
    // Calls may have strings as arguments.
    let quoted = |text: String| match reader {
        Audience::Shell if text.contains('"') => shell_word(&text),
        Audience::Test if text.contains('"') => format!("{text:?}"),
        Audience::Shell | Audience::Test => format!("\"{text}\""),
    };
    let part = |name: &str, calls: &[String]| {
        if calls.is_empty() { String::new() } else { format!("{name}{}", quoted(calls.join(" "))) }
    };
    let columns = format!("{columns}{}", quoted(matrix.to_string()));
    format!("{columns}{}{}", part(before, &matrix.initial), part(after, &matrix.last))
}

/// The text about the factor between the word and the colon, if one was requested.
pub(super) fn qualifier(context: &LineUpContext<'_>, summary: &MatrixSummary) -> Option<String> {
    if summary.verdict() != VerdictKind::Holds(()) || !context.options.judging.is_question() {
        return None;
    }
    let least = summary.needed.iter().map(|it| it.1.factor()).max().unwrap_or(0);
    Some(format!("with factor {least} and no smaller one"))
}

/// The text after the verdict's word if no matrix is violated.
pub(super) fn headline_of_all(context: &LineUpContext<'_>, summary: &MatrixSummary) -> String {
    let subject = context.subject;
    let where_ = match (&summary.first, summary.matrices) {
        (Some(matrix), 1) => format!("\"{matrix}\" on {subject}"),
        (_, n) => format!("{} on {subject}", count(n, "matrix", "matrices")),
    };
    let where_ = where_ + &under(context.options);
    match (summary.verdict(), summary.matrices) {
        (VerdictKind::Holds(()), _) if context.options.judging.is_question() => where_,
        (VerdictKind::Holds(()), _) => format!("no violation found in {where_}"),
        (_, 0) => format!("no matrix was checked on {subject}"),
        (_, 1) => where_,
        (_, _) if summary.unknown == 0 => format!("{where_}, and more were asked for"),
        (_, n) => {
            format!("{} of {} matrices on {subject} are undecided", grouped(summary.unknown), grouped(n))
        }
    }
}

/// The meaning of the verdict, and how far histories are out of order.
pub(super) fn sentences_of_all(
    context: &LineUpContext<'_>,
    summary: &MatrixSummary,
    other: Option<&OtherPhase>,
) -> Vec<Block> {
    let reasons = summary.reason.iter().chain(&summary.stopped);
    let mut sentences: Vec<String> = reasons.map(|it| format!("{}.", race::capitalized(it))).collect();
    if summary.verdict() == VerdictKind::Holds(()) {
        sentences.push(meaning(context, summary, other));
    } else if summary.executions != 0 {
        sentences.push("What was explored holds, but that is not all there is.".to_owned());
    }
    let mut blocks = factor_blocks(context, summary);
    if !sentences.is_empty() {
        blocks.insert(0, Block::Paragraph(sentences));
    }
    blocks
}

// More are left out.
const FACTORS_SHOWN_MAX: usize = 20;

/// How far histories are out of order: in all, and of each matrix, those with the greatest factor
/// first.
fn factor_blocks(context: &LineUpContext<'_>, summary: &MatrixSummary) -> Vec<Block> {
    let mut all = FactorHistogram::default();
    summary.needed.iter().for_each(|it| all.add(&it.1));
    if all.histories.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Drawing(distribution(&all, "distinct histories"))];
    if summary.needed.len() == 1 {
        return blocks;
    }
    let mut matrices: Vec<&(Matrix, FactorHistogram)> = summary.needed.iter().collect();
    matrices.sort_by_key(|it| std::cmp::Reverse(it.1.factor()));
    let mut lines = vec!["factor  matrix".to_owned()];
    for (matrix, needed) in matrices.iter().take(FACTORS_SHOWN_MAX) {
        lines.push(format!("{:>6}  {}", needed.factor(), typed(matrix, context.reader)));
    }
    let rest = matrices.len().saturating_sub(FACTORS_SHOWN_MAX) as u64;
    if rest != 0 {
        lines.push(format!("        … and {}, with no greater factor", count(rest, "more", "more")));
    }
    blocks.push(Block::Drawing(lines));
    blocks
}

/// What `holds` means, and what it does not mean.
fn meaning(context: &LineUpContext<'_>, summary: &MatrixSummary, other: Option<&OtherPhase>) -> String {
    let options = context.options;
    let right = match &options.against {
        Reference::Serial => "a matching serial history",
        Reference::Observed(_) => "a matching serial history in the file",
        Reference::Golden(_) => "a matching serial history of the golden implementation",
        Reference::Specification | Reference::Named(_) | Reference::Anything => {
            "an order that the specification allows and"
        }
    };
    let elsewhere = other.and_then(|it| it.limits.as_deref());
    let mut schedules = if context.is_replay {
        "This one schedule was run again; others may still go wrong".to_owned()
    } else {
        left_out::schedules(options, summary.bounded, elsewhere)
    };
    if let Some(place) = &summary.guess {
        schedules.push_str(&format!(
            ". But a loop reads the same again and again ({place}): it was taken for one that waits until that changes, so what happens if it \
             gives up earlier was left out; if it does wait, `spin_loop`, `yield_now` or `sched_yield` in it settles that"
        ));
    }
    match &options.judging {
        Judging::Linearizable if matches!(options.against, Reference::Anything) => {
            return format!("In every execution observed, all threads ended and none failed. {schedules}.");
        }
        Judging::Linearizable => (),
        Judging::Displaced(factors, _) if let Some((_, method)) = factors.factors().asked() => {
            return format!(
                "Every history observed has two orders: one that respects real time, and one that is right. Counted within its \
                 class, no call's place differs between the two by more than that ({factors}), and in one history a {method} differs by no \
                 less. {schedules}. Other calls, longer columns and more threads may need more."
            );
        }
        Judging::Displaced(factors, _) => {
            return format!(
                "Every history observed has two orders: one that respects real time, and one that is right. Counted within its \
                 class, no call's place differs between the two by more than its factor ({factors}). {schedules}. Other calls, longer columns and \
                 more threads were not tried."
            );
        }
        Judging::LeastRelaxed(spec) => {
            return format!(
                "Every history observed is linearizable as {spec} with that factor, and one is not with less. {schedules}. Other \
                 calls, longer columns and more threads may need more."
            );
        }
    }
    let order = match (options.memory.orders_by_synchronization(), other.and_then(|it| it.happens_before)) {
        (true, _) => "happens-before".to_owned(),
        (false, Some(model)) => format!("real-time order, or happens-before under {}", model.title()),
        (false, None) => "real-time order".to_owned(),
    };
    format!(
        "Every concurrent history observed has {right} that respects {order}; every call that blocked also blocks \
         there. {schedules}. Other calls, longer columns and more threads were not tried."
    )
}

/// The second phase under another memory model, which a report lists beside its own.
#[derive(Clone, Debug)]
pub struct OtherPhase {
    description: String,
    // What was explored there, if not all: `under rc11 those with at most 2 stale reads`.
    limits: Option<String>,
    // The model, if happens-before determines which calls precede which there.
    happens_before: Option<MemoryModel>,
    is_before: bool,
}

impl OtherPhase {
    /// What was explored under the model of `context`, if anything was: before the model that the
    /// report is about, or after it.
    #[must_use]
    pub fn of(context: &LineUpContext<'_>, summary: &MatrixSummary, is_before: bool) -> Option<OtherPhase> {
        let description = concurrent_phase(context, summary)?;
        let limits = left_out::elsewhere(context.options, summary.bounded);
        let memory = context.options.memory;
        let happens_before = memory.orders_by_synchronization().then_some(memory.model);
        Some(OtherPhase { description, limits, happens_before, is_before })
    }
}

/// How much was explored, and how long that took.
pub(super) fn explored(
    context: &LineUpContext<'_>,
    summary: &MatrixSummary,
    other: Option<&OtherPhase>,
) -> Vec<Fact> {
    let options = context.options;
    let mut facts = Vec::new();
    let of = |n: u64| if n == 1 { String::new() } else { format!(" in {}", count(n, "matrix", "matrices")) };
    if summary.serial_histories != 0 {
        let n = count(summary.serial_histories, "serial history", "serial histories");
        let value = format!("{n}{}{}", of_them_stuck(summary.serial_stuck), of(summary.matrices));
        facts.push(Fact::Named("phase 1", value));
    }
    if let Some(own) = concurrent_phase(context, summary) {
        let [before, after] = [true, false].map(|is_before| other.filter(|it| it.is_before == is_before));
        let before = before.map(|it| it.description.clone());
        let after = after.map(|it| it.description.clone());
        let all = before.into_iter().chain([own]).chain(after);
        facts.extend(all.map(|it| Fact::Named("phase 2", it)));
    }
    if let Some(n) = summary.unserializable {
        let value = format!("{} not conflict-serializable", count(n, "execution is", "executions are"));
        facts.push(Fact::Named("besides", value));
    }
    if !options.may_fail.is_empty() {
        facts.push(Fact::Named("allowed", options.may_fail.sentence()));
    }
    facts.push(Fact::Named("took", duration(summary.elapsed)));
    facts
}

fn of_them_stuck(n: u64) -> String {
    if n == 0 { String::new() } else { format!(", {} of them stuck", grouped(n)) }
}

/// `12 executions by bounded, at most 2 preemptions: 3 distinct histories`.
fn concurrent_phase(context: &LineUpContext<'_>, summary: &MatrixSummary) -> Option<String> {
    let options = context.options;
    if context.is_replay {
        return Some("this one execution, run again".to_owned());
    }
    if summary.executions == 0 {
        return None;
    }
    let bound = match options.bound() {
        Some((bound, most)) if summary.bounded != 0 && options.scheduler.is_exhaustive => {
            format!(", at most {}", bound.count(most))
        }
        Some(_) | None => String::new(),
    };
    let model = match options.memory.model {
        MemoryModel::SequentiallyConsistent => String::new(),
        model => {
            let stale = left_out::stale_reads(options).map(|it| format!(", at most {it}"));
            format!(", memory {}{}", model.name(), stale.unwrap_or_default())
        }
    };
    Some(format!(
        "{} by {}{bound}{model}: {}{}",
        count(summary.executions, "execution", "executions"),
        options.scheduler.name,
        count(summary.histories, "distinct history", "distinct histories"),
        of_them_stuck(summary.stuck),
    ))
}

/// Whether the exploration was complete: no bound left anything out, and nothing stopped it.
#[must_use]
pub fn is_complete(options: &LineUpOptions, checked: &Checked) -> bool {
    match &checked.coverage {
        Coverage::Exhausted => {
            options.scheduler.is_exhaustive && !checked.is_bounded && checked.guess.is_none()
        }
        Coverage::Limited(_) => false,
    }
}
