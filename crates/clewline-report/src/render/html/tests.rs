use std::{collections::HashMap, time::Duration};

use clewline_core::{
    Note, OperationId, PartialLinearization, Rule, Shown, Times, Verdict, Violation, Why, Witness,
};
use serde_json::Value as Json;

use super::{
    super::{
        CheckedHistory,
        svg::{self, Ground},
        tests::{case, exhausted, judged},
    },
    ActorEvent, DiagramMessage, NotReceived, Page, PageColumns, PageCounterexample, PageOperation,
    SequenceDiagram, StepRow, Steps, write,
};

/// The data for the scripts of a page.
#[track_caller]
fn data(html: &str) -> Json {
    let (_, rest) = html.split_once("id=\"data\">").expect("there is data");
    let (json, _) = rest.split_once("</script>").expect("the data ends");
    serde_json::from_str(json).expect("the data is JSON")
}

/// Every tag that is opened is closed; returns how often each occurs.
#[track_caller]
fn tags(xml: &str) -> HashMap<String, usize> {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut tags = HashMap::new();
    loop {
        match reader.read_event().unwrap_or_else(|it| panic!("{it}\n{xml}")) {
            quick_xml::events::Event::Eof => return tags,
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                *tags.entry(String::from_utf8_lossy(tag.name().as_ref()).into_owned()).or_default() += 1;
            }
            _ => (),
        }
    }
}

fn overtaken() -> super::super::tests::Drawn {
    case(&[
        (0, Some(1), 0, Some((None, 1))),
        (0, Some(2), 2, Some((None, 3))),
        (1, None, 4, Some((Some(2), 6))),
        (2, None, 5, None),
    ])
}

const PLAIN: PageOperation<'_> = PageOperation {
    process: "a",
    object: "",
    part: "",
    call: "f()",
    result: None,
    id: "",
    start: 0,
    end: Some(1),
    line: None,
};

fn empty() -> Page {
    let case = case(&[]);
    Page::of(&judged(&case, &Verdict::Holds(Witness::default())))
}

