//! Registers: is each value current in one piece?
//!
//! A value is current from the operation that writes it until another is written. A successful
//! `cas`, or a swap, says which value it replaced, so values that replace each other form a
//! *chain*: a write, the reads of its value, a replacement, the reads of that value, and so on,
//! with no other write in between. A chain has a *zone*: from the first gap in which one of its
//! operations ends to the last gap in which one begins. If it ends before that begins, the chain is
//! certainly current throughout (the zone is *forward*); if not, all of its operations share the
//! gaps between (*backward*). A history holds if and only if
//!
//! * in each chain no operation ends before one begins that comes earlier in the chain,
//! * no two forward zones overlap, and no backward zone lies strictly inside a forward one,
//! * no zone ends before the last operation of the initial value's chain begins.
//!
//! The rules are necessary: a linearization puts each chain in one piece, which must have begun by
//! the end of its first-ending operation and continue until its last-called one, so that nothing
//! else has room strictly inside a forward zone. They are sufficient: with e and i the ends of a
//! forward zone, let each operation take effect in the gap max(e, the latest begin up to it in its
//! chain), which is at least its own begin, at most i, and by the first rule not after its end. And
//! let each backward chain take effect in a gap of its zone that is not strictly inside a forward
//! one, after the chain that has to end there and before the one that has to begin.
//!
//! Values that are written again are distinguished where the first is certainly gone; see `lives`.
//! Pending writes and replacements that were not observed are dropped, the others have taken
//! effect. An operation that says only which value was *not* current (a failed `cas`) is left to a
//! search: we know no near-linear algorithm.
//!
//! Source: P. B. Gibbons and E. Korach, "Testing shared memories", 1997, for reads and writes;
//! chains take the place of values. Cost: O(n).

mod broken;
mod lives;
mod values;

use std::borrow::Cow;

use clewline_core::{Budget, ObjectKind, RoleKind};

