//! What a page draws and shows: bars, labels, numbers, marks, and the details of an operation.

use serde_json::{Value as Json, json};

use crate::{
    browser::Browser,
    html::{browse, long, middle, number, page, state},
    run::BAD,
};

/// What is written in the picture: each text, and where.
fn written(browser: &mut Browser) -> Vec<(String, f64, f64)> {
    let all = browser.js(
        "(() => { const all = [], kind = CanvasRenderingContext2D.prototype, own = kind.fillText;
           kind.fillText = function (text, x, y) { all.push([text, x, y]); return own.call(this, text, x, y); };
           clewline.draw();
           kind.fillText = own;
           return all; })()",
    );
    serde_json::from_value(all).expect("texts and places")
}

fn texts(browser: &mut Browser) -> Vec<String> {
    written(browser).into_iter().map(|it| it.0).collect()
}

/// How many pixels of one of the page's colours there are in a part of a picture: left, top, width,
/// height.
fn coloured(browser: &mut Browser, picture: &str, colour: &str, part: [f64; 4]) -> f64 {
    let [left, top, width, height] = part.map(f64::round);
    number(&browser.js(&format!(
        "(() => {{ clewline.draw();
           const probe = document.createElement('canvas').getContext('2d');
           probe.fillStyle = clewline.colour('{colour}');
           probe.fillRect(0, 0, 1, 1);
           const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
           const all = document.getElementById('{picture}').getContext('2d').getImageData({left}, {top}, {width}, {height}).data;
           let count = 0;
           for (let at = 0; at < all.length; at += 4)
             if (Math.abs(all[at] - r) + Math.abs(all[at + 1] - g) + Math.abs(all[at + 2] - b) < 6) count++;
           return count; }})()"
    )))
}

/// A bar, as far as it can be seen: left, top, width, height.
fn bar(browser: &mut Browser, operation: usize) -> [f64; 4] {
    let it = browser.js(&format!("clewline.place({operation})"));
    let [left, right, x, width] = ["left", "right", "x", "width"].map(|name| number(&it[name]));
    let (from, to) = (left.max(x), right.min(width));
    [from, number(&it["top"]), to - from, number(&it["height"])]
}

/// The part of the page that describes the selection.
fn printed(browser: &mut Browser) -> String {
    browser.js("document.getElementById('details').textContent").as_str().unwrap_or_default().to_owned()
}

/// A pending operation of a process that continues; then another one, and one that returned; and an
/// operation of another process.
const LOST: &str = r#"{"event": "call", "process": "a", "op": "write", "arg": 1}
{"event": "info", "process": "a"}
{"event": "call", "process": "a", "op": "write", "arg": 2}
{"event": "info", "process": "a"}
{"event": "call", "process": "a", "op": "write", "arg": 3}
{"event": "call", "process": "b", "op": "read"}
{"event": "return", "process": "a"}
{"event": "return", "process": "b", "ret": 3}
"#;

#[test]
#[ignore = "needs a browser"]
fn a_pending_operation_is_open_to_the_right_in_its_own_row() {
    let folder = page("drawn-pending", LOST, "register", 0);
    let Some(mut browser) = browse(&folder, "#op=0") else { return };
    let tops = browser.js("[0, 1, 2, 3].map(it => clewline.place(it).top)");
    let tops: Vec<f64> = serde_json::from_value(tops).expect("numbers");
    assert!(tops.is_sorted_by(|one, other| one < other), "{tops:?}");
    // One name a process.
    let names = texts(&mut browser);
    assert_eq!(["a", "b"].map(|it| names.iter().filter(|name| *name == it).count()), [1, 1], "{names:?}");
    for (operation, is_pending) in [(0, true), (1, true), (2, false), (3, false)] {
        let reaches_the_end = format!("(it => it.right > it.width)(clewline.place({operation}))");
        assert_eq!(browser.js(&reaches_the_end), is_pending, "{operation}");
    }
    // Its edge is dashed.
    browser.press("Escape");
    browser.js("document.getElementById('timeline').focus()");
    browser.press("Escape");
    let part = |[left, top, width, _]: [f64; 4]| [left + 4.0, top, width - 8.0, 1.0];
    let (open, closed) = (bar(&mut browser, 0), bar(&mut browser, 2));
    let dashed = coloured(&mut browser, "timeline", "bar-edge", part(open)) / (open[2] - 8.0);
    let solid = coloured(&mut browser, "timeline", "bar-edge", part(closed)) / (closed[2] - 8.0);
    assert!(dashed < 0.9 && 0.95 < solid, "{dashed} {solid}");
    browser.open(&folder.path("report.html"), "#op=0");
    let printed = printed(&mut browser);
    assert!(printed.contains("and not returned: whether and when it took effect is unknown"), "{printed}");
    let legend = browser.js("document.getElementById('legend').textContent");
    assert!(legend.as_str().is_some_and(|it| it.contains("not returned")), "{legend}");
}

