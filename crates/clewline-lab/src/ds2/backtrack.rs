//! The steps that the published rules add to the backtrack sets of earlier nodes.

use clewline_actors::{EnabledStep, StepIdentity};

use super::{Published, Search};

impl Search {
    /// `receive` was just received at the last node: adds to an earlier one.
    pub(super) fn add_races(&mut self, step: &EnabledStep) {
        let (_, earlier) = self.nodes.split_last().expect("it was received at a node");
        let taken = |at: usize| earlier[at].taken.expect("something was received at each but the last");
        let Some(at) = (0..earlier.len()).rev().find(|&it| self.depends(&taken(it), step)) else { return };
        let between: Vec<EnabledStep> = (at + 1..earlier.len()).map(taken).collect();
        let node = &earlier[at];
        let identity = step.identity();
        let candidates: Vec<StepIdentity> = if node.find(identity).is_some() {
            vec![identity]
        } else {
            match self.published {
                Published::Ired | Published::LiViola => {
                    let cause = cause(step, &between);
                    (cause != identity && node.find(cause).is_some()).then_some(cause).into_iter().collect()
                }
                Published::Exhaustive
                | Published::Dpor
                | Published::TransDpor
                | Published::Random
                | Published::DelayBounded => {
                    let all = between.iter().map(EnabledStep::identity);
                    let is_new = |it: &StepIdentity| {
                        node.find(*it).is_some()
                            && !node.backtrack.contains(it)
                            && !node.explored.contains(it)
                    };
                    all.filter(is_new).collect()
                }
            }
        };
        let node = &mut self.nodes[at];
        match (self.published, candidates.first(), candidates.last()) {
            (Published::Dpor, _, Some(&latest)) => node.add(latest),
            (Published::Dpor, _, None) => {
                let all: Vec<StepIdentity> = node.enabled.iter().map(EnabledStep::identity).collect();
                all.into_iter().for_each(|it| node.add(it));
            }
            (
                Published::Exhaustive
                | Published::TransDpor
                | Published::Ired
                | Published::LiViola
                | Published::Random
                | Published::DelayBounded,
                Some(&earliest),
                _,
            ) => {
                if !node.is_frozen && !node.backtrack.contains(&earliest) {
                    node.add(earliest);
                    node.is_frozen = true;
                }
            }
            (
                Published::Exhaustive
                | Published::TransDpor
                | Published::Ired
                | Published::LiViola
                | Published::Random
                | Published::DelayBounded,
                None,
                _,
            ) => (),
        }
    }

    fn depends(&self, one: &EnabledStep, other: &EnabledStep) -> bool {
        if one.to != other.to {
            return false;
        }
        match self.published {
            Published::Exhaustive
            | Published::Dpor
            | Published::TransDpor
            | Published::Ired
            | Published::Random
            | Published::DelayBounded => true,
            // A message in no list of keys depends on nothing.
            Published::LiViola => one.key.is_some() && one.key == other.key,
        }
    }
}

/// The cause of `step`, by names: any message is a cause whose receiver is the sender of the next.
fn cause(step: &EnabledStep, between: &[EnabledStep]) -> StepIdentity {
    let mut cause = step;
    for earlier in between.iter().rev() {
        if cause.from == earlier.to {
            cause = earlier;
        }
    }
    cause.identity()
}