use self::values::{BrokenRule, Chain, INITIAL, Value, Values};
use crate::{
    columns::{Columns, Interval, NONE},
    contract::Monitor,
    verdict::{MonitorVerdict, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct RegisterMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &RegisterMonitor;

impl Monitor for RegisterMonitor {
    fn name(&self) -> &'static str {
        "register monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        matches!(kind, ObjectKind::Register { .. })
    }

    fn judge(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let fits = |kind: &RoleKind| {
            matches!(kind, RoleKind::Add | RoleKind::Observe | RoleKind::Replace | RoleKind::NoEffect)
        };
        if let Some(at) = columns.kinds.iter().position(|it| !fits(it)) {
            return Err(Unsupported::Unfit(at as u32));
        }
        let mut columns = Cow::Borrowed(columns);
        if lives::has_unobserved(&columns) {
            lives::drop_unobserved(columns.to_mut());
        }
        let values = match Values::new(&columns) {
            Ok(values) => values,
            // A value that is written again may be distinguishable from the first.
            Err(_) => {
                lives::renumber_rewritten_values(columns.to_mut())?;
                // A life that a pending write begins may be unobserved.
                lives::drop_unobserved(columns.to_mut());
                Values::new(&columns)?
            }
        };
        let broken = |it: BrokenRule| Ok(MonitorVerdict::Violated(it.violation(&columns, &values)));
        if let Some(it) = values.broken.or_else(|| values.unwritten()) {
            return broken(it);
        }
        let chains = match Chains::new(&columns, &values) {
            Ok(chains) => chains,
            Err(it) => return broken(it),
        };
        let zones = match Zones::new(&columns, &chains) {
            Ok(zones) => zones,
            Err(it) => return broken(it),
        };
        Ok(MonitorVerdict::Holds(match want {
            Want::Witness => Some(witness(&columns, &values, &chains, &zones)),
            Want::Verdict => None,
        }))
    }
}

impl Values {
    /// Reads all operations; fails on values that are written twice.
    fn new(columns: &Columns) -> Result<Values, Unsupported> {
        let unknown = Value { write: NONE, next: NONE, found_by: NONE, found_from: 0 };
        let mut values = Values { all: vec![unknown; columns.names.len()], written: 0, broken: None };
        for (at, &kind) in (0_u32..).zip(&columns.kinds) {
            let element = columns.elements[at as usize];
            match kind {
                RoleKind::Add => values.write(at, element)?,
                RoleKind::Observe => {
                    let Interval { left, right } = columns.intervals[at as usize];
                    let value = &mut values.all[element as usize];
                    value.found_by = value.found_by.min(right);
                    value.found_from = value.found_from.max(left);
                }
                RoleKind::Replace => {
                    let second = columns.seconds[at as usize];
                    values.write(at, second)?;
                    let next = &mut values.all[element as usize].next;
                    if *next == NONE {
                        *next = second;
                    } else if values.broken.is_none() {
                        values.broken = Some(BrokenRule::ReplacedTwice(*next, second));
                    }
                }
                RoleKind::Remove | RoleKind::Absent | RoleKind::Empty | RoleKind::RemoveUnknown => {
                    return Err(Unsupported::Unfit(at));
                }
                RoleKind::NoEffect => (),
            }
        }
        Ok(values)
    }

    fn write(&mut self, at: u32, value: u32) -> Result<(), Unsupported> {
        let write = &mut self.all[value as usize].write;
        if *write != NONE {
            return Err(Unsupported::AddedTwice(*write, at));
        }
        if value == INITIAL {
            return Err(Unsupported::Other("the initial value is written again"));
        }
        *write = at;
        self.written += 1;
        Ok(())
    }

    /// A value that was found and never written.
    fn unwritten(&self) -> Option<BrokenRule> {
        let is_it = |it: &Value| it.write == NONE && (it.found_by != NONE || it.next != NONE);
        let value = self.all.iter().skip(1).position(is_it)?;
        Some(BrokenRule::Unwritten(value as u32 + 1))
    }
}

/// All chains.
struct Chains {
    initial: Chain,
    others: Vec<Chain>,
}

impl Chains {
    /// Follows all chains, and checks that each could be alone.
    fn new(columns: &Columns, values: &Values) -> Result<Chains, BrokenRule> {
        let mut followed = 0;
        let initial = follow(columns, values, INITIAL, &mut followed)?;
        let mut others: Vec<Chain> = Vec::with_capacity(values.written);
        for (head, value) in (0_u32..).zip(&values.all) {
            if value.write != NONE && columns.kinds[value.write as usize] == RoleKind::Add {
                others.push(follow(columns, values, head, &mut followed)?);
            }
        }
        // Values that no chain leads to are written by replacements that form a cycle.
        if followed < values.written { Err(BrokenRule::Cycle) } else { Ok(Chains { initial, others }) }
    }
}

/// Follows the chain from `head` on, counting the writes in it.
fn follow(columns: &Columns, values: &Values, head: u32, followed: &mut usize) -> Result<Chain, BrokenRule> {
    let mut chain = Chain { head, first_end: NONE, last_begin: 0 };
    let mut number = head;
    while number != NONE {
        let value = &values.all[number as usize];
        if value.write != NONE {
            *followed += 1;
            let Interval { left, right } = columns.intervals[value.write as usize];
            // Everything in the chain so far has to come earlier.
            if right < chain.last_begin {
                return Err(BrokenRule::Write(number));
            }
            chain.last_begin = chain.last_begin.max(left);
            chain.first_end = chain.first_end.min(right);
        }
        if value.found_by != NONE {
            if value.found_by < chain.last_begin {
                return Err(BrokenRule::Read(number));
            }
            chain.last_begin = chain.last_begin.max(value.found_from);
            chain.first_end = chain.first_end.min(value.found_by);
        }
        number = value.next;
    }
    Ok(chain)
}

/// Where forward zones lie. Chains are named by their places in [`Chains::others`].
struct Zones {
    // By gap: the chain whose forward zone begins there.
    begins: Vec<u32>,
    // By gap: the chain in whose forward zone it lies strictly.
    inside: Vec<u32>,
}

impl Zones {
    /// The zones, if they leave room for each other.
    fn new(columns: &Columns, chains: &Chains) -> Result<Zones, BrokenRule> {
        let mut begins = vec![NONE; columns.gaps()];
        for (number, chain) in (0_u32..).zip(&chains.others) {
            if chain.first_end < chains.initial.last_begin {
                return Err(BrokenRule::NotInitial(*chain));
            }
            if chain.is_forward() {
                let other = std::mem::replace(&mut begins[chain.first_end as usize], number);
                if other != NONE {
                    return Err(BrokenRule::Overlap(chains.others[other as usize], *chain));
                }
            }
        }
        let mut inside = vec![NONE; columns.gaps()];
        let mut open: Option<(u32, Chain)> = None;
        for (gap, &begin) in (0_u32..).zip(&begins) {
            open = open.filter(|(_, it)| gap < it.last_begin);
            if let Some((number, chain)) = open {
                inside[gap as usize] = number;
                if begin != NONE {
                    return Err(BrokenRule::Overlap(chain, chains.others[begin as usize]));
                }
            } else if begin != NONE {
                open = Some((begin, chains.others[begin as usize]));
            }
        }
        let zones = Zones { begins, inside };
        match chains.others.iter().find(|it| !it.is_forward() && zones.first_free_gap(chains, it).is_none()) {
            Some(it) => {
                let around = zones.inside[it.last_begin as usize];
                Err(BrokenRule::Overlap(chains.others[around as usize], *it))
            }
            None => Ok(zones),
        }
    }

    /// The first gap of a backward zone that is not strictly inside a forward one. There is always
    /// one between two forward zones.
    fn first_free_gap(&self, chains: &Chains, chain: &Chain) -> Option<u32> {
        match self.inside[chain.last_begin as usize] {
            NONE => Some(chain.last_begin),
            around => {
                let end = chains.others[around as usize].last_begin;
                (end <= chain.first_end).then_some(end)
            }
        }
    }
}

/// An order: the initial value first; in each gap the backward chains and then the forward one that
/// begins there.
fn witness(columns: &Columns, values: &Values, chains: &Chains, zones: &Zones) -> Vec<u32> {
    // Lists of backward chains by gap.
    let mut first = vec![NONE; columns.gaps()];
    let mut next = vec![NONE; chains.others.len()];
    for (number, chain) in (0_u32..).zip(&chains.others) {
        if !chain.is_forward() {
            let gap = zones.first_free_gap(chains, chain).expect("looked for before") as usize;
            next[number as usize] = std::mem::replace(&mut first[gap], number);
        }
    }
    let mut order =
        OrderBuilder { values, reads: Reads::new(columns), order: Vec::with_capacity(columns.len()) };
    order.chain(&chains.initial);
    for (&backward, &forward) in first.iter().zip(&zones.begins) {
        let mut number = backward;
        while number != NONE {
            order.chain(&chains.others[number as usize]);
            number = next[number as usize];
        }
        if forward != NONE {
            order.chain(&chains.others[forward as usize]);
        }
    }
    order.order
}

struct OrderBuilder<'v> {
    values: &'v Values,
    reads: Reads,
    order: Vec<u32>,
}

