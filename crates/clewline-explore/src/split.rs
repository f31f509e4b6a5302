//! The division of the executions of a scheduler into [parts](Part).
//!
//! A tree of choices is cut into prefixes. The one that seems to have the most executions below it
//! is replaced by its children, until there are enough. How many there are below is estimated from
//! the first one: from the alternatives along its way, and the preemptions that are left.

use clewline_core::is_interrupted;

use crate::{
    explore::{Ending, System},
    part::{BLOCK_EXECUTIONS, Choices, Division, Part, WeightedNode},
    scheduler::{Begin, FastPath, PartPath},
    schedulers::{SchedulerEntry, SchedulerSettings},
};

// With rounds and numbers a part is cheap.
const EXTRA_PARTS_FACTOR: usize = 4;

/// Divides the executions of `system` under a scheduler into at least `parts_min` parts, if there
/// are as many. Runs some of them.
///
/// The second result is `false` if one of these needs more scheduling points, or diverges: then the
/// last part has that execution, and there is nothing after it.
pub fn split<S: System + ?Sized>(
    system: &mut S,
    entry: &SchedulerEntry,
    settings: &SchedulerSettings,
    parts_min: usize,
) -> (Vec<Part>, bool) {
    match entry.division {
        Division::None => (vec![Part::Whole], true),
        Division::Numbers => (ranges(settings.executions, parts_min * EXTRA_PARTS_FACTOR), true),
        Division::Rounds => match children(system, entry, settings, &Choices::default()) {
            Some(later) => {
                let later: Vec<Choices> = later.into_iter().map(|it| it.0).collect();
                let length = later.len().div_ceil(parts_min * EXTRA_PARTS_FACTOR).max(1);
                let later = later.chunks(length).map(<[_]>::to_vec);
                (std::iter::once(Vec::new()).chain(later).map(Part::Below).collect(), true)
            }
            None => (vec![Part::Whole], false),
        },
        Division::Tree => {
            let (nodes, is_complete) = cut(system, entry, settings, parts_min);
            (nodes.into_iter().map(|it| Part::Below(vec![it.0])).collect(), is_complete)
        }
    }
}

fn cut<S: System + ?Sized>(
    system: &mut S,
    entry: &SchedulerEntry,
    settings: &SchedulerSettings,
    parts_min: usize,
) -> (Vec<WeightedNode>, bool) {
    let mut nodes = vec![(Choices::default(), f64::INFINITY)];
    while nodes.len() < parts_min {
        let heaviest = (0..nodes.len()).rev().max_by(|one, other| nodes[*one].1.total_cmp(&nodes[*other].1));
        let Some(heaviest) = heaviest.filter(|it| 0.0 < nodes[*it].1) else { break };
        match children(system, entry, settings, &nodes[heaviest].0) {
            Some(children) => drop(nodes.splice(heaviest..=heaviest, children)),
            None => {
                nodes.truncate(heaviest + 1);
                return (nodes, false);
            }
        }
    }
    (nodes, true)
}

/// The children of a node; `None` if one of their executions is in the way.
fn children<S: System + ?Sized>(
    system: &mut S,
    entry: &SchedulerEntry,
    settings: &SchedulerSettings,
    node: &Choices,
) -> Option<Vec<WeightedNode>> {
    let settings = SchedulerSettings { part: Part::Children(node.clone()), ..settings.clone() };
    let mut scheduler = (entry.make)(&settings);
    let mut begin = Begin::Anew;
    while scheduler.begin(begin) {
        match system.run(&mut *scheduler) {
            Ending::Full | Ending::Stuck | Ending::Panicked | Ending::Cut => (),
            Ending::Redundant | Ending::Restart | Ending::Diverged(_) | Ending::Refused(_) => return None,
        }
        if is_interrupted() {
            return None;
        }
        begin = Begin::Next;
    }
    let parts = scheduler.fast_path().and_then(FastPath::parts);
    Some(parts.map_or_else(Vec::new, PartPath::take_children))
}

/// Ranges of whole blocks.
fn ranges(executions: u64, parts_max: usize) -> Vec<Part> {
    let blocks = executions.div_ceil(BLOCK_EXECUTIONS).max(1);
    let length = blocks.div_ceil(parts_max.max(1) as u64).saturating_mul(BLOCK_EXECUTIONS);
    let parts = executions.div_ceil(length).max(1);
    (0..parts).map(|it| Part::Numbers(it * length..((it + 1) * length).min(executions))).collect()
}
