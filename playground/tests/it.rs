//! The playground in a headless browser, as a user meets it: opened as a file, without a server.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde_json::{Value as Json, json};

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../crates/clewline-cli/tests/it/browser.rs"]
mod browser;

use browser::Browser;

const LOST: &str = include_str!("../page/examples/lost.jsonl");

fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

const BOUNDED: &str = r#"{"process": 1, "op": "enq", "arg": "é", "ret": true, "call": 1, "return": 4}
{"process": 2, "op": "deq", "ret": null, "call": 6, "return": 9}
"#;

/// The page, as `playground/build` makes it; built once.
fn page() -> &'static Path {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    PAGE.get_or_init(|| {
        let page = scratch().join("playground.html");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let built = Command::new(root.join("build")).arg(&page).output().expect("a shell");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        page
    })
}

/// The page in a browser, ready; none where there is no browser.
struct Playground(Browser);

impl Playground {
    fn open(profile: &str, width: u32, fragment: &str) -> Option<Playground> {
        let mut browser = Browser::start(&scratch().join(profile), width, 900)?;
        browser.open(page(), fragment);
        let mut playground = Playground(browser);
        playground.wait("document.body.dataset.ready");
        Some(playground)
    }

    /// Waits until the expression is true, and returns it.
    #[track_caller]
    fn wait(&mut self, expression: &str) -> Json {
        self.0.js(&format!(
            "new Promise(done => {{ const look = () => {{ const it = {expression}; \
             it ? done(it) : setTimeout(look, 20); }}; look(); }})"
        ))
    }

    /// Chooses a specification.
    fn choose(&mut self, spec: &str) {
        let spec = json!(spec);
        self.0.js(&format!(
            "(() => {{ const it = document.getElementById('spec'); it.value = {spec}; \
             it.dispatchEvent(new Event('change')); }})()"
        ));
    }

    /// Replaces the history by a text, as a user does.
    fn paste(&mut self, text: &str) {
        self.0
            .js("(document.getElementById('history').focus(), document.getElementById('history').select())");
        self.0.ask("Input.insertText", json!({"text": text}));
    }

    fn drop_file(&mut self, name: &str, contents: &str) {
        self.0.js(&format!(
            "(async () => {{ const all = new DataTransfer(); all.items.add(new File([await {contents}], {})); \
             document.dispatchEvent(new DragEvent('drop', {{dataTransfer: all, bubbles: true}})); }})()",
            json!(name)
        ));
    }

    fn press_check(&mut self) {
        self.click("check");
    }

    fn click(&mut self, button: &str) {
        self.0.js(&format!("document.getElementById('{button}').click()"));
    }

    /// Waits until this many checks are finished, and returns what is said of the last.
    #[track_caller]
    fn status_after(&mut self, finished: u32) -> String {
        self.wait(&format!("document.body.dataset.done === '{finished}'"));
        self.status()
    }

    fn status(&mut self) -> String {
        self.text("status")
    }

