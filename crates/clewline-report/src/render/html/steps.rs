//! The steps of a schedule, one a line and one column a task.

use std::fmt::Write;

use clewline_core::OperationId;

use crate::render::svg::escaped;

/// The steps of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The names of the tasks, from left to right.
    pub tasks: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<StepRow>,
    /// Text after the last one: the blocked tasks.
    pub then: Vec<String>,
}

/// A step, or a text between two steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRow {
    /// Its number in the schedule; none if it is a call, a return or a gap.
    pub number: Option<usize>,
    /// Its task: an index.
    pub task: usize,
    /// Its text: `store x1: 0 → 1`.
    pub description: String,
    /// Where in the source; may be empty.
    pub place: String,
    /// The operation that it is part of, if that is in the history.
    pub operation: Option<OperationId>,
    /// If it read an older store than the newest one: the numbers of the steps that made the two.
    pub reads: Option<[usize; 2]>,
}

/// The section of the page.
///
/// Steps link to operations if there is a timeline that shows them.
pub(super) fn section(steps: &Steps, has_timeline: bool) -> String {
    let mut html = "<section id=\"steps\" aria-labelledby=\"steps-title\">\n<h2 id=\"steps-title\">The schedule, step by step</h2>\n\
                    <p>One line a step, one column a thread. Calls and returns link to their operation in the timeline.</p>\n\
                    <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Steps\">\n<table class=\"steps\">\n<thead><tr><th>step</th>"
        .to_owned();
    let lanes = lanes(&steps.steps);
    html.push_str(&"<th></th>".repeat(lanes.len()));
    for task in &steps.tasks {
        // Writing to a string cannot fail.
        let _infallible = write!(html, "<th>{}</th>", escaped(task));
    }
    html.push_str("<th>where</th></tr></thead>\n<tbody>\n");
    for (row, step) in steps.steps.iter().enumerate() {
        let number = step.number.map_or_else(String::new, |it| it.to_string());
        let kind = if step.number.is_none() { " class=\"talk\"" } else { "" };
        let _infallible = write!(html, "<tr{kind}><td>{number}</td>");
        for lane in &lanes {
            let _infallible = write!(html, "<td class=\"lane{}\"></td>", classes(lane, row));
        }
        for task in 0..steps.tasks.len() {
            let cell = if task == step.task {
                linked(&step.description, step.operation.filter(|_| has_timeline))
            } else {
                String::new()
            };
            let _infallible = write!(html, "<td>{cell}</td>");
        }
        let _infallible = writeln!(html, "<td class=\"place\">{}</td></tr>", escaped(&step.place));
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
    if !lanes.is_empty() {
        html.push_str(
            "<p>An arrow goes from a store to the step that read it, though there was a newer one; a dashed line goes from \
             the newer one, which that step missed.</p>\n",
        );
    }
    for sentence in &steps.then {
        let _infallible = writeln!(html, "<p>{}</p>", escaped(sentence));
    }
    html.push_str("</section>\n");
    html
}

/// From a store to a step that read it, or missed it, by their rows.
struct Arrow {
    from: usize,
    to: usize,
    is_missed: bool,
}

/// Arrows beside each other, each with those that are one below the other.
fn lanes(steps: &[StepRow]) -> Vec<Vec<Arrow>> {
    let mut lanes: Vec<Vec<Arrow>> = Vec::new();
    let row_of = |number: usize| steps.iter().position(|it| number != 0 && it.number == Some(number));
    for (to, step) in steps.iter().enumerate() {
        for (at, number) in step.reads.iter().flatten().enumerate() {
            // A step that is left out has no row.
            let Some(from) = row_of(*number).filter(|from| *from < to) else { continue };
            let arrow = Arrow { from, to, is_missed: at == 1 };
            match lanes.iter_mut().find(|it| it.iter().all(|other| other.to < from)) {
                Some(lane) => lane.push(arrow),
                None => lanes.push(vec![arrow]),
            }
        }
    }
    lanes
}

/// What of a lane is in a row.
fn classes(lane: &[Arrow], row: usize) -> String {
    let Some(arrow) = lane.iter().find(|it| (it.from..=it.to).contains(&row)) else { return String::new() };
    let part = match row {
        row if row == arrow.from => " from",
        row if row == arrow.to => " to",
        _ => " via",
    };
    format!("{}{part}", if arrow.is_missed { " missed" } else { "" })
}

fn linked(text: &str, operation: Option<OperationId>) -> String {
    match operation {
        Some(operation) => format!("<a href=\"#op={}\">{}</a>", operation.index(), escaped(text)),
        None => escaped(text),
    }
}
