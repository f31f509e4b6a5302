//! `check --html` and `check --svg`: the files, and, if there is a browser, the rendered page.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::{
    browser::Browser,
    run::{BAD, Folder, GOOD, clewline},
};

/// A folder with `history.jsonl` and its page, `report.html`.
#[track_caller]
pub(crate) fn page(test: &str, history: &str, spec: &str, expected: i32) -> Folder {
    let folder = Folder::new(test).with("history.jsonl", history);
    let args =
        ["check", "history.jsonl", "--spec", spec, "--html", "report.html", "--svg", "counterexample.svg"];
    let ran = clewline(&folder, &args, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (expected, ""), "{}", ran.stdout);
    folder
}

/// A browser that shows the page, unless there is none.
pub(crate) fn browse(folder: &Folder, fragment: &str) -> Option<Browser> {
    let mut browser = Browser::start(&folder.path("browser"), 1200, 900)?;
    browser.open(&folder.path("report.html"), fragment);
    Some(browser)
}

pub(crate) fn state(browser: &mut Browser) -> Json {
    browser.settle();
    browser.js("clewline.state()")
}

pub(crate) fn number(value: &Json) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The middle of an operation's bar, on the screen.
pub(crate) fn middle(browser: &mut Browser, operation: usize) -> (f64, f64) {
    browser.js("document.getElementById('timeline').scrollIntoView()");
    browser.settle();
    let place = browser.js(&format!(
        "(() => {{ const box = document.getElementById('timeline').getBoundingClientRect();
           const it = clewline.place({operation});
           const left = Math.max(it.left, it.x), right = Math.min(it.right, it.width);
           return [box.left + (left + right) / 2, box.top + it.top + it.height / 2]; }})()"
    ));
    (number(&place[0]), number(&place[1]))
}

/// Thousands of writes, and a stale read in the middle.
pub(crate) fn long() -> String {
    let mut lines = String::new();
    for at in 0..4_000 {
        let (process, call) = (at % 7, 10 * at);
        lines.push_str(&format!(
            "{{\"process\": {process}, \"op\": \"write\", \"arg\": {at}, \"call\": {call}, \"return\": {}}}\n",
            call + 25
        ));
    }
    lines.push_str(
        "{\"process\": \"late\", \"op\": \"read\", \"ret\": 1990, \"call\": 20500, \"return\": 20540}\n",
    );
    lines
}

#[test]
fn the_same_history_gives_the_same_bytes() {
    let files = |test: &str| {
        let folder = page(test, BAD, "queue", 1);
        (folder.read("report.html"), folder.read("counterexample.svg"))
    };
    assert_eq!(files("html-once"), files("html-again"));
}

#[test]
fn a_page_loads_nothing_from_the_network() {
    let folder = page("html-alone", BAD, "queue", 1);
    let (html, svg) = (folder.read("report.html"), folder.read("counterexample.svg"));
    for text in [&html, &svg] {
        let text = text.replace("http://www.w3.org/2000/svg", "");
        for elsewhere in ["http:", "https:", "@import", "url(http", "src=\"", "<link rel=\"stylesheet\""] {
            assert!(!text.contains(elsewhere), "{elsewhere}");
        }
    }
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
}

#[test]
fn standard_input_is_drawn_whole() {
    // More operations than a stream keeps.
    let operations = 70_000;
    let mut history = String::new();
    for at in 0..operations / 2 {
        history.push_str(&format!(
            "{{\"process\":0,\"op\":\"enq\",\"arg\":{at},\"call\":{},\"return\":{}}}\n",
            4 * at,
            4 * at + 1
        ));
        history.push_str(&format!(
            "{{\"process\":0,\"op\":\"deq\",\"ret\":{at},\"call\":{},\"return\":{}}}\n",
            4 * at + 2,
            4 * at + 3
        ));
    }
    let folder = Folder::new("html-input");
    let ran = clewline(&folder, &["check", "-", "--spec", "queue", "--html", "report.html"], &history);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let html = folder.read("report.html");
    assert!(html.contains(&format!("\"count\":{operations},")), "{}", html.len());
}

#[test]
fn a_picture_shows_one_history() {
    let folder = Folder::new("html-two").with("a.jsonl", GOOD).with("b.jsonl", BAD);
    let ran = clewline(&folder, &["check", "a.jsonl", "b.jsonl", "--spec", "queue", "--svg", "x.svg"], "");
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stderr, "error: --svg needs exactly one history; found 2 files\n");
}

