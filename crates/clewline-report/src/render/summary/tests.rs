use std::{collections::HashMap, time::Duration};

use quick_xml::{Reader, events::Event};

use super::*;

fn entry(name: &str, verdict: Word) -> SummaryEntry {
    SummaryEntry {
        name: name.to_owned(),
        verdict,
        cause: (verdict == Word::Violated).then_some(Cause::Deadlock),
        headline: format!("{name} is judged"),
        blocks: Vec::new(),
        work: Some(1_234),
        algorithm: "monitor".to_owned(),
        elapsed: Duration::from_millis(1_500),
        place: None,
        next: Vec::new(),
        page: None,
    }
}

fn summary(entries: Vec<SummaryEntry>) -> Summary {
    Summary { tool: "clewline check", nouns: ("history", "histories"), work: "operations", entries }
}

fn mixed() -> Summary {
    let lost = SummaryEntry {
        blocks: vec![Block::Drawing(vec!["A: |-enq(1)-|".to_owned(), "B: |-deq() → \"<2>\"-|".to_owned()])],
        place: Some(("lost, 1.jsonl".to_owned(), Some(3))),
        next: vec!["clewline check 'lost, 1.jsonl' --html report.html".to_owned()],
        ..entry("lost, 1.jsonl", Word::Violated)
    };
    summary(vec![
        entry("good.jsonl", Word::Holds),
        lost,
        SummaryEntry { work: None, algorithm: String::new(), ..entry("gone.jsonl", Word::Unreadable) },
        entry("hard.jsonl", Word::Unknown),
    ])
}

/// The elements of a text that has to be XML: names, attributes, and contents.
#[track_caller]
fn elements(xml: &str) -> Vec<(String, HashMap<String, String>, String)> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut elements: Vec<(String, HashMap<String, String>, String)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let event = reader.read_event().unwrap_or_else(|it| panic!("{it}\n{xml}"));
        match &event {
            Event::Eof => break,
            Event::Start(tag) | Event::Empty(tag) => {
                let attributes = tag.attributes().map(|it| {
                    let it = it.expect("an attribute");
                    let value = it.unescape_value().expect("known entities").into_owned();
                    (String::from_utf8_lossy(it.key.as_ref()).into_owned(), value)
                });
                let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                elements.push((name, attributes.collect(), String::new()));
                if matches!(event, Event::Start(_)) {
                    open.push(elements.len() - 1);
                }
            }
            Event::End(_) => drop(open.pop()),
            Event::Text(text) => {
                if let Some(&at) = open.last() {
                    elements[at].2.push_str(&text.decode().expect("UTF-8"));
                }
            }
            Event::GeneralRef(entity) => {
                if let Some(&at) = open.last() {
                    elements[at].2.push_str(&format!("&{};", entity.decode().expect("UTF-8")));
                }
            }
            Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => (),
        }
    }
    assert!(open.is_empty(), "{xml}");
    elements
}

#[test]
fn the_worst_stands_first_in_a_table() {
    assert_eq!(mixed().totals(), "4 histories: 1 violated, 1 unreadable, 1 unknown, 1 holds");
    let text = super::super::table::text(&table(&mixed(), Durations::Hidden, 3), 80);
    assert_eq!(
        text,
        "\
4 histories: 1 violated, 1 unreadable, 1 unknown, 1 holds

  verdict     operations  decided by  history
  violated         1,234  monitor     lost, 1.jsonl
  unreadable           –  –           gone.jsonl
  unknown          1,234  monitor     hard.jsonl

… and 1 more, all of which hold.
"
    );
}

#[test]
fn durations_are_shown_only_on_request() {
    let slow = |elapsed: u64| {
        let mut summary = mixed();
        summary.entries.iter_mut().for_each(|it| it.elapsed = Duration::from_secs(elapsed));
        [
            junit(&summary, Durations::Hidden),
            markdown(&summary, Durations::Hidden),
            annotations(&summary),
            super::super::table::text(&table(&summary, Durations::Hidden, 10), 80),
        ]
    };
    assert_eq!(slow(1), slow(2_000));
    assert!(junit(&mixed(), Durations::Shown).contains(" time=\"1.500\""));
    assert!(markdown(&mixed(), Durations::Shown).contains("| 1.5 s |"));
}

#[test]
fn junit_is_xml_that_counts_what_is_in_it() {
    let elements = elements(&junit(&mixed(), Durations::Shown));
    let named = |name: &str| elements.iter().filter(|it| it.0 == name).collect::<Vec<_>>();
    let suite = &named("testsuite")[0].1;
    for (attribute, expected) in [("tests", "4"), ("failures", "1"), ("errors", "2"), ("time", "6.000")] {
        assert_eq!(suite[attribute], expected, "{attribute}");
    }
    assert_eq!(named("testcase").len(), 4);
    let lost = &named("testcase")[1].1;
    assert_eq!(
        (lost["name"].as_str(), lost["file"].as_str(), lost["line"].as_str()),
        ("lost, 1.jsonl", "lost, 1.jsonl", "3")
    );
    // An unknown verdict is no success.
    assert_eq!((named("failure").len(), named("error").len()), (1, 2));
    let failure = named("failure")[0];
    assert_eq!(failure.1["type"], "deadlock");
    assert!(failure.2.contains("|-enq(1)-|\n  B:") && failure.2.contains("&lt;2&gt;"), "{failure:?}");
}

