//! The outcomes of many histories, as a table that links to the page of each.

use std::fmt::Write;

use super::super::{
    grouped,
    summary::{Durations, Summary, Word},
    text::duration,
};
use crate::render::svg::escaped;

/// The section of a page with that headline.
pub(super) fn section(summary: &Summary, clock: Durations, headline: &str) -> String {
    let tally = summary.totals();
    let title = if tally == headline { "One by one" } else { &tally };
    let took = if clock == Durations::Shown { "<th class=\"figure\">took</th>" } else { "" };
    let mut html = format!(
        "<section id=\"summary\" aria-labelledby=\"summary-title\">\n<h2 id=\"summary-title\">{}</h2>\n\
         <div class=\"wide\">\n<table>\n<thead><tr><th>verdict</th><th>{}</th><th class=\"figure\">{}</th><th>decided by</th>{took}</tr></thead>\n<tbody>\n",
        escaped(title),
        escaped(summary.nouns.0),
        escaped(summary.work),
    );
    for entry in summary.ordered() {
        let name = escaped(&entry.name);
        let name = match &entry.page {
            Some(page) => format!("<a href=\"{}\">{name}</a>", escaped(page)),
            None => name,
        };
        let why = match entry.verdict {
            Word::Holds => String::new(),
            Word::Violated | Word::Unknown | Word::Unreadable | Word::Ignored => {
                format!("<div class=\"quiet\">{}</div>", escaped(&entry.headline))
            }
        };
        let work = entry.work.map_or_else(|| "–".to_owned(), grouped);
        let word = entry.verdict.as_str();
        // Writing to a string cannot fail.
        let _infallible = write!(
            html,
            "<tr><td class=\"{word}\"><strong class=\"word\">{word}</strong></td><td>{name}{why}</td><td class=\"figure\">{work}</td><td>{}</td>",
            escaped(&entry.algorithm)
        );
        if clock == Durations::Shown {
            let _infallible = write!(html, "<td class=\"figure\">{}</td>", escaped(&duration(entry.elapsed)));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    html
}
