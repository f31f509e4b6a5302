//! Openings: what happened before an operation after which it does not matter is forgotten.

use clewline_core::{Elements, Retain};

use super::{
    Attempt, Shrinking, is_core,
    opened::{Opening, Overlap},
};

impl Shrinking<'_> {
    /// Forgets what happened long before and long after the operation that cannot come next, if that is enough.
    ///
    /// A search of a long history takes a while to find nothing, wherever the violation is.
    pub(super) fn zoom(&mut self) {
        const AROUND: usize = 64;
        let hint = self.hint();
        let starts = self.starts();
        let mut ranks: Vec<u32> = self.problem.spans().iter().filter_map(|it| it.ret()).collect();
        ranks.sort_unstable();
        let last = ranks.partition_point(|&it| it < hint);
        let told = self.keep.clone();
        let (mut before, mut after) = (1, AROUND);
        while before <= starts.len() && after < ranks.len() && self.opening.is_none() && self.left != 0 {
            let place = starts.len() - before;
            let rank = ranks[(last + after).min(ranks.len() - 1)];
            self.keep = self.until(rank);
            if self.attempt_since(starts[place], &told) != Attempt::Violated {
                self.keep.clone_from(&told);
            }
            (before, after) = (2 * before, 2 * after);
        }
    }

    /// Forgets what happened before an operation that resets the object, as late a one as can be found quickly.
    pub(super) fn open(&mut self) {
        let starts = self.starts();
        let told = self.keep.clone();
        // From these on it is violated; from those it is not, or nobody knows.
        let (mut violated, mut holds) = (None, starts.len());
        let mut stride = 1;
        while 0 < holds && violated.is_none() && self.left != 0 {
            let place = holds.saturating_sub(stride);
            match self.attempt_since(starts[place], &told) {
                Attempt::Violated => violated = Some(place),
                Attempt::Holds | Attempt::Undecided => holds = place,
            }
            stride *= 2;
        }
        while let Some(place) = violated
            && place + 1 < holds
            && self.left != 0
        {
            let middle = place.midpoint(holds);
            match self.attempt_since(starts[middle], &told) {
                Attempt::Violated => violated = Some(middle),
                Attempt::Holds | Attempt::Undecided => holds = middle,
            }
        }
    }

    /// The operations before which nothing need be told, up to the one that cannot come next.
    fn starts(&self) -> Vec<usize> {
        let hint = self.hint();
        let is_start = |&at: &usize| {
            let span = self.problem.spans()[at];
            let tells = || self.problem.resets(at) || self.problem.determines_state(at).is_some();
            self.keep[at] == Retain::All && span.end() < hint && tells()
        };
        (0..self.problem.len()).filter(is_start).collect()
    }

    /// Forgets what happened before the operation at `start`, of all that was `told`.
    fn attempt_since(&mut self, start: usize, told: &[Retain]) -> Attempt {
        // It may have been forgotten for the sake of an earlier one, and then tells nothing.
        if self.keep[start] != Retain::All {
            return Attempt::Undecided;
        }
        let keep = self.since(start);
        let end = self.problem.spans()[start].end();
        let is_before = |&at: &usize| told[at] != keep[at] && self.problem.spans()[at].call() < end;
        let mut before: Vec<usize> = (0..told.len()).filter(is_before).collect();
        // What was left out for the sake of an earlier one comes before this one, too.
        before.extend(self.opening.iter().flat_map(|it| &it.before));
        before.sort_unstable();
        before.dedup();
        let state = if self.problem.resets(start) { None } else { self.problem.determines_state(start) };
        let opening = Opening { start, before, state };
        let (attempt, next) = self.judge(&keep, Some(&opening));
        if attempt == Attempt::Violated {
            (self.keep, self.next, self.opening) = (keep, next, Some(opening));
        }
        attempt
    }

    /// Gives a chance to the opening and to all that came before it, if that is enough.
    pub(super) fn close(&mut self) {
        let Some(opening) = self.opening.take() else { return };
        // If nothing was forgotten for its sake, what it tells may still have spared others.
        if opening.before.is_empty() && opening.state.is_none() {
            return;
        }
        let chance = |of: &[usize]| {
            let mut keep = self.keep.clone();
            of.iter().chain([&opening.start]).for_each(|&at| keep[at] = Retain::Unconstrained);
            keep
        };
        // If a few of them explain everything, all of them do, which may take long to find out.
        let few = self.related(&opening.before);
        let (few, all) = (chance(&few), chance(&opening.before));
        if self.judge(&few, None).0 == Attempt::Holds {
            self.opening = Some(opening);
            return;
        }
        match self.attempt(all) {
            Attempt::Violated => (),
            Attempt::Holds => self.opening = Some(opening),
            Attempt::Undecided => {
                self.is_minimal = false;
                self.opening = Some(opening);
            }
        }
    }

    /// Those that touch an element which the core touches.
    fn related(&self, positions: &[usize]) -> Vec<usize> {
        let touched = |at: usize| match self.problem.footprint(at).elements() {
            Elements::One(element) => vec![element],
            Elements::Two(one, other) => vec![one, other],
            Elements::None | Elements::Any => Vec::new(),
        };
        let core: Vec<u64> = self.core().flat_map(touched).collect();
        let is_related = |at: &usize| touched(*at).iter().any(|it| core.contains(it));
        positions.iter().copied().filter(is_related).collect()
    }

    /// What is said without anything that came before the operation at `start`, which resets the object.
    pub(super) fn since(&self, start: usize) -> Vec<Retain> {
        let first = self.problem.spans()[start];
        let keep = |at: usize| {
            let span = self.problem.spans()[at];
            match self.keep[at] {
                keep if at == start || first.end() < span.call() => keep,
                keep if is_core(keep) && span.end() < first.call() => Retain::Drop,
                // Whether it came before or after the first one is not known.
                keep if is_core(keep) && self.problem.footprint(at).is_read() => Retain::Drop,
                Retain::All | Retain::Optional | Retain::CallOnly if self.overlap == Overlap::Chance => {
                    Retain::Unconstrained
                }
                Retain::All | Retain::Optional => Retain::Optional,
                Retain::CallOnly => Retain::CallOnly,
                Retain::Unconstrained => Retain::Unconstrained,
                Retain::Drop => Retain::Drop,
            }
        };
        (0..self.keep.len()).map(keep).collect()
    }
}
