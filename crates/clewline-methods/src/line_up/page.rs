//! What a check of matrices found as a page, as a picture, and as an entry of a summary.

use std::collections::BTreeSet;

use clewline_core::{Cause, OperationId};
use clewline_report::render::{
    html::{Columns, Core, Page, Path, Shown as Operation},
    summary::{self, Word},
    svg::{self, Ground},
    text::Paint,
    timeline::{Bar, Row},
};

use super::{
    Against, Checked, Finding, Judging, Matrix, Seen,
    drawing::{self, Shown, Threads, label},
    text::{self, Summary, Telling},
};
use crate::page::{after_word, paragraphs};

/// The page of something wrong. `found` is the matrix as it was checked first, if it has been made smaller since.
///
/// Nothing on it depends on how long anything took.
#[must_use]
pub fn page(
    telling: &Telling<'_>,
    checked: &Checked,
    finding: &Finding,
    found: Option<&Matrix>,
    summary: &Summary,
) -> Page {
    let headline = text::headline(telling, checked, finding);
    let called = Called::of(checked, finding);
    let core = called.core(finding);
    let mut page = Page::new(format!("violated: {}", telling.subject), "violated", headline);
    page.words = vec![text::cause(telling, finding)];
    page.next = telling.next.to_vec();
    page.caller = "thread";
    page.history = Some(called.columns());
    if !core.operations.is_empty() {
        page.picture = called.picture(&page.headline, &page.words[0], Ground::Page);
    }
    page.core = core;
    page.paths = called.serial_histories(telling, finding);
    if !finding.moments.is_empty() {
        page.steps = Some(drawing::steps(&checked.matrix, finding, telling.shown, |at| called.id(at)));
    }
    let mut fact = |name: &str, told: &str| page.facts.push((name.to_owned(), told.to_owned()));
    text::facts(&mut fact, telling, checked, finding, found);
    if finding.cause == Cause::NotLinearizable {
        if found.is_some() {
            fact("core", "everything that was called; no smaller matrix that was tried failed");
        }
        fact("states", no_states(&telling.options.against));
    }
    text::explored(&mut timeless(&mut fact), telling, summary);
    page
}

/// Why a page does not say what the object was like in between.
fn no_states(against: &Against) -> &'static str {
    match against {
        Against::Serial | Against::Golden(_) | Against::Observed(_) => {
            "not told: calls one at a time show what is answered, not what the object is like"
        }
        Against::Specification | Against::Named(_) | Against::Anything => {
            "not told: no order explains the answers, so there is none to tell them for"
        }
    }
}

/// The page of matrices in which nothing is wrong, or of which nobody knows.
#[must_use]
pub fn page_of_all(telling: &Telling<'_>, summary: &Summary) -> Page {
    let told = text::told(&Telling { paint: Paint::Plain, ..*telling }, summary);
    let (headline, rest) = told.split_once('\n').unwrap_or((&told, ""));
    let word = summary.verdict();
    let mut page = Page::new(format!("{word}: {}", telling.subject), word, after_word(headline).to_owned());
    page.words = paragraphs(rest);
    page.next = telling.next.to_vec();
    let mut fact = |name: &str, told: &str| page.facts.push((name.to_owned(), told.to_owned()));
    text::explored(&mut timeless(&mut fact), telling, summary);
    page
}

/// Facts without how long it took, so that the same exploration gives the same page.
fn timeless<'f>(fact: &'f mut dyn FnMut(&str, &str)) -> impl FnMut(&str, &str) + 'f {
    |name, told| {
        if name != "took" {
            fact(name, told);
        }
    }
}

/// The history that has no witness as a picture that stands by itself.
#[must_use]
pub fn svg(telling: &Telling<'_>, checked: &Checked, finding: &Finding) -> String {
    let headline = format!("violated: {}", text::headline(telling, checked, finding));
    Called::of(checked, finding).picture(&headline, &text::cause(telling, finding), Ground::Paper)
}

/// What a summary says about one matrix. `smallest` is what was left of it when it was made smaller.
#[must_use]
pub fn entry(telling: &Telling<'_>, checked: &Checked, smallest: Option<&Checked>) -> summary::Entry {
    let shown = smallest.unwrap_or(checked);
    let (headline, told) = match (&checked.verdict, shown.finding()) {
        (super::Verdict::Unknown(reason), _) => (reason.clone(), String::new()),
        (super::Verdict::Holds | super::Verdict::Violated(_), None) => {
            (format!("no violation found in \"{}\"", checked.matrix), String::new())
        }
        (super::Verdict::Holds | super::Verdict::Violated(_), Some(finding)) => {
            let plain = Telling { paint: Paint::Plain, shown: Shown::Short, ..*telling };
            let evidence = text::evidence(&plain, shown, finding, smallest.is_some());
            (text::headline(telling, shown, finding), evidence)
        }
    };
    summary::Entry {
        name: text::typed(&checked.matrix, text::Reader::Test),
        verdict: Word::find(checked.verdict.word()).expect("verdicts have these words"),
        headline,
        told,
        work: Some(checked.executions),
        algorithm: telling.options.scheduler.name.to_owned(),
        elapsed: checked.elapsed.iter().sum(),
        place: None,
        next: Vec::new(),
        page: None,
    }
}

