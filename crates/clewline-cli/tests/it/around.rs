//! Navigation in a page: with the mouse, with keys, by search, by address.

use serde_json::{Value as Json, json};

use crate::{
    browser::{Browser, CTRL, SHIFT},
    html::{browse, long, middle, number, page, state},
    run::{BAD, Folder, clewline},
};

fn width(view: &Json) -> f64 {
    number(&view["to"]) - number(&view["from"])
}

fn focus(browser: &mut Browser) {
    browser.js("document.getElementById('timeline').focus()");
}

fn wheel(browser: &mut Browser, (x, y): (f64, f64), delta: f64, held: u32) -> Json {
    browser.mouse("mouseMoved", x, y, json!({"button": "none"}));
    browser.js("void (window.turns = 0, addEventListener('wheel', () => window.turns++, { once: true }))");
    let turned = json!({"deltaX": 0, "deltaY": delta, "button": "none", "modifiers": held});
    browser.mouse("mouseWheel", x, y, turned);
    // It may take a while to get there.
    let arrived = "new Promise(done => { let left = 100; const look = () =>
        window.turns || !left-- ? done(window.turns) : setTimeout(look, 20); look(); })";
    assert_eq!(browser.js(arrived), 1, "the wheel was turned");
    state(browser)
}

#[test]
#[ignore = "needs a browser"]
fn what_is_under_the_mouse_stays_there() {
    let folder = page("around-mouse", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "#t=4000-4100") else { return };
    // Far from the middle, about which keys zoom.
    let (x, y) = middle(&mut browser, 2_010);
    focus(&mut browser);
    let middle_of = |browser: &mut Browser| {
        let place = browser.js("clewline.place(2010)");
        (number(&place["left"]) + number(&place["right"])) / 2.0
    };
    let (before, there) = (state(&mut browser), middle_of(&mut browser));
    let closer = wheel(&mut browser, (x, y), -200.0, 0);
    assert!(width(&closer) < width(&before) && (middle_of(&mut browser) - there).abs() < 1.0, "{closer}");
    let farther = wheel(&mut browser, (x, y), 400.0, 0);
    assert!(width(&closer) < width(&farther) && (middle_of(&mut browser) - there).abs() < 1.0, "{farther}");
    // A picture that is dragged goes along with the mouse.
    browser.mouse("mousePressed", x, y, json!({"buttons": 1}));
    browser.mouse("mouseMoved", x + 120.0, y, json!({"buttons": 1}));
    browser.mouse("mouseReleased", x + 120.0, y, json!({}));
    browser.settle();
    assert!((middle_of(&mut browser) - there - 120.0).abs() < 1.0);
    let before = state(&mut browser);
    browser.mouse("mousePressed", x, y, json!({"buttons": 1, "clickCount": 2}));
    browser.mouse("mouseReleased", x, y, json!({"clickCount": 2}));
    let closer = state(&mut browser);
    assert!((width(&closer) * 2.5 - width(&before)).abs() < 1e-6, "{before} {closer}");
}

#[test]
#[ignore = "needs a browser"]
fn a_wheel_turns_the_page_until_the_picture_was_clicked() {
    let folder = page("around-wheel", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "#t=4000-4100") else { return };
    let at = middle(&mut browser, 2_010);
    let before = state(&mut browser);
    assert_eq!(wheel(&mut browser, at, -50.0, 0)["from"], before["from"]);
    let at = middle(&mut browser, 2_010);
    let closer = wheel(&mut browser, at, -50.0, CTRL);
    assert!(width(&closer) < width(&before), "{before} {closer}");
    let moved = wheel(&mut browser, at, 50.0, SHIFT);
    assert!((width(&moved) - width(&closer)).abs() < 1e-6, "{closer} {moved}");
    assert!(number(&closer["from"]) < number(&moved["from"]), "{closer} {moved}");
}

