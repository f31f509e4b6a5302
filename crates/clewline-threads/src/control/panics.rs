//! Panics of tasks: kept as results, and not printed.

use std::{any::Any, cell::RefCell};

use super::explorer::explorer_local;

/// What a task said when it panicked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panic {
    /// Its message.
    pub message: String,
    /// File, line and column.
    pub place: Option<String>,
    /// How many steps had been made when it began, if that is known.
    pub step: Option<u32>,
}

explorer_local! {
    // Where the last panic of a task was, and after how many steps.
    static LAST: RefCell<(Option<String>, Option<u32>)> = const { RefCell::new((None, None)) };
}

/// Keeps where a task panicked, and after how many steps.
pub(super) fn note(place: Option<String>, step: Option<u32>) {
    LAST.set((place, step));
}

/// The panic whose payload was caught.
pub(super) fn caught(payload: &(dyn Any + Send)) -> Panic {
    let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let message = message.unwrap_or_else(|| "something that is no text".to_owned());
    let (place, step) = LAST.take();
    Panic { message, place, step }
}
