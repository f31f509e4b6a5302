//! The two sequences of a schedule, merged into one order of all operations.

use crate::{
    columns::{Interval, NONE},
    quasi_queue::elements::Elements,
};

/// The sequence of adds and that of removals, which belong to one order.
pub(in super::super) struct Schedule {
    pub(super) added: Vec<u32>,
    pub(super) removed: Vec<u32>,
    // The *empty* results, and the place of both sequences before which each is. Places ascend.
    pub(super) cuts: Vec<(u32, u32)>,
}

impl Schedule {
    /// One order of all operations to which both sequences belong.
    pub(in super::super) fn merge(self, elements: &Elements) -> Vec<u32> {
        let Schedule { added, removed, mut cuts } = self;
        // *Empty* results at one cut are ordered by their returns.
        cuts.sort_by_key(|&(empty, place)| (place, elements.empties[empty as usize].right));
        let mut cuts = cuts.into_iter().peekable();
        // By place: the first end of the operations from there on.
        let ends = |row: &[u32], spans: &[Interval]| -> Vec<u32> {
            let mut ends = vec![NONE; row.len() + 1];
            (0..row.len()).rev().for_each(|at| ends[at] = ends[at + 1].min(spans[row[at] as usize].right));
            ends
        };
        let add_ends = ends(&added, &elements.adds);
        let remove_ends = ends(&removed, &elements.removes);
        let mut is_added = vec![false; elements.len()];
        let mut order = Vec::with_capacity(added.len() + removed.len());
        let (mut adds, mut removes) = (0, 0);
        loop {
            let cut = cuts.peek().map_or(usize::MAX, |it| it.1 as usize);
            if adds == cut && removes == cut {
                order.extend(cuts.next().map(|it| elements.empty_by[it.0 as usize]));
                continue;
            }
            let next_add = added.get(adds).map(|&it| it as usize).filter(|_| adds < cut);
            let next_remove = removed.get(removes).map(|&it| it as usize).filter(|_| removes < cut);
            if let Some(it) = next_remove
                && is_added[it]
                && elements.removes[it].left <= add_ends[adds]
            {
                order.push(elements.removed_by[it]);
                removes += 1;
            } else if let Some(it) = next_add
                && elements.adds[it].left <= remove_ends[removes]
            {
                order.push(elements.added_by[it]);
                is_added[it] = true;
                adds += 1;
            } else {
                debug_assert!(next_add.is_none() && next_remove.is_none(), "the rows belong to one order");
                return order;
            }
        }
    }
}
