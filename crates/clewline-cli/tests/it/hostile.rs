//! Names and values that try to command a terminal or the runner of a build.

use clewline_core::Random;
use clewline_methods::{Check, Report};
use clewline_report::render::{
    Publish, WitnessShown, html, json, present, summary,
    summary::{Durations, Summary},
    table,
    text::Style,
};
use clewline_testing::pick;

use crate::run::{Folder, clewline};

const PIECES: &[&str] = &[
    "\n",
    "\r",
    "\t",
    "\u{1b}[31m",
    "\u{1b}]0;x\u{7}",
    "\u{9b}2J",
    "\u{0}",
    "\u{7f}",
    "\u{202e}",
    "\u{2028}",
    "\u{feff}",
    "::error::boo",
    "::",
    "%0A",
    "<b>",
    "</script>",
    "```",
    "|",
    "a",
    "é",
    "\\n",
    "\"",
    "'",
    " ",
];

fn hostile(random: &mut Random) -> String {
    (0..1 + random.below(6)).map(|_| PIECES[random.below(PIECES.len())]).collect()
}

/// No line begins a command of a runner, and nothing is there that a terminal would obey.
#[track_caller]
fn check_harmless(text: &str, what: &str) {
    for line in text.split('\n') {
        assert!(!line.trim_start().starts_with("::"), "{what}: {line:?}");
        // The templates of pages are indented by spaces, and the style has none either.
        let obeyed =
            |it: char| it.is_control() || matches!(it, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!line.contains(obeyed), "{what}: {line:?}");
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A violated history and one that holds, with these names of objects, processes and values.
fn histories(random: &mut Random) -> [String; 2] {
    let [object, process, value, other] = std::array::from_fn(|_| quoted(&hostile(random)));
    let line = |op: &str, at: u32| {
        format!(
            "{{\"process\": {process}, \"object\": {object}, \"id\": {id}, {op}, \"call\": {at}, \"return\": {}}}\n",
            at + 1,
            id = quoted(&format!("{at}\u{1b}\n::error::"))
        )
    };
    let enq = line(&format!("\"op\": \"enq\", \"arg\": [{value}, {{\"a\": {value}}}]"), 1);
    let wrong = line(&format!("\"op\": \"deq\", \"ret\": {other}"), 4);
    [format!("{enq}{wrong}"), enq]
}

fn check_report(report: &Report<'_>, name: &str) -> summary::SummaryEntry {
    for width in [20, 80] {
        let style = Style { width, witness: WitnessShown::Whole, ..Style::default() };
        check_harmless(&present::text(report, &style), "text");
    }
    let written = report.json(WitnessShown::Whole).to_string();
    check_harmless(&written, "JSON");
    let read: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(read["file"], name, "JSON has the name as it is");
    check_harmless(&html::write(&report.page()), "page");
    check_harmless(&report.svg(), "picture");
    report.entry()
}

#[test]
fn no_renderer_lets_recorded_text_command_anything() {
    let mut random = Random::new(5);
    for round in 0..pick(60, 600) {
        let name = hostile(&mut random);
        let mut entries = Vec::new();
        for text in histories(&mut random) {
            let report = Check::new().reader(&format!("{name}.jsonl"), text.as_bytes(), "queue").run();
            let mut report = report.unwrap_or_else(|error| panic!("{error}:\n{text}"));
            report.set_next(vec![format!(
                "clewline check {}",
                clewline_report::render::text::shell_word(&name)
            )]);
            entries.push(check_report(&report, &format!("{name}.jsonl")));
        }
        let violated = entries[0].headline.contains("not linearizable");
        assert!(violated || round != 0, "{entries:?}");
        let error = Check::new().reader(&name, name.as_bytes(), "queue").run().expect_err("no history");
        check_harmless(&format!("error: {error}"), "error");
        let unread = format!("{{\"process\": {0}, \"op\": {0}, \"call\": 1}}", quoted(&name));
        let error =
            Check::new().reader(&name, unread.as_bytes(), "queue").run().expect_err("no such operation");
        check_harmless(&format!("error: {error}"), "error");
        let _json = json::failure(&name, &error.message());
        entries.push(summary::SummaryEntry {
            name: name.clone(),
            verdict: summary::Word::Unreadable,
            headline: format!("{name}: {name}"),
            place: Some((name.clone(), None)),
            algorithm: name.clone(),
            next: vec![name.clone()],
            ..entries[0].clone()
        });
        let summary =
            Summary { tool: "clewline check", nouns: ("history", "histories"), work: "operations", entries };
        check_harmless(&summary::junit(&summary, Durations::Hidden), "JUnit");
        check_harmless(&summary::markdown(&summary, Durations::Hidden), "Markdown");
        check_harmless(&table::text(&summary::table(&summary, Durations::Hidden, 9), 80), "table");
        for line in summary::annotations(&summary).lines() {
            let rest = line.strip_prefix("::error ").expect("one line each");
            check_harmless(rest, "annotation");
        }
    }
}

#[test]
fn a_file_named_like_a_command_is_shown_escaped() {
    let name = "x\n::error::boo\u{1b}[31m.jsonl";
    let folder = Folder::new("hostile").with(name, crate::run::BAD);
    let args =
        ["check", name, name, "--spec", "queue", "--annotations", "--markdown", "s.md", "--junit", "s.xml"];
    let ran = clewline(&folder, &args, "");
    assert_eq!(ran.code, 1, "{ran:?}");
    check_harmless(&ran.stdout, "text");
    assert_eq!(ran.stderr.lines().count(), 2, "{ran:?}");
    assert!(ran.stdout.contains(r"violated: x\n::error::boo\u{1b}[31m.jsonl is not"), "{ran:?}");
    assert!(ran.stdout.contains(r"next: clewline check $'x\n::error::boo\033[31m.jsonl' "), "{ran:?}");
    check_harmless(&folder.read("s.md"), "Markdown");
    check_harmless(&folder.read("s.xml"), "JUnit");
    for args in [
        &["check", "no\n::error::", "--spec", "queue"][..],
        &["check", name, "--spec", "queue", "--html", "no\n::error::/x"],
        &["convert", name, "no\n::error::/x.jsonl"],
    ] {
        let ran = clewline(&folder, args, "");
        check_harmless(&ran.stderr, "error");
        assert!(ran.stderr.contains(r"no\n::error::"), "{ran:?}");
    }
}

/// A log obeys lines that begin with `::`, also after spaces, and a terminal control characters.
#[cfg(unix)]
#[test]
fn messages_never_contain_commands() {
    let name = "x\n::error::\u{1b}[2J\n  ::stop-commands::y.c";
    let folder = Folder::new("hostile-messages").with("h.jsonl", "").with(name, "?").with("b.jsonl", "");
    let option = format!("--{name}");
    for args in [
        &["check", name, "--spec", "queue"][..],
        &["check", name, "h.jsonl", "--spec", "queue"],
        &["check", "h.jsonl", "--spec", name],
        &["check", "h.jsonl", "--spec", "queue", &option],
        &["check", "h.jsonl", "--spec", "queue", "--quasi", name],
        &["convert", "h.jsonl", "out", "--output-format", name],
        &["explore", name],
        &["cc", name],
        &["cc", "--compiler", name, name],
        &["cc", name, &option],
        &["run", name],
        &["run", "h.jsonl", &option],
        &["cargo", "test", "--", &option],
    ] {
        let ran = clewline(&folder, args, "");
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        let is_obeyed = |it: &str| it.trim_start().starts_with("::") || it.contains(char::is_control);
        assert_eq!(ran.stderr.lines().find(|it| is_obeyed(it)), None, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("error: "), "{args:?}: {}", ran.stderr);
    }
}