#[test]
#[ignore = "needs a browser"]
fn panning_stops_at_the_ends_of_the_history() {
    let folder = page("around-bounds", &rows(40), "register", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    for (act, is_so) in [
        ("clewline.zoom(1e-6)", "3 <= to - from"),
        ("clewline.moveBy(-1e6, 0)", "0 < to"),
        ("clewline.moveBy(1e6, 0)", "from < 82"),
        // Also from one end.
        ("clewline.zoom(1e6)", "from <= 0 && 82 <= to && to - from < 100"),
        ("clewline.moveBy(0, 1e6)", "0 < top && top < 40 * 38"),
        ("clewline.moveBy(0, -1e6)", "top === 0"),
    ] {
        browser.js(act);
        let view = state(&mut browser);
        let is_so = format!("(({{from, to, top}}) => {is_so})(clewline.state())");
        assert_eq!(browser.js(&is_so), true, "{act}: {view}");
    }
}

/// The given number of processes, one write each; then the last process reads the first value.
fn rows(processes: usize) -> String {
    let mut lines = String::new();
    for at in 0..processes {
        lines.push_str(&format!(
            "{{\"process\": {at}, \"op\": \"write\", \"arg\": {at}, \"call\": {}, \"return\": {}}}\n",
            10 * at,
            10 * at + 5
        ));
    }
    let (last, end) = (processes - 1, 10 * processes);
    lines.push_str(&format!(
        "{{\"process\": {last}, \"op\": \"read\", \"ret\": 0, \"call\": {end}, \"return\": {}}}\n",
        end + 5
    ));
    lines
}

#[test]
#[ignore = "needs a browser"]
fn keys_and_buttons_zoom_and_move() {
    let folder = page("around-keys", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "#t=4000-4100") else { return };
    focus(&mut browser);
    let mut check = |act: &dyn Fn(&mut Browser), name: &str, is_so: &dyn Fn(&Json, &Json) -> bool| {
        let before = state(&mut browser);
        act(&mut browser);
        let after = state(&mut browser);
        assert!(is_so(&before, &after), "{name}: {before} {after}");
    };
    let is_closer = |one: &Json, other: &Json| width(other) < width(one);
    let is_farther = |one: &Json, other: &Json| width(one) < width(other);
    let goes = |one: &Json, other: &Json| number(&other["from"]) - number(&one["from"]);
    check(&|it| it.press("="), "=", &is_closer);
    check(&|it| it.press("-"), "-", &is_farther);
    check(&|it| it.press_with("ArrowRight", SHIFT), "Shift →", &|one, other| 1.0 < goes(one, other));
    check(&|it| it.press_with("ArrowLeft", SHIFT), "Shift ←", &|one, other| goes(one, other) < -1.0);
    // Shortcuts of the browser with Ctrl are not handled.
    check(&|it| it.press_with("-", CTRL), "Ctrl -", &|one, other| one == other);
    let button = |id: &str| format!("document.getElementById('{id}').click()");
    check(&|it| drop(it.js(&button("zoom-in"))), "zoom-in", &is_closer);
    check(&|it| drop(it.js(&button("zoom-out"))), "zoom-out", &is_farther);
    // The counterexample is somewhere else.
    let sees_counterexample = |_: &Json, it: &Json| number(&it["from"]) < 3_990.0 && width(it) < 800.0;
    check(&|it| it.press("c"), "c", &sees_counterexample);
    check(&|it| drop(it.js(&button("fit-all"))), "fit-all", &|_, it| 8_000.0 < width(it));
    check(&|it| drop(it.js(&button("fit-counterexample"))), "fit-counterexample", &sees_counterexample);
    check(&|it| it.press("0"), "0", &is_farther);
    // Enter begins with the counterexample, as arrows do, and then looks closer.
    check(&|it| it.press("Enter"), "Enter", &|_, it| 0.0 <= number(&it["selected"]));
    check(&|it| it.press("Enter"), "Enter again", &|_, it| width(it) < 50.0);
}

#[test]
#[ignore = "needs a browser"]
fn what_is_selected_comes_into_view() {
    let folder = page("around-rows", &rows(40), "register", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    // Where there are more rows than can be seen, those of the counterexample come first.
    let top = |browser: &mut Browser, operation: usize| {
        number(&browser.js(&format!("clewline.place({operation}).top")))
    };
    assert!(top(&mut browser, 40) < top(&mut browser, 0));
    focus(&mut browser);
    // The read, the last write beside it, then down through all rows, and up again.
    for (key, times) in [("ArrowRight", 1), ("ArrowDown", 39), ("ArrowUp", 39)] {
        for _ in 0..times {
            browser.press(key);
            let seen = browser.js(
                "(() => { const it = clewline.place(clewline.state().selected);
                   return it.top >= it.y && it.top + it.height <= it.bottom && it.x <= it.right && it.left <= it.width; })()",
            );
            assert_eq!(seen, true, "{key}: {}", state(&mut browser));
        }
    }
    browser.press("PageDown");
    browser.press("PageDown");
    let down = number(&state(&mut browser)["top"]);
    browser.press("PageUp");
    assert!(0.0 < down && number(&state(&mut browser)["top"]) < down);
    // The mouse takes rows along, too.
    let before = number(&state(&mut browser)["top"]);
    let within = "(box => [box.left + box.width / 2, box.top + box.height / 2])(document.getElementById('timeline').getBoundingClientRect())";
    let (x, y) = (number(&browser.js(within)[0]), number(&browser.js(within)[1]));
    browser.mouse("mousePressed", x, y, json!({"buttons": 1}));
    browser.mouse("mouseMoved", x, y - 60.0, json!({"buttons": 1}));
    browser.mouse("mouseReleased", x, y - 60.0, json!({}));
    assert!((number(&state(&mut browser)["top"]) - before - 60.0).abs() < 1.0);
    // The counterexample's rows come back with it.
    browser.press("c");
    assert_eq!(state(&mut browser)["top"], 0);
    // And what is far to the right.
    browser.open(&folder.path("report.html"), "#t=1-10");
    focus(&mut browser);
    browser.press("ArrowRight");
    browser.press("End");
    let place = browser.js("clewline.place(clewline.state().selected)");
    assert!(number(&place["left"]) < number(&place["width"]), "{place}");
    // Or to the left.
    browser.open(&folder.path("report.html"), "#op=2");
    browser.js("clewline.look(60, 80)");
    focus(&mut browser);
    browser.press("ArrowDown");
    let place = browser.js("clewline.place(clewline.state().selected)");
    assert!(number(&place["x"]) < number(&place["right"]), "{place}");
}

