//! A stack of unordered segments.
//!
//! Source: T. A. Henzinger, C. M. Kirsch, H. Payer, A. Sezgin and A. Sokolova, "Quantitative
//! relaxation of concurrent data structures", 2013. A push puts its value into a free slot of the
//! top segment, and adds a segment if there is none. A pop takes any value of the top segment; if
//! there is none it removes the segment, or finds the stack empty if that is the only one. At most
//! as many values are above another one in its segment as there are other slots: with k + 1 of them
//! the stack is out of order by k. Here k is 2; **k0** is a plain stack.
//!
//! A push may be late: its value is in a segment that is being removed. A pop that removes a
//! segment first sets a flag, and then checks that it is still empty. So a push that finds the flag
//! clear is *committed*: a later remover sees its value. Else, if the segment is still on top, it
//! changes a count beside the top, so that the remover fails; or it takes its value back, and
//! retries.
//!
//! **scal** is the version of the suite Scal, after L. Zhang, A. Chattopadhyay and C. Wang,
//! "Round-Up", 2013, section VI-D. A push reads the flag twice: it is committed if the first read
//! finds it clear, and secures its value if the second finds it set. If the remover finds the
//! segment not empty in between, and gives up, neither is the case: the push retries and leaves its
//! value in the slot, so it is in the stack twice. The plain variant reads once.
//!
//! Departures: the first free slot is taken, not any, since a segment is unordered anyway. And a
//! pop finds the stack empty only if it sees all slots free twice, and unchanged.

use std::sync::Arc;

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::{relaxed::Relaxed, stack::Stack};
use clewline_threads::{
    Noise,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst},
};

use crate::{
    container::{AsStack, Container, STACK_RECIPE, any_of, relaxed_stack},
    entry::{Recipe, SubjectEntry, Variant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "k-stack",
    about: "a stack of segments, inside of which order is not kept",
    source: "T. A. Henzinger, C. M. Kirsch, H. Payer, A. Sezgin, A. Sokolova, Quantitative relaxation of concurrent data structures, 2013",
    spec: "stack",
    lacks: &["peek"],
    invocations: &["push(1)", "push(2)", "pop"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: Some(("pop", FACTOR)),
            recipe: STACK_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(SPEC, || AsStack(KStack::<SLOTS>::new(RemovalChecks::Once))))
            },
        },
        Variant {
            name: "k0",
            flaw: None,
            quasi: None,
            recipe: STACK_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Stack::default(), || {
                    AsStack(KStack::<1>::new(RemovalChecks::Once))
                }))
            },
        },
        Variant {
            name: "scal",
            flaw: Some(
                "push looks twice whether its segment is being removed, and pushes its value twice if that changes",
            ),
            quasi: Some(("pop", FACTOR)),
            // Two threads have to lose time in turns.
            recipe: Recipe { noise: Noise { between: 0.0, inside: 0.02 }, ..STACK_RECIPE },
            build: || {
                Box::new(SubjectFactory::new(SPEC, || AsStack(KStack::<SLOTS>::new(RemovalChecks::Twice))))
            },
        },
    ],
};

const FACTOR: u32 = 2;
const SPEC: Relaxed<Stack> = relaxed_stack(FACTOR);
const SLOTS: usize = FACTOR as usize + 1;

/// How often a push checks whether its segment is being removed.
#[derive(Clone, Copy)]
enum RemovalChecks {
    Once,
    Twice,
}

/// The stack, with `N` slots in a segment.
struct KStack<const N: usize> {
    values: Nodes<Value>,
    segments: Nodes<Segment<N>>,
    // A `Top`.
    top: AtomicU64,
    removal_checks: RemovalChecks,
}

struct Segment<const N: usize> {
    // Each a `Content`.
    slots: [AtomicU64; N],
    // How many are removing it. It stays above 0 once it is removed.
    removers: AtomicU32,
    below: u32,
}

/// The segment on top, and how often the top has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Top {
    segment: u32,
    changes: u32,
}

impl Top {
    fn of(word: u64) -> Top {
        Top { segment: (word >> 32) as u32, changes: word as u32 }
    }

    fn word(self) -> u64 {
        u64::from(self.segment) << 32 | u64::from(self.changes)
    }
}

/// The content of a slot: a value's index or none, and the number of changes of the slot.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SlotContent {
    value: u32,
    changes: u32,
}

impl SlotContent {
    fn of(word: u64) -> SlotContent {
        SlotContent { value: (word >> 32) as u32, changes: word as u32 }
    }

    fn word(self) -> u64 {
        u64::from(self.value) << 32 | u64::from(self.changes)
    }

    fn changed(self, value: u32) -> SlotContent {
        SlotContent { value, changes: self.changes.wrapping_add(1) }
    }
}

impl<const N: usize> KStack<N> {
    fn new(look: RemovalChecks) -> Self {
        let segments = Nodes::new();
        let bottom = segments.add(Segment::on(NONE));
        let top = Top { segment: bottom, changes: 0 };
        KStack { values: Nodes::new(), segments, top: AtomicU64::new(top.word()), removal_checks: look }
    }

    fn top(&self) -> Top {
        Top::of(self.top.load(SeqCst))
    }

    /// Puts a segment on top, if the top is still `from`; returns whether it was.
    fn replace_top(&self, from: Top, segment: u32) -> bool {
        let to = Top { segment, changes: from.changes.wrapping_add(1) };
        self.top.compare_exchange(from.word(), to.word(), SeqCst, SeqCst).is_ok()
    }

