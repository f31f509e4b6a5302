//! Stacks: can the elements lie on each other as they were found?
//!
//! What finds nothing needs a moment in which nothing is certainly inside. For the rest, elements are peeled off from the
//! bottom ([`peeling`]); if that works, the order in which it did is woven into a witness ([`weave`]). If it
//! does not, what is left over cannot be ordered, and a few elements of it are singled out ([`shrink`]).
//!
//! Source: H. Lee and U. Mathur, "Efficient decrease-and-conquer linearizability monitoring", 2024, with other data structures:
//! trees of sixteen children a node. The witness and the evidence are ours.
//! Requires: each value is pushed once, or again only when it is certainly gone.
//! Cost: O(n log n).

mod bitmap;
mod cover;
mod lanes;
mod peeling;
mod reach;
mod shrink;
mod weave;

use clewline_core::Kind;

use super::{Breach, Columns, FreeGaps, Lifetimes, Monitor, NONE, Refusal, Ruling, Want};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Stack;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &Stack;

impl Monitor for Stack {
    fn name(&self) -> &'static str {
        "stack monitor"
    }

    fn suits(&self, kind: Kind) -> bool {
        kind == Kind::Stack
    }

    fn judge(&self, columns: &Columns, want: Want) -> Result<Ruling, Refusal> {
        let lifetimes = match Lifetimes::new(columns)? {
            Ok(lifetimes) => lifetimes,
            Err(breach) => return Ok(Ruling::Violated(breach)),
        };
        let mut slots = (want == Want::Witness).then(|| vec![NONE; columns.len()]);
        if let Some(breach) = place_empties(columns, &lifetimes, slots.as_deref_mut()) {
            return Ok(Ruling::Violated(breach));
        }
        Ok(match peeling::peel(columns, &lifetimes, slots) {
            Ok(peeling::Peeled { order, slots }) => {
                Ruling::Holds(slots.map(|slots| weave::weave(columns, &lifetimes, order, slots)))
            }
            Err(left) => Ruling::Violated(shrink::breach(columns, &lifetimes, &left)),
        })
    }
}

/// Finds a gap for each operation that finds nothing; answers why, if one has none.
fn place_empties(columns: &Columns, lifetimes: &Lifetimes, slots: Option<&mut [u32]>) -> Option<Breach> {
    if lifetimes.empties.is_empty() {
        return None;
    }
    let free = FreeGaps::new(columns, lifetimes);
    let breach = free.breach(columns, lifetimes);
    if let (Some(slots), None) = (slots, &breach) {
        for &at in &lifetimes.empties {
            let gap = free.within(columns.intervals[at as usize]);
            slots[at as usize] = gap.expect("no operation is without a gap, or there is a breach");
        }
    }
    breach
}
