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
}

/// The section of the page.
///
/// Steps link to operations if there is a timeline that shows them.
pub(super) fn section(steps: &Steps, has_timeline: bool) -> String {
    let mut html = "<section id=\"steps\" aria-labelledby=\"steps-title\">\n<h2 id=\"steps-title\">The schedule, step by step</h2>\n\
                    <p>One line a step, one column a thread. Calls and returns link to their operation in the timeline.</p>\n\
                    <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Steps\">\n<table class=\"steps\">\n<thead><tr><th>step</th>"
        .to_owned();
    for task in &steps.tasks {
        // Writing to a string cannot fail.
        let _infallible = write!(html, "<th>{}</th>", escaped(task));
    }
    html.push_str("<th>where</th></tr></thead>\n<tbody>\n");
    for step in &steps.steps {
        let number = step.number.map_or_else(String::new, |it| it.to_string());
        let kind = if step.number.is_none() { " class=\"talk\"" } else { "" };
        let _infallible = write!(html, "<tr{kind}><td>{number}</td>");
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
    for sentence in &steps.then {
        let _infallible = writeln!(html, "<p>{}</p>", escaped(sentence));
    }
    html.push_str("</section>\n");
    html
}

fn linked(text: &str, operation: Option<OperationId>) -> String {
    match operation {
        Some(operation) => format!("<a href=\"#op={}\">{}</a>", operation.index(), escaped(text)),
        None => escaped(text),
    }
}
