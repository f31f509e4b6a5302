//! `--junit`, `--markdown` and `--annotations`, of every command with verdicts.

use std::collections::HashMap;

use quick_xml::{Reader, events::Event};

use crate::run::{BAD, Folder, GOOD, Ran, clewline};

/// Runs a command with all summaries.
#[track_caller]
fn summed(folder: &Folder, command: &[&str]) -> Ran {
    let more = ["--junit", "junit.xml", "--markdown", "summary.md", "--annotations"];
    clewline(folder, &[command, &more].concat(), "")
}

/// The number of occurrences of each element, and the attributes of the first. Panics if the file
/// is not XML.
#[track_caller]
fn elements(xml: &str) -> HashMap<String, (usize, HashMap<String, String>)> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut elements: HashMap<String, (usize, HashMap<String, String>)> = HashMap::new();
    let mut depth = 0;
    loop {
        let event = reader.read_event().unwrap_or_else(|it| panic!("{it}\n{xml}"));
        match &event {
            Event::Eof => break,
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => (),
        }
        if let Event::Start(tag) | Event::Empty(tag) = &event {
            let attributes = tag.attributes().map(|it| {
                let it = it.expect("an attribute");
                let value = it.unescape_value().expect("known entities").into_owned();
                (String::from_utf8_lossy(it.key.as_ref()).into_owned(), value)
            });
            let attributes: HashMap<String, String> = attributes.collect();
            let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
            elements.entry(name).or_insert((0, attributes)).0 += 1;
        }
    }
    assert_eq!(depth, 0, "{xml}");
    elements
}

/// Suite, cases, failures and errors of a JUnit file.
#[track_caller]
fn check_junit(folder: &Folder, suite: &str, cases: usize, failures: usize, errors: usize) {
    let elements = elements(&folder.read("junit.xml"));
    let count = |name: &str| elements.get(name).map_or(0, |it| it.0);
    assert_eq!((count("testcase"), count("failure"), count("error")), (cases, failures, errors));
    let printed = &elements["testsuite"].1;
    assert_eq!(printed["name"], suite);
    assert_eq!(
        (printed["tests"].clone(), printed["failures"].clone()),
        (cases.to_string(), failures.to_string())
    );
    assert!(!printed.contains_key("time"), "times only on request");
}

#[test]
fn files_have_a_summary() {
    let folder = Folder::new("summary-check")
        .with("good.jsonl", GOOD)
        .with("lost <&> \"1\".jsonl", BAD)
        .with("broken.jsonl", "?\n");
    let files = ["check", "good.jsonl", "lost <&> \"1\".jsonl", "broken.jsonl", "--spec", "queue"];
    let ran = summed(&folder, &files);
    assert_eq!(ran.code, 1);
    check_junit(&folder, "clewline check", 3, 1, 1);
    let annotations: Vec<&str> = ran.stderr.lines().filter(|it| it.starts_with("::")).collect();
    assert_eq!(annotations.len(), 2, "{}", ran.stderr);
    let lost = "::error file=lost <&> \"1\".jsonl,line=3,title=violated%3A lost <&> \"1\".jsonl::lost <&> \"1\".jsonl is not linearizable as a queue%0A%0A";
    assert!(annotations[0].starts_with(lost), "{}", annotations[0]);
    let broken =
        "::error file=broken.jsonl,line=1,title=unreadable%3A broken.jsonl::broken.jsonl: line 1, column 1: ";
    assert!(annotations[1].starts_with(broken), "{}", annotations[1]);
    let markdown = folder.read("summary.md");
    for expected in [
        "## 3 histories: 1 violated, 1 unreadable, 1 holds\n",
        "| verdict | history | operations | decided by |\n|---|---|---:|---|\n| **violated** | lost &lt;&amp;> \"1\".jsonl | 4 |",
        "\n| holds | good.jsonl | 2 |",
        "### violated: lost &lt;&amp;> \"1\".jsonl is not linearizable as a queue\n\n```text\n",
        "--html report.html\n```\n",
        "### unreadable: broken.jsonl: line 1, column 1: expected",
    ] {
        assert!(markdown.contains(expected), "no {expected} in\n{markdown}");
    }
    // Text, for files of which some do not hold.
    let table = "All histories, the worst first:\n\n  verdict     operations  decided by";
    assert!(ran.stdout.contains(table), "{}", ran.stdout);
}

#[test]
fn unknown_is_no_success() {
    let folder = Folder::new("summary-unknown").with("hard.jsonl", &crate::run::hard());
    let args = ["check", "hard.jsonl", "--spec", "queue", "--algorithm", "wg-tree", "--timeout", "1ms"];
    let ran = summed(&folder, &args);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    check_junit(&folder, "clewline check", 1, 0, 1);
    assert!(
        ran.stderr.starts_with("::warning file=hard.jsonl,title=unknown%3A hard.jsonl::"),
        "{}",
        ran.stderr
    );
}

#[test]
fn each_matrix_is_in_the_summary() {
    let folder = Folder::new("summary-explore");
    let args = ["explore", "iqueue", "--auto", "2", "--calls", "enq(1), deq", "--all"];
    let ran = summed(&folder, &args);
    assert_eq!(ran.code, 1, "{} {}", ran.stdout, ran.stderr);
    check_junit(&folder, "clewline explore", 11, 3, 0);
    assert_eq!(ran.stderr.lines().filter(|it| it.starts_with("::error title=violated")).count(), 3);
    assert!(folder.read("summary.md").contains("| verdict | matrix | executions | decided by |\n"));
}

#[test]
fn systems_and_subjects_have_a_summary() {
    let folder = Folder::new("summary-actors");
    assert_eq!(summed(&folder, &["actors", "edr"]).code, 1);
    check_junit(&folder, "clewline actors", 1, 1, 0);
    assert!(folder.read("junit.xml").contains("──►"), "the schedule is shown");
    let folder = Folder::new("summary-stress");
    assert_eq!(
        summed(&folder, &["stress", "register", "--executions", "2", "--operations", "20", "--seed", "1"])
            .code,
        0
    );
    check_junit(&folder, "clewline stress", 1, 0, 0);
}

#[test]
fn durations_are_included_on_request() {
    let folder = Folder::new("summary-times").with("good.jsonl", GOOD);
    summed(&folder, &["check", "good.jsonl", "--spec", "queue", "--times"]);
    let elements = elements(&folder.read("junit.xml"));
    assert!(elements["testcase"].1["time"].parse::<f64>().is_ok());
    assert!(folder.read("summary.md").contains("| took |"));
}

#[test]
fn json_lines_stay_alone_on_standard_output() {
    let folder = Folder::new("summary-json").with("good.jsonl", GOOD).with("lost.jsonl", BAD);
    let ran = summed(&folder, &["check", "good.jsonl", "lost.jsonl", "--spec", "queue", "--format", "json"]);
    assert_eq!(ran.json().len(), 2);
    assert!(ran.stderr.starts_with("::error file=lost.jsonl"), "{}", ran.stderr);
}
