//! A verdict on a history, in words: its meaning, then its evidence.
//!
//! Written for readers who have never heard of linearizability: each verdict comes with one plain
//! sentence about its meaning.

use std::{collections::BTreeMap, time::Duration};

use clewline_core::{
    ErasedHistory, MayFail, OperationId, Reason, Skipped, Verdict, Violation, Witness, visible,
};

use super::{
    CheckedHistory, Source, WitnessShown,
    block::Block,
    count, criteria, explain, grouped,
    timeline::{self, Bar, TimelineRow},
};

/// The style of a report.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The maximum width of a line, in characters, where it can be kept.
    pub width: usize,
    /// Whether the verdict is coloured.
    pub paint: Paint,
    /// Whether a witness is written out.
    pub witness: WitnessShown,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 80, paint: Paint::Plain, witness: WitnessShown::Not }
    }
}

/// Whether text is coloured, for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// With escape sequences.
    Coloured,
    /// Without.
    Plain,
}

/// The word of a verdict in its colour: green for `holds`, red for `violated`, yellow for
/// `unknown`.
#[must_use]
pub fn painted(word: &str, paint: Paint) -> String {
    let colour = match (paint, word) {
        (Paint::Plain, _) => return word.to_owned(),
        (Paint::Coloured, "holds") => 32,
        (Paint::Coloured, "violated") => 31,
        (Paint::Coloured, _) => 33,
    };
    format!("\x1b[1;{colour}m{word}\x1b[0m")
}

/// The text after the verdict's word: `lost.jsonl is not linearizable as a queue`.
#[must_use]
pub fn headline(judged: &CheckedHistory<'_>) -> String {
    let CheckedHistory { name, spec, verdict, .. } = judged;
    let spec = with_article(spec);
    let property = criteria::property(judged);
    match verdict {
        Verdict::Holds(_) => format!("{name} is {property} as {spec}{}", criteria::stronger(judged)),
        Verdict::Violated(_) => format!("{name} is not {property} as {spec}"),
        Verdict::Unknown(reason) => format!("whether {name} is {property} as {spec}: {reason}"),
    }
}

/// `a queue`, `an atomic register`.
#[must_use]
pub fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// The meaning of the verdict, and its evidence.
#[must_use]
pub fn sentences(judged: &CheckedHistory<'_>, style: &Style) -> Vec<Block> {
    match judged.verdict {
        Verdict::Holds(witness) => holds(judged, witness, style),
        Verdict::Violated(violation) => violated(judged, violation, style),
        Verdict::Unknown(_) => vec![Block::paragraph(meaning(judged))],
    }
}

/// The meaning of the verdict for this history, in plain words.
pub(super) fn meaning(judged: &CheckedHistory<'_>) -> String {
    match judged.verdict {
        Verdict::Holds(_) => holds_sentence(judged),
        Verdict::Violated(violation) => counterexample_sentences(judged, violation),
        Verdict::Unknown(reason) => ended_early(reason).to_owned(),
    }
}

fn holds_sentence(judged: &CheckedHistory<'_>) -> String {
    match judged.operations() {
        0 => "There are no operations, so there is nothing to explain.".to_owned(),
        1 => "The specification allows its one operation.".to_owned(),
        n => criteria::holds(judged, n),
    }
}

fn holds(judged: &CheckedHistory<'_>, witness: &Witness, style: &Style) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(meaning(judged))];
    if let Some(most_held) = judged.stream.and_then(|it| it.most_held) {
        let held = count(most_held as u64, "operation was", "operations were");
        let sentence = format!("They were judged as they came: at most {held} held at a time.");
        blocks.push(Block::paragraph(sentence));
    }
    if style.witness == WitnessShown::Whole && !witness.order.is_empty() {
        blocks.push(Block::Drawing(order(judged, &witness.order)));
    }
    blocks
}

/// One operation a line, numbered.
fn order(judged: &CheckedHistory<'_>, order: &[OperationId]) -> Vec<String> {
    let digits = order.len().to_string().len();
    let line = |(place, &id): (usize, &OperationId)| {
        let object = judged
            .object(id)
            .map_or_else(String::new, |it| format!(" on {}", super::plain(judged.case.values(), it)));
        let (label, process) = (judged.case.label(id), judged.process(id));
        format!("{:>digits$}. {label}{object}   (process {process})", place + 1)
    };
    order.iter().enumerate().map(line).collect()
}