#[test]
#[ignore = "needs a browser"]
fn arrows_go_to_what_is_nearest_in_time() {
    let history = "{\"process\": 0, \"op\": \"write\", \"arg\": 1, \"call\": 100, \"return\": 110}\n\
                   {\"process\": 1, \"op\": \"write\", \"arg\": 2, \"call\": 0, \"return\": 1}\n\
                   {\"process\": 1, \"op\": \"write\", \"arg\": 3, \"call\": 2, \"return\": 3}\n\
                   {\"process\": 1, \"op\": \"write\", \"arg\": 4, \"call\": 101, \"return\": 102}\n\
                   {\"process\": 1, \"op\": \"write\", \"arg\": 5, \"call\": 120, \"return\": 130}\n";
    let folder = page("around-nearest", history, "register", 0);
    // In the order of calls: 2, 3, 1, 4, 5.
    let Some(mut browser) = browse(&folder, "#op=2") else { return };
    focus(&mut browser);
    browser.press("ArrowDown");
    assert_eq!(state(&mut browser)["selected"], 3);
    browser.open(&folder.path("report.html"), "#op=1");
    focus(&mut browser);
    browser.press("ArrowUp");
    assert_eq!(state(&mut browser)["selected"], 2);
}

#[test]
#[ignore = "needs a browser"]
fn a_search_goes_on_and_back_and_round() {
    let folder = page("around-search", BAD, "queue", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    browser.js("document.getElementById('search').focus()");
    // The search ignores case.
    browser.ask("Input.insertText", json!({"text": "EQ"}));
    assert_eq!(state(&mut browser)["matches"], 2);
    browser.js("(it => { it.value = 'Q'; it.dispatchEvent(new Event('input')); })(document.getElementById('search'))");
    assert_eq!(state(&mut browser)["matches"], 4);
    let found = "document.getElementById('found').textContent";
    for (held, expected, printed) in [
        (0, 0, "1 of 4"),
        (0, 1, "2 of 4"),
        (0, 2, "3 of 4"),
        (SHIFT, 1, "2 of 4"),
        (SHIFT, 0, "1 of 4"),
        (SHIFT, 3, "4 of 4"),
        (0, 0, "1 of 4"),
    ] {
        browser.press_with("Enter", held);
        assert_eq!(
            (&state(&mut browser)["selected"], &browser.js(found)),
            (&json!(expected), &json!(printed))
        );
    }
    // Shortcut keys are text in the search field.
    browser.press("?");
    assert_eq!(browser.js("document.getElementById('help').open"), false);
    assert_eq!(browser.js("document.getElementById('search').value"), "Q?");
    // Only the last search counts.
    let type_in = |text: &str| {
        format!(
            "(() => {{ const it = document.getElementById('search'); it.value = '{text}';
               it.dispatchEvent(new Event('input')); }})()"
        )
    };
    browser.js(&type_in("deq"));
    assert_eq!(state(&mut browser)["matches"], 2);
    browser.js(&type_in(""));
    assert_eq!((&state(&mut browser)["matches"], &browser.js(found)), (&json!(0), &json!("")));
}