    fn text(&mut self, id: &str) -> String {
        let text = self.0.js(&format!("document.getElementById('{id}').innerText"));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the expression is true in the report, which has an origin of its own.
    #[track_caller]
    fn report(&mut self, expression: &str) {
        let expression = format!("Boolean(document.querySelector('footer') && ({expression}))");
        while self.0.js_in_frame(&expression) != json!(true) {
            self.0.settle();
        }
    }

    /// Errors, and requests for anything but the page's own parts.
    fn troubles(&mut self) -> Vec<String> {
        self.0.troubles().into_iter().filter(|it| !it.starts_with("asked for blob:")).collect()
    }
}

#[test]
fn a_history_that_is_pasted_is_judged() {
    let Some(mut page) = Playground::open("pasted", 1400, "") else { return };
    page.paste(LOST);
    page.press_check();
    let status = page.status_after(1);
    assert!(
        status.starts_with("violated: history is not linearizable as a queue (jsonl, 4 operations"),
        "{status}"
    );
    assert!(status.contains("enq(1)") && status.contains("deq() → 2"), "the counterexample: {status}");
    page.report("document.querySelector('h1').innerText.startsWith('violated: ')");
    page.report("document.querySelectorAll('#counterexample tbody tr').length === 3");
    // The timeline is drawn, and its scripts run.
    page.report("document.getElementById('timeline').width > 300");

    page.choose("stack");
    page.paste(LOST);
    page.press_check();
    let status = page.status_after(2);
    assert!(status.starts_with("cannot be read: line 1: ") && status.contains("enq"), "{status}");
    assert_eq!(page.0.js("document.getElementById('report').hidden"), json!(true));

    page.choose("bag");
    page.paste(&LOST.replace("enq", "add").replace("deq", "take"));
    page.press_check();
    let status = page.status_after(3);
    assert!(status.starts_with("holds: history is linearizable as a bag"), "{status}");
    assert_eq!(page.troubles(), Vec::<String>::new());
}

#[test]
fn a_malformed_line_is_shown() {
    let Some(mut page) = Playground::open("malformed", 600, "") else { return };
    let broken = LOST.replace("\"op\": \"deq\", \"ret\": 2", "\"op\": \"deq\", \"ret\": ]");
    page.paste(&broken);
    page.press_check();
    let status = page.status_after(1);
    assert!(status.starts_with("cannot be read: line 3, column "), "{status}");
    let selected = page.0.js("(() => { const it = document.getElementById('history'); \
         return it.value.slice(it.selectionStart, it.selectionEnd); })()");
    assert_eq!(selected.as_str(), broken.lines().nth(2));

    for (text, expected) in
        [("", "found nothing in it"), ("to be or not to be", "not recognised as a history")]
    {
        page.paste("x");
        page.0.js(&format!("document.getElementById('history').value = {}", json!(text)));
        page.press_check();
        page.wait(&format!("document.getElementById('sentence').innerText.includes({})", json!(expected)));
    }
    assert_eq!(page.troubles(), Vec::<String>::new());
}

#[test]
fn a_file_that_is_dropped_is_judged_in_its_format() {
    let Some(mut page) = Playground::open("dropped", 1400, "") else { return };
    page.choose("register");
    let stale = json!(include_str!("../page/examples/stale.csv"));
    page.drop_file("stale.csv", &stale.to_string());
    let status = page.status_after(1);
    assert!(
        status.starts_with("violated: stale.csv is not linearizable as a register (csv, 5 operations"),
        "{status}"
    );

    // Compressed, and in a notation of Jepsen.
    page.choose("cas-register");
    let cas = json!(include_str!("../page/examples/cas.edn"));
    let packed = format!(
        "new Response(new Blob([{cas}]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()"
    );
    page.drop_file("cas.edn.gz", &packed);
    let status = page.status_after(2);
    assert!(
        status.starts_with("violated: cas.edn is not linearizable as a cas-register (jepsen, "),
        "{status}"
    );
    assert_eq!(page.troubles(), Vec::<String>::new());
}

/// A queue of 100,000 operations by four processes that overlap; `last` are further lines.
fn long_queue(last: &str) -> String {
    format!(
        "(() => {{ const lines = []; for (let it = 0; it < 50000; it++) {{ const at = 40 * it; lines.push( \
         `{{\"process\": ${{it % 2}}, \"op\": \"enq\", \"arg\": ${{it}}, \"call\": ${{at}}, \"return\": ${{at + 70}}}}`, \
         `{{\"process\": ${{2 + it % 2}}, \"op\": \"deq\", \"ret\": ${{it}}, \"call\": ${{at + 35}}, \"return\": ${{at + 100}}}}`); }} \
         return lines.join('\\n') + {}; }})()",
        json!(last)
    )
}

#[test]
fn a_hundred_thousand_operations_are_judged() {
    let Some(mut page) = Playground::open("long", 1400, "") else { return };
    page.drop_file("long.jsonl", &long_queue("\n"));
    let status = page.status_after(1);
    assert!(
        status.starts_with("holds: long.jsonl is linearizable as a queue (jsonl, 100,000 operations"),
        "{status}"
    );
    assert!(page.text("held").contains("the beginning is shown"), "large files are held aside");

    let twice =
        "\n{\"process\": 9, \"op\": \"deq\", \"ret\": 49999, \"call\": 3000000, \"return\": 3000001}\n";
    page.drop_file("long.jsonl", &long_queue(twice));
    let status = page.status_after(2);
    assert!(
        status.starts_with("violated: long.jsonl is not linearizable as a queue (jsonl, 100,001 operations"),
        "{status}"
    );
    page.report("document.getElementById('timeline').width > 300");

    // A link of that length would be cut.
    page.click("share");
    page.wait("document.getElementById('sentence').innerText.includes('share the file instead')");
    assert_eq!(page.troubles(), Vec::<String>::new());
}

#[test]
fn a_link_has_the_history_and_the_settings() {
    let Some(mut page) = Playground::open("shared", 1400, "") else { return };
    page.choose("queue");
    page.0.js("document.getElementById('parameter').value = '1'");
    page.0.js("document.getElementById('initial').value = '[]'");
    page.0.js("document.getElementById('criterion').value = 'strict'");
    page.paste(BOUNDED);
    page.click("share");
    page.wait("location.hash.includes('history=')");
    let fragment = page.0.js("location.hash").as_str().expect("a text").to_owned();
    drop(page);

    let Some(mut page) = Playground::open("received", 1400, &fragment) else { return };
    let status = page.status_after(1);
    assert!(status.starts_with("violated: history is not strictly linearizable as a queue:1 "), "{status}");
    assert_eq!(page.0.js("document.getElementById('history').value"), json!(BOUNDED));
    assert_eq!(page.0.js("document.getElementById('initial').value"), json!("[]"));
    assert_eq!(page.0.js("document.getElementById('criterion').value"), json!("strict"));
    drop(page);

    let Some(mut page) = Playground::open("cut", 1400, &fragment[..fragment.len() - 20]) else { return };
    page.wait("document.getElementById('sentence').innerText.includes('this link is not complete')");
    // A few bytes that stand for many.
    page.0.js(
        "(async () => { const zeros = new Blob([new Uint8Array(65 << 20)]).stream(); \
         const packed = await new Response(zeros.pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer(); \
         const text = Array.from(new Uint8Array(packed), (it) => String.fromCharCode(it)).join(''); \
         location.hash = 'history=' + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''); })()",
    );
    page.wait("document.getElementById('sentence').innerText.includes('this link holds more than 64 MiB')");
}

/// No monitor decides this, and no order of the successful `cas` is found or excluded soon.
fn hard() -> String {
    let mut lines =
        String::from("{\"process\": 99, \"op\": \"write\", \"arg\": 0, \"call\": 0, \"return\": 1}\n");
    let mut seed = 7_u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 61
    };
    for process in 0..60 {
        lines.push_str(&format!(
            "{{\"process\": {process}, \"op\": \"cas\", \"arg\": [{}, {}], \"ret\": true, \"call\": 10, \"return\": 20}}\n",
            draw(),
            draw()
        ));
    }
    lines
}