fn counterexample_sentences(judged: &CheckedHistory<'_>, violation: &Violation) -> String {
    let counterexample = &violation.counterexample;
    let object = counterexample.first().and_then(|&it| judged.object(it));
    let name = |it| super::plain(judged.case.values(), it);
    let on = object.map_or_else(String::new, |it| format!(" on object {}", name(it)));
    let others = judged.operations() - judged.recorded(counterexample);
    let others = match others {
        0 => String::new(),
        1 => ", whether or not the other operation took effect".to_owned(),
        n => format!(", whichever of the other {} operations took effect", grouped(n as u64)),
    };
    let mut meaning = match counterexample.len() {
        1 => format!(
            "This operation{on} is a counterexample by itself{others}. Wherever it takes effect, its result is wrong."
        ),
        n => format!(
            "These {} operations{on} are a counterexample{others}. {}",
            grouped(n as u64),
            criteria::violated(judged)
        ),
    };
    if !violation.is_verified {
        meaning.push_str(
            " This counterexample is not verified: to judge it without the checker that found it would have taken too long.",
        );
    }
    if !violation.is_minimal {
        meaning.push_str(
            " This counterexample is not minimal: some of the operations may be irrelevant, but to find out would have taken too long.",
        );
    }
    if let Some(line) = judged.stream.and_then(|it| it.line) {
        let place = judged.source.place();
        meaning.push_str(&format!(" This was certain after {place} {}.", grouped(line as u64)));
    }
    meaning
}

fn violated(judged: &CheckedHistory<'_>, violation: &Violation, style: &Style) -> Vec<Block> {
    let Picture { drawn, beside, left_out } = picture(violation);
    let mut blocks = vec![Block::paragraph(meaning(judged))];
    let mut lead = Vec::new();
    if left_out != 0 {
        let others = count(left_out as u64, "other of them is", "others of them are");
        lead.push(format!("The {others} not drawn."));
    }
    if 1 < drawn.len() {
        let caller = judged.source.caller();
        let end = if beside.is_empty() { ":" } else { "; dotted operations are for comparison:" };
        lead.push(format!("Time runs to the right, one row a {caller}{end}"));
    }
    if !lead.is_empty() {
        blocks.push(Block::Lead(lead.join(" ")));
    }
    let starts: Vec<u32> = beside.iter().map(|it| judged.case.spans()[it.index()].call()).collect();
    let room = style.width.saturating_sub(2);
    blocks.push(Block::Drawing(timeline::lines(&rows(judged, &drawn), &starts, room)));
    blocks.push(Block::paragraph(explain::sentences(judged, violation)));
    if let Some(may_fail) = &violation.holds_if {
        blocks.push(Block::paragraph(holds_if(may_fail)));
    }
    if judged.source == Source::File {
        blocks.push(Block::Where(format!(
            "In {}: {}.",
            judged.name,
            line_numbers(judged, &violation.counterexample)
        )));
    }
    blocks.extend(others(judged));
    blocks
}

/// The other violated parts, one item each.
fn others(judged: &CheckedHistory<'_>) -> Vec<Block> {
    let others = judged.violated.saturating_sub(1);
    if others == 0 {
        return Vec::new();
    }
    let parts = if judged.objects() < judged.parts { "parts" } else { "objects" };
    let left = others - judged.others.len();
    let lead = format!(
        "{} of {} {parts} are violated. The other{}:",
        grouped(judged.violated as u64),
        grouped(judged.parts as u64),
        if others == 1 { "" } else { "s" }
    );
    let item = |it: &Violation| {
        let on = it.counterexample.first().and_then(|&it| judged.object(it));
        let on =
            on.map_or_else(String::new, |it| format!("object {}, ", super::plain(judged.case.values(), it)));
        let place = match judged.source {
            Source::File => line_numbers(judged, &it.counterexample),
            Source::Program | Source::Run => count(it.counterexample.len() as u64, "operation", "operations"),
        };
        format!("{on}{place}: {}", explain::sentences(judged, it))
    };
    let mut items: Vec<String> = judged.others.iter().map(item).collect();
    if left != 0 {
        items.push(format!("and {} more", grouped(left as u64)));
    }
    vec![Block::paragraph(lead), Block::List(items)]
}

/// The drawn part of a violation.
pub(super) struct Picture {
    // In the order of their calls.
    pub(super) drawn: Vec<OperationId>,
    // Those of them outside of the counterexample.
    pub(super) beside: Vec<OperationId>,
    // How many of the counterexample are not drawn.
    left_out: usize,
}

/// The counterexample, and the operations that the words name in addition. Of a large
/// counterexample with a short explanation, only the operations that it names.
pub(super) fn picture(violation: &Violation) -> Picture {
    const COMPARED_OPS_MAX: usize = 6;
    const DRAWN_IN_FULL_OPS_MAX: usize = 12;
    let counterexample = &violation.counterexample;
    let (named, mut beside) = (explain::named(violation), explain::beside(violation));
    beside.truncate(if beside.len() <= COMPARED_OPS_MAX { COMPARED_OPS_MAX } else { 0 });
    let is_short = DRAWN_IN_FULL_OPS_MAX < counterexample.len() && !named.is_empty();
    let mut drawn: Vec<OperationId> = if is_short {
        named
            .into_iter()
            .filter(|it| counterexample.binary_search(it).is_ok())
            .take(DRAWN_IN_FULL_OPS_MAX)
            .collect()
    } else {
        counterexample[counterexample.len().saturating_sub(DRAWN_OPS_MAX)..].to_vec()
    };
    let left_out = counterexample.len() - drawn.len();
    drawn.extend(&beside);
    drawn.sort_unstable();
    Picture { drawn, beside, left_out }
}

