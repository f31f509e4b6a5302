//! The order of all operations that moves stand for.

use clewline_core::{Budget, Reason};
use clewline_monitor::{Columns, NONE};

use super::{
    side::gaps_of,
    state::{Move, Search},
};
use crate::links::Links;

/// The order that the moves stand for, with all complete pushes.
///
/// # Errors
///
/// The limit that was hit.
pub(super) fn order(columns: &Columns, budget: &Budget, trail: &[Move]) -> Result<Vec<u32>, Reason> {
    let mut search = Search::new(columns, budget)?;
    // The operations of each gap, in a list; its sentinel comes before all of them and after.
    let mut line = Links::new(columns.len(), columns.gaps());
    let start_of = |gap: u32| columns.len() as u32 + gap;
    // Before which operation pushes can be made in a gap.
    let mut limits = [(); 2].map(|()| (0..columns.gaps() as u32).map(start_of).collect::<Vec<u32>>());
    // After which operation.
    let mut starts = limits.clone();
    for &it in trail {
        let end = search.ends[it.pop as usize] as usize;
        search.place(it);
        if it.push == NONE {
            starts.iter_mut().for_each(|starts| starts[it.found as usize] = it.pop);
        } else if it.is_far {
            line.insert_after(it.push, starts[1 - end][it.pushed as usize]);
            starts[1 - end][it.pushed as usize] = it.push;
            starts[end][it.found as usize] = it.pop;
        } else {
            line.insert_before(it.push, limits[end][it.pushed as usize]);
            if it.pushed < it.found {
                limits[end][it.pushed as usize] = it.push;
                starts[end][it.found as usize] = it.pop;
            }
        }
        line.insert_before(it.pop, start_of(it.found));
    }
    for push in (0..columns.len() as u32).filter(|&it| search.is_left[it as usize]) {
        let end = search.ends[push as usize] as usize;
        let dead = &search.sides[end].is_dead;
        let gap = gaps_of(columns, push).rev().find(|&it| !dead[it]).expect("a push that is left has a gap");
        line.insert_before(push, limits[end][gap]);
    }
    let mut order = Vec::with_capacity(columns.len());
    for gap in 0..columns.gaps() as u32 {
        let mut next = line.first(gap);
        while let Some(at) = next {
            order.push(at);
            next = line.after(at);
        }
    }
    Ok(order)
}