/// The operations of an execution that were called, in the order of their calls.
struct Called<'a> {
    threads: Threads,
    operations: &'a [Seen],
    // Positions in `operations`, by call; and the ranks of call and return.
    order: Vec<usize>,
    ranks: Vec<(u32, Option<u32>)>,
}

impl<'a> Called<'a> {
    fn of(checked: &Checked, finding: &'a Finding) -> Called<'a> {
        let operations = finding.operations.as_slice();
        // A call stands before its step, and a return after it.
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
        Called { threads: Threads::of(&checked.matrix), operations, order, ranks }
    }

    /// Which operation of the page the one at `at` is, if it was called.
    fn id(&self, at: usize) -> Option<OperationId> {
        self.order.iter().position(|it| *it == at).map(OperationId::from_index)
    }

    fn processes(&self) -> Vec<usize> {
        let used: BTreeSet<usize> = self.order.iter().map(|&it| self.operations[it].process).collect();
        self.threads.ordered(&used)
    }

    fn columns(&self) -> Columns {
        let names = self.processes().iter().map(|&it| self.threads.name(it)).collect();
        let mut columns = Columns::new(names);
        for (&at, &(start, end)) in self.order.iter().zip(&self.ranks) {
            let seen = &self.operations[at];
            let answer = match &seen.returned {
                Some((_, answer)) if answer.is_empty() => None,
                Some((_, answer)) => Some(answer.as_str()),
                None => Some("?"),
            };
            columns.push(&Operation {
                process: &self.threads.name(seen.process),
                object: "",
                part: "",
                call: &seen.call,
                answer,
                id: "",
                start,
                end,
                line: None,
            });
        }
        columns
    }

    fn picture(&self, title: &str, told: &str, ground: Ground) -> String {
        let bars = |process: usize| {
            let placed = self.order.iter().zip(&self.ranks);
            let mine = placed.filter(move |it| self.operations[*it.0].process == process);
            mine.map(|(&at, &(start, end))| Bar { label: label(&self.operations[at]), start, end }).collect()
        };
        let row = |it: usize| Row { name: format!("thread {}", self.threads.name(it)), bars: bars(it) };
        let rows: Vec<Row> = self.processes().into_iter().map(row).collect();
        svg::draw(title, told, &rows, ground)
    }

    /// What the page is about. There is no witness of all that was called, so of a wrong answer that is everything.
    fn core(&self, finding: &Finding) -> Core {
        let some = |positions: Vec<usize>, title: &str, each: &str| {
            let mut operations: Vec<OperationId> =
                positions.into_iter().filter_map(|it| self.id(it)).collect();
            operations.sort_unstable();
            Core { operations, title: title.to_owned(), each: each.to_owned() }
        };
        match finding.cause {
            Cause::NotLinearizable => {
                Core::contradiction((0..self.order.len()).map(OperationId::from_index).collect())
            }
            Cause::Blocking => some(
                finding.blocked.clone(),
                "What waits for ever, and should not",
                "it waits for ever, and should not",
            ),
            Cause::Panic => {
                let process = finding.panic.as_ref().map(|it| it.0);
                let is_open = |it: &Seen| Some(it.process) == process && it.returned.is_none();
                let open = (0..self.operations.len()).filter(|&it| is_open(&self.operations[it]));
                some(open.collect(), "What panicked", "it panicked")
            }
            Cause::Nondeterministic | Cause::Race | Cause::Leak => Core::default(),
        }
    }

    /// Serial histories with the same answers, as far as they keep what precedes what.
    fn serial_histories(&self, telling: &Telling<'_>, finding: &Finding) -> Vec<Path> {
        // More are no help.
        const SHOWN: usize = 10;
        let has_serial = match &telling.options.against {
            Against::Serial | Against::Golden(_) | Against::Observed(_) => true,
            Against::Specification | Against::Named(_) | Against::Anything => false,
        };
        let is_plain = matches!(telling.options.judging, Judging::Linearizable);
        if !has_serial || !is_plain || finding.cause == Cause::Nondeterministic {
            return Vec::new();
        }
        let mut paths = Vec::new();
        for (number, serial) in finding.tried.iter().take(SHOWN).enumerate() {
            let ids: Vec<OperationId> = serial.complete.iter().filter_map(|it| self.id(it.0)).collect();
            let end = serial.wrong_order.and_then(|it| self.id(it.1));
            let kept = end.and_then(|end| ids.iter().position(|it| *it == end)).unwrap_or(ids.len());
            let why = text::why_not(&self.threads, finding, serial);
            let why = why.map_or_else(String::new, |it| format!(", but {it}"));
            paths.push(Path {
                title: format!("one call at a time, {}", number + 1),
                order: ids[..kept].to_vec(),
                stuck: end,
                told: format!(
                    "One call at a time: {}{why}.",
                    text::one_serial(&self.threads, finding, serial)
                ),
                around: Vec::new(),
            });
        }
        paths
    }
}