#[test]
fn an_unwritable_page_does_not_hide_the_verdict() {
    let folder = Folder::new("html-nowhere").with("lost.jsonl", BAD);
    let ran = clewline(&folder, &["check", "lost.jsonl", "--spec", "queue", "--html", "no/such/x.html"], "");
    assert_eq!(ran.code, 2);
    assert_eq!(ran.first_line(), "violated: lost.jsonl is not linearizable as a queue");
    assert!(ran.stderr.starts_with("error: no/such/x.html: "), "{}", ran.stderr);
}

#[test]
#[ignore = "needs a browser"]
fn a_page_opens_without_errors_or_requests() {
    for (test, history, spec, code) in [
        ("html-violated", BAD, "queue", 1),
        ("html-holds", GOOD, "queue", 0),
        ("html-short", "{\"process\": 0, \"op\": \"deq\", \"call\": 0}\n", "queue", 0),
        ("html-long", &long(), "register", 1),
    ] {
        let folder = page(test, history, spec, code);
        let Some(mut browser) = browse(&folder, "") else { return };
        browser.press("?");
        browser.js("document.getElementById('help').close()");
        assert_eq!(browser.troubles(), Vec::<String>::new(), "{test}");
        assert!(number(&browser.js("clewline.state().drawn")) > 0.0);
    }
}

#[test]
#[ignore = "needs a browser"]
fn the_counterexample_is_visible_at_first() {
    let folder = page("html-counterexample", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    // In its colour, on the picture, and in its table.
    let seen = browser.js(
        "(() => { const canvas = document.getElementById('timeline');
           const probe = document.createElement('canvas').getContext('2d');
           probe.fillStyle = clewline.colour('counterexample-edge');
           probe.fillRect(0, 0, 1, 1);
           const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
           const counterexample = JSON.parse(document.getElementById('data').textContent).rest.counterexample;
           return counterexample.map(op => { const it = clewline.place(op);
             const x = Math.round((it.left + it.right) / 2), y = Math.round(it.top);
             const pixels = canvas.getContext('2d').getImageData(x - 2, y - 2, 5, 6).data;
             for (let at = 0; at < pixels.length; at += 4)
               if (Math.abs(pixels[at] - r) + Math.abs(pixels[at + 1] - g) + Math.abs(pixels[at + 2] - b) < 12) return true;
             return false; }); })()",
    );
    let seen = seen.as_array().expect("one for each operation").clone();
    assert!(1 < seen.len() && seen.iter().all(|it| it == true), "{seen:?}");
    // And visible among 8,000 events.
    let view = state(&mut browser);
    assert!(number(&view["to"]) - number(&view["from"]) < 800.0, "{view}");
    assert_eq!(browser.js("document.querySelectorAll('#counterexample tbody tr').length"), json!(seen.len()));
    assert_eq!(browser.js("document.querySelectorAll('#counterexample svg .bar').length"), json!(seen.len()));
}