/// Three keys; the second is used most, and a read of the third is stale.
fn keys() -> String {
    let mut lines = String::new();
    let calls = [
        ("put", "[1, 5]", "null"),
        ("put", "[2, 5]", "null"),
        ("put", "[2, 6]", "null"),
        ("put", "[2, 7]", "null"),
        ("put", "[3, 1]", "null"),
        ("put", "[3, 2]", "null"),
        ("get", "3", "1"),
    ];
    for (at, (op, arg, ret)) in calls.iter().enumerate() {
        lines.push_str(&format!(
            "{{\"process\": 0, \"op\": \"{op}\", \"arg\": {arg}, \"ret\": {ret}, \"call\": {}, \"return\": {}}}\n",
            10 * at,
            10 * at + 5
        ));
    }
    lines
}

#[test]
#[ignore = "needs a browser"]
fn what_is_shown_alone_fills_the_picture_and_is_all_that_is_found() {
    let folder = page("around-show", &keys(), "map", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    // The key of the counterexample first, then those that are used most.
    let names = browser.js("[...document.getElementById('show').options].map(it => it.textContent)");
    assert_eq!(
        names,
        json!(["everything", "the counterexample only", "key 3 (3)", "key 2 (3)", "key 1 (1)"])
    );
    browser.js("document.getElementById('search').focus()");
    browser.ask("Input.insertText", json!({"text": "put"}));
    assert_eq!(state(&mut browser)["matches"], 6);
    let choose = |at: usize| {
        format!(
            "(() => {{ const it = document.getElementById('show'); it.value = '{at}'; it.onchange(); }})()"
        )
    };
    browser.js(&choose(3));
    let seen = state(&mut browser);
    assert_eq!((&seen["show"], &seen["shown"], &seen["matches"]), (&json!("key:2"), &json!(3), &json!(3)));
    // Six events, not fourteen.
    assert!(width(&seen) < 8.0, "{seen}");
    browser.js(&choose(1));
    let seen = state(&mut browser);
    assert_eq!((&seen["show"], &seen["shown"]), (&json!("counterexample"), &json!(2)));
}

#[test]
#[ignore = "needs a browser"]
fn of_many_keys_the_rest_is_left_to_the_search() {
    let mut history = String::new();
    for key in 0..302 {
        history.push_str(&format!(
            "{{\"process\": 0, \"op\": \"put\", \"arg\": [{key}, 1], \"call\": {}, \"return\": {}}}\n",
            2 * key,
            2 * key + 1
        ));
    }
    let folder = page("around-many-keys", &history, "map", 0);
    let Some(mut browser) = browse(&folder, "") else { return };
    let last = browser
        .js("(all => [all.length, all.at(-1).textContent, all.at(-1).disabled])([...document.getElementById('show').options])");
    assert_eq!(last, json!([302, "… and 2 more: search for them", true]));
}

#[test]
#[ignore = "needs a browser"]
fn an_address_contains_the_whole_selection() {
    let folder = page("around-address", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "#show=counterexample") else { return };
    let seen = state(&mut browser);
    assert_eq!(seen["show"], "counterexample");
    assert!(width(&seen) < 20.0, "{seen}");
    // A narrow operation is zoomed to.
    browser.open(&folder.path("report.html"), "");
    browser.js("clewline.zoom(1e6)");
    browser.js("location.hash = '#op=17'");
    browser.settle();
    let place = browser.js("clewline.place(17)");
    assert!(30.0 < number(&place["right"]) - number(&place["left"]), "{place}");
    // The address contains the visible part, a moment later.
    let followed = |wanted: &str| {
        format!(
            "new Promise(done => {{ let left = 250; const look = () => location.hash.includes('{wanted}') || !left--
               ? done(location.hash) : setTimeout(look, 20); look(); }})"
        )
    };
    browser.js("clewline.look(1000, 1100)");
    let address = browser.js(&followed("t=1001-1101&op=17"));
    assert_eq!(address, "#t=1001-1101&op=17");
    browser.js("(() => { const it = document.getElementById('show'); it.value = '1'; it.onchange(); })()");
    let address = browser.js(&followed("show=counterexample"));
    assert!(address.as_str().is_some_and(|it| it.ends_with("&op=17&show=counterexample")), "{address}");
}

