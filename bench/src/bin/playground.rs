//! The playground: how long a browser takes from a file that is dropped on the page to the verdict
//! and the report.
//!
//! `playground PAGE.html` opens the page that `playground/build` has made, in a browser without a
//! window. Milliseconds, the median of several times; the first takes longer, since the browser
//! then compiles the code.

use std::{path::PathBuf, process::ExitCode};

use browser::Browser;

#[path = "../../../crates/clewline-cli/tests/it/browser.rs"]
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest of it")]
mod browser;

// How often each history is judged.
const TIMES: usize = 5;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

// A specification, and two operations in JavaScript: the number of the pair is `it`. Of four
// processes some overlap.
const OBJECTS: [(&str, &str, &str); 4] = [
    ("queue", "op: 'enq', arg: it", "op: 'deq', ret: it"),
    ("register", "op: 'write', arg: it", "op: 'read', ret: it"),
    ("map", "op: 'put', arg: [it % 100, it]", "op: 'get', arg: it % 100, ret: it"),
    ("cas-register", "op: 'write', arg: it % 8", "op: 'read', ret: it % 8"),
];

fn main() -> ExitCode {
    let Some(page) = std::env::args().nth(1).map(PathBuf::from).and_then(|it| it.canonicalize().ok()) else {
        eprintln!("usage: playground PAGE.html");
        return ExitCode::from(2);
    };
    let profile = std::env::temp_dir().join(format!("clewline-playground-{}", std::process::id()));
    let Some(mut browser) = Browser::start(&profile, 1280, 860) else { return ExitCode::FAILURE };
    browser.open(&page, "");
    browser.js(&until("document.body.dataset.ready"));
    println!("| specification | operations | holds, ms | violated, ms |");
    println!("|---|---|---|---|");
    for (spec, first, second) in OBJECTS {
        browser.js(&format!(
            "(() => {{ const it = document.getElementById('spec'); it.value = '{spec}'; \
             it.dispatchEvent(new Event('change')); }})()"
        ));
        for operations in SIZES {
            let mut median = |last: &str, verdict: &str| {
                let mut all: Vec<f64> = (0..TIMES)
                    .map(|_| milliseconds(&mut browser, &history(operations, first, second, last), verdict))
                    .collect();
                all.sort_by(f64::total_cmp);
                all[TIMES / 2]
            };
            let holds = median("", "holds");
            // What was read last is not read again.
            let end = 40 * operations;
            let wrong = second.replace("ret: it % 8", "ret: 'x'").replace("ret: it", "ret: 'x'");
            let last = format!(
                "const it = 0; lines.push(JSON.stringify({{process: 9, {wrong}, call: {end}, 'return': {}}}));",
                end + 1
            );
            let violated = median(&last, "violated");
            println!("| {spec} | {operations} | {holds:.0} | {violated:.0} |");
        }
    }
    ExitCode::SUCCESS
}

/// Waits until the expression is true.
fn until(expression: &str) -> String {
    format!(
        "new Promise(done => {{ const look = () => {{ const it = {expression}; it ? done(it) : setTimeout(look, 2); }}; \
         look(); }})"
    )
}

/// The text of a history, as an expression.
fn history(operations: usize, first: &str, second: &str, last: &str) -> String {
    let pairs = operations / 2;
    format!(
        "(() => {{ const lines = []; for (let it = 0; it < {pairs}; it++) {{ const at = 40 * it; lines.push( \
         JSON.stringify({{process: it % 2, {first}, call: at, 'return': at + 30}}), \
         JSON.stringify({{process: 2 + it % 2, {second}, call: at + 25, 'return': at + 39}})); }} \
         {{ {last} }} return lines.join('\\n') + '\\n'; }})()"
    )
}

/// From a file that is dropped to the verdict, with the report in the page.
fn milliseconds(browser: &mut Browser, contents: &str, verdict: &str) -> f64 {
    browser.js(&format!("(globalThis.contents = {contents}, 0)"));
    let done = until("document.body.dataset.done !== before ? performance.now() - begun : 0");
    let elapsed = browser.js(&format!(
        "(() => {{ const before = document.body.dataset.done; const all = new DataTransfer(); \
         all.items.add(new File([globalThis.contents], 'long.jsonl')); const begun = performance.now(); \
         document.dispatchEvent(new DragEvent('drop', {{dataTransfer: all, bubbles: true}})); return {done}; }})()"
    ));
    let status = browser.js("document.getElementById('status').innerText");
    assert!(status.as_str().is_some_and(|it| it.starts_with(verdict)), "{status}");
    elapsed.as_f64().expect("a number")
}
