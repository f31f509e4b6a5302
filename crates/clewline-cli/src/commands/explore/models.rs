//! The memory models of an exploration: one, or sequential consistency and then rc11.

use std::time::{Duration, Instant};

use clewline_core::VerdictKind;
use clewline_explore::schedulers;
use clewline_methods::line_up::{
    LineUpOptions, PresentedLineUp,
    text::{LineUpContext, MatrixSummary, OtherPhase},
};
use clewline_report::render::{
    Cause, Present, Publish, WitnessShown,
    block::{Block, Fact},
    html::Page,
    json::Object,
    summary::SummaryEntry,
    text::Style,
};
use clewline_threads::control::MemoryModel;

use super::{args::Args, subject::Subject};
use crate::commands::status::Failure;

// Without a limit, a matrix has this many executions under rc11, or several times as many as under
// sequential consistency: most violations need few.
const WEAK_EXECUTIONS_MIN: u64 = 2_000;
const WEAK_EXECUTIONS_FACTOR: u64 = 4;

const OPEN: &str = "what was explored holds, but that is not all there is";

/// The options of each exploration, in order.
pub(super) fn of(
    args: &Args,
    subject: &Subject<'_>,
    mut options: LineUpOptions,
) -> Result<Vec<LineUpOptions>, Failure> {
    let read = |token: &String| MemoryModel::read_token(token).map_err(|it| Failure::at("--replay", it));
    let of_token = args.replay.as_ref().map(read).transpose()?.and_then(|it| it.0);
    let only = match (args.memory_model, of_token) {
        (Some(given), Some(own)) if given != own => {
            let [given, own] = [given, own].map(MemoryModel::name);
            let mismatch =
                format!("the token is of an execution under {own}, but --memory-model says {given}");
            return Err(Failure::at("--replay", mismatch));
        }
        (given, own) => given.or(own),
    };
    options.memory.model = only.unwrap_or_default();
    let is_alone = only.is_some() || args.replay.is_some() || !subject.is_program();
    // The least factor is a number, and one of them is given.
    if is_alone || options.judging.is_question() {
        return Ok(vec![options]);
    }
    let mut weak = options.clone();
    weak.memory.model = MemoryModel::ReleaseAcquire;
    weak.lists_histories &= weak.memory.real_time;
    if options.scheduler.name == schedulers::bounded::ENTRY.name && !options.counts_unserializable {
        // The same histories, with fewer executions.
        weak.scheduler = &schedulers::bounded_dpor::ENTRY;
    }
    Ok(vec![options, weak])
}

/// Gives what is left of the limits to `matrices` matrices under rc11. `first` is what was explored
/// before.
pub(super) fn limit(
    weak: &mut LineUpOptions,
    args: &Args,
    first: &MatrixSummary,
    until: Option<Instant>,
    matrices: usize,
) {
    if let Some(until) = until {
        let left = until.saturating_duration_since(Instant::now());
        weak.time = Some(left / u32::try_from(matrices.max(1)).unwrap_or(u32::MAX));
    } else if args.executions.is_none() && weak.scheduler.is_exhaustive {
        let several = first.executions.saturating_mul(WEAK_EXECUTIONS_FACTOR) / first.matrices.max(1);
        weak.executions_max = weak.executions_max.min(several.max(WEAK_EXECUTIONS_MIN));
    }
}

/// The model of a verdict of sequential consistency, after its headline. Other models are part of
/// the headline.
pub(super) fn suffix(args: &Args, subject: &Subject<'_>, options: &LineUpOptions) -> String {
    let model = options.memory.model;
    let is_named = args.memory_model.is_some() || subject.is_program();
    match model {
        MemoryModel::SequentiallyConsistent if is_named => format!(", under {}", model.title()),
        _ => String::new(),
    }
}

/// What a report says about memory models, besides the results under one of them.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The end of the headline.
    pub(super) suffix: String,
    /// The sentence about the other model.
    pub(super) sentence: Option<String>,
    /// What was explored under the other model.
    pub(super) other: Option<OtherPhase>,
    /// How long that took.
    pub(super) elapsed: Duration,
    /// The executions of it.
    pub(super) executions: u64,
    /// Whether the other model was not explored to the end.
    pub(super) is_open: bool,
}

impl Named {
    /// The words for a violation that only `weak` shows.
    pub(super) fn needed(weak: MemoryModel, first: &LineUpOptions) -> Named {
        let first = first.memory.model.title();
        Named {
            suffix: format!("; it holds under {first}"),
            sentence: Some(format!(
                "The violation needs {}: under {first}, no schedule that was explored shows it.",
                weak.title()
            )),
            ..Named::default()
        }
    }

    /// The words for matrices that hold under sequential consistency. `is_all`: each was explored
    /// under `weak` as well. `is_doubted`: an execution was wrong there, and that is no violation.
    pub(super) fn held(
        mut self,
        weak: &LineUpOptions,
        summary: &MatrixSummary,
        is_all: bool,
        is_doubted: bool,
    ) -> Named {
        let weak = weak.memory.model.title();
        if summary.verdict() == VerdictKind::Holds(()) && is_all {
            self.suffix.push_str(&format!(" and {weak}"));
            return self;
        }
        let reasons: Vec<&str> = summary.reason.iter().chain(&summary.stopped).map(String::as_str).collect();
        let why = reasons.join("; ");
        let result = match &*why {
            why if is_doubted => why.to_owned(),
            "" => OPEN.to_owned(),
            why => format!("{OPEN}: {why}"),
        };
        self.is_open = true;
        self.sentence = Some(format!("Under {weak}, {result}. That is no part of the verdict."));
        self
    }

    /// Adds what was explored under another model. `is_before`: before the model that is shown.
    pub(super) fn besides(
        mut self,
        context: LineUpContext<'_>,
        summary: &MatrixSummary,
        is_before: bool,
    ) -> Named {
        self.other = OtherPhase::of(&context, summary, is_before);
        (self.elapsed, self.executions) = (summary.elapsed, summary.executions);
        self
    }
}

/// The results under one model, and what is said of the other.
pub(super) struct UnderModels<'a> {
    pub(super) presented: PresentedLineUp<'a>,
    pub(super) named: &'a Named,
}

impl UnderModels<'_> {
    fn sentence(&self) -> Option<Block> {
        self.named.sentence.as_ref().map(|it| Block::paragraph(it.clone()))
    }
}

impl Present for UnderModels<'_> {
    fn name(&self) -> &str {
        self.presented.name()
    }

    fn kind(&self) -> VerdictKind {
        self.presented.kind()
    }

    fn cause(&self) -> Option<Cause> {
        self.presented.cause()
    }

    fn qualifier(&self) -> Option<String> {
        self.presented.qualifier()
    }

    fn headline(&self) -> String {
        self.presented.headline() + &self.named.suffix
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        let mut blocks = self.presented.sentences(style);
        blocks.extend(self.sentence());
        blocks
    }

    fn facts(&self) -> Vec<Fact> {
        self.presented.facts()
    }

    fn next(&self) -> Vec<String> {
        self.presented.next()
    }
}

impl Publish for UnderModels<'_> {
    fn page(&self) -> Page {
        let mut page = self.presented.page();
        page.headline.push_str(&self.named.suffix);
        page.words.extend(self.named.sentence.clone());
        page
    }

    fn json(&self, witness: WitnessShown) -> Object {
        self.presented.json(witness)
    }

    fn row(&self) -> SummaryEntry {
        let mut row = self.presented.row();
        row.headline.push_str(&self.named.suffix);
        row.work = row.work.map(|it| it + self.named.executions);
        row
    }
}
