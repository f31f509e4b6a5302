//! Observation files, written: histories of one test, grouped into sections.

use std::fmt::Write as _;

/// A call of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedCall {
    /// Its thread, as an index into the threads.
    pub thread: usize,
    /// The method.
    pub name: String,
    /// The argument, if there is one.
    pub value: Option<String>,
}

/// The fate of a call in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was not made.
    NotCalled,
    /// It was made, and did not return.
    Blocked,
    /// It returned; a method without result has an empty one.
    Returned(String),
}

/// One end of an operation, by the number of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedEvent {
    /// It begins.
    Call(usize),
    /// It ends.
    Return(usize),
}

/// A history of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedHistory {
    /// The fate of each call.
    pub fates: Vec<Fate>,
    /// In which order.
    pub events: Vec<ObservedEvent>,
}

/// An observation file. Histories with the same calls and results of every thread share a section;
/// sections and histories keep their order.
#[must_use]
pub fn observation_set(threads: &[String], calls: &[ObservedCall], entries: &[ObservedHistory]) -> String {
    let mut sections: Vec<(&[Fate], Vec<&ObservedHistory>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for entry in entries {
        let key: Vec<String> = entry.fates.iter().map(|it| format!("{it:?}")).collect();
        let place = *places.entry(key).or_insert(sections.len());
        if place == sections.len() {
            sections.push((&entry.fates, Vec::new()));
        }
        sections[place].1.push(entry);
    }
    let mut text = "<observationset>\n".to_owned();
    for (fates, entries) in sections {
        text.push_str("<observation>\n");
        section(&mut text, threads, calls, fates, &entries);
        text.push_str("</observation>\n");
    }
    text.push_str("</observationset>\n");
    text
}

/// A history by itself, below a line that names the violation.
#[must_use]
pub fn violation(
    heading: &str,
    threads: &[String],
    calls: &[ObservedCall],
    entry: &ObservedHistory,
) -> String {
    let mut text = format!("{}\n", escape(heading));
    section(&mut text, threads, calls, &entry.fates, &[entry]);
    text
}

fn section(
    text: &mut String,
    threads: &[String],
    calls: &[ObservedCall],
    fates: &[Fate],
    entries: &[&ObservedHistory],
) {
    // Operations that were called are numbered from 1, one thread after the other.
    let mut numbers = vec![0; calls.len()];
    let mut next = 1;
    let mut operations = String::new();
    for (at, thread) in threads.iter().enumerate() {
        let mut words = Vec::new();
        for (operation, call) in calls.iter().enumerate().filter(|it| it.1.thread == at) {
            let (mark, result) = match &fates[operation] {
                Fate::NotCalled => continue,
                Fate::Blocked => ("B", None),
                Fate::Returned(returned) => ("", Some(returned).filter(|it| !it.is_empty())),
            };
            numbers[operation] = next;
            words.push(format!("{next}{mark}"));
            describe(&mut operations, next, call, result);
            next += 1;
        }
        text.push_str(&format!("<thread id=\"{}\">{}</thread>\n", escape(thread.as_str()), words.join(" ")));
    }
    text.push_str(&operations);
    for entry in entries {
        let mut words: Vec<String> = Vec::new();
        for event in &entry.events {
            words.push(match *event {
                ObservedEvent::Call(it) => format!("{}[", numbers[it]),
                ObservedEvent::Return(it) => format!("]{}", numbers[it]),
            });
        }
        if entry.fates.contains(&Fate::Blocked) {
            words.push("#".to_owned());
        }
        text.push_str(&format!("<history>{}</history>\n", words.join(" ")));
    }
}

fn describe(text: &mut String, number: usize, call: &ObservedCall, result: Option<&String>) {
    let _in_memory = write!(text, "<op id=\"{number}\" name=\"{}\"", escape(call.name.as_str()));
    let pairs = [("value", call.value.as_ref()), ("result", result)];
    let pairs: Vec<String> = pairs
        .into_iter()
        .filter_map(|(key, it)| it.map(|it| format!("{key}=\"{}\"", escape(it.as_str()))))
        .collect();
    if pairs.is_empty() {
        text.push_str(" />\n");
    } else {
        let _in_memory = writeln!(text, ">{}</op>", pairs.join(" "));
    }
}

/// `text` as XML writes it between tags and in attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\'' => escaped.push_str("&apos;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
