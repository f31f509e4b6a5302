//! JUnit's XML, which nearly every continuous integration server can show.
//!
//! An entry is a test case. A violated one has failed, and its type is the cause; an unknown or
//! unreadable one is an error, since most servers count a skipped test as passed. An ignored one is
//! skipped.

use std::fmt::Write;

use clewline_core::visible;

use super::{super::svg::escaped, Durations, Summary, SummaryEntry, Word};

/// The summary as JUnit's XML.
#[must_use]
pub fn junit(summary: &Summary, clock: Durations) -> String {
    let figures = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"{}",
        summary.entries.len(),
        summary.count(Word::Violated),
        summary.count(Word::Unknown) + summary.count(Word::Unreadable),
        summary.count(Word::Ignored),
        seconds(summary.entries.iter().map(|it| it.elapsed).sum(), clock),
    );
    let name = escaped(summary.tool);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\" {figures}>\n<testsuite name=\"{name}\" {figures}>\n"
    );
    for entry in &summary.entries {
        case(&mut xml, summary, entry, clock);
    }
    xml.push_str("</testsuite>\n</testsuites>\n");
    xml
}

fn seconds(elapsed: std::time::Duration, clock: Durations) -> String {
    match clock {
        Durations::Shown => format!(" time=\"{:.3}\"", elapsed.as_secs_f64()),
        Durations::Hidden => String::new(),
    }
}

fn case(xml: &mut String, summary: &Summary, entry: &SummaryEntry, clock: Durations) {
    let class = summary.tool.replace(' ', ".");
    let place = match &entry.place {
        Some((file, Some(line))) => format!(" file=\"{}\" line=\"{line}\"", escaped(file)),
        Some((file, None)) => format!(" file=\"{}\"", escaped(file)),
        None => String::new(),
    };
    // Writing to a string cannot fail.
    let _infallible = write!(
        xml,
        "<testcase classname=\"{}\" name=\"{}\"{place}{}",
        escaped(&class),
        escaped(&entry.name),
        seconds(entry.elapsed, clock)
    );
    let element = match entry.verdict {
        Word::Holds => {
            xml.push_str("/>\n");
            return;
        }
        Word::Ignored => {
            xml.push_str(&format!(">\n<skipped message=\"{}\"/>\n</testcase>\n", escaped(&entry.headline)));
            return;
        }
        Word::Violated => "failure",
        Word::Unknown | Word::Unreadable => "error",
    };
    let mut report = entry.text().trim_end().to_owned();
    for (place, command) in entry.next.iter().enumerate() {
        let word = if place == 0 { "\nnext" } else { "  or" };
        report.push_str(&format!("\n{word}: {}", visible(command)));
    }
    // Line by line: the line breaks are to stay.
    let lines: Vec<String> = report.trim_start_matches('\n').lines().map(escaped).collect();
    let _infallible = writeln!(
        xml,
        ">\n<{element} type=\"{word}\" message=\"{}\">{}</{element}>\n</testcase>",
        escaped(&entry.headline),
        lines.join("\n"),
        word = entry.cause.map_or(entry.verdict.as_str(), |it| it.name()),
    );
}
