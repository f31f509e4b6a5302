//! Pages of explorations, of stress tests, of actor systems and of several files; and what is on
//! every page.

use serde_json::{Value as Json, json};

use crate::{
    browser::Browser,
    html::{browse, long, number, state},
    run::{BAD, Folder, GOOD, clewline},
};

const EXPLORE: [&str; 4] = ["explore", "manual-reset-event:pre", "--matrix", "wait | set reset set"];
const ACTORS: [&str; 2] = ["actors", "edr"];
const STRESS: [&str; 8] =
    ["stress", "register:unsynchronized", "--seed", "1", "--executions", "2000", "--shrink", "none"];

/// A folder in which a command has written its page and its picture.
#[track_caller]
fn drawn(test: &str, command: &[&str], code: i32) -> Folder {
    let folder = Folder::new(test);
    let ran =
        clewline(&folder, &[command, &["--html", "report.html", "--svg", "counterexample.svg"]].concat(), "");
    assert_eq!(ran.code, code, "{}\n{}", ran.stdout, ran.stderr);
    folder
}

/// The page opens, is drawn, has the first line of the command, and makes no requests.
#[track_caller]
fn check_page(folder: &Folder, headline: &str) -> Option<Browser> {
    let mut browser = browse(folder, "")?;
    assert_eq!(browser.troubles(), Vec::<String>::new());
    assert_eq!(browser.js("document.querySelector('h1').textContent"), json!(headline));
    Some(browser)
}

#[test]
fn an_exploration_is_drawn_with_its_steps_under_the_timeline() {
    let folder = drawn("page-explore", &EXPLORE, 1);
    assert!(folder.read("counterexample.svg").contains(">thread a</text>"));
    let headline = "violated: manual-reset-event:pre has a deadlock in wait";
    let Some(mut browser) = check_page(&folder, headline) else { return };
    let heads = browser.js("[...document.querySelectorAll('#steps th')].map(it => it.textContent)");
    assert_eq!(heads, json!(["step", "a", "b", "where"]));
    // Every step is at a line of a file.
    let places =
        "[...document.querySelectorAll('#steps tbody tr:not(.talk) .place')].map(it => it.textContent)";
    let places: Vec<String> = serde_json::from_value(browser.js(places)).expect("texts");
    let is_place = |it: &String| {
        it == "when dropped" || it.rsplit_once(".rs:").is_some_and(|it| it.1.parse::<u32>().is_ok())
    };
    assert!(3 < places.len() && places.iter().all(is_place), "{places:?}");
    // A call in the table leads to its operation.
    browser.js("document.querySelector('#steps a').click()");
    assert!(0.0 <= number(&state(&mut browser)["selected"]));
    assert_eq!(browser.js("document.querySelectorAll('#steps a.chosen').length > 0"), true);
    // The page shows the blocked call.
    let counterexample =
        browser.js("JSON.parse(document.getElementById('data').textContent).rest.counterexample.length");
    assert_eq!(counterexample, 1);
}

