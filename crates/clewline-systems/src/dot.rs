//! The message flow graph (sender, receiver, message), in the language of Graphviz.

use std::{collections::BTreeMap, fmt::Write};

use clewline_actors::StepKind;

use crate::outcome::ExploreOutcome;

/// The graph of all messages that were sent. Those of the violating schedule have its numbers.
pub(super) fn graph(outcome: &ExploreOutcome, name: &str) -> String {
    let mut edges: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
    for (from, to, message) in &outcome.flow {
        edges.entry((from, to, message)).or_default();
    }
    let steps = outcome.finding().map_or(&[][..], |it| &it.steps);
    let ends: Vec<(String, String)> =
        steps.iter().map(|it| (it.from.to_string(), it.to.to_string())).collect();
    for (at, (step, (from, to))) in steps.iter().zip(&ends).enumerate() {
        if step.kind == StepKind::Message {
            edges.entry((from, to, &step.name)).or_default().push(at + 1);
        }
    }
    let mut text = format!("digraph \"{}\" {{\n  rankdir=LR;\n", escaped(name));
    let mut nodes: Vec<&str> = edges.keys().flat_map(|it| [it.0, it.1]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    for node in nodes {
        let shape = if node.starts_with('C') { "box" } else { "ellipse" };
        let _infallible = writeln!(text, "  {node} [shape={shape}];");
    }
    for ((from, to, message), numbers) in edges {
        let message = escaped(message);
        let _infallible = if numbers.is_empty() {
            writeln!(text, "  {from} -> {to} [label=\"{message}\", color=gray];")
        } else {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            writeln!(text, "  {from} -> {to} [label=\"{}: {message}\", penwidth=2];", numbers.join(", "))
        };
    }
    text.push_str("}\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