#[test]
#[ignore = "needs a browser"]
fn bars_have_labels_and_orders_have_numbers_and_a_cross_at_their_end() {
    let folder = page("drawn-labels", BAD, "queue", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    let all = texts(&mut browser);
    // Rows, labels, events from 1 on, the order with its numbers, and its end.
    for expected in ["event", "0", "1", "enq(1)", "enq(2)", "deq() → 2", "deq() → 1", "8", "1", "2", "×"]
    {
        assert!(all.iter().any(|it| it == expected), "no {expected} in {all:?}");
    }
    // At the top events are numbered, from 1.
    let axis: Vec<String> =
        written(&mut browser).into_iter().filter(|it| it.2 < 20.0).map(|it| it.0).collect();
    assert_eq!(axis, ["event", "1", "2", "3", "4", "5", "6", "7", "8"]);
    // Numbers are at the bottom of their operations, the cross at the operation that cannot come
    // next.
    let foot = |browser: &mut Browser, operation: usize| {
        let [left, top, width, height] = bar(browser, operation);
        (left, left + width, top + height)
    };
    let marks: Vec<(String, f64, f64)> =
        written(&mut browser).into_iter().filter(|it| 20.0 < it.2 && 60.0 < it.1).collect();
    for (text, operation) in [("1", 0), ("2", 1), ("×", 2)] {
        let (left, right, bottom) = foot(&mut browser, operation);
        let is_there = marks
            .iter()
            .any(|it| it.0 == text && left < it.1 && it.1 < right && bottom <= it.2 && it.2 < bottom + 10.0);
        assert!(is_there, "{text} {left} {right} {bottom}: {marks:?}");
    }
    // One after the other: a line from the one to the other.
    let (first, second) = (bar(&mut browser, 0), bar(&mut browser, 1));
    let between = [first[0] + first[2], first[1] + first[3], second[0] - first[0] - first[2], 12.0];
    assert!(1.0 < between[2], "{between:?}");
    let is_drawn = |browser: &mut Browser| {
        // The line is lighter than its colour, so what matters is that there is something.
        let row =
            coloured(browser, "timeline", "ground", between) + coloured(browser, "timeline", "band", between);
        row < between[2].round() * between[3]
    };
    assert!(is_drawn(&mut browser));
    browser.js("(() => { const it = document.getElementById('path'); it.value = '-1'; it.onchange(); })()");
    assert!(!is_drawn(&mut browser));
    assert!(!texts(&mut browser).contains(&"×".to_owned()));
    // Without an order the same keys go through the counterexample.
    browser.js("document.getElementById('timeline').focus()");
    for (key, expected) in [("n", 0), ("n", 1), ("n", 2), ("n", 2), ("p", 1)] {
        browser.press(key);
        assert_eq!(state(&mut browser)["selected"], expected, "{key}");
    }
}

#[test]
#[ignore = "needs a browser"]
fn an_order_that_is_chosen_comes_into_view_with_its_end() {
    let folder = page("drawn-chosen", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "#t=1-60") else { return };
    browser.js("(() => { const it = document.getElementById('path'); it.value = '0'; it.onchange(); })()");
    browser.settle();
    let stuck = browser.js("JSON.parse(document.getElementById('data').textContent).rest.paths[0].stuck");
    let place = browser.js(&format!("clewline.place({stuck})"));
    assert!(number(&place["left"]) < number(&place["width"]), "{place}");
    // With thousands of operations the line would be unreadable.
    browser.press("0");
    browser.js("clewline.zoom(1e6)");
    browser.settle();
    assert!(!texts(&mut browser).contains(&"×".to_owned()));
}

#[test]
#[ignore = "needs a browser"]
fn what_is_selected_found_or_pointed_at_is_marked() {
    let folder = page("drawn-marks", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "#t=101-140") else { return };
    browser.js("(() => { const it = document.getElementById('path'); it.value = '-1'; it.onchange(); })()");
    browser.js("clewline.look(100, 140)");
    let around = |[left, top, width, height]: [f64; 4]| [left - 4.0, top - 4.0, width + 8.0, height + 8.0];
    let inside = |[left, top, width, height]: [f64; 4]| [left + 2.0, top + 2.0, width - 4.0, height - 4.0];
    let at = bar(&mut browser, 60);
    assert_eq!(coloured(&mut browser, "timeline", "select", around(at)), 0.0);
    let (x, y) = middle(&mut browser, 60);
    let before = number(&state(&mut browser)["drawn"]);
    browser.mouse("mouseMoved", x, y, json!({"button": "none"}));
    assert!(before < number(&state(&mut browser)["drawn"]));
    let pointed = number(&browser.js(
        "(() => { let count = 0; const kind = CanvasRenderingContext2D.prototype, own = kind.strokeRect;
           kind.strokeRect = function (...all) { if (this.canvas.id === 'timeline') count++; return own.apply(this, all); };
           clewline.draw(); kind.strokeRect = own; return count; })()",
    ));
    assert_eq!(pointed, 1.0);
    browser.click(x, y);
    let at = bar(&mut browser, 60);
    let chosen = coloured(&mut browser, "timeline", "select", around(at));
    assert!(at[2] * 2.0 < chosen, "{chosen}");
    assert_eq!(coloured(&mut browser, "timeline", "match", inside(at)), 0.0);
    browser.js("document.getElementById('search').focus()");
    browser.ask("Input.insertText", json!({"text": "write(60)"}));
    browser.settle();
    assert!(0.5 * at[2] * at[3] < coloured(&mut browser, "timeline", "match", inside(at)));
    browser.js(
        "(it => { it.value = ''; it.dispatchEvent(new Event('input')); })(document.getElementById('search'))",
    );
    assert_eq!(coloured(&mut browser, "timeline", "match", inside(at)), 0.0);
}

