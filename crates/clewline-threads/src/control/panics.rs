//! Panics of tasks: kept as results, and not printed.

use std::{
    any::Any,
    cell::RefCell,
    panic::{self, PanicHookInfo},
    sync::Once,
};

use super::{Control, explorer::explorer_local};

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

/// Has panics of tasks kept, from now on. Those of others go where they went before.
pub(super) fn keep() {
    static KEEP: Once = Once::new();
    KEEP.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if super::is_controlled() || super::is_ending() || super::is_making() {
                let control = super::here();
                LAST.set((info.location().map(ToString::to_string), control.map(Control::steps)));
                if let Some(control) = control {
                    control.panics();
                }
            } else {
                before(info);
            }
        }));
    });
}

/// The panic whose payload was caught.
pub(super) fn caught(payload: &(dyn Any + Send)) -> Panic {
    let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let message = message.unwrap_or_else(|| "something that is no text".to_owned());
    let (place, step) = LAST.take();
    Panic { message, place, step }
}