// More operations than this are not drawn.
pub(super) const DRAWN_OPS_MAX: usize = 40;

/// The rows of a drawing of `operations`, by process.
pub(super) fn rows(judged: &CheckedHistory<'_>, operations: &[OperationId]) -> Vec<TimelineRow> {
    let mut rows: BTreeMap<(Option<i64>, String), Vec<Bar>> = BTreeMap::new();
    for &operation in operations {
        let name = judged.process(operation);
        // Numbers in numerical order, and everything else alphabetically.
        rows.entry((name.parse().ok(), name)).or_default().push(bar(judged, operation));
    }
    rows.into_iter().map(|((_, name), bars)| TimelineRow { name, bars }).collect()
}

fn bar(judged: &CheckedHistory<'_>, operation: OperationId) -> Bar {
    let span = judged.case.spans()[operation.index()];
    Bar { label: judged.case.shown(operation), start: span.call(), end: span.ret() }
}

/// `line 3`, `lines 1, 2, 3`.
#[must_use]
pub fn line_numbers(judged: &CheckedHistory<'_>, operations: &[OperationId]) -> String {
    const LINES_SHOWN_MAX: usize = 12;
    let names = judged.case.names();
    let mut lines: Vec<usize> = operations.iter().map(|&it| names.line(judged.case.source(it))).collect();
    lines.sort_unstable();
    lines.dedup();
    // Operations of an initial state are on no line.
    lines.retain(|it| *it != 0);
    let shown: Vec<String> = lines.iter().take(LINES_SHOWN_MAX).map(usize::to_string).collect();
    match lines.len() {
        0 => "no line: the initial state".to_owned(),
        1 => format!("line {}", shown.join("")),
        2..=LINES_SHOWN_MAX => format!("lines {}", shown.join(", ")),
        n => format!("lines {} and {} more", shown.join(", "), n - shown.len()),
    }
}

fn ended_early(reason: &Reason) -> &'static str {
    match reason {
        Reason::Refused(_) => "Nothing was decided.",
        Reason::Internal(_) => "Nothing was decided: evidence for a verdict was found, but it is wrong.",
        // Any other reason is a limit.
        _ => {
            "The search ended early. It has found nothing wrong so far, and it has not shown that all is well."
        }
    }
}

/// Checker, duration and amount of work: `by auto in 12 ms: 3 operations, 1 object`.
#[must_use]
pub fn judged_by(judged: &CheckedHistory<'_>) -> String {
    let mut figures = figures(judged);
    if judged.configurations != 0 {
        figures.push(count(judged.configurations, "configuration", "configurations"));
    }
    format!("by {} in {}: {}", judged.algorithm, duration(judged.elapsed), figures.join(", "))
}

/// `It holds if `deq` may return null while an operation overlaps.`
#[must_use]
pub fn holds_if(may_fail: &MayFail) -> String {
    format!("It holds if {}.", may_fail.sentence())
}

/// The results that may be returned with no effect, if there are some, and how many operations
/// returned them so.
#[must_use]
pub fn may_fail(case: &dyn ErasedHistory) -> Option<String> {
    let (may_fail, failed) = case.may_fail()?;
    let failed = count(failed as u64, "operation did", "operations did");
    Some(format!("{}; {failed}", may_fail.sentence()))
}

/// What of the file was skipped, if something was.
pub(super) fn skipped(judged: &CheckedHistory<'_>) -> Option<String> {
    let Skipped { count, line, text } = &judged.case.names().skipped;
    let them = match count {
        0 => return None,
        1 => format!("1 entry of the file is no operation of a client: line {line}"),
        _ => format!(
            "{} entries of the file are no operations of clients: the first is line {line}",
            grouped(*count as u64)
        ),
    };
    Some(format!("skipped {them}, {}", visible(text.trim())))
}

/// How much there was to judge.
pub(super) fn figures(judged: &CheckedHistory<'_>) -> Vec<String> {
    let objects = judged.objects();
    let mut figures = vec![
        count(judged.operations() as u64, "operation", "operations"),
        count(objects as u64, "object", "objects"),
    ];
    if objects < judged.parts {
        figures.push(count(judged.parts as u64, "independent part", "independent parts"));
    }
    figures
}

/// `12 ms`, `3.4 s`, `5 min 12 s`.
#[must_use]
pub fn duration(elapsed: Duration) -> String {
    match elapsed.as_millis() {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        ms => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `text` as a shell takes it for one word, in one line.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./:,+@%=".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if text.chars().any(char::is_control) {
        let escaped = |it: char| match it {
            '\'' | '\\' => format!("\\{it}"),
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            it if it.is_control() => {
                it.encode_utf8(&mut [0; 4]).bytes().map(|it| format!("\\{it:03o}")).collect()
            }
            it => it.to_string(),
        };
        return format!("$'{}'", text.chars().map(escaped).collect::<String>());
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