#[test]
#[ignore = "needs a browser"]
fn a_link_leads_to_the_picture() {
    let folder = page("around-link", &rows(20), "register", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    browser.resize(900, 300);
    let is_seen = "(box => box.top < innerHeight && box.bottom > 0)(document.getElementById('timeline').getBoundingClientRect())";
    browser.js("scrollTo(0, 0)");
    assert_eq!(browser.js(is_seen), false);
    browser.js("document.querySelector('#counterexample tbody a').click()");
    assert!(0.0 <= number(&state(&mut browser)["selected"]));
    assert_eq!(browser.js(is_seen), true);
}

#[test]
#[ignore = "needs a browser"]
fn the_strip_below_leads_elsewhere() {
    let folder = page("around-strip", &long(), "register", 1);
    let Some(mut browser) = browse(&folder, "#t=4000-4100") else { return };
    browser.js("document.getElementById('overview').scrollIntoView()");
    let strip = browser.js(
        "(box => [box.left, box.top + box.height / 2, box.width])(document.getElementById('overview').getBoundingClientRect())",
    );
    let (from, y, wide) = (number(&strip[0]), number(&strip[1]), number(&strip[2]));
    let centre = |browser: &mut Browser| {
        let view = state(browser);
        (number(&view["from"]) + number(&view["to"])) / 2.0 / 8_002.0
    };
    browser.mouse("mousePressed", from + wide * 0.25, y, json!({"buttons": 1}));
    assert!((centre(&mut browser) - 0.25).abs() < 0.01);
    browser.mouse("mouseMoved", from + wide * 0.75, y, json!({"buttons": 1}));
    assert!((centre(&mut browser) - 0.75).abs() < 0.01);
    // After the release nothing is dragged.
    browser.mouse("mouseReleased", from + wide * 0.75, y, json!({}));
    browser.mouse("mouseMoved", from + wide * 0.5, y, json!({"button": "none"}));
    assert!((centre(&mut browser) - 0.75).abs() < 0.01);
}

#[test]
#[ignore = "needs a browser"]
fn a_long_history_without_a_core_is_seen_from_its_beginning() {
    let folder = Folder::new("around-beginning");
    let args = ["generate", "--spec", "register", "--operations", "3000", "--seed", "3"];
    let history = clewline(&folder, &args, "").stdout;
    let folder = page("around-beginning", &history, "register", 0);
    let Some(mut browser) = browse(&folder, "") else { return };
    let view = state(&mut browser);
    assert!(number(&view["from"]) < 0.0 && width(&view) < 100.0, "{view}");
    // The keyboard selection begins in the visible part.
    browser.js("clewline.look(3000, 3080)");
    focus(&mut browser);
    browser.press("ArrowRight");
    assert!(1_000.0 < number(&state(&mut browser)["selected"]));
}

#[test]
#[ignore = "needs a browser"]
fn the_picture_is_as_wide_as_the_window() {
    let folder = page("around-resize", BAD, "queue", 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    let fits = "Math.abs(clewline.place(0).width - document.getElementById('timeline').clientWidth) < 1";
    for wide in [1_200, 700] {
        browser.resize(wide, 900);
        browser.settle();
        assert_eq!(browser.js(fits), true, "{wide}");
    }
    assert_eq!(browser.troubles(), Vec::<String>::new());
}