#[test]
#[ignore = "needs a browser"]
fn nothing_runs_through_the_words_of_what_is_there_for_comparison() {
    let history = "{\"process\": 0, \"op\": \"pop\", \"ret\": 4, \"call\": 1, \"return\": 2}\n\
                   {\"process\": 0, \"op\": \"push\", \"arg\": 4, \"call\": 3, \"return\": 4}\n";
    let folder = page("html-beside", history, "stack", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    let fills = browser.js(
        "[...document.querySelectorAll('#counterexample svg .beside')].map(it => getComputedStyle(it).fill)
           .concat(getComputedStyle(document.body).backgroundColor)",
    );
    let fills = fills.as_array().expect("one for each operation, and the page").clone();
    assert!(fills.len() == 2 && fills[0] == fills[1], "{fills:?}");
}

#[test]
#[ignore = "needs a browser"]
fn zooming_and_moving_change_what_is_shown() {
    let folder = page("html-zoom", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    let width = |it: &Json| number(&it["to"]) - number(&it["from"]);
    let (x, y) = middle(&mut browser, 2_000);
    browser.click(x, y);
    let before = state(&mut browser);
    browser.mouse("mouseWheel", x, y, json!({"deltaX": 0, "deltaY": -200, "button": "none"}));
    let closer = state(&mut browser);
    assert!(width(&closer) < width(&before), "{before} {closer}");
    browser.press("-");
    browser.press("-");
    let farther = state(&mut browser);
    assert!(width(&closer) < width(&farther), "{closer} {farther}");
    // The picture is dragged with the mouse.
    browser.mouse("mousePressed", x, y, json!({"buttons": 1}));
    browser.mouse("mouseMoved", x - 150.0, y, json!({"buttons": 1}));
    browser.mouse("mouseReleased", x - 150.0, y, json!({}));
    let moved = state(&mut browser);
    assert!(number(&farther["from"]) < number(&moved["from"]), "{farther} {moved}");
    assert!((width(&farther) - width(&moved)).abs() < 1e-6, "{farther} {moved}");
    // Moving selects nothing.
    assert_eq!(farther["selected"], moved["selected"]);
    browser.press("0");
    let all = state(&mut browser);
    assert!(number(&all["from"]) <= 0.0 && 8_000.0 < number(&all["to"]), "{all}");
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

#[test]
#[ignore = "needs a browser"]
fn clicking_an_operation_selects_it_and_shows_its_details() {
    let folder = page("html-click", BAD, "queue", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    let (x, y) = middle(&mut browser, 2);
    browser.mouse("mouseMoved", x, y, json!({"button": "none"}));
    assert_eq!(state(&mut browser)["hovered"], 2);
    browser.click(x, y);
    assert_eq!(state(&mut browser)["selected"], 2);
    let printed = browser.js("document.getElementById('details').textContent");
    for expected in [
        "deq() → 2",
        "process 1",
        "called as event",
        "called at 4, returned at 5",
        "line 3",
        "one of the 3 operations of the counterexample",
        // Where the order that is drawn ends.
        "it cannot come next in the order that is drawn; the state before it is [1, 2]",
    ] {
        assert!(printed.as_str().is_some_and(|it| it.contains(expected)), "no {expected} in {printed}");
    }
}

#[test]
#[ignore = "needs a browser"]
fn everything_can_be_done_with_keys() {
    let folder = page("html-keys", BAD, "queue", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    browser.js("document.getElementById('timeline').focus()");
    let mut check = |key: &str, expected: i64| {
        browser.press(key);
        assert_eq!(state(&mut browser)["selected"], expected, "after {key}");
    };
    // The counterexample comes first; enq(1) and enq(2) are in one row, both deq() in the other.
    check("ArrowRight", 0);
    check("ArrowRight", 1);
    check("ArrowRight", 1);
    check("ArrowDown", 2);
    check("End", 3);
    check("Home", 2);
    check("ArrowUp", 1);
    check("ArrowLeft", 0);
    check("n", 1);
    check("p", 0);
    check("Escape", -1);
    let before = state(&mut browser);
    browser.press("+");
    assert!(number(&state(&mut browser)["to"]) < number(&before["to"]));
    browser.press("/");
    assert_eq!(browser.js("document.activeElement.id"), "search");
    browser.ask("Input.insertText", json!({"text": "deq"}));
    assert_eq!(state(&mut browser)["matches"], 2);
    browser.press("Enter");
    browser.press("Enter");
    assert_eq!(state(&mut browser)["selected"], 3);
    browser.press("Escape");
    assert_eq!(browser.js("document.activeElement.id"), "timeline");
    browser.press("?");
    assert_eq!(browser.js("document.getElementById('help').open"), true);
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

#[test]
#[ignore = "needs a browser"]
fn an_address_leads_to_a_moment_and_remembers_it() {
    let folder = page("html-address", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "#t=101-200&op=60") else { return };
    let seen = state(&mut browser);
    assert_eq!(seen["selected"], 60);
    assert!(
        (number(&seen["from"]) - 100.0).abs() < 2.0 && (number(&seen["to"]) - 200.0).abs() < 2.0,
        "{seen}"
    );
    browser.js("location.hash = '#op=2500'");
    assert_eq!(state(&mut browser)["selected"], 2_500);
    browser.js("document.getElementById('timeline').focus()");
    browser.press("ArrowRight");
    let selected = state(&mut browser)["selected"].clone();
    // The address follows a moment later.
    let address = format!(
        "new Promise(done => {{ const look = () => location.hash.includes('op={selected}') \
                           ? done(location.hash) : setTimeout(look, 20); look(); }})"
    );
    let address = browser.js(&address);
    assert!(address.as_str().is_some_and(|it| it.starts_with("#t=")), "{address}");
    // Invalid addresses are ignored.
    browser.open(&folder.path("report.html"), "#t=9-x&op=999999&show=%zz");
    assert_eq!(state(&mut browser)["selected"], -1);
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

#[test]
#[ignore = "needs a browser"]
fn every_number_of_an_order_stands_within_its_operation() {
    let folder = Folder::new("html-order");
    let args = [
        "generate",
        "--spec",
        "register",
        "--operations",
        "300",
        "--processes",
        "5",
        "--pending",
        "0.05",
        "--seed",
        "7",
    ];
    let history = clewline(&folder, &args, "").stdout;
    let folder = page("html-order", &history, "register", 0);
    let Some(mut browser) = browse(&folder, "") else { return };
    let order = browser.js("clewline.order()");
    let order: Vec<[f64; 4]> = serde_json::from_value(order).expect("four numbers each");
    let complete = history.lines().filter(|it| it.contains("\"return\"")).count();
    assert!(complete <= order.len() && 200 < complete, "{} of {complete}", order.len());
    assert!(order.is_sorted_by(|one, other| one[1] < other[1]), "{order:?}");
    for [operation, at, call, ret] in order {
        assert!(call < at && at < ret, "{operation}: {call} < {at} < {ret}");
    }
}

#[test]
#[ignore = "needs a browser"]
fn dark_is_dark_and_can_be_changed() {
    let folder = page("html-dark", BAD, "queue", 1);
    let Some(mut browser) = Browser::start(&folder.path("browser"), 1200, 900) else { return };
    // How bright the page is, and the picture in its corner.
    let bright = |browser: &mut Browser| {
        browser.settle();
        let sums = browser.js(
            "[getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3),
              [...document.getElementById('timeline').getContext('2d').getImageData(2, 2, 1, 1).data].slice(0, 3)]
             .map(it => it.reduce((sum, part) => sum + Number(part), 0))",
        );
        (number(&sums[0]) > 382.0, number(&sums[1]) > 382.0)
    };
    for (scheme, is_bright) in [("light", true), ("dark", false)] {
        browser.prefer(scheme);
        browser.open(&folder.path("report.html"), "");
        assert_eq!(bright(&mut browser), (is_bright, is_bright), "{scheme}");
        browser.js("document.getElementById('theme').click()");
        assert_eq!(bright(&mut browser), (!is_bright, !is_bright), "{scheme}, changed");
    }
    // What the system prefers may change while the page is open.
    browser.open(&folder.path("report.html"), "");
    browser.prefer("light");
    assert_eq!(bright(&mut browser), (true, true));
}

#[test]
#[ignore = "needs a browser"]
fn objects_and_keys_can_be_shown_alone() {
    let mut history = String::new();
    for (key, at) in [(1, 0), (2, 10), (1, 20), (2, 30), (1, 40)] {
        let (call, ret) = (at, at + 5);
        history.push_str(&format!(
            "{{\"process\": 0, \"op\": \"put\", \"arg\": [{key}, {at}], \"call\": {call}, \"return\": {ret}}}\n"
        ));
    }
    let folder = page("html-keys-alone", &history, "map", 0);
    let Some(mut browser) = browse(&folder, "#show=key:2") else { return };
    let seen = state(&mut browser);
    assert_eq!((&seen["show"], &seen["shown"]), (&json!("key:2"), &json!(2)));
    let names = browser.js("[...document.getElementById('show').options].map(it => it.textContent)");
    assert_eq!(names, json!(["everything", "key 1 (3)", "key 2 (2)"]));
    // A link to what is not shown shows it.
    browser.js("location.hash = '#op=0'");
    let seen = state(&mut browser);
    assert_eq!((&seen["show"], &seen["selected"]), (&json!("all"), &json!(0)));
}

#[test]
#[ignore = "needs a browser"]
fn the_recorded_data_can_be_looked_at() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/etcd");
    let Ok(file) = std::fs::read_to_string(data.join("etcd_000.log")) else {
        eprintln!("skipped: the recorded data is not here");
        return;
    };
    let folder = Folder::new("html-etcd").with("etcd.log", &file);
    let args = ["check", "etcd.log", "--spec", "cas-register", "--html", "report.html"];
    assert_eq!(clewline(&folder, &args, "").code, 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    assert_eq!(browser.troubles(), Vec::<String>::new());
    // The longest order is drawn as a path.
    assert_eq!(browser.js("document.getElementById('path').value"), "0");
}
