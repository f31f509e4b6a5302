//! Openings: drop what happened before an operation after which it does not matter.

use clewline_core::{Elements, Retain};

use super::{
    Attempt, Shrinking, is_in_counterexample,
    opened::{Opening, Overlap},
};

impl Shrinking<'_> {
    /// Drops what happened long before and long after the operation that cannot come next, if the
    /// rest is still violated.
    ///
    /// A search of a long history takes long to find a violation, wherever it is.
    pub(super) fn zoom(&mut self) {
        const ZOOM_OPERATIONS: usize = 64;
        let hint = self.hint();
        let starts = self.opening_candidates();
        let mut ranks: Vec<u32> = self.problem.spans().iter().filter_map(|it| it.ret()).collect();
        ranks.sort_unstable();
        let last = ranks.partition_point(|&it| it < hint);
        let retained = self.keep.clone();
        let (mut before, mut after) = (1, ZOOM_OPERATIONS);
        while before <= starts.len() && after < ranks.len() && self.opening.is_none() && self.left != 0 {
            let place = starts.len() - before;
            let rank = ranks[(last + after).min(ranks.len() - 1)];
            self.keep = self.until(rank);
            if self.attempt_opening(starts[place], &retained) != Attempt::Violated {
                self.keep.clone_from(&retained);
            }
            (before, after) = (2 * before, 2 * after);
        }
    }

    /// Drops what happened before an operation that resets the object, as late a one as can be
    /// found quickly.
    pub(super) fn open(&mut self) {
        let starts = self.opening_candidates();
        let retained = self.keep.clone();
        // From `violated` on it is violated; from `holds` on it holds, or is unknown.
        let (mut violated, mut holds) = (None, starts.len());
        let mut stride = 1;
        while 0 < holds && violated.is_none() && self.left != 0 {
            let place = holds.saturating_sub(stride);
            match self.attempt_opening(starts[place], &retained) {
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
            match self.attempt_opening(starts[middle], &retained) {
                Attempt::Violated => violated = Some(middle),
                Attempt::Holds | Attempt::Undecided => holds = middle,
            }
        }
    }

    /// The operations at which the retained history may begin, up to the one that cannot come next.
    fn opening_candidates(&self) -> Vec<usize> {
        let hint = self.hint();
        let is_start = |&at: &usize| {
            let span = self.problem.spans()[at];
            let can_open = || self.problem.resets(at) || self.problem.determines_state(at).is_some();
            self.keep[at] == Retain::All && span.end() < hint && can_open()
        };
        (0..self.problem.len()).filter(is_start).collect()
    }

    /// Drops what happened before the operation at `start`, of what `retained` retains.
    fn attempt_opening(&mut self, start: usize, retained: &[Retain]) -> Attempt {
        // It may have been weakened because of an earlier opening, and then determines nothing.
        if self.keep[start] != Retain::All {
            return Attempt::Undecided;
        }
        let keep = self.since(start);
        let end = self.problem.spans()[start].end();
        let is_before = |&at: &usize| retained[at] != keep[at] && self.problem.spans()[at].call() < end;
        let mut before: Vec<usize> = (0..retained.len()).filter(is_before).collect();
        // What was weakened because of an earlier opening comes before this one, too.
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

    /// Makes the opening and all that came before it unconstrained, if the rest is still violated.
    pub(super) fn close(&mut self) {
        let Some(opening) = self.opening.take() else { return };
        // If nothing was weakened because of it, its state may still have spared others.
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

    /// The operations on an element that the counterexample touches.
    fn related(&self, positions: &[usize]) -> Vec<usize> {
        let touched = |at: usize| match self.problem.footprint(at).elements() {
            Elements::One(element) => vec![element],
            Elements::Two(one, other) => vec![one, other],
            Elements::None | Elements::Any | Elements::Every => Vec::new(),
        };
        let core: Vec<u64> = self.counterexample().flat_map(touched).collect();
        let is_related = |at: &usize| touched(*at).iter().any(|it| core.contains(it));
        positions.iter().copied().filter(is_related).collect()
    }

    /// What is retained without anything before the operation at `start`, which resets the object.
    pub(super) fn since(&self, start: usize) -> Vec<Retain> {
        let first = self.problem.spans()[start];
        let keep = |at: usize| {
            let span = self.problem.spans()[at];
            match self.keep[at] {
                keep if at == start || first.end() < span.call() => keep,
                keep if is_in_counterexample(keep) && span.end() < first.call() => Retain::Drop,
                // It is unknown whether it came before or after the opening.
                keep if is_in_counterexample(keep) && self.problem.footprint(at).is_read() => Retain::Drop,
                Retain::All | Retain::Optional | Retain::CallOnly
                    if self.overlap == Overlap::Unconstrained =>
                {
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