impl OrderBuilder<'_> {
    /// Appends a chain. The reads of a value come in the order of their calls.
    fn chain(&mut self, chain: &Chain) {
        let mut number = chain.head;
        while number != NONE {
            let value = &self.values.all[number as usize];
            self.order.extend(Some(value.write).filter(|&it| it != NONE));
            self.order.extend_from_slice(self.reads.of(number));
            number = value.next;
        }
    }
}

/// The reads of each value, in the order of their calls.
struct Reads {
    // Where those of each value begin.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl Reads {
    fn new(columns: &Columns) -> Reads {
        let reads = || {
            let all = (0_u32..).zip(columns.kinds.iter().zip(&columns.elements));
            all.filter(|(_, (kind, _))| **kind == RoleKind::Observe)
                .map(|(at, (_, &element))| (at, element as usize))
        };
        // Shifted by one, so that placing the reads moves each value's start to its place.
        let mut starts = vec![0_u32; columns.names.len() + 2];
        reads().for_each(|(_, value)| starts[value + 2] += 1);
        for value in 2..starts.len() {
            starts[value] += starts[value - 1];
        }
        let mut positions = vec![0_u32; starts[starts.len() - 1] as usize];
        for (at, value) in reads() {
            let place = &mut starts[value + 1];
            positions[*place as usize] = at;
            *place += 1;
        }
        Reads { starts, positions }
    }

    fn of(&self, value: u32) -> &[u32] {
        &self.positions[self.starts[value as usize] as usize..self.starts[value as usize + 1] as usize]
    }
}
