//! What JavaScript calls, in a worker: one history for each worker.
//!
//! There is one thread and no timer, so that the budget's gauge, which every search consults now
//! and then, also looks at the clock: it reports the progress, and stops the budget when the time
//! is up. To cancel, the page ends the worker.

use std::{
    cell::{Cell, RefCell},
    panic,
    time::Duration,
};

use clewline_core::{Budget, ParseError, Reason};
use js_sys::{Date, Function};
use wasm_bindgen::prelude::*;

use crate::{Failure, Outcome, Request, specifications};

/// A message for the page this often, in milliseconds.
const PROGRESS_INTERVAL_MS: f64 = 100.0;

/// Of the 4 GiB that WebAssembly can address; reports need some, too.
const MEMORY_MAX_BYTES: usize = 2 << 30;

const PAGE_BYTES: usize = 64 << 10;

const UNKNOWN: &str = "unknown";

/// The check that is running.
struct Running {
    progress: Function,
    budget: Budget,
    limit: Duration,
    begun: f64,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    static NEXT_PROGRESS: Cell<f64> = const { Cell::new(0.0) };
    static BYTES_READ: Cell<u64> = const { Cell::new(0) };
}

/// The memory of this instance; looks at the clock, too.
fn gauge() -> usize {
    look_at_clock();
    core::arch::wasm32::memory_size(0).saturating_mul(PAGE_BYTES)
}

fn look_at_clock() {
    let now = Date::now();
    if now < NEXT_PROGRESS.get() {
        return;
    }
    NEXT_PROGRESS.set(now + PROGRESS_INTERVAL_MS);
    RUNNING.with_borrow(|running| {
        let Some(Running { progress, budget, limit, begun }) = running else { return };
        if limit.as_secs_f64() * 1e3 < now - begun {
            budget.stop(Reason::Time(*limit));
        }
        // What the page does with it changes nothing here.
        let _ignored = progress.call2(
            &JsValue::NULL,
            &JsValue::from_f64(BYTES_READ.get() as f64),
            &JsValue::from_f64(budget.visited() as f64),
        );
    });
}

/// The verdict on a history, or why there is none.
#[wasm_bindgen]
pub struct Judged {
    outcome: Result<Outcome, Failure>,
}

#[wasm_bindgen]
impl Judged {
    /// `holds`, `violated` or `unknown`; `unreadable` if the history was not judged.
    #[wasm_bindgen(getter)]
    pub fn verdict(&self) -> String {
        let verdict = match &self.outcome {
            Ok(outcome) => outcome.verdict,
            // A limit is no fault of the input.
            Err(Failure::Stopped(_)) => UNKNOWN,
            Err(_) => "unreadable",
        };
        verdict.to_owned()
    }

    /// The first line of the report, or what is wrong with the input.
    #[wasm_bindgen(getter)]
    pub fn headline(&self) -> String {
        match &self.outcome {
            Ok(outcome) => outcome.headline.clone(),
            Err(Failure::Stopped(reason)) => format!("{UNKNOWN}: {reason}"),
            Err(failure) => failure.to_string(),
        }
    }

    /// The report as text.
    #[wasm_bindgen(getter)]
    pub fn text(&self) -> String {
        self.outcome.as_ref().map_or_else(|_| String::new(), |it| it.text.clone())
    }

    /// The report as a page.
    #[wasm_bindgen(getter)]
    pub fn page(&self) -> String {
        self.outcome.as_ref().map_or_else(|_| String::new(), |it| it.page.clone())
    }

    /// The operations of the counterexample.
    #[wasm_bindgen(getter)]
    pub fn counterexample(&self) -> Vec<String> {
        self.outcome.as_ref().map_or_else(|_| Vec::new(), |it| it.counterexample.clone())
    }

    /// The recognised format.
    #[wasm_bindgen(getter)]
    pub fn format(&self) -> String {
        self.outcome.as_ref().map_or("", |it| it.format).to_owned()
    }

    /// How many operations there are.
    #[wasm_bindgen(getter)]
    pub fn operations(&self) -> usize {
        self.outcome.as_ref().map_or(0, |it| it.operations)
    }

    /// The line of the input that is wrong, from 1; 0 if none is.
    #[wasm_bindgen(getter)]
    pub fn line(&self) -> usize {
        self.outcome.as_ref().err().and_then(Failure::line).unwrap_or(0)
    }
}

/// Judges a history. `progress` is called now and then with the number of bytes that were read and
/// of configurations that were visited.
#[wasm_bindgen]
#[allow(clippy::too_many_arguments, reason = "what JavaScript passes")]
pub fn judge(
    name: &str,
    contents: &[u8],
    spec: &str,
    script: Option<String>,
    criterion: &str,
    initial: Option<String>,
    is_keyed: bool,
    limit_ms: f64,
    progress: Function,
) -> Judged {
    // A panic is an exception with its message: without this it would be `unreachable`.
    panic::set_hook(Box::new(|it| wasm_bindgen::throw_str(&it.to_string())));
    let limit = Duration::try_from_secs_f64(limit_ms / 1e3).unwrap_or(Duration::MAX);
    let budget = Budget::unlimited().with_memory(MEMORY_MAX_BYTES).with_gauge(gauge);
    let begun = Date::now();
    let running = Running { progress, budget: budget.clone(), limit, begun };
    RUNNING.set(Some(running));
    let read = |bytes| {
        BYTES_READ.set(bytes);
        look_at_clock();
    };
    let elapsed = || Duration::try_from_secs_f64((Date::now() - begun) / 1e3).unwrap_or_default();
    let outcome = criterion.parse().map_err(|it: ParseError| Failure::Setting(it.to_string()));
    let outcome = outcome.and_then(|criterion| {
        let script = script.as_deref();
        let request = Request { name, contents, spec, script, criterion, initial, is_keyed };
        crate::judge(&request, budget, &read, elapsed)
    });
    RUNNING.set(None);
    Judged { outcome }
}

/// The specifications, a line each.
#[wasm_bindgen]
pub fn specs() -> String {
    specifications()
}