#[test]
fn a_check_is_limited_and_can_be_cancelled() {
    let Some(mut page) = Playground::open("limited", 1400, "") else { return };
    page.choose("cas-register");
    page.paste(&hard());
    page.0.js("document.getElementById('limit').add(new Option('soon', '0.2', true, true))");
    page.press_check();
    let status = page.status_after(1);
    assert!(status.starts_with("unknown: ") && status.contains("time limit of 200ms"), "{status}");

    page.0.js("document.getElementById('limit').value = '600'");
    page.press_check();
    page.wait("document.getElementById('sentence').innerText.startsWith('judging, ')");
    page.click("cancel");
    assert_eq!(page.status().trim(), "unknown: cancelled");
    assert_eq!(page.0.js("document.getElementById('check').disabled"), json!(false));
}

#[test]
fn nothing_leaves_the_page() {
    let Some(mut page) = Playground::open("kept", 600, "") else { return };
    let refused = page.0.js("new Promise(done => { document.addEventListener('securitypolicyviolation', \
         event => done(event.effectiveDirective)); fetch('https://example.org/').catch(() => 0) \
         .then(() => setTimeout(() => done('no policy'), 60000)); })");
    assert_eq!(refused, json!("connect-src"));
}

#[test]
fn nothing_is_wider_than_a_narrow_window() {
    for (width, scheme) in [(1400, "light"), (600, "dark"), (360, "light")] {
        let Some(mut page) = Playground::open(&format!("wide-{width}"), width, "") else { return };
        page.0.prefer(scheme);
        page.paste(LOST);
        page.press_check();
        page.status_after(1);
        page.report("document.getElementById('timeline')");
        let wide = page.0.js("document.documentElement.scrollWidth").as_u64().expect("a number");
        assert!(wide <= u64::from(width), "{wide} at {width}");
        if let Some(folder) = std::env::var_os("CLEWLINE_SCREENSHOTS") {
            page.0.settle();
            let taken = page.0.ask("Page.captureScreenshot", json!({"captureBeyondViewport": true}));
            let name = format!("playground-{width}-{scheme}.png.base64");
            fs::write(Path::new(&folder).join(name), taken["data"].as_str().unwrap_or_default())
                .expect("a folder");
        }
    }
}

