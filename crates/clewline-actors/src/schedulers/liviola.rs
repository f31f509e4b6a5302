//! Reduction by keys: messages about different parts of the state do not depend on each other.
//!
//! As `ired`, except that two messages with different keys may change places even at one actor. That is right only
//! where the handlers of such messages commute, which is what a harness promises with a [key](crate::Harness::key). A
//! message without a key depends on all others at its actor; the published algorithm lets it depend on none, and so never
//! sees what its order matters to. The return of one operation and the call of another stay dependent whatever their keys are:
//! that the object, too, falls into parts is promised by nobody here.
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking for actor-based
//! systems", 2021, section 3.

use super::{
    entry::{Entry, Soundness},
    ired,
    source_sets::{Reducing, Reduction},
};
use crate::dependence::Keyed;

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "liviola",
    about: "ired in which messages about different keys are independent",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::IfKeysHold,
    bounds: &[],
    make: |settings| Box::new(Reducing { reduction: REDUCTION, settings: settings.clone() }),
};

/// How it goes about it.
pub const REDUCTION: Reduction<'static> = Reduction { dependence: &Keyed, choose: ired::root };
