//! Paths in a graph of states that was kept whole: how many there are, how long, and which avoid a property.

use rustc_hash::FxHashMap;

use crate::actors::graph::Paths;

/// What one thread kept of the graph. States are known by the lower halves of their fingerprints.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) roots: Vec<u64>,
    /// Each state once, with a bit for each property that is true in it.
    pub(crate) states: Vec<(u64, u64)>,
    /// From, to, and how many messages that say the same lead there.
    pub(crate) edges: Vec<(u64, u64, u32)>,
    pub(crate) ends: Vec<u64>,
}

impl Record {
    pub(crate) fn add(&mut self, other: Record) {
        self.roots.extend(other.roots);
        self.states.extend(other.states);
        self.edges.extend(other.edges);
        self.ends.extend(other.ends);
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.states.capacity() * 2 + self.edges.capacity() * 3 + self.ends.capacity()) * size_of::<u64>()
    }
}

/// A graph of states.
#[derive(Debug)]
pub(crate) struct Recorded {
    fingerprints: Vec<u64>,
    roots: Vec<u32>,
    held: Vec<u64>,
    is_end: Vec<bool>,
    // The edges from state `it` are those in `starts[it]..starts[it + 1]`.
    starts: Vec<usize>,
    edges: Vec<(u32, u32)>,
}

impl Recorded {
    /// `None` if two states have the same lower half, so that edges do not tell where they lead.
    pub(crate) fn new(mut record: Record) -> Option<Self> {
        // The order is that of fingerprints: the same, whoever recorded what.
        record.states.sort_unstable();
        if record.states.windows(2).any(|it| it[0].0 == it[1].0) {
            return None;
        }
        let number: FxHashMap<u64, u32> =
            record.states.iter().enumerate().map(|(at, &(it, _))| (it, at as u32)).collect();
        let count = record.states.len();
        // A search that was stopped may not have met where an edge leads.
        record.edges.retain(|(_, to, _)| number.contains_key(to));
        let mut starts = vec![0; count + 1];
        record.edges.iter().for_each(|(from, ..)| starts[number[from] as usize + 1] += 1);
        (0..count).for_each(|at| starts[at + 1] += starts[at]);
        record.edges.sort_unstable();
        let edges = record.edges.iter().map(|&(_, to, weight)| (number[&to], weight)).collect();
        let mut is_end = vec![false; count];
        record.ends.iter().for_each(|it| is_end[number[it] as usize] = true);
        let roots = record.roots.iter().map(|it| number[it]).collect();
        let (fingerprints, held) = record.states.into_iter().unzip();
        Some(Recorded { fingerprints, roots, held, is_end, starts, edges })
    }

    fn edges(&self, from: u32) -> &[(u32, u32)] {
        &self.edges[self.starts[from as usize]..self.starts[from as usize + 1]]
    }

    /// What paths there are.
    pub(crate) fn paths(&self) -> Paths {
        let count = self.fingerprints.len();
        let mut missing = vec![0u32; count];
        self.edges.iter().for_each(|&(to, _)| missing[to as usize] += 1);
        let mut order: Vec<u32> = (0..count as u32).filter(|&it| missing[it as usize] == 0).collect();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            for &(to, _) in &self.edges[self.starts[state as usize]..self.starts[state as usize + 1]] {
                missing[to as usize] -= 1;
                if missing[to as usize] == 0 {
                    order.push(to);
                }
            }
        }
        let has_cycle = order.len() < count;
        if has_cycle {
            return Paths { schedules: None, depth: self.farthest(), has_cycle };
        }
        let mut ways: Vec<Option<u128>> = vec![Some(0); count];
        let mut length = vec![0u64; count];
        for &state in order.iter().rev() {
            let at = state as usize;
            let sum = self.edges(state).iter().try_fold(0u128, |sum, &(to, weight)| {
                sum.checked_add(ways[to as usize]?.checked_mul(u128::from(weight))?)
            });
            ways[at] = if self.is_end[at] { Some(1) } else { sum };
            length[at] = self.edges(state).iter().map(|&(to, _)| length[to as usize] + 1).max().unwrap_or(0);
        }
        let schedules = self.roots.iter().try_fold(0u128, |sum, &it| sum.checked_add(ways[it as usize]?));
        let depth = self.roots.iter().map(|&it| length[it as usize]).max().unwrap_or(0);
        Paths { schedules, depth, has_cycle }
    }

    // Steps to the state that is farthest away.
    fn farthest(&self) -> u64 {
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

    /// A path from a beginning on which a property is never true, and which cannot go on or has come round: the
    /// lower halves of the fingerprints of its states.
    pub(crate) fn avoiding(&self, property: usize) -> Option<Vec<u64>> {
        let is_avoided = |it: u32| self.held[it as usize] >> property & 1 == 0;
        // Depth first; what is on the path now is grey, what was left is black.
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