/// What runs in the browser, on this machine: the same code without its wrapper.
mod native {
    use std::time::Duration;

    use clewline_core::{Budget, Criterion, Reason};
    use clewline_playground::{Failure, Request, judge, specifications};

    use super::LOST;

    fn request<'a>(contents: &'a str, spec: &'a str) -> Request<'a> {
        Request {
            name: "lost.jsonl",
            contents: contents.as_bytes(),
            spec,
            script: None,
            criterion: Criterion::Linearizable,
            initial: None,
            is_keyed: false,
        }
    }

    fn judged(contents: &str, spec: &str, budget: Budget) -> Result<clewline_playground::Outcome, Failure> {
        judge(&request(contents, spec), budget, &|_| (), || Duration::ZERO)
    }

    #[test]
    fn a_script_and_a_criterion_are_settings() {
        let judged = |request: &Request<'_>| judge(request, Budget::unlimited(), &|_| (), || Duration::ZERO);
        let stale = "{\"process\": 0, \"op\": \"write\", \"arg\": 1, \"call\": 0, \"return\": 1}\n\
                     {\"process\": 1, \"op\": \"read\", \"ret\": null, \"call\": 2, \"return\": 3}\n";
        let script = "def initial():\n    return None\ndef step(state, op, args, ret):\n    \
                      return [args[0]] if op == 'write' else [state] if ret == state else []\n";
        for spec in
            [request(stale, "register"), Request { script: Some(script), ..request(stale, "script.star") }]
        {
            assert_eq!(judged(&spec).expect("a history").verdict, "violated");
            let sequential = Request { criterion: Criterion::Sequential, ..spec };
            assert_eq!(judged(&sequential).expect("a history").verdict, "holds");
        }
        let wrong = Request { script: Some("def initial(): return x"), ..request(stale, "script.star") };
        let Err(Failure::Setting(why)) = judged(&wrong) else { panic!("`x` is not defined") };
        assert!(why.starts_with("script.star:1:23: `x` is not defined"), "{why}");
    }

    #[test]
    fn the_report_is_that_of_the_command_line() {
        let outcome = judged(LOST, "queue", Budget::unlimited()).expect("a history");
        assert_eq!(outcome.headline, "violated: lost.jsonl is not linearizable as a queue");
        assert!(outcome.text.starts_with(&outcome.headline) && outcome.page.starts_with("<!DOCTYPE html>"));
        assert_eq!((outcome.format, outcome.operations), ("jsonl", 4));
    }

    #[test]
    fn failures_say_what_and_where() {
        let failed = |contents, spec| judged(contents, spec, Budget::unlimited()).expect_err("a failure");
        assert!(failed(LOST, "queu").to_string().contains("queue"));
        assert_eq!(failed("{\"process\": 1}\n", "queue").line(), Some(1));
        let stopped = Budget::unlimited();
        stopped.stop(Reason::Cancelled);
        assert_eq!(judged(LOST, "queue", stopped), Err(Failure::Stopped(Reason::Cancelled)));
    }

    #[test]
    fn every_specification_has_its_line() {
        let lines = specifications();
        assert!(lines.lines().count() > 15 && lines.lines().all(|it| it.split('\t').count() == 3), "{lines}");
    }
}
