//! Actions that are faults, and the actions that repair them.

use super::Engine;
use crate::{
    faults::{Mailbox, Restart},
    histories::operations,
    interned::ABSENT,
    world::{Action, Delivery, Ignored, Rules, World},
};

// With more actors, a partition isolates one actor: there would be too many splits otherwise.
const EVERY_SPLIT_ACTORS_MAX: usize = 6;

impl Engine {
    /// Pushes the faults enabled in `world`, and the repairs.
    pub(crate) fn push_fault_actions(&mut self, world: &World, actions: &mut Vec<Action>) {
        let (faults, used) = (self.rules().faults, world.used);
        if world.cut != 0 {
            actions.push(Action::Heal);
        } else if used.partition < faults.partition {
            actions.extend(self.splits().map(|side| Action::Cut { side }));
        }
        for slot in operations(world.down) {
            if faults.restart == Restart::Always {
                let ways = self.restart_outcomes(world.locals[slot as usize]);
                actions.extend((0..ways).map(|outcome| Action::Restart { slot: slot as u16, outcome }));
            }
        }
        if used.crash < faults.crash {
            let up = (0..world.locals.len().min(64))
                .filter(|&it| world.locals[it] != ABSENT && world.down >> it & 1 == 0);
            actions.extend(up.map(|slot| Action::Crash { slot: slot as u16 }));
        }
        for (used, budget, action) in [
            (used.lose, faults.lose, (|at| Action::Lose { at }) as fn(u16) -> Action),
            (used.duplicate, faults.duplicate, |at| Action::Duplicate { at }),
        ] {
            if used < budget {
                let in_flight = &world.in_flight;
                let different =
                    (0..in_flight.len()).filter(|&it| it == 0 || in_flight[it - 1] != in_flight[it]);
                let messages = different.filter(|&it| !self.envelope(in_flight[it]).is_timer);
                actions.extend(messages.map(|at| action(at as u16)));
            }
        }
    }

    /// Whether exploring faults at few places is sound for these rules.
    pub(crate) fn supports_few_placements(&self) -> bool {
        let Rules { delivery, ignored, faults } = self.rules();
        let is_kept = faults.crash == 0 || faults.mailbox == Mailbox::Kept;
        let is_any = faults.lose != 0 || faults.crash != 0 || faults.partition != 0;
        delivery == Delivery::Unordered && ignored == Ignored::Gone && is_kept && is_any
    }

    /// Whether only repairs need to be explored.
    pub(crate) fn must_repair(&self, world: &World) -> bool {
        world.cut != 0 || world.down != 0 && self.rules().faults.restart == Restart::Always
    }

    /// Drops faults that have the same effect at another place.
    pub(crate) fn drop_redundant_faults(&self, world: &World, actions: &mut Vec<Action>) {
        if self.must_repair(world) {
            actions.retain(|it| matches!(it, Action::Restart { .. } | Action::Heal));
            return;
        }
        let (lose, cut) = match self.deliverable_if_only_faults(world, actions) {
            Some(messages) => {
                (messages <= usize::from(self.rules().faults.lose - world.used.lose), messages == 0)
            }
            None => (false, false),
        };
        actions.retain(|it| match it {
            Action::Lose { .. } => lose,
            Action::Cut { .. } => cut,
            Action::Begin { .. }
            | Action::Deliver { .. }
            | Action::Duplicate { .. }
            | Action::Crash { .. }
            | Action::Restart { .. }
            | Action::Heal => true,
        });
    }

    // The number of deliverable messages, if only losses, duplications and partitions are possible
    // besides their delivery.
    fn deliverable_if_only_faults(&self, world: &World, faults: &[Action]) -> Option<usize> {
        let deliverable = || world.in_flight.iter().filter(|&&it| self.is_deliverable(world, it));
        let is_last =
            |it: &Action| matches!(it, Action::Lose { .. } | Action::Duplicate { .. } | Action::Cut { .. });
        let is_left_over = faults.iter().all(is_last) && !deliverable().any(|&it| self.envelope(it).is_timer);
        is_left_over.then(|| deliverable().count())
    }

    fn splits(&self) -> impl Iterator<Item = u64> + use<> {
        let roots = self.roots();
        let few = roots <= EVERY_SPLIT_ACTORS_MAX;
        // The first actor is always on the other side, so that no split is counted twice.
        let every = if few { (1u64 << (roots - 1)) - 1 } else { 0 };
        let one = if few || roots < 2 { 0 } else { roots };
        (1..=every).map(|it| it << 1).chain((0..one).map(|it| 1 << it))
    }

    /// Writes the successor of `world` by a fault, or by a repair other than a restart.
    pub(crate) fn apply_fault(&self, world: &World, action: Action, next: &mut World) {
        next.clone_from(world);
        match action {
            Action::Lose { at } => {
                next.in_flight.remove(at as usize);
                next.used.lose += 1;
            }
            Action::Duplicate { at } => {
                self.send(next, world.in_flight[at as usize]);
                next.used.duplicate += 1;
            }
            Action::Crash { slot } => {
                let faults = self.rules().faults;
                next.down |= 1 << slot;
                next.used.crash += 1;
                next.in_flight.retain(|&it| {
                    let envelope = self.envelope(it);
                    let is_mine = !envelope.to.is_client() && envelope.slot == u32::from(slot);
                    !is_mine || (!envelope.is_timer && faults.mailbox == Mailbox::Kept)
                });
            }
            Action::Cut { side } => {
                next.cut = side;
                next.used.partition += 1;
            }
            Action::Heal => next.cut = 0,
            Action::Begin { .. } | Action::Deliver { .. } | Action::Restart { .. } => {
                unreachable!("these are reactions")
            }
        }
        next.fingerprint = self.fingerprint(next);
    }
}
