//! The page of a verdict.

use std::collections::BTreeMap;

use clewline_core::{Explanation, OperationId, PartialLinearization, Problem, ProcessId, Verdict};

use super::{
    super::{
        CheckedHistory, Source,
        block::words,
        plain,
        svg::{self, Ground},
        text::{self, Style},
    },
    Page, PageCounterexample,
    columns::{PageColumns, PageOperation},
    orders::ShownOrder,
};

impl Page {
    /// A page about `judged`.
    ///
    /// The page does not depend on durations: the same history gives the same page.
    #[must_use]
    pub fn of(judged: &CheckedHistory<'_>) -> Page {
        let operations = match judged.verdict {
            Verdict::Violated(violation) => violation.counterexample.clone(),
            Verdict::Holds(_) | Verdict::Unknown(_) => Vec::new(),
        };
        let picture = (!operations.is_empty()).then(|| svg::counterexample(judged, Ground::Page));
        let word = judged.verdict.word();
        Page {
            words: words(&text::sentences(judged, &Style::default())),
            next: judged.next.to_vec(),
            checked: checked(judged),
            caller: judged.source.caller(),
            history: Some(columns(judged)),
            history_notes: judged.case.names().notes.clone(),
            picture,
            counterexample: PageCounterexample::found(operations),
            paths: paths(judged),
            ..Page::new(format!("{word}: {}", judged.name), word, text::headline(judged))
        }
    }

    /// Adds these dead ends, the longest first. Of several that are stuck at the same operation the
    /// first is shown.
    pub fn add_dead_ends(&mut self, judged: &CheckedHistory<'_>, ends: &[PartialLinearization]) {
        for end in ends {
            let path = ShownOrder::dead_end(judged, end);
            if self.paths.iter().all(|it| it.stuck != path.stuck) {
                self.paths.push(path);
            }
        }
        self.paths.sort_by_key(|it| std::cmp::Reverse(it.order.len()));
    }
}

/// How it was checked, and what was not.
fn checked(judged: &CheckedHistory<'_>) -> String {
    let checked = format!("Checked by {}: {}.", judged.algorithm, text::figures(judged).join(", "));
    text::skipped(judged).map_or_else(|| checked.clone(), |it| format!("{checked} It {it}"))
}

fn paths(judged: &CheckedHistory<'_>) -> Vec<ShownOrder> {
    match judged.verdict {
        Verdict::Holds(witness) if !witness.order.is_empty() => {
            vec![ShownOrder::witness(judged, &witness.order)]
        }
        Verdict::Violated(violation) => match &violation.explanation {
            Explanation::Exhausted { prefix, next } => {
                vec![ShownOrder::dead_end(
                    judged,
                    &PartialLinearization { prefix: prefix.clone(), next: *next },
                )]
            }
            Explanation::Broken { .. } => Vec::new(),
        },
        Verdict::Holds(_) | Verdict::Unknown(_) => Vec::new(),
    }
}

fn columns(judged: &CheckedHistory<'_>) -> PageColumns {
    let case = judged.case;
    let operations = || (0..case.spans().len()).map(OperationId::from_index);
    // Numbers in numerical order, and everything else alphabetically.
    let mut rows: BTreeMap<(Option<i64>, String), Vec<ProcessId>> = BTreeMap::new();
    let mut is_known = Vec::new();
    for operation in operations() {
        let process = case.process(operation);
        if is_known.len() <= process.index() {
            is_known.resize(process.index() + 1, false);
        }
        if !std::mem::replace(&mut is_known[process.index()], true) {
            let name = judged.process(operation);
            rows.entry((name.parse().ok(), name)).or_default().push(process);
        }
    }
    let mut row_of = vec![0; is_known.len()];
    for (row, processes) in rows.values().enumerate() {
        processes.iter().for_each(|it| row_of[it.index()] = row);
    }
    let mut columns = PageColumns::new(rows.into_keys().map(|(_, name)| name).collect());
    let parts = parts(judged);
    let has_ids = case.names().ids.is_some();
    for operation in operations() {
        let span = case.spans()[operation.index()];
        let shown = case.shown(operation);
        let (call, returned) = (shown.call(), shown.ret.map(|it| it.to_string()));
        let object = judged.object(operation).map_or_else(String::new, |it| plain(case.values(), it));
        let id = if has_ids { plain(case.values(), judged.id(operation)) } else { String::new() };
        let line = (judged.source == Source::File).then(|| case.names().line(case.source(operation)) as u32);
        let line = line.filter(|it| *it != 0);
        let shown = PageOperation {
            process: "",
            object: &object,
            part: parts.get(operation.index()).map_or("", String::as_str),
            call: &call,
            result: returned.as_deref(),
            id: &id,
            start: span.call(),
            end: span.ret(),
            line,
        };
        columns.push_of(row_of[case.process(operation).index()], &shown);
    }
    if let Some(times) = &case.names().times {
        columns.add_times(times);
    }
    columns
}

/// The name of the part of each operation; empty if nothing is judged in parts.
///
/// A part has no name of its own. If all its operations have the same first argument, that is its
/// key.
fn parts(judged: &CheckedHistory<'_>) -> Vec<String> {
    let problems = judged.case.problems();
    let objects = problems.len();
    let parts: Vec<Problem<'_>> = problems.into_iter().flat_map(Problem::into_parts).collect();
    if parts.len() <= objects {
        return Vec::new();
    }
    let mut names = vec![String::new(); judged.case.spans().len()];
    for (number, part) in parts.iter().enumerate() {
        let first_argument = |it: &OperationId| judged.case.shown(*it).arguments().first().cloned();
        let mut keys = part.operations().iter().map(first_argument);
        let key = keys.next().flatten().filter(|key| keys.all(|it| it.as_ref() == Some(key)));
        let key = key.unwrap_or_else(|| format!("part {}", number + 1));
        part.operations().iter().for_each(|it| names[it.index()].clone_from(&key));
    }
    names
}
