//! Results of matrices as a page, as a picture, for programs, and as an entry of a summary.

use std::collections::BTreeSet;

use clewline_core::OperationId;
use clewline_matrix::Matrix;
use clewline_report::render::{
    Cause, Present, Publish, WitnessShown,
    block::Fact,
    html::{self, Page, PageColumns, PageCounterexample, PageOperation as Operation, ShownOrder},
    json::Object,
    publish::{plain_page, plain_row},
    summary,
    svg::{self, Ground, Picture},
    timeline::{Bar, TimelineRow},
};

use super::{
    drawing::{Interleaving, InterleavingDetail, InterleavingLine, Threads, blocked_besides, buffers, label},
    finding::{Checked, LineUpFinding, ObservedOperation},
    json,
    options::Reference,
    outcome::LineUpOutcome,
    present::{PresentedLineUp, PresentedMatrix},
    text::{self, LineUpContext},
};
use crate::relaxed::Judging;

impl Publish for PresentedLineUp<'_> {
    /// The page does not depend on durations.
    fn page(&self) -> Page {
        let mut page = plain_page(self);
        if let Some((checked, finding)) = self.finding() {
            self.show(&mut page, checked, finding);
        }
        page.facts.retain(|it| it.0 != "took");
        page
    }

    fn json(&self, witness: WitnessShown) -> Object {
        let PresentedLineUp { context: report_context, summary, shown, .. } = *self;
        let mut object = json::summary(report_context.subject, summary);
        if let Some(checked) = shown {
            let shown = PresentedMatrix { context: report_context, checked, smallest: None };
            object.add_object("found", shown.json(witness));
        }
        object
    }

    fn row(&self) -> summary::SummaryEntry {
        summary::SummaryEntry {
            work: Some(self.summary.executions),
            algorithm: self.context.options.scheduler.name.to_owned(),
            elapsed: self.summary.elapsed,
            ..plain_row(self)
        }
    }
}

impl Publish for LineUpOutcome {
    fn page(&self) -> Page {
        self.presented(|it| it.page())
    }

    fn json(&self, witness: WitnessShown) -> Object {
        self.presented(|it| it.json(witness))
    }

    fn row(&self) -> summary::SummaryEntry {
        self.presented(|it| it.row())
    }
}

impl Publish for PresentedMatrix<'_> {
    fn json(&self, _: WitnessShown) -> Object {
        json::object(&self.context, self.checked, self.smallest)
    }

    fn row(&self) -> summary::SummaryEntry {
        summary::SummaryEntry {
            name: text::typed(&self.checked.matrix, text::Audience::Test),
            work: Some(self.checked.executions),
            algorithm: self.context.options.scheduler.name.to_owned(),
            elapsed: self.checked.elapsed.iter().sum(),
            ..plain_row(self)
        }
    }
}

impl PresentedLineUp<'_> {
    /// Shows the execution on the page, with a note on what is missing.
    fn show(&self, page: &mut Page, checked: &Checked, finding: &LineUpFinding) {
        let PresentedLineUp { context: report_context, summary, .. } = self;
        let called = CalledOperations::of(checked, finding);
        page.caller = "thread";
        page.history = Some(called.columns());
        page.counterexample = called.counterexample(finding);
        if text::is_partial(finding) {
            page.words.push(
                "Calls are drawn in the order of this execution. One comes before another only if its return happens before the \
                 other's call."
                    .to_owned(),
            );
        }
        if !page.counterexample.operations.is_empty() {
            let sentence = text::cause(report_context, finding);
            page.picture = Some(called.picture(&page.headline, &sentence, Ground::Page));
        }
        page.paths = called.serial_histories(report_context, finding);
        if !finding.moments.is_empty() {
            page.steps = Some(steps(&checked.matrix, finding, report_context.shown, |at| called.id(at)));
        }
        let mut facts = self.again();
        if finding.cause == Cause::NotLinearizable {
            if self.is_smaller() {
                let note = "everything that was called; no smaller matrix that was tried failed";
                facts.push(Fact::Named("counterexample", note.to_owned()));
            }
            facts.push(Fact::Named("states", no_states(&report_context.options.against).to_owned()));
        }
        facts.extend(text::explored(report_context, summary, self.other));
        page.facts.clear();
        page.add_facts(facts);
    }

    /// The history without a witness as a standalone picture, if there is one.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let (checked, finding) = self.finding()?;
        let (headline, sentence) =
            (format!("violated: {}", self.headline()), text::cause(&self.context, finding));
        Some(CalledOperations::of(checked, finding).picture(&headline, &sentence, Ground::Paper).svg)
    }
}