#[test]
#[ignore = "needs a browser"]
fn an_actor_system_is_drawn_with_its_messages() {
    let folder = drawn("page-actors", &ACTORS, 1);
    assert!(folder.read("counterexample.svg").contains("class=\"bar\""));
    let headline = "violated: edr is not linearizable as a register";
    let Some(mut browser) = check_page(&folder, headline) else { return };
    let facts = browser.js(
        "(() => { const all = document.querySelector('.messages');
           const ends = [...all.querySelectorAll('a')].map(it => it.getAttribute('href'));
           return [all.querySelectorAll('.sent').length, all.querySelectorAll('.actor').length, ends.length,
             ends.every(it => document.querySelector('#data').textContent.length > 0 && /^#op=\\d+$/.test(it))]; })()",
    );
    assert!(3.0 <= number(&facts[0]) && 3.0 <= number(&facts[1]) && 2.0 <= number(&facts[2]), "{facts}");
    assert_eq!(facts[3], true);
    browser.js("document.querySelector('.messages a').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))");
    assert!(0.0 <= number(&state(&mut browser)["selected"]));
    // No label covers another, and none is cut off.
    let overlap = browser.js(
        "(() => { const all = document.querySelector('.messages'), frame = all.getBoundingClientRect();
           const boxes = [...all.querySelectorAll('text')].map(it => [it.textContent, it.getBoundingClientRect()]);
           for (const [printed, it] of boxes) if (it.left < frame.left - 1 || it.right > frame.right + 1) return printed + ' is cut off';
           for (let one = 0; one < boxes.length; one++) for (let other = 0; other < one; other++) {
             const [a, b] = [boxes[one][1], boxes[other][1]];
             if (a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
               return boxes[one][0] + ' covers ' + boxes[other][0]; }
           return ''; })()",
    );
    assert_eq!(overlap, "");
}

#[test]
#[ignore = "needs a browser"]
fn a_stress_test_is_drawn_with_the_run_that_went_wrong() {
    let folder = drawn("page-stress", &STRESS, 1);
    let headline = "violated: register:unsynchronized is not linearizable as a register";
    let Some(mut browser) = check_page(&folder, headline) else { return };
    assert_eq!(
        browser.js("[...document.querySelectorAll('#facts dt')].some(it => it.textContent === 'seed')"),
        true
    );
    // A page that is already written is not suggested.
    let next = browser.js("[...document.querySelectorAll('.next')].map(it => it.textContent)");
    assert!(
        next.as_array().is_some_and(|it| it.len() == 1 && !it[0].to_string().contains("--html")),
        "{next}"
    );
    let counterexample =
        browser.js("JSON.parse(document.getElementById('data').textContent).rest.counterexample.length");
    assert!(0.0 < number(&counterexample));
    assert_eq!(browser.js("document.querySelectorAll('#counterexample svg .bar').length"), counterexample);
}

#[test]
fn a_page_without_a_violation_has_no_timeline() {
    let all: [(&str, &[&str]); 3] = [
        ("page-explore-holds", &["explore", "treiber-stack", "--matrix", "push(1) | pop"]),
        ("page-actors-holds", &["actors", "single-copy"]),
        (
            "page-stress-holds",
            &["stress", "register", "--executions", "3", "--operations", "50", "--seed", "7"],
        ),
    ];
    for (test, command) in all {
        let folder = Folder::new(test);
        let ran = clewline(
            &folder,
            &[command, &["--html", "report.html", "--svg", "counterexample.svg"]].concat(),
            "",
        );
        assert_eq!(ran.code, 0, "{}", ran.stdout);
        assert!(
            ran.stderr.contains("note: no history to draw: counterexample.svg was not written"),
            "{}",
            ran.stderr
        );
        let Some(mut browser) = check_page(&folder, ran.first_line()) else { return };
        assert_eq!(browser.js("document.querySelector('canvas')"), Json::Null);
        assert!(number(&browser.js("document.querySelectorAll('#facts dt').length")) > 0.0);
    }
}

#[test]
fn explorations_give_the_same_bytes_again() {
    for (test, command) in
        [("page-again-explore", EXPLORE.as_slice()), ("page-again-actors", ACTORS.as_slice())]
    {
        let files = |name: String| {
            let folder = drawn(&name, command, 1);
            let more = [command, &["--junit", "a.xml", "--markdown", "a.md", "--annotations"]].concat();
            let ran = clewline(&folder, &more, "");
            (["report.html", "counterexample.svg", "a.xml", "a.md"].map(|it| folder.read(it)), ran.stderr)
        };
        assert!(files(format!("{test}-1")) == files(format!("{test}-2")), "{test}");
    }
}

#[test]
fn several_histories_have_a_table_that_leads_to_the_page_of_each() {
    let folder = Folder::new("page-several")
        .with("good one.jsonl", GOOD)
        .with("lost.jsonl", BAD)
        .with("no.jsonl", "?");
    let files = ["check", "good one.jsonl", "lost.jsonl", "no.jsonl"];
    let ran =
        clewline(&folder, &[files.as_slice(), &["--spec", "queue", "--html", "report.html"]].concat(), "");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(folder.read("report/002-lost.html").contains("lost.jsonl is not linearizable as a queue"));
    let Some(mut browser) = check_page(&folder, "violated: 3 histories: 1 violated, 1 unreadable, 1 holds")
    else {
        return;
    };
    let rows = "[...document.querySelectorAll('#summary tbody tr')].map(it => [...it.cells].slice(0, 3).map(it => it.firstChild.textContent))";
    assert_eq!(
        browser.js(rows),
        json!([
            ["violated", "lost.jsonl", "4"],
            ["unreadable", "no.jsonl", "–"],
            ["holds", "good one.jsonl", "2"]
        ])
    );
    let links = browser.js("[...document.querySelectorAll('#summary a')].map(it => it.getAttribute('href'))");
    assert_eq!(links, json!(["report/002-lost.html", "report/001-good-one.html"]));
    browser.open(&folder.path("report/001-good-one.html"), "");
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

/// Two concurrent writes in unknown order, and reads that return either value.
const TORN: &str = r#"{"process": 0, "op": "write", "arg": 1, "call": 0, "return": 10}
{"process": 1, "op": "write", "arg": 2, "call": 1, "return": 11}
{"process": 0, "op": "read", "ret": 2, "call": 12, "return": 13}
{"process": 1, "op": "read", "ret": 1, "call": 14, "return": 15}
"#;

#[test]
#[ignore = "needs a browser"]
fn each_operation_at_which_orders_end_has_an_order_to_choose() {
    let folder = Folder::new("page-orders").with("history.jsonl", TORN);
    let args = ["check", "history.jsonl", "--spec", "register", "--html", "report.html"];
    assert_eq!(clewline(&folder, &args, "").code, 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    let orders = "[...document.getElementById('path').options].map(it => it.textContent)";
    assert_eq!(
        browser.js(orders),
        json!(["until read() → 1 (3 operations)", "until read() → 2 (2 operations)", "none"])
    );
    let printed = "document.getElementById('path-text').textContent";
    assert_eq!(browser.js(printed), "The state is then 2, and read() → 1 could only have been read() → 2.");
    let order = "clewline.order().map(it => it[0])";
    assert_eq!(browser.js(order), json!([0, 1, 2]));
    browser.js("(() => { const it = document.getElementById('path'); it.value = '1'; it.onchange(); })()");
    assert_eq!(browser.js(order), json!([1, 0]));
    assert_eq!(browser.js(printed), "The state is then 1, and read() → 2 could only have been read() → 1.");
    // The order shows the effect of each operation on the state.
    browser.js("document.getElementById('timeline').focus()");
    browser.press("n");
    let details = browser.js("document.getElementById('details').textContent");
    let expected = "number 1 of the order that is drawn; the state before it is null, after it 2";
    assert!(details.as_str().is_some_and(|it| it.contains(expected)), "{details}");
    browser.js("(() => { const it = document.getElementById('path'); it.value = '-1'; it.onchange(); })()");
    assert_eq!((browser.js(order), browser.js(printed)), (json!([]), json!("")));
}

#[test]
#[ignore = "needs a browser"]
fn a_label_beside_a_bar_covers_no_other_bar() {
    let folder = Folder::new("page-flags").with("history.jsonl", &long());
    let args = ["check", "history.jsonl", "--spec", "register", "--html", "report.html"];
    assert_eq!(clewline(&folder, &args, "").code, 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    browser.js("document.getElementById('fit-counterexample').click()");
    let mut flags = 0.0;
    // Also where the counterexample stands at the edge on the right, or on the left.
    for step in 0..24 {
        browser.settle();
        let covered = browser.js(
            "[clewline.flags().length, clewline.flags().flatMap(flag => clewline.row(flag.track)
               .filter(it => it.op !== flag.op && it.left < flag.right - 0.5 && flag.left < it.right - 0.5)
               .map(it => [flag, it.op, it.left, it.right])),
              clewline.flags().filter(it => it.right > clewline.place(it.op).width || it.left < clewline.place(it.op).x)]",
        );
        flags += number(&covered[0]);
        assert_eq!((&covered[1], &covered[2]), (&json!([]), &json!([])), "step {step}");
        let wide = "(clewline.state().to - clewline.state().from)";
        match step {
            8 => drop(browser.js("document.getElementById('fit-counterexample').click()")),
            0..8 => drop(browser.js(&format!("clewline.moveBy(-{wide} / 16, 0)"))),
            9..16 => drop(browser.js(&format!("clewline.moveBy({wide} / 16, 0)"))),
            _ => drop(browser.js("clewline.zoom(1.4)")),
        }
    }
    assert!(0.0 < flags, "no label stands beside its bar");
}

#[test]
#[ignore = "needs a browser"]
fn on_paper_there_is_everything_but_what_one_looks_around_in() {
    let folder = drawn("page-print", &EXPLORE, 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    browser.ask("Emulation.setEmulatedMedia", json!({"media": "print"}));
    let shown = |id: &str| format!("getComputedStyle(document.querySelector('{id}')).display !== 'none'");
    for (id, expected) in [
        ("#history", false),
        ("#theme", false),
        ("h1", true),
        ("#counterexample", true),
        ("#steps", true),
        ("#facts", true),
    ] {
        assert_eq!(browser.js(&shown(id)), json!(expected), "{id}");
    }
    // Ink on white, whatever the screen prefers.
    browser.ask(
        "Emulation.setEmulatedMedia",
        json!({"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    assert_eq!(browser.js("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    let pdf = browser.ask("Page.printToPDF", json!({}));
    assert!(pdf["data"].as_str().is_some_and(|it| 1_000 < it.len()));
}

#[test]
#[ignore = "needs a browser"]
fn search_results_are_marked() {
    let folder = Folder::new("page-search").with("history.jsonl", &long());
    let args = ["check", "history.jsonl", "--spec", "register", "--html", "report.html"];
    assert_eq!(clewline(&folder, &args, "").code, 1);
    let Some(mut browser) = browse(&folder, "") else { return };
    let found = "document.getElementById('found').textContent";
    browser.js("document.getElementById('search').focus()");
    browser.ask("Input.insertText", json!({"text": "write(39"}));
    // 39, 390 to 399, 3,900 to 3,999.
    assert_eq!((&state(&mut browser)["matches"], &browser.js(found)), (&json!(111), &json!("111 found")));
    browser.press("Enter");
    assert_eq!((&state(&mut browser)["selected"], &browser.js(found)), (&json!(39), &json!("1 of 111")));
    browser.ask("Input.insertText", json!({"text": "x"}));
    assert_eq!(browser.js(found), "none found");
}

#[test]
#[ignore = "needs a browser"]
fn times_of_other_formats_are_shown_as_well() {
    let text = "{:process 0, :type :invoke, :f :write, :value 1, :time 1000}
{:process 0, :type :ok, :f :write, :value 1, :time 3500}
";
    let folder = Folder::new("page-times").with("history.edn", text);
    let args = ["check", "history.edn", "--spec", "register", "--html", "report.html"];
    assert_eq!(clewline(&folder, &args, "").code, 0);
    let Some(mut browser) = browse(&folder, "#op=0") else { return };
    browser.settle();
    let printed = browser.js("document.getElementById('details').textContent");
    let expected = "by the clock of the file: called at 1000, returned at 3500, 2,500 later";
    assert!(printed.as_str().is_some_and(|it| it.contains(expected)), "{printed}");
}

/// What is wide scrolls in its own box.
#[test]
#[ignore = "needs a browser"]
fn no_page_scrolls_sideways_in_a_narrow_window() {
    let check = Folder::new("page-narrow").with("history.jsonl", &long());
    let args = ["check", "history.jsonl", "--spec", "register", "--html", "report.html"];
    assert_eq!(clewline(&check, &args, "").code, 1);
    let explore = drawn("page-narrow-explore", &EXPLORE, 1);
    let actors = drawn("page-narrow-actors", &ACTORS, 1);
    for folder in [check, explore, actors] {
        let Some(mut browser) = browse(&folder, "") else { return };
        for wide in [600, 360] {
            browser.resize(wide, 900);
            browser.settle();
            let over = browser.js("document.documentElement.scrollWidth - innerWidth");
            assert!(number(&over) <= 0.0, "{over} at {wide}");
        }
    }
}
