//! Paths in a recorded state graph: their number, their length, and whether one avoids a property.

use rustc_hash::FxHashMap;

/// The part of the graph recorded by one thread. States are identified by the lower halves of their
/// fingerprints.
#[derive(Debug, Default)]
pub(crate) struct GraphRecord {
    pub(crate) roots: Vec<u64>,
    /// Each expanded state, with its number of outgoing edges.
    pub(crate) states: Vec<(u64, u32)>,
    /// The targets of the edges, state by state, with the number of equal messages that lead there.
    pub(crate) edges: Vec<(u64, u32)>,
    /// Each state reached, with a bit for each property that holds in it. Empty if it is not
    /// needed.
    pub(crate) held: Vec<(u64, u64)>,
}

impl GraphRecord {
    pub(crate) fn add(&mut self, other: GraphRecord) {
        if self.states.is_empty() && self.roots.is_empty() {
            *self = other;
            return;
        }
        self.roots.extend(other.roots);
        self.states.extend(other.states);
        self.edges.extend(other.edges);
        self.held.extend(other.held);
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.states.capacity() + self.edges.capacity() + self.held.capacity()) * size_of::<(u64, u64)>()
    }

    // Whether two states have the same identifier.
    fn is_ambiguous(&self) -> bool {
        let mut met: Vec<u64> = self.held.iter().map(|it| it.0).collect();
        met.sort_unstable();
        met.windows(2).any(|it| it[0] == it[1])
    }
}

/// A state graph.
///
/// States are numbered as they were recorded. No result depends on this order.
#[derive(Debug)]
pub(crate) struct StateGraph {
    fingerprints: Vec<u64>,
    roots: Vec<u32>,
    // Empty if it is not needed.
    held: Vec<u64>,
    is_end: Vec<bool>,
    // The edges from state `it` are `starts[it]..starts[it + 1]`.
    starts: Vec<usize>,
    edges: Vec<(u32, u32)>,
}

// The state of path counting at one state of the graph.
#[derive(Clone, Copy, Debug, Default)]
struct PathCount {
    // The number of paths to it.
    ways: u128,
    // The number of incoming edges not yet processed.
    missing: u32,
    // The length of the longest path to it.
    steps: u32,
}

impl StateGraph {
    /// `None` if two states have the same lower half, so that the targets of edges are ambiguous.
    pub(crate) fn new(mut record: GraphRecord) -> Option<Self> {
        let count = record.states.len();
        let mut number: FxHashMap<u64, u32> = FxHashMap::default();
        number.reserve(count);
        for (at, &(fingerprint, _)) in record.states.iter().enumerate() {
            if number.insert(fingerprint, at as u32).is_some() {
                return None;
            }
        }
        if record.is_ambiguous() {
            return None;
        }
        let mut starts = Vec::with_capacity(count + 1);
        let mut edges = Vec::with_capacity(record.edges.len());
        let mut rest = &mut record.edges[..];
        for &(_, from_here) in &record.states {
            let (these, others) = rest.split_at_mut(from_here as usize);
            rest = others;
            starts.push(edges.len());
            // The path found must not depend on which thread recorded the edges.
            if !record.held.is_empty() {
                these.sort_unstable();
            }
            // A search that was stopped may not have expanded the target of an edge.
            let known = these.iter().filter_map(|&(to, weight)| Some((*number.get(&to)?, weight)));
            edges.extend(known);
        }
        starts.push(edges.len());
        let mut held = vec![0; if record.held.is_empty() { 0 } else { count }];
        for (fingerprint, bits) in &record.held {
            if let Some(&at) = number.get(fingerprint) {
                held[at as usize] = *bits;
            }
        }
        let roots = record.roots.iter().filter_map(|it| number.get(it).copied()).collect();
        let is_end = record.states.iter().map(|it| it.1 == 0).collect();
        let fingerprints = record.states.iter().map(|it| it.0).collect();
        Some(StateGraph { fingerprints, roots, held, is_end, starts, edges })
    }

    fn edges(&self, from: u32) -> &[(u32, u32)] {
        &self.edges[self.starts[from as usize]..self.starts[from as usize + 1]]
    }