/// Why a page does not show states of the object.
fn no_states(against: &Reference) -> &'static str {
    match against {
        Reference::Serial | Reference::Golden(_) | Reference::Observed(_) => {
            "not shown: calls one at a time show results, not states of the object"
        }
        Reference::Specification | Reference::Named(_) | Reference::Anything => {
            "not shown: no order explains the results, so there is no order to show states for"
        }
    }
}

/// The operations of an execution that were called, in the order of their calls.
struct CalledOperations<'a> {
    threads: Threads,
    operations: &'a [ObservedOperation],
    // Positions in `operations`, by call; and the ranks of call and return.
    order: Vec<usize>,
    ranks: Vec<(u32, Option<u32>)>,
}

impl<'a> CalledOperations<'a> {
    fn of(checked: &Checked, finding: &'a LineUpFinding) -> CalledOperations<'a> {
        let operations = finding.operations.as_slice();
        // A call comes before its step, and a return after it.
        let mut events: Vec<(u32, usize, bool)> = Vec::new();
        for (at, seen) in operations.iter().enumerate() {
            let Some(call) = seen.called else { continue };
            events.push((2 * call, at, false));
            events.extend(seen.returned.as_ref().map(|it| (2 * it.0 + 1, at, true)));
        }
        events.sort_unstable();
        let rank = |at: usize, is_return: bool| {
            events.iter().position(|it| it.1 == at && it.2 == is_return).map(|it| it as u32)
        };
        let order: Vec<usize> = events.iter().filter(|it| !it.2).map(|it| it.1).collect();
        let ranks = order.iter().map(|&at| (rank(at, false).unwrap_or(0), rank(at, true))).collect();
        CalledOperations { threads: Threads::of(&checked.matrix), operations, order, ranks }
    }

    /// Which operation of the page the one at `at` is, if it was called.
    fn id(&self, at: usize) -> Option<OperationId> {
        self.order.iter().position(|it| *it == at).map(OperationId::from_index)
    }

    fn processes(&self) -> Vec<usize> {
        let used: BTreeSet<usize> = self.order.iter().map(|&it| self.operations[it].process).collect();
        self.threads.ordered(&used)
    }

    fn columns(&self) -> PageColumns {
        let names = self.processes().iter().map(|&it| self.threads.name(it)).collect();
        let mut columns = PageColumns::new(names);
        for (&at, &(start, end)) in self.order.iter().zip(&self.ranks) {
            let seen = &self.operations[at];
            let result = match &seen.returned {
                Some((_, result)) if result.is_empty() => None,
                Some((_, result)) => Some(result.as_str()),
                None => Some("?"),
            };
            columns.push(&Operation {
                process: &self.threads.name(seen.process),
                object: "",
                part: "",
                call: &seen.call,
                result,
                id: "",
                start,
                end,
                line: None,
            });
        }
        columns
    }

    fn picture(&self, title: &str, description: &str, ground: Ground) -> Picture {
        let bars = |process: usize| {
            let placed = self.order.iter().zip(&self.ranks);
            let mine = placed.filter(move |it| self.operations[*it.0].process == process);
            mine.map(|(&at, &(start, end))| Bar { label: label(&self.operations[at]), start, end }).collect()
        };
        let row =
            |it: usize| TimelineRow { name: format!("thread {}", self.threads.name(it)), bars: bars(it) };
        let rows: Vec<TimelineRow> = self.processes().into_iter().map(row).collect();
        svg::draw(title, description, &rows, ground)
    }

    /// The counterexample of the page. There is no witness of all calls, so for a wrong result it
    /// is all operations.
    fn counterexample(&self, finding: &LineUpFinding) -> PageCounterexample {
        let some = |positions: Vec<usize>, title: &str, each: &str| {
            let mut operations: Vec<OperationId> =
                positions.into_iter().filter_map(|it| self.id(it)).collect();
            operations.sort_unstable();
            PageCounterexample { operations, title: title.to_owned(), each: each.to_owned() }
        };
        match finding.cause {
            Cause::NotLinearizable => {
                PageCounterexample::found((0..self.order.len()).map(OperationId::from_index).collect())
            }
            Cause::Deadlock | Cause::Livelock => {
                some(finding.blocked.clone(), "The calls that never return", "it never returns")
            }
            _ if finding.panic.is_some() => {
                let process = finding.panic.as_ref().map(|it| it.0);
                let is_open = |it: &ObservedOperation| Some(it.process) == process && it.returned.is_none();
                let open = (0..self.operations.len()).filter(|&it| is_open(&self.operations[it]));
                some(open.collect(), "The call that failed", "it failed")
            }
            _ => PageCounterexample::default(),
        }
    }

    /// Serial histories with the same results, as far as they are consistent with the precedence
    /// order.
    fn serial_histories(
        &self,
        report_context: &LineUpContext<'_>,
        finding: &LineUpFinding,
    ) -> Vec<ShownOrder> {
        // More are no help.
        const SERIAL_HISTORIES_SHOWN_MAX: usize = 10;
        let has_serial = match &report_context.options.against {
            Reference::Serial | Reference::Golden(_) | Reference::Observed(_) => true,
            Reference::Specification | Reference::Named(_) | Reference::Anything => false,
        };
        let is_plain = matches!(report_context.options.judging, Judging::Linearizable);
        if !has_serial || !is_plain || finding.cause == Cause::Nondeterminism {
            return Vec::new();
        }
        let mut paths = Vec::new();
        for (number, serial) in finding.tried.iter().take(SERIAL_HISTORIES_SHOWN_MAX).enumerate() {
            let ids: Vec<OperationId> = serial.complete.iter().filter_map(|it| self.id(it.0)).collect();
            let end = serial.wrong_order.and_then(|it| self.id(it.1));
            let kept = end.and_then(|end| ids.iter().position(|it| *it == end)).unwrap_or(ids.len());
            let why = text::why_not_a_witness(&self.threads, finding, serial);
            let why = why.map_or_else(String::new, |it| format!(", but {it}"));
            paths.push(ShownOrder {
                title: format!("one call at a time, {}", number + 1),
                order: ids[..kept].to_vec(),
                stuck: end,
                description: format!(
                    "One call at a time: {}{why}.",
                    text::serial_history_text(&self.threads, finding, serial)
                ),
                around: Vec::new(),
            });
        }
        paths
    }
}

/// The interleaving for a page, where `id` says which operation of the page one is.
fn steps(
    matrix: &Matrix,
    finding: &LineUpFinding,
    shown: InterleavingDetail,
    id: impl Fn(usize) -> Option<OperationId>,
) -> html::Steps {
    let Interleaving { threads, objects, files, lines, processes } = Interleaving::of(matrix, finding, shown);
    let column = |process: usize| processes.iter().position(|it| *it == process).unwrap_or(0);
    let step = |line: InterleavingLine| html::StepRow {
        number: line.step,
        task: column(line.process),
        description: line.action,
        place: line.place,
        operation: line.operation.and_then(&id),
        reads: line.old_read.map(|it| [it.from, it.missed].map(|it| it as usize)),
    };
    let mut then = blocked_besides(finding, &threads, &objects);
    then.extend(files.legend());
    then.extend(buffers(&threads, finding));
    html::Steps {
        tasks: processes.iter().map(|&it| threads.name(it)).collect(),
        steps: lines.into_iter().map(step).collect(),
        then,
    }
}
