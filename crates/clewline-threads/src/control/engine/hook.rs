//! The panic hook: panics of tasks are recorded and not printed.

use std::{
    panic::{self, PanicHookInfo},
    sync::Once,
};

use super::{
    handle::{here, is_controlled, is_ending},
    state::Control,
};
use crate::control::{construction::is_constructing, panics};

/// Records panics of tasks from now on. Other panics go to the previous hook.
pub(super) fn install_panic_hook() {
    static KEEP: Once = Once::new();
    KEEP.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if is_controlled() || is_ending() || is_constructing() {
                let control = here();
                panics::note(info.location().map(ToString::to_string), control.map(Control::steps));
                if let Some(control) = control {
                    control.panics();
                }
            } else {
                before(info);
            }
        }));
    });
}