    /// Counts paths. Each state is processed after all its predecessors (topological order).
    pub(crate) fn paths(&self) -> Paths {
        let count = self.fingerprints.len();
        let mut reached = vec![PathCount::default(); count];
        self.edges.iter().for_each(|&(to, _)| reached[to as usize].missing += 1);
        self.roots.iter().for_each(|&it| reached[it as usize].ways += 1);
        let mut ready: Vec<u32> = (0..count as u32).filter(|&it| reached[it as usize].missing == 0).collect();
        let (mut looked, mut depth, mut schedules) = (0, 0, Some(0u128));
        while let Some(state) = ready.pop() {
            looked += 1;
            let PathCount { ways, steps, .. } = reached[state as usize];
            depth = depth.max(u64::from(steps));
            if self.is_end[state as usize] {
                schedules = schedules.and_then(|sum| sum.checked_add(ways));
            }
            for &(to, weight) in self.edges(state) {
                let next = &mut reached[to as usize];
                // If the number of paths to a state overflows, so does the number of paths to some
                // end.
                let more = ways.checked_mul(u128::from(weight)).and_then(|it| next.ways.checked_add(it));
                schedules = schedules.filter(|_| more.is_some());
                next.ways = more.unwrap_or(0);
                next.steps = next.steps.max(steps + 1);
                next.missing -= 1;
                if next.missing == 0 {
                    ready.push(to);
                }
            }
        }
        if looked < count {
            return Paths { schedules: None, depth: self.eccentricity(), has_cycle: true };
        }
        Paths { schedules, depth, has_cycle: false }
    }

    // Steps to the state that is farthest away.
    fn eccentricity(&self) -> u64 {
        let mut seen = vec![false; self.fingerprints.len()];
        let mut layer: Vec<u32> = self.roots.clone();
        layer.iter().for_each(|&it| seen[it as usize] = true);
        let mut depth = 0;
        loop {
            let mut next = Vec::new();
            for &state in &layer {
                for &(to, _) in self.edges(state) {
                    if !std::mem::replace(&mut seen[to as usize], true) {
                        next.push(to);
                    }
                }
            }
            if next.is_empty() {
                return depth;
            }
            layer = next;
            depth += 1;
        }
    }

    /// A path from an initial state on which a property never holds, and which ends or closes a
    /// cycle: the lower halves of the fingerprints of its states.
    pub(crate) fn path_avoiding(&self, property: usize) -> Option<Vec<u64>> {
        let is_avoided = |it: u32| self.held[it as usize] >> property & 1 == 0;
        // Depth-first search: states on the current path are grey, finished ones black.
        #[derive(Clone, Copy, PartialEq)]
        enum Colour {
            White,
            Grey,
            Black,
        }
        let mut colours = vec![Colour::White; self.fingerprints.len()];
        for &root in self.roots.iter().filter(|&&it| is_avoided(it)) {
            if colours[root as usize] != Colour::White {
                continue;
            }
            let mut path: Vec<(u32, usize)> = vec![(root, 0)];
            colours[root as usize] = Colour::Grey;
            while let Some(&mut (state, ref mut next)) = path.last_mut() {
                let fingerprints = |path: &[(u32, usize)]| -> Vec<u64> {
                    path.iter().map(|&(it, _)| self.fingerprints[it as usize]).collect()
                };
                if self.is_end[state as usize] {
                    return Some(fingerprints(&path));
                }
                let Some(&(to, _)) = self.edges(state).get(*next) else {
                    colours[state as usize] = Colour::Black;
                    path.pop();
                    continue;
                };
                *next += 1;
                if !is_avoided(to) {
                    continue;
                }
                match colours[to as usize] {
                    Colour::White => {
                        colours[to as usize] = Colour::Grey;
                        path.push((to, 0));
                    }
                    Colour::Grey => {
                        path.push((to, 0));
                        return Some(fingerprints(&path));
                    }
                    Colour::Black => (),
                }
            }
        }
        None
    }
}

/// The paths in a state graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The number of paths from an initial state to an end, that is, of schedules. `None` if the
    /// graph has a cycle, which makes them infinite, or if there are more than 2^128.
    pub schedules: Option<u128>,
    /// Length of the longest path; if there is a cycle, the maximum distance from the initial
    /// states.
    pub depth: u64,
    /// Whether a state can be reached from itself.
    pub has_cycle: bool,
}
