//! Random priorities of messages, drawn again for those that race: samples partial orders more evenly than random steps do.
//!
//! Each message gets a random priority when it is first seen, and the enabled one with the highest is next. All that depend on it draw
//! again: so of two that race each comes first equally often, however long they have waited. Whether a message will make an
//! operation return is known only when it has been received, so it does not draw again for that.
//!
//! Source: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", 2018.

use std::ops::ControlFlow;

use clewline_core::Random;
use clewline_explore::choosers;
use rustc_hash::FxHashMap;

use super::{
    entry::{Entry, Soundness},
    sampling::Drawing,
};
use crate::{
    dependence::{Dependence, Footprint, HistoryAware},
    execution::{Execution, Happened, Identity, Receive},
    histories::HistoryEvent,
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "pos",
    about: "partial-order sampling: random message priorities, reassigned to racing messages",
    is_exhaustive: false,
    is_random: true,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(Drawing { draw, settings: settings.clone() }),
};

fn draw(
    walk: &mut Execution,
    random: &mut Random,
    _: &Settings,
    _longest: usize,
    tally: &mut Statistics<'_>,
) -> Flow {
    let mut chooser: choosers::Pos<FxHashMap<Identity, u64>> = choosers::Pos::default();
    while !tally.is_end(walk)? {
        let chosen = chooser.pick(random, walk.enabled().iter().map(Receive::identity));
        walk.take(chosen);
        let made = Footprint::of_last(walk);
        let rules = walk.engine().rules();
        for it in walk.enabled() {
            if HistoryAware.is_dependent(&made, &foresee(it, walk), &rules) {
                chooser.draw_again(it.identity());
            }
        }
    }
    ControlFlow::Continue(())
}

/// The footprint of a step, as far as it is known before it is made.
fn foresee(receive: &Receive, walk: &Execution) -> Footprint {
    let history = receive.calls.map(HistoryEvent::Call).into_iter().collect();
    let step = Happened { receive: *receive, history, sends: Vec::new(), notified: Vec::new() };
    Footprint::of(&step, walk.engine())
}
