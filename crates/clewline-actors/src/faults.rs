//! Faults: which may occur, and how often.
//!
//! Every fault is a separate action with a budget for a whole execution. The budget used is part of
//! the state, so every distribution of faults is explored. Raise budgets from 0: then the smallest
//! failing scenario comes first.

use crate::actor::ActorId;

/// Which faults may occur, and how often in one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Maximum number of messages lost.
    pub lose: u8,
    /// Maximum number of messages duplicated.
    pub duplicate: u8,
    /// Maximum number of crashes.
    pub crash: u8,
    /// Whether a crashed actor restarts.
    pub restart: Restart,
    /// What happens to messages in flight to an actor that crashes.
    pub mailbox: Mailbox,
    /// Maximum number of partitions, one after the other.
    pub partition: u8,
}

/// Whether a crashed actor restarts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restart {
    /// Eventually.
    #[default]
    Always,
    /// Never.
    Never,
}

/// What happens to messages in flight to an actor that crashes. Messages sent to it later wait
/// until it restarts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mailbox {
    /// They wait until it restarts.
    #[default]
    Kept,
    /// They are lost.
    Lost,
}

/// At which places faults are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultPlacement {
    /// Wherever they are possible.
    #[default]
    All,
    /// Only where it makes a difference: messages are lost last, when no other step is possible,
    /// and partitions come after that; repairs come at once.
    ///
    /// Losing a message is equivalent to never receiving it, and a long crash or partition is
    /// equivalent to receiving nothing for a long time. So clients observe the same, properties
    /// that read only actors have the same verdicts, and every final state is reached. There are
    /// fewer states and schedules. If a property reads the messages in flight or the set of crashed
    /// actors, all places are explored after all. The same holds where a fault changes what can
    /// arrive: with ordered delivery, and where messages in flight to a crashing actor are lost.
    Few,
}

/// Whether `actor` is on the side whose bits are set. A created actor is on the side of its
/// creator.
fn is_on_side(actor: ActorId, side: u64) -> bool {
    let mut index = actor.index();
    while ActorId::ROOTS_MAX <= index {
        index = (index - ActorId::ROOTS_MAX) / ActorId::CHILDREN_MAX;
    }
    side >> index & 1 == 1
}

/// Whether a partition separates `from` and `to`. Clients reach all actors.
pub(crate) fn is_apart(from: ActorId, to: ActorId, cut: u64) -> bool {
    cut != 0 && !from.is_client() && !to.is_client() && is_on_side(from, cut) != is_on_side(to, cut)
}

impl Faults {
    /// Fault budgets from none to this one, those with fewer faults first.
    #[must_use]
    pub fn budgets(self) -> Vec<Faults> {
        let mut all = Vec::new();
        for lose in 0..=self.lose {
            for duplicate in 0..=self.duplicate {
                for crash in 0..=self.crash {
                    let partitions = 0..=self.partition;
                    all.extend(partitions.map(|partition| Faults {
                        lose,
                        duplicate,
                        crash,
                        partition,
                        ..self
                    }));
                }
            }
        }
        let total =
            |it: &Faults| [it.lose, it.duplicate, it.crash, it.partition].map(u32::from).iter().sum::<u32>();
        all.sort_by_key(total);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_go_up_one_fault_at_a_time() {
        let most = Faults { lose: 1, crash: 2, ..Faults::default() };
        let budgets: Vec<(u8, u8)> = most.budgets().iter().map(|it| (it.lose, it.crash)).collect();
        assert_eq!(budgets, [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (1, 2)]);
        assert_eq!(Faults::default().budgets(), [Faults::default()]);
    }
}