    fn add_segment(&self, top: Top) {
        if self.top() == top {
            let added = self.segments.add(Segment::on(top.segment));
            let _is_added = self.replace_top(top, added);
        }
    }

    fn remove_segment(&self, top: Top, segment: &Segment<N>) {
        if self.top() != top {
            return;
        }
        segment.removers.fetch_add(1, SeqCst);
        if segment.full_slots().is_empty() && self.replace_top(top, segment.below) {
            return;
        }
        segment.removers.fetch_sub(1, SeqCst);
    }

    /// Whether a value that was put into a slot will be found, or was. If not, it has been taken
    /// back, or should have been.
    fn is_committed(&self, top: Top, segment: &Segment<N>, slot: &AtomicU64, content: SlotContent) -> bool {
        if slot.load(SeqCst) != content.word() {
            return true;
        }
        if segment.removers.load(SeqCst) == 0 {
            return true;
        }
        let is_going = match self.removal_checks {
            RemovalChecks::Once => true,
            RemovalChecks::Twice => segment.removers.load(SeqCst) != 0,
        };
        if is_going {
            let is_held = self.top() == top && self.replace_top(top, top.segment);
            return is_held || change(slot, content, NONE).is_none();
        }
        // The flaw: another thread was removing it, and no longer is.
        false
    }
}

impl<const N: usize> Segment<N> {
    fn on(below: u32) -> Self {
        let slots = std::array::from_fn(|_| AtomicU64::default());
        Segment { slots, removers: AtomicU32::new(0), below }
    }

    fn contents(&self) -> [SlotContent; N] {
        self.slots.each_ref().map(|it| SlotContent::of(it.load(SeqCst)))
    }

    fn free_slot(&self) -> Option<(&AtomicU64, SlotContent)> {
        let slots = self.slots.iter().map(|it| (it, SlotContent::of(it.load(SeqCst))));
        slots.into_iter().find(|it| it.1.value == NONE)
    }

    fn full_slots(&self) -> Vec<(&AtomicU64, SlotContent)> {
        self.slots.iter().zip(self.contents()).filter(|it| it.1.value != NONE).collect()
    }

    /// Whether there was a moment at which no slot held a value.
    fn was_empty(&self) -> bool {
        let contents = self.contents();
        contents.iter().all(|it| it.value == NONE) && contents == self.contents()
    }
}

/// Replaces the content of a slot, if it is unchanged. Returns the new content.
fn change(slot: &AtomicU64, content: SlotContent, value: u32) -> Option<SlotContent> {
    let changed = content.changed(value);
    slot.compare_exchange(content.word(), changed.word(), SeqCst, SeqCst).is_ok().then_some(changed)
}

impl<const N: usize> Container for KStack<N> {
    fn add(&self, value: Value) -> bool {
        let value = self.values.add(value);
        loop {
            let top = self.top();
            let segment: Arc<Segment<N>> = self.segments.get(top.segment);
            let free = segment.free_slot();
            // The slot was free while the segment was on top.
            if self.top() != top {
                continue;
            }
            let Some((slot, content)) = free else {
                self.add_segment(top);
                continue;
            };
            if let Some(content) = change(slot, content, value)
                && self.is_committed(top, &segment, slot, content)
            {
                return true;
            }
        }
    }

    fn remove(&self) -> Option<Value> {
        loop {
            let top = self.top();
            let segment = self.segments.get(top.segment);
            let found = segment.full_slots();
            if self.top() != top {
                continue;
            }
            match any_of(&found) {
                Some((slot, content)) => {
                    if change(slot, content, NONE).is_some() {
                        return Some(*self.values.get(content.value));
                    }
                }
                None if segment.below != NONE => self.remove_segment(top, &segment),
                None => {
                    if segment.was_empty() && self.top() == top {
                        return None;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use clewline_explore::{Coverage, explore, schedulers::exhaustive::Exhaustive};
    use clewline_threads::control::{Calls, Limits, ThreadProgram};

    use super::*;

    #[test]
    fn a_segment_is_not_found_empty_while_values_move_between_slots() {
        let make = || {
            let segment = Segment::<2>::on(NONE);
            change(&segment.slots[1], SlotContent::of(0), 7).expect("a free slot");
            segment
        };
        // One thread puts a value into the first slot and then empties the second: there is always
        // one inside.
        let call = |segment: &Segment<2>, looks: &bool| {
            if *looks {
                return segment.was_empty();
            }
            let (free, full) = (segment.free_slot(), segment.full_slots());
            let (slot, content) = free.expect("the first one");
            change(slot, content, 8).expect("no other thread puts");
            change(full[0].0, full[0].1, NONE).expect("no other thread takes");
            false
        };
        let calls = Calls { initial: Vec::new(), columns: vec![vec![true], vec![false]], last: Vec::new() };
        let mut program = ThreadProgram::new(calls, make, call, Limits::default());
        let (coverage, executions) =
            explore(&mut program, &mut Exhaustive::default(), u64::MAX, |program, _, _| {
                let operations = program.outcome().operations;
                assert!(operations.iter().all(|it| it.ret.as_ref().is_some_and(|it| !it.1)));
                ControlFlow::Continue(())
            });
        assert_eq!(coverage, Coverage::Exhausted);
        assert!(10 < executions, "{executions}");
    }
}