#[test]
fn the_verdict_comes_first_then_the_evidence_then_what_to_do() {
    let case = overtaken();
    let verdict = exhausted(&[0, 1, 2], &[0, 1], 2);
    let html = write(&Page::of(&CheckedHistory {
        next: &["clewline check lost.jsonl".to_owned()],
        ..judged(&case, &verdict)
    }));
    let body = html.split_once("<body").unwrap().1;
    let mut places = Vec::new();
    for part in [
        "<strong class=\"word\">violated</strong>: lost.jsonl is not linearizable as a queue",
        "These 3 operations are a counterexample",
        "<p>The longest order found is enq(1), enq(2).",
        "In lost.jsonl: lines 1, 2, 3.",
        "Next: <code>clewline check lost.jsonl</code>",
        "<svg",
        "<a href=\"#op=2\">deq()</a></td><td>2</td><td>event 5</td><td>event 7</td><td>3</td>",
        "<canvas id=\"timeline\"",
    ] {
        places.push(body.find(part).unwrap_or_else(|| panic!("no {part} in\n{body}")));
    }
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn durations_do_not_change_a_page_or_a_picture() {
    let case = overtaken();
    let verdict = exhausted(&[0, 1, 2], &[0, 1], 2);
    let quick = judged(&case, &verdict);
    let slow = CheckedHistory { elapsed: Duration::from_secs(77), configurations: 5, ..quick };
    assert_eq!(write(&Page::of(&quick)), write(&Page::of(&slow)));
    assert_eq!(svg::counterexample(&quick, Ground::Paper), svg::counterexample(&slow, Ground::Paper));
}

#[test]
fn the_longest_order_and_the_possible_results_are_on_the_page() {
    let case = overtaken();
    let verdict = exhausted(&[0, 1, 2], &[0], 2);
    let data = data(&write(&Page::of(&judged(&case, &verdict))));
    // A search may have stopped one operation early.
    assert_eq!(data["rest"]["paths"][0]["order"], serde_json::json!([0, 1]));
    assert_eq!(data["rest"]["paths"][0]["stuck"], 2);
    let sentence = "The state is then [1, 2], and deq() → 2 could only have been deq() → 1.";
    assert_eq!(data["rest"]["paths"][0]["text"], sentence);
    assert_eq!(data["rest"]["paths"][0]["states"], serde_json::json!(["[]", "[1]", "[1, 2]", ""]));
    assert_eq!(data["rest"]["paths"][0]["around"], serde_json::json!([[0, 0, 1], [1, 1, 2], [2, 2, 3]]));
}

#[test]
fn a_witness_is_a_path() {
    let case = case(&[(0, Some(1), 0, Some((None, 1))), (1, None, 2, Some((Some(1), 3)))]);
    let verdict = Verdict::Holds(Witness { order: vec![OperationId(0), OperationId(1)] });
    let page = Page::of(&judged(&case, &verdict));
    assert_eq!((page.paths.len(), page.counterexample.operations.len(), &page.picture), (1, 0, &None));
    let data = data(&write(&page));
    assert_eq!(data["rest"]["paths"][0]["order"], serde_json::json!([0, 1]));
}

#[test]
fn columns_give_back_what_was_put_in() {
    let operations = [
        PageOperation { process: "b", object: "x", part: "k", id: "first", line: Some(7), ..PLAIN },
        PageOperation { start: 2, end: None, result: Some("?"), line: Some(3), ..PLAIN },
        PageOperation { process: "b", start: 5, end: Some(9), result: Some("f()"), line: Some(900), ..PLAIN },
    ];
    let mut columns = PageColumns::new(vec!["a".to_owned(), "b".to_owned()]);
    operations.iter().for_each(|it| columns.push(it));
    for (at, operation) in operations.iter().enumerate() {
        assert_eq!(columns.shown(OperationId::from_index(at)), *operation);
    }
    let json = columns.json();
    assert_eq!(json["start"], serde_json::json!([0, 2, 3]));
    assert_eq!(json["length"], serde_json::json!([1, 0, 4]));
    assert_eq!(json["line"], serde_json::json!([7, -4, 897]));
    assert_eq!(json["process"], serde_json::json!([1, 0, 1]));
    // A text that is both a call and a result is stored once.
    assert_eq!(json["texts"], serde_json::json!(["f()", "first", "?", ""]));
}

#[test]
fn an_empty_column_takes_no_room() {
    let mut columns = PageColumns::new(vec!["a".to_owned()]);
    columns.push(&PLAIN);
    let json = columns.json();
    for empty in ["process", "object", "part", "result", "line"] {
        assert_eq!(json[empty], serde_json::json!([]), "{empty}");
    }
}

#[test]
fn times_are_shown_if_all_are_known_and_exact_in_a_script() {
    let columns = |times: &[(usize, i64, Option<i64>)]| -> Json {
        let mut columns = PageColumns::new(vec!["a".to_owned()]);
        columns.push(&PageOperation { line: Some(2), ..PLAIN });
        columns.push(&PageOperation { line: Some(1), start: 2, end: None, ..PLAIN });
        let times = times.iter().map(|&(line, called, returned)| Times { line, called, returned });
        columns.add_times(&times.collect::<Vec<_>>());
        let json = columns.json();
        serde_json::json!([json["clock"], json["called"], json["took"]])
    };
    let late = 1_700_000_000_000_000_000;
    let times = serde_json::json!(["1700000000000000000", [0, 7], [5, 0]]);
    assert_eq!(columns(&[(1, late + 7, None), (2, late, Some(late + 5))]), times);
    let nothing = serde_json::json!(["0", [], []]);
    assert_eq!(columns(&[(2, 0, Some(5))]), nothing);
    assert_eq!(columns(&[(1, i64::MIN, None), (2, i64::MAX - 1, Some(i64::MAX))]), nothing);
    assert_eq!(columns(&[(1, 0, None), (2, 0, Some(1 << 53))]), nothing);
}

#[test]
fn nothing_recorded_becomes_markup_or_script() {
    let evil = "</script><script>alert(1)</script><!-- {{data}} & \u{0}";
    let mut page = empty();
    let mut history = PageColumns::new(vec![evil.to_owned()]);
    history.push(&PageOperation {
        process: evil,
        object: evil,
        part: evil,
        call: evil,
        result: Some(evil),
        ..PLAIN
    });
    page.history = Some(history);
    page.counterexample = PageCounterexample {
        title: evil.to_owned(),
        each: evil.to_owned(),
        ..PageCounterexample::found(vec![OperationId(0)])
    };
    page.facts = vec![("seed".to_owned(), evil.to_owned())];
    page.title = evil.to_owned();
    page.headline = evil.to_owned();
    page.words = vec![evil.to_owned()];
    page.next = vec![evil.to_owned()];
    page.checked = evil.to_owned();
    page.notes = vec![(OperationId(0), evil.to_owned())];
    let step = StepRow {
        number: None,
        task: 0,
        description: evil.to_owned(),
        place: evil.to_owned(),
        operation: None,
        reads: None,
    };
    page.steps = Some(Steps { tasks: vec![evil.to_owned()], steps: vec![step], then: vec![evil.to_owned()] });
    let label = evil.to_owned();
    let message = DiagramMessage {
        from: 0,
        to: 0,
        label,
        sent: 0,
        received: None,
        otherwise: NotReceived::OnItsWay,
        operation: None,
    };
    let happening = ActorEvent { step: 0, actor: None, description: evil.to_owned(), operation: None };
    let (actors, happenings) = (vec![evil.to_owned()], vec![happening]);
    page.messages = Some(SequenceDiagram { actors, messages: vec![message], happenings });
    let html = write(&page);
    // The data and the script.
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script").count(), 2);
    assert!(!html.contains("<!-- "), "{html}");
    let data = data(&html);
    // Control characters are spaces on a label.
    assert_eq!(data["history"]["texts"][0], Json::from(evil.replace('\u{0}', " ")));
    assert_eq!(data["history"]["processes"][0], evil);
}

#[test]
fn long_texts_are_shortened() {
    let mut columns = PageColumns::new(vec!["a".to_owned()]);
    let long = "x".repeat(100_000);
    columns.push(&PageOperation { call: &long, ..PLAIN });
    assert!(columns.json().to_string().len() < 1_000);
    assert!(columns.shown(OperationId(0)).call.contains('…'));
}

#[test]
fn steps_stand_in_the_column_of_their_task() {
    let step = |number, task, text: &str, operation| StepRow {
        number,
        task,
        description: text.to_owned(),
        place: "queue.rs:3".to_owned(),
        operation,
        reads: None,
    };
    let steps = Steps {
        tasks: vec!["a".to_owned(), "b".to_owned()],
        steps: vec![step(None, 1, "calls f()", Some(OperationId(4))), step(Some(1), 0, "load x1", None)],
        then: vec!["Then no thread can continue.".to_owned()],
    };
    let html = write(&Page { steps: Some(steps), ..empty() });
    let (_, section) = html.split_once("<section id=\"steps\"").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    for part in [
        "<th>step</th><th>a</th><th>b</th><th>where</th>",
        "<tr class=\"talk\"><td></td><td></td><td><a href=\"#op=4\">calls f()</a></td><td class=\"place\">queue.rs:3</td></tr>",
        "<tr><td>1</td><td>load x1</td><td></td><td class=\"place\">queue.rs:3</td></tr>",
        "<p>Then no thread can continue.</p>",
    ] {
        assert!(section.contains(part), "no {part} in\n{section}");
    }
}

/// Of two stores the older one is read twice; the second time there is a newer one besides.
#[test]
fn what_was_read_and_missed_are_lines_beside_the_steps() {
    let step = |number, reads| StepRow {
        number: Some(number),
        task: 0,
        description: String::new(),
        place: String::new(),
        operation: None,
        reads,
    };
    let steps = vec![
        step(1, None),
        step(2, None),
        step(3, Some([1, 2])),
        step(4, None),
        // The initial value; and a step that is not shown.
        step(5, Some([0, 4])),
        step(6, Some([9, 4])),
    ];
    let steps = Steps { tasks: vec!["a".to_owned()], steps, then: Vec::new() };
    let html = write(&Page { steps: Some(steps), ..empty() });
    let (_, section) = html.split_once("<section id=\"steps\"").unwrap();
    let lanes = |row: usize| {
        let row =
            section.split_once(&format!("<tr><td>{row}</td>")).unwrap().1.split("</tr>").next().unwrap();
        let cells = row.split("<td class=\"lane").skip(1);
        cells.map(|it| it.split('"').next().unwrap().trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lanes(1), ["from", ""]);
    assert_eq!(lanes(2), ["via", "missed from"]);
    assert_eq!(lanes(3), ["to", "missed to"]);
    assert_eq!(lanes(4), ["missed from", "missed from"]);
    assert_eq!(lanes(5), ["missed to", "missed via"]);
    assert_eq!(lanes(6), ["", "missed to"]);
    assert!(section.contains("<p>An arrow goes from a store"), "{section}");
}

#[test]
fn messages_are_arrows_and_those_that_are_lost_end_in_a_cross() {
    let message = |from, to, sent, received| DiagramMessage {
        from,
        to,
        label: format!("m{sent}"),
        sent,
        received,
        otherwise: NotReceived::Lost,
        operation: None,
    };
    let messages = SequenceDiagram {
        actors: vec!["client".to_owned(), "server".to_owned()],
        messages: vec![
            message(0, 1, 1, Some(4)),
            message(0, 1, 2, None),
            message(1, 0, 4, Some(9)),
            message(1, 1, 5, Some(6)),
        ],
        happenings: Vec::new(),
    };
    let html = write(&Page { messages: Some(messages), ..empty() });
    let (_, section) =
        html.split_once("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Sequence").unwrap();
    let svg = &section[section.find("<svg").unwrap()..section.find("</svg>").unwrap() + 6];
    // Two actors, six steps, four messages and a cross.
    assert_eq!(tags(svg)["text"], 2 + 6 + 4 + 1);
    assert_eq!(svg.matches("marker-end").count(), 3);
    assert_eq!(svg.matches('×').count(), 1);
    // A message that was sent in step 4 begins where step 4 received: in the row of that step, the
    // third.
    assert!(svg.contains("d=\"M125 74L315 134\""), "{svg}");
    assert!(svg.contains("d=\"M315 134L125 224\""), "{svg}");
}

#[test]
fn messages_that_are_sent_in_one_step_have_a_row_each() {
    let message = |to, received| DiagramMessage {
        from: 0,
        to,
        label: "m".to_owned(),
        sent: 1,
        received: Some(received),
        otherwise: NotReceived::Lost,
        operation: None,
    };
    let actors = ["a", "b", "c"].map(str::to_owned).to_vec();
    let html = write(&Page {
        messages: Some(SequenceDiagram {
            actors,
            messages: vec![message(1, 2), message(2, 3)],
            happenings: Vec::new(),
        }),
        ..empty()
    });
    assert!(html.contains("d=\"M125 74L315 134\"") && html.contains("d=\"M125 104L505 164\""), "{html}");
}

#[test]
fn other_events_stand_on_the_line_of_their_actor() {
    let message = DiagramMessage {
        from: 0,
        to: 1,
        label: "m".to_owned(),
        sent: 1,
        received: Some(2),
        otherwise: NotReceived::Lost,
        operation: None,
    };
    let calls = ActorEvent {
        step: 1,
        actor: Some(0),
        description: "calls f()".to_owned(),
        operation: Some(OperationId(3)),
    };
    let heals = ActorEvent {
        step: 3,
        actor: None,
        description: "all hear each other again".to_owned(),
        operation: None,
    };
    let actors = ["a", "b"].map(str::to_owned).to_vec();
    let messages = SequenceDiagram { actors, messages: vec![message], happenings: vec![calls, heals] };
    let html = write(&Page { messages: Some(messages), ..empty() });
    // The call has the first row, and the messages sent then the next.
    assert!(html.contains("<a href=\"#op=3\"><rect class=\"pill\" x=\"135\" y=\"64\""), "{html}");
    assert!(html.contains("d=\"M125 104L315 134\""), "{html}");
    assert!(html.contains("x=\"220\" y=\"168\" text-anchor=\"middle\">all hear"), "{html}");
}

#[test]
fn dead_ends_are_shown_once_for_each_operation_the_longest_first() {
    let case = overtaken();
    let verdict = exhausted(&[0, 1, 2], &[0], 2);
    let judged = judged(&case, &verdict);
    let mut page = Page::of(&judged);
    let end = |prefix: &[u32], next| PartialLinearization {
        prefix: prefix.iter().map(|&it| OperationId(it)).collect(),
        next: OperationId(next),
    };
    page.add_dead_ends(&judged, &[end(&[0, 1], 2), end(&[], 2), end(&[0, 1, 3], 2)]);
    assert_eq!(page.paths.len(), 1);
    assert_eq!(page.paths[0].title, "until deq() → 2 (2 operations)");
}

#[test]
fn a_page_without_a_history_has_neither_a_timeline_nor_a_script() {
    let mut page = Page::new("x".to_owned(), "holds", "no violation found".to_owned());
    page.facts = vec![("seed".to_owned(), "42".to_owned())];
    let html = write(&page);
    assert!(!html.contains("<script") && !html.contains("<canvas") && !html.contains("<dialog"), "{html}");
    assert!(html.contains("<dt>seed</dt><dd>42</dd>") && !html.contains("{{"), "{html}");
}

#[test]
fn a_picture_shows_only_the_counterexample() {
    let case = overtaken();
    let verdict = exhausted(&[0, 1, 2], &[0, 1], 2);
    let svg = svg::counterexample(&judged(&case, &verdict), Ground::Paper).svg;
    let tags = tags(&svg);
    // Two processes, three bars, and the arrow of time.
    assert_eq!((tags["text"], svg.matches("class=\"bar\"").count()), (2 + 3 + 1, 3));
    assert!(svg.contains("<title>violated: lost.jsonl is not linearizable as a queue</title>"), "{svg}");
    assert!(svg.contains(">deq() → 2</text>") && !svg.contains("deq() → ?"), "{svg}");
}

fn because(mut found: Violation, why: Why) -> Verdict {
    found.why = Some(Box::new(why));
    Verdict::Violated(found)
}

/// Operations that the words name outside of the counterexample are drawn in the terminal, so they
/// are in the picture, and are not taken for a part of the counterexample.
#[test]
fn in_a_picture_bars_for_comparison_are_dotted() {
    let case = overtaken();
    let Verdict::Violated(found) = exhausted(&[0, 2], &[0], 2) else { panic!("it is violated") };
    let operations = [2, 0, 1].map(OperationId).to_vec();
    let why = Why::Rule { rule: Rule::FirstInFirstOut, operations, end: None };
    let verdict = because(found, why);
    let svg = svg::counterexample(&judged(&case, &verdict), Ground::Paper).svg;
    let dotted: Vec<&str> = svg.lines().filter(|it| it.contains("class=\"beside\"")).collect();
    assert_eq!((svg.matches("class=\"bar\"").count(), dotted.len()), (2, 1), "{svg}");
    assert!(dotted[0].contains("stroke-dasharray=\"1 3\""), "{svg}");
    let legend = "Dotted operations are no part of them";
    assert!(write(&Page::of(&judged(&case, &verdict))).contains(legend));
    let plain = exhausted(&[0, 1, 2], &[0, 1], 2);
    assert!(!write(&Page::of(&judged(&case, &plain))).contains(legend));
}

#[test]
fn the_last_of_several_results_comes_after_or() {
    let sentence = |results: i32| {
        let all: Vec<Shown> =
            (1..=results).map(|it| Shown::of_texts("take()", Some(&it.to_string()))).collect();
        super::orders::dead_end_sentence("take() → 0", &all, None)
    };
    let start = "After this order take() → 0 could only have been take() → 1";
    assert_eq!(sentence(1), format!("{start}."));
    assert_eq!(sentence(3), format!("{start}, take() → 2 or take() → 3."));
    assert!(sentence(12).ends_with(", take() → 11 or take() → 12."), "{}", sentence(12));
    assert!(sentence(13).ends_with(", take() → 12 or 1 other."), "{}", sentence(13));
}

#[test]
fn one_operation_is_not_them() {
    let case = overtaken();
    let Verdict::Violated(found) = exhausted(&[2], &[], 2) else { panic!("it is violated") };
    let why = Why::Rule { rule: Rule::AddedBefore, operations: [2, 1].map(OperationId).to_vec(), end: None };
    let verdict = because(found, why);
    let page = write(&Page::of(&judged(&case, &verdict)));
    assert!(page.contains("Dotted operations are no part of it; they"), "{page}");
}

/// Of a large counterexample with a short explanation only the operations that it names are drawn,
/// and the page says so.
#[test]
fn a_picture_that_leaves_operations_out_says_so() {
    let enq = |at: i64| (0, Some(at), 2 * at, Some((None, 2 * at + 1)));
    let case = case(&(0..14).map(enq).collect::<Vec<_>>());
    let counterexample: Vec<u32> = (0..14).collect();
    let Verdict::Violated(found) = exhausted(&counterexample, &[], 13) else { panic!("it is violated") };
    let why = Why::Rule { rule: Rule::FirstInFirstOut, operations: vec![OperationId(0)], end: None };
    let violation = because(found.clone(), why);
    let page = write(&Page::of(&judged(&case, &violation)));
    // Right below the picture, before the table.
    let places =
        ["</svg>", "<p>The 13 others of them are not drawn here", "<details"].map(|it| page.find(it));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    assert!(!write(&Page::of(&judged(&case, &Verdict::Violated(found)))).contains("not drawn"));
}

#[test]
fn a_message_that_is_on_its_way_does_not_end_in_a_cross() {
    let drawn = |otherwise| {
        let label = "m".to_owned();
        let message =
            DiagramMessage { from: 0, to: 1, label, sent: 1, received: None, otherwise, operation: None };
        let actors = vec!["client".to_owned(), "server".to_owned()];
        let messages = SequenceDiagram { actors, messages: vec![message], happenings: Vec::new() };
        write(&Page { messages: Some(messages), ..empty() })
    };
    let (lost, waits) = (drawn(NotReceived::Lost), drawn(NotReceived::OnItsWay));
    assert!(lost.contains(">×</text>") && !lost.contains(">…</text>"), "{lost}");
    assert!(waits.contains(">…</text>") && !waits.contains(">×</text>"), "{waits}");
}

/// Around the first operations of a long order no states are shown, and the page says so.
#[test]
fn a_page_says_which_states_it_leaves_out() {
    let sentence = |count: i64| {
        let operation = |at: i64| (0, Some(at), 2 * at, Some((None, 2 * at + 1)));
        let case = case(&(0..count).map(operation).collect::<Vec<_>>());
        let order = (0..count as u32).map(OperationId).collect();
        Page::of(&judged(&case, &Verdict::Holds(Witness { order }))).paths[0].description.clone()
    };
    assert_eq!(sentence(3_000), "");
    assert_eq!(sentence(3_001), "States are shown around its last 3,000 operations.");
}

#[test]
fn in_a_picture_an_operation_that_precedes_another_is_left_of_it() {
    let case = overtaken();
    let verdict = exhausted(&[0, 1, 2], &[0, 1], 2);
    let svg = svg::counterexample(&judged(&case, &verdict), Ground::Page).svg;
    let bars: Vec<Vec<f64>> = svg
        .lines()
        .filter(|it| it.contains("class=\"bar\""))
        .map(|it| {
            let path = it.split("d=\"M").nth(1).unwrap().split('"').next().unwrap();
            path.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect()
        })
        .collect();
    let [first, second, third] = &bars[..] else { panic!("{bars:?}") };
    // Left edge, top, right edge.
    assert!(first[2] < second[0] && second[2] < third[0], "{bars:?}");
    assert!(first[1] == second[1] && second[1] < third[1], "{bars:?}");
}

#[test]
fn in_a_picture_a_pending_operation_is_open_to_the_right() {
    let case = case(&[(0, Some(1), 0, None), (1, None, 1, Some((Some(2), 2)))]);
    let verdict = exhausted(&[0, 1], &[], 1);
    let svg = svg::counterexample(&judged(&case, &verdict), Ground::Paper).svg;
    let bars: Vec<&str> = svg.lines().filter(|it| it.contains("class=\"bar\"")).collect();
    assert!(!bars[0].contains("Z\"") && bars[0].contains("dasharray"), "{svg}");
    assert!(bars[1].contains("Z\"") && !bars[1].contains("dasharray"), "{svg}");
}

#[test]
fn without_a_counterexample_a_small_history_is_drawn_and_a_large_one_named() {
    let operation = |at: i64| (0, Some(at), 2 * at, Some((None, 2 * at + 1)));
    let draw = |count: i64| {
        let case = case(&(0..count).map(operation).collect::<Vec<_>>());
        svg::counterexample(&judged(&case, &Verdict::Holds(Witness::default())), Ground::Paper).svg
    };
    assert_eq!(draw(40).matches("class=\"bar\"").count(), 40);
    let large = draw(41);
    assert_eq!(large.matches("class=\"bar\"").count(), 0);
    assert!(large.contains(">holds: lost.jsonl is linearizable as a queue</text>"), "{large}");
    tags(&large);
    tags(&draw(0));
}

#[test]
fn a_page_without_operations_is_whole() {
    let html = write(&empty());
    assert_eq!(data(&html)["history"]["count"], 0);
    assert!(html.contains("There are no operations") && html.ends_with("</html>\n"));
    assert!(!html.contains("{{"));
}

/// A history with a partition during the second and third operation, and notes before and after.
fn noted() -> super::super::tests::Drawn {
    let mut case = overtaken();
    let note = |text: &str, from, until| Note { text: text.to_owned(), from, until };
    case.names.notes = vec![
        note("partition <n1>", 2, Some(5)),
        note("kill n2", 4, Some(4)),
        note("skew", 6, None),
        note("before", 0, Some(0)),
    ];
    case
}

#[test]
fn notes_are_on_the_page_as_bands_and_as_a_list() {
    let case = noted();
    let html = write(&Page::of(&judged(&case, &exhausted(&[0, 1, 2], &[0, 1], 2))));
    let bands =
        serde_json::json!([["partition <n1>", 2, 5], ["kill n2", 4, 4], ["skew", 6, null], ["before", 0, 0]]);
    assert_eq!(data(&html)["rest"]["bands"], bands);
    for part in [
        "<details id=\"history-notes\" open>\n<summary>4 notes on the history</summary>",
        "<li><a href=\"#t=2-5\">partition &lt;n1&gt;</a>: events 3 to 5</li>",
        "<li><a href=\"#t=4-5\">kill n2</a>: after event 4</li>",
        "<li><a href=\"#t=6-\">skew</a>: from event 7 on</li>",
        "<li><a href=\"#t=1-1\">before</a>: before event 1</li>",
    ] {
        assert!(html.contains(part), "no {part} in\n{html}");
    }
    // Without notes there is nothing of the kind.
    let plain = overtaken();
    let html = write(&Page::of(&judged(&plain, &exhausted(&[0, 1, 2], &[0, 1], 2))));
    assert!(!html.contains("id=\"history-notes\"") && data(&html)["rest"]["bands"] == serde_json::json!([]));
}

#[test]
fn in_a_picture_notes_are_behind_the_operations() {
    let case = noted();
    let svg = svg::counterexample(&judged(&case, &exhausted(&[0, 1, 2], &[0, 1], 2)), Ground::Paper).svg;
    tags(&svg);
    let rects: Vec<&str> = svg.lines().filter(|it| it.starts_with("<rect class=\"note\"")).collect();
    let lines = svg.matches("<path class=\"note\"").count();
    // What is before or after all of the operations has no place among them.
    assert_eq!((rects.len(), lines), (2, 1), "{svg}");
    assert!(!svg.contains(">before</text>") && svg.contains(">partition &lt;n1&gt;</text>"), "{svg}");
    let last = svg.rfind("class=\"note\"").unwrap();
    assert!(last < svg.find("class=\"bar\"").unwrap(), "{svg}");
    // It begins after the first operation has returned, and ends before the last does.
    let number = |line: &str, name: &str| -> usize {
        line.split_once(&format!(" {name}=\"")).unwrap().1.split('"').next().unwrap().parse().unwrap()
    };
    let bars: Vec<Vec<usize>> = svg
        .lines()
        .filter(|it| it.contains("class=\"bar\""))
        .map(|it| it.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect())
        .collect();
    let (left, right) = (number(rects[0], "x"), number(rects[0], "x") + number(rects[0], "width"));
    assert!(bars[0][2] < left && left < bars[1][0], "{left} {bars:?}");
    assert!(bars[2][0] < right && right < bars[2][2], "{right} {bars:?}");
}

#[test]
fn a_window_has_an_icon_for_each_verdict() {
    let icon = |verdict| {
        let html = write(&Page::new("x".to_owned(), verdict, "y".to_owned()));
        html.split_once("<link rel=\"icon\" href=\"").unwrap().1.split('"').next().unwrap().to_owned()
    };
    let all = ["holds", "violated", "unknown"].map(icon);
    assert!(
        all.iter().all(|it| it.starts_with("data:image/svg+xml,%3Csvg ") && !it.contains('#')),
        "{all:?}"
    );
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
}

/// The relative luminance of `#rrggbb`, by WCAG 2.
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The colour of a name of the style sheet, in the light and in the dark scheme.
fn colours(name: &str) -> [String; 2] {
    let (_, rest) = super::STYLE.split_once(&format!("--{name}: light-dark(")).expect("it has this colour");
    let (pair, _) = rest.split_once(')').unwrap();
    let (light, dark) = pair.split_once(", ").unwrap();
    [light.to_owned(), dark.to_owned()]
}

/// Text has a contrast of 4.5 to what is behind it, and edges that carry a meaning of 3: level AA
/// of WCAG 2.
#[test]
fn colours_have_enough_contrast_in_both_schemes() {
    const TEXTS: [(&str, &[&str]); 11] = [
        ("ink", &["ground", "band", "field", "counterexample"]),
        ("quiet", &["ground", "band", "field"]),
        ("bar-ink", &["bar", "match"]),
        ("counterexample-ink", &["counterexample", "match"]),
        ("counterexample-edge", &["ground", "band"]),
        ("path", &["ground", "band"]),
        ("path-ink", &["path"]),
        ("note", &["ground", "band"]),
        ("bad", &["ground"]),
        ("good", &["ground"]),
        ("open", &["ground"]),
    ];
    const EDGES: [(&str, &[&str]); 3] = [
        ("bar-edge", &["ground", "band"]),
        ("counterexample-edge", &["counterexample"]),
        ("select", &["ground", "bar", "counterexample"]),
    ];
    for (least, pairs) in [(4.5, &TEXTS[..]), (3.0, &EDGES[..])] {
        for (name, grounds) in pairs {
            for ground in *grounds {
                for (one, other) in colours(name).iter().zip(&colours(ground)) {
                    let found = contrast(one, other);
                    assert!(least <= found, "{name} {one} on {ground} {other}: {found:.2}, at least {least}");
                }
            }
        }
    }
}