#[test]
#[ignore = "needs a browser"]
fn what_began_earlier_and_what_is_narrow_is_drawn() {
    let folder = page("drawn-parts", &long(), "register", 1);
    // Within the write of 60, of which neither end can be seen.
    let Some(mut browser) = browse(&folder, "") else { return };
    browser.js("(() => { const it = document.getElementById('path'); it.value = '-1'; it.onchange(); })()");
    let from = number(&browser.js("(() => { clewline.look(100, 140); const it = clewline.place(60);
           return 100 + (it.left - it.x) / (it.width - it.x) * 40; })()"));
    browser.js(&format!("clewline.look({} , {})", from + 0.5, from + 3.5));
    let [left, top, width, height] = bar(&mut browser, 60);
    let middle = [left + width / 2.0, top + 2.0, 10.0, height - 4.0];
    assert!(0.3 * 10.0 * height < coloured(&mut browser, "timeline", "bar", middle));
    // All of them: none is wider than a pixel, but rows are not empty, and the counterexample is
    // seen, above and in the strip.
    browser.js("clewline.zoom(1e6)");
    browser.settle();
    let part = [200.0, top, 100.0, height];
    // In every row something happens two fifths of the time.
    let edges = coloured(&mut browser, "timeline", "bar-edge", part);
    assert!(0.2 * 100.0 * height < edges, "{edges} {part:?} {}", state(&mut browser));
    let counterexample =
        browser.js("JSON.parse(document.getElementById('data').textContent).rest.counterexample");
    let read =
        counterexample.as_array().and_then(|it| it.last()).and_then(Json::as_u64).expect("a counterexample")
            as usize;
    let [left, top, width, height] = bar(&mut browser, read);
    let wide = [left + width / 2.0 - 5.0, top, 10.0, height];
    assert!(4.0 * height < coloured(&mut browser, "timeline", "counterexample-edge", wide));
    let strip = [0.0, 4.0, 1_000.0, 20.0];
    assert!(20.0 < coloured(&mut browser, "overview", "counterexample-edge", strip));
}

