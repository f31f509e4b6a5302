//! Problems divided into independent parts, and their witnesses merged.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Problem;
use crate::{id::OperationId, witness::Witness};

impl<'a> Problem<'a> {
    /// The independent parts of this problem, in the order of their first operations: the keys of a
    /// map.
    ///
    /// Each part is an object of its own, so the whole is linearizable if and only if each part is.
    #[must_use]
    pub fn into_parts(self) -> Vec<Problem<'a>> {
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let mut part_of: Vec<u32> = Vec::with_capacity(self.len());
        for &id in &self.operations {
            let Some(part) = self.typed.part(id) else { return vec![self] };
            let fresh = numbers.len() as u32;
            part_of.push(*numbers.entry(part).or_insert(fresh));
        }
        if numbers.len() <= 1 {
            return vec![self];
        }
        let mut sizes = vec![0; numbers.len()];
        part_of.iter().for_each(|&it| sizes[it as usize] += 1);
        let mut parts: Vec<Problem<'a>> = Vec::with_capacity(sizes.len());
        for size in sizes {
            parts.push(Problem {
                typed: Arc::clone(&self.typed),
                operations: Vec::with_capacity(size),
                spans: Vec::with_capacity(size),
                retained: Vec::new(),
                start: self.start.clone(),
                hints: self.hints.clone(),
            });
        }
        for (at, &part) in part_of.iter().enumerate() {
            let part = &mut parts[part as usize];
            part.operations.push(self.operations[at]);
            part.spans.push(self.spans[at]);
            if !self.retained.is_empty() {
                part.retained.push(self.retained[at]);
            }
        }
        parts
    }

    /// Merges the witnesses of the parts of one history into one order that respects real time.
    ///
    /// The linearization point of each operation is the latest call up to it in its part's order,
    /// which lies between its own call and return. Sorting by that point preserves the order of
    /// every part and the real-time order.
    #[must_use]
    pub fn merge_witnesses(parts: &[Problem<'_>], witnesses: Vec<Witness>) -> Witness {
        if let [_] = parts {
            return witnesses.into_iter().next().unwrap_or_default();
        }
        let mut moments: Vec<(u32, u32, OperationId)> = Vec::new();
        for (part, witness) in parts.iter().zip(witnesses) {
            let mut latest = 0;
            for (place, id) in witness.order.into_iter().enumerate() {
                let at = part.position(id).expect("a witness names operations of its part");
                latest = latest.max(part.spans[at].call());
                moments.push((latest, place as u32, id));
            }
        }
        moments.sort_unstable();
        Witness { order: moments.into_iter().map(|(.., id)| id).collect() }
    }
}
