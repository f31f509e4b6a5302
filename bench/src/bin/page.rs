//! Looking at a page: how long a browser takes until a report is drawn, and how many frames a
//! second are drawn while the picture moves.
//!
//! `page REPORT.html` opens the page of `clewline check --html` in a browser without a window and
//! without a graphics card. For several zooms the picture is moved a little in every frame; a frame
//! is drawn as it would be while a user drags it.

use std::{path::PathBuf, process::ExitCode};

use browser::Browser;
use serde_json::Value as Json;

#[path = "../../../crates/clewline-cli/tests/it/browser.rs"]
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest of it")]
mod browser;

// How many frames are looked at for each zoom.
const FRAMES: usize = 150;

// How often the page is opened.
const LOADS: usize = 5;

fn main() -> ExitCode {
    let Some(page) = std::env::args().nth(1).map(PathBuf::from).and_then(|it| it.canonicalize().ok()) else {
        eprintln!("usage: page REPORT.html");
        return ExitCode::from(2);
    };
    let profile = std::env::temp_dir().join(format!("clewline-page-{}", std::process::id()));
    let Some(mut browser) = Browser::start(&profile, 1280, 860) else { return ExitCode::FAILURE };
    let mut loads = Vec::new();
    for _ in 0..LOADS {
        browser.open(&page, "");
        loads.push(number(&browser.js("performance.getEntriesByName('clewline-drawn')[0].startTime")));
    }
    loads.sort_by(f64::total_cmp);
    let operations = browser.js("JSON.parse(document.getElementById('data').textContent).history.count");
    println!("{operations} operations: drawn after {:.0} ms (median of {LOADS} loads)\n", loads[LOADS / 2]);
    println!("| events seen | frames a second | slowest frame, ms | drawing, ms |");
    println!("|---|---|---|---|");
    let last = number(&browser.js("(document.getElementById('fit-all').click(), clewline.state().to)"));
    for seen in [last, last / 4.0, 5_000.0, 500.0, 50.0] {
        let measured = browser.js(&moving(seen, last));
        println!(
            "| {seen:.0} | {:.0} | {:.0} | {:.1} |",
            number(&measured[0]),
            number(&measured[1]),
            number(&measured[2])
        );
    }
    ExitCode::SUCCESS
}

/// Moves the picture in every frame; returns frames a second, the longest time between two, and the
/// mean time that drawing takes.
fn moving(seen: f64, last: f64) -> String {
    format!(
        "new Promise(done => {{
           clewline.look(({last} - {seen}) / 2, ({last} + {seen}) / 2);
           const begun = performance.now();
           for (let at = 0; at < 20; at++) clewline.draw();
           const drawing = (performance.now() - begun) / 20;
           const times = [];
           const frame = now => {{
             times.push(now);
             if (times.length > {FRAMES}) {{
               const gaps = times.slice(1).map((it, at) => it - times[at]);
               return done([1000 * gaps.length / (times.at(-1) - times[0]), Math.max(...gaps), drawing]);
             }}
             clewline.moveBy(times.length % 100 < 50 ? {seen} / 60 : -{seen} / 60, 0);
             requestAnimationFrame(frame);
           }};
           requestAnimationFrame(frame); }})"
    )
}

fn number(value: &Json) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