#[test]
#[ignore = "needs a browser"]
fn a_tooltip_describes_the_operation_and_stays_in_the_window() {
    let folder = page("drawn-card", BAD, "queue", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    let card = "(it => it.hidden ? '' : it.textContent)(document.getElementById('tip'))";
    // Within the window, and wide enough to be read.
    let is_within = "(it => it.left >= 0 && it.right <= innerWidth && it.bottom <= innerHeight && it.width > 200)(document.getElementById('tip').getBoundingClientRect())";
    assert_eq!(browser.js(card), "");
    // Also where the window is small, and the picture at its end.
    for (wide, high) in [(1_200, 900), (700, 320)] {
        browser.resize(wide, high);
        for operation in 0..4 {
            let (x, _) = middle(&mut browser, operation);
            browser.js("document.getElementById('timeline').scrollIntoView(false)");
            let top = browser.js("document.getElementById('timeline').getBoundingClientRect().top");
            let [_, y, _, height] = bar(&mut browser, operation);
            browser.mouse("mouseMoved", x, number(&top) + y + height / 2.0, json!({"button": "none"}));
            browser.settle();
            assert_eq!(browser.js(is_within), true, "{operation} {wide} {}", browser.js(card));
        }
        let printed = browser.js(card);
        let expected = "deq() → 1process 1, called as event 7, returned as event 8";
        assert!(printed.as_str().is_some_and(|it| it.starts_with(expected)), "{printed}");
    }
    browser.mouse("mouseMoved", 2.0, 2.0, json!({"button": "none"}));
    browser.settle();
    assert_eq!((browser.js(card), &state(&mut browser)["hovered"]), (json!(""), &json!(-1)));
}

/// Two objects; on one of them four at once, of which one sees the third overlap it only just.
const OBJECTS: &str = r#"{"process": 0, "op": "write", "arg": 1, "call": 0, "return": 10, "object": "x"}
{"process": 1, "op": "write", "arg": 2, "call": 5, "return": 20, "object": "x"}
{"process": 2, "op": "write", "arg": 3, "call": 9, "return": 30, "object": "y"}
{"process": 3, "op": "write", "arg": 4, "call": 11, "return": 12, "object": "x"}
{"process": 3, "op": "write", "arg": 5, "call": 25, "return": 26, "object": "x"}
"#;

#[test]
#[ignore = "needs a browser"]
fn overlapping_operations_are_counted_among_the_visible_ones() {
    let folder = page("drawn-overlaps", OBJECTS, "register", 0);
    let Some(mut browser) = browse(&folder, "#op=1") else { return };
    let said = printed(&mut browser);
    assert!(said.contains("object x, line 2 of the file"), "{said}");
    assert!(said.contains("overlaps 3 others: they may"), "{said}");
    // Without y.
    browser.js(
        "(it => { it.value = String([...it.options].findIndex(it => it.textContent.startsWith('object x'))); it.onchange(); })(document.getElementById('show'))",
    );
    let said = printed(&mut browser);
    assert!(said.contains("overlaps 2 others: they may"), "{said}");
    browser.open(&folder.path("report.html"), "#op=4");
    let said = printed(&mut browser);
    assert!(said.contains("overlaps 1 other: they may"), "{said}");
}

#[test]
#[ignore = "needs a browser"]
fn a_key_is_shown_with_its_operation() {
    let history = "{\"process\": 0, \"op\": \"put\", \"arg\": [7, 1], \"call\": 0, \"return\": 1}\n\
                   {\"process\": 0, \"op\": \"put\", \"arg\": [8, 1], \"call\": 2, \"return\": 3}\n";
    let folder = page("drawn-key", history, "map", 0);
    let Some(mut browser) = browse(&folder, "#op=1") else { return };
    let said = printed(&mut browser);
    assert!(said.contains("key 8, line 2 of the file") && said.contains("overlaps no other"), "{said}");
}

#[test]
#[ignore = "needs a browser"]
fn paper_shows_what_is_folded_and_can_be_read() {
    // 1 is taken once more than it was added, so each of these operations matters: too many for a
    // table that is unfolded.
    let mut history = String::new();
    for at in 0..27 {
        let call = if at < 13 { "\"op\": \"add\", \"arg\": 1" } else { "\"op\": \"take\", \"ret\": 1" };
        history.push_str(&format!(
            "{{\"process\": {}, {call}, \"call\": {}, \"return\": {}}}\n",
            at % 4,
            10 * at,
            10 * at + 5
        ));
    }
    let folder = page("drawn-paper", &history, "bag", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    browser.resize(700, 900);
    let dark = json!([{"name": "prefers-color-scheme", "value": "dark"}]);
    browser.ask("Emulation.setEmulatedMedia", json!({"media": "print", "features": dark}));
    browser.settle();
    assert!(12.0 < number(&browser.js("document.querySelectorAll('#counterexample tbody tr').length")));
    assert_eq!(browser.js("document.querySelector('#counterexample details').open"), false);
    let last = "document.querySelector('#counterexample tbody tr:last-child').checkVisibility()";
    assert_eq!(browser.js(last), true);
    let fits = "document.querySelector('#counterexample svg').getBoundingClientRect().width <= innerWidth";
    assert_eq!(browser.js(fits), true);
    // All inks are dark on white.
    let pale = browser.js(
        "(() => { const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
           return ['ink', 'quiet', 'counterexample-ink', 'counterexample-edge', 'path', 'bad'].filter(name => {
             probe.fillStyle = clewline.colour(name);
             probe.fillRect(0, 0, 1, 1);
             const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
             return r + g + b > 382; }); })()",
    );
    assert_eq!(pale, json!([]));
    // Nothing goes wrong where nothing can be drawn, nor afterwards.
    browser.ask("Emulation.setEmulatedMedia", json!({"media": "", "features": []}));
    browser.settle();
    assert_eq!(browser.troubles(), Vec::<String>::new());
    assert!(number(&browser.js("clewline.place(0).width")) > 600.0);
}

