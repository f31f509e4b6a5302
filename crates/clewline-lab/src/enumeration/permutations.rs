//! Quasi permutations: orders in which no event moves by more than k places.
//!
//! Source: Zhang, Chattopadhyay and Wang, Algorithm 2, a depth-first search over the states of a
//! first run. Line numbers in comments are those of the paper. As printed it does not work, so we
//! depart from it in three places:
//! - Line 36 replaces the set of events done in a state, which loses what was tried: two
//!   permutations alternate forever. We add to the set.
//! - Line 59 excludes from the next state all events done in this one. Only the selected one has
//!   happened; without its siblings every run is cut short.
//! - Line 60 lowers the lateness of an event that is passed over, so that none ever has to be
//!   selected. We raise it, as the text of the paper says.
//!
//! Cost: each permutation takes at most O(n k).

/// All orders of 0, 1, …, n - 1 in which no number is more than k places from its own; the identity
/// comes first.
#[derive(Debug)]
pub struct QuasiPermutations {
    factor: i64,
    states: Vec<State>,
    is_first: bool,
}

/// One place of the order.
#[derive(Clone, Debug, Default)]
struct State {
    // Events that can come here, and by how much they would be late.
    enabled: Vec<(usize, i64)>,
    // Those that can come here and nowhere before.
    newly_enabled: Vec<(usize, i64)>,
    selected: usize,
    // Those that have been selected here in this context.
    done: Vec<usize>,
}

impl QuasiPermutations {
    /// The permutations of `events` numbers by at most `factor` places.
    #[must_use]
    pub fn new(events: usize, factor: u32) -> QuasiPermutations {
        let factor = i64::from(factor);
        let mut states: Vec<State> = vec![State::default(); events];
        for event in 0..events {
            states[event].selected = event;
            states[event].done.push(event);
            // `init_enabled_and_lateness`.
            for (late, place) in (0..=event).rev().enumerate() {
                let lateness = -(late as i64);
                states[place].enabled.push((event, lateness));
                if lateness == -factor || place == 0 {
                    states[place].newly_enabled.push((event, lateness));
                    break;
                }
            }
        }
        QuasiPermutations { factor, states, is_first: true }
    }

    fn selected(&self) -> Vec<usize> {
        self.states.iter().map(|it| it.selected).collect()
    }
}

impl Iterator for QuasiPermutations {
    type Item = Vec<usize>;

    /// `backtrack_run`; at first, the first run.
    fn next(&mut self) -> Option<Vec<usize>> {
        if std::mem::take(&mut self.is_first) {
            return Some(self.selected());
        }
        let factor = self.factor;
        let last = self.states.iter().rposition(|it| it.pick(factor).is_some())?;
        for place in last..self.states.len() {
            if last < place {
                let (before, after) = self.states.split_at_mut(place);
                after[0].inherit(&before[place - 1]);
            }
            let state = &mut self.states[place];
            state.selected = state.pick(factor).expect("events are not more than their places");
            state.done.push(state.selected);
        }
        Some(self.selected())
    }
}

impl State {
    /// `pick_an_enabled_event`: one that was not selected here before. An event that can be no
    /// later is the only choice.
    fn pick(&self, factor: i64) -> Option<usize> {
        let is_fresh = |event: usize| (!self.done.contains(&event)).then_some(event);
        match self.enabled.iter().find(|it| it.1 == factor) {
            Some(&(event, _)) => is_fresh(event),
            None => self.enabled.iter().find_map(|&(event, _)| is_fresh(event)),
        }
    }

    /// `update_enabled_and_lateness`.
    fn inherit(&mut self, previous: &State) {
        let passed_over = previous.enabled.iter().filter(|it| it.0 != previous.selected);
        let later = passed_over.map(|&(event, lateness)| (event, lateness + 1));
        self.enabled = later.chain(self.newly_enabled.iter().copied()).collect();
        self.done.clear();
    }
}