#[test]
fn nothing_that_was_recorded_breaks_the_xml() {
    let evil = "]]></failure>\"'&\u{0}\u{1b}[31m<x a='\u{ffff}\n";
    let mut all = mixed();
    for entry in &mut all.entries {
        for text in [&mut entry.name, &mut entry.headline, &mut entry.algorithm] {
            evil.clone_into(text);
        }
        entry.blocks = vec![Block::Drawing(vec![evil.to_owned()])];
        entry.next = vec![evil.to_owned()];
        entry.place = Some((evil.to_owned(), None));
    }
    assert_eq!(elements(&junit(&all, Durations::Hidden)).iter().filter(|it| it.0 == "testcase").count(), 4);
}

#[test]
fn annotations_are_one_line_each_and_silent_about_what_holds() {
    let text = annotations(&mixed());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines[0],
        "::error file=lost%2C 1.jsonl,line=3,title=violated%3A lost%2C 1.jsonl::lost, 1.jsonl is judged%0A%0A  A: |-enq(1)-|%0A  B: |-deq() → \"<2>\"-|"
    );
    assert!(lines[1].starts_with("::error title=unreadable%3A gone.jsonl::"));
    assert!(lines[2].starts_with("::warning title=unknown%3A hard.jsonl::"));
}

#[test]
fn in_markdown_nothing_becomes_markup() {
    let text = markdown(&summary(vec![entry("a|b`<i>*x*", Word::Violated)]), Durations::Hidden);
    assert!(text.contains("| **violated** | a\\|b\\`&lt;i>\\*x\\* | 1,234 | monitor |"), "{text}");
    let mut fenced = entry("x", Word::Violated);
    fenced.blocks = vec![Block::List(vec!["```` a".to_owned()])];
    assert!(markdown(&summary(vec![fenced]), Durations::Hidden).contains("\n`````text\n  ```` a\n`````\n"));
}

#[test]
fn an_empty_summary_is_no_success() {
    let nothing = summary(Vec::new());
    assert_eq!((nothing.totals().as_str(), nothing.word()), ("0 histories", Word::Unknown));
    elements(&junit(&nothing, Durations::Hidden));
    assert!(markdown(&nothing, Durations::Hidden).starts_with("## 0 histories (unknown)\n"));
    assert!(markdown(&mixed(), Durations::Hidden).starts_with("## 4 histories: 1 violated, 1 unreadable,"));
}

#[test]
fn the_second_command_is_an_alternative() {
    let mut entry = entry("a", Word::Violated);
    entry.next = vec!["clewline one".to_owned(), "clewline two".to_owned()];
    let xml = junit(&summary(vec![entry]), Durations::Hidden);
    assert!(xml.contains("next: clewline one\n  or: clewline two</failure>"), "{xml}");
}

#[test]
fn lines_end_with_what_failed_and_the_totals() {
    let mut all = mixed();
    all.nouns = ("test", "tests");
    let expected = "\
holds       good.jsonl     1,234 operations  1.5 s
unknown     hard.jsonl     1,234 operations  1.5 s
    hard.jsonl is judged
unreadable  gone.jsonl                       1.5 s
    gone.jsonl is judged
violated    lost, 1.jsonl  1,234 operations  1.5 s
    lost, 1.jsonl is judged
    clewline check 'lost, 1.jsonl' --html report.html
4 tests: 1 violated, 1 unreadable, 1 unknown, 1 holds
";
    assert_eq!(lines(&all), expected);
}

#[test]
fn ignored_entries_are_no_success() {
    let ignored = || entry("later", Word::Ignored);
    assert_eq!(summary(vec![ignored()]).word(), Word::Unknown);
    let some = summary(vec![ignored(), entry("good.jsonl", Word::Holds)]);
    assert_eq!((some.totals().as_str(), some.word()), ("2 histories: 1 holds, 1 ignored", Word::Holds));
    assert!(lines(&some).starts_with("ignored  later"), "{}", lines(&some));
    let xml = elements(&junit(&some, Durations::Hidden));
    let skipped = xml.iter().find(|it| it.0 == "skipped").expect("an element");
    assert_eq!((skipped.1["message"].as_str(), xml[0].1["skipped"].as_str()), ("later is judged", "1"));
    assert!(markdown(&some, Durations::Hidden).contains("| ignored | later |"));
    assert_eq!(annotations(&some), "");
}