/// Three operations, a partition during the second, and a moment in it.
const NOTED: &str = r#"{"process": 0, "op": "write", "arg": 1, "call": 0, "return": 3}
{"process": 1, "op": "write", "arg": 2, "call": 5, "return": 9}
{"process": 2, "op": "read", "ret": 1, "call": 12, "return": 14}
{"note": "partition n1 | n2 n3", "time": 4, "until": 11}
{"note": "kill n2", "time": 7}
"#;

#[test]
#[ignore = "needs a browser"]
fn notes_are_drawn_behind_the_operations() {
    let folder = page("drawn-notes", NOTED, "register", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    assert_eq!(browser.troubles(), Vec::<String>::new());
    assert!(
        ["partition n1 | n2 n3", "kill n2"].iter().all(|it| texts(&mut browser).contains(&(*it).to_owned()))
    );
    // From after the first operation until before the last; the moment is during the second.
    let [partition, kill] = [0, 1].map(|at| browser.js(&format!("clewline.band({at})")));
    let [first, second, third] = [0, 1, 2].map(|it| bar(&mut browser, it));
    let left = number(&partition["left"]);
    assert!(first[0] + first[2] <= left && left <= second[0], "{first:?} {left} {second:?}");
    assert!(number(&partition["right"]) <= third[0], "{third:?}");
    assert!(second[0] < number(&kill["left"]) && number(&kill["right"]) < second[0] + second[2]);
    // The line of the moment is behind the bar, and seen above and below it.
    let line = |top: f64| [number(&kill["left"]), top, 2.0, 4.0];
    let seen = |browser: &mut Browser, top| coloured(browser, "timeline", "note", line(top));
    let inside = seen(&mut browser, second[1] + second[3] / 2.0);
    assert_eq!(inside, 0.0);
    assert!(0.0 < seen(&mut browser, first[1] - 10.0));
    // The list leads to the place of a note, and pointing at a label shows the whole note.
    browser.js("document.querySelector('#history-notes a').click()");
    let view = state(&mut browser);
    assert!(number(&view["from"]) < 2.5 && number(&view["to"]) > 3.5 && number(&view["to"]) < 5.5, "{view}");
    let label = "(() => { const box = document.getElementById('timeline').getBoundingClientRect(), it = clewline.bands()[0];
       return [box.left + it.left + 8, box.top + it.top + 6]; })()";
    browser.js("document.getElementById('timeline').scrollIntoView()");
    let place = browser.js(label);
    browser.mouse("mouseMoved", number(&place[0]), number(&place[1]), json!({"button": "none"}));
    browser.settle();
    let card = browser.js("(it => it.hidden ? '' : it.textContent)(document.getElementById('tip'))");
    assert_eq!(card, "partition n1 | n2 n3from event 3 to event 4");
}
