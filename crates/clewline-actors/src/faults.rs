//! Faults: what may go wrong, and how often.
//!
//! Every fault is an action of its own, and has a budget for a whole execution. What was used of it is part of the state, so that
//! every way to spend it is explored. Budgets are best raised from 0: then the smallest scenario that fails comes first.

use crate::{
    ActorId,
    engine::Engine,
    histories::operations,
    numbers::ABSENT,
    world::{Action, Delivery, Ignored, Rules, World},
};

/// What may go wrong, and how often in one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// How many messages may be lost.
    pub lose: u8,
    /// How many messages may arrive twice.
    pub duplicate: u8,
    /// How many crashes there may be.
    pub crash: u8,
    /// Whether an actor that crashed comes back.
    pub restart: Restart,
    /// What becomes of messages on their way to an actor that crashes.
    pub mailbox: Mailbox,
    /// How many partitions there may be, one after the other.
    pub partition: u8,
}

/// Whether an actor that crashed comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// Sooner or later.
    #[default]
    Always,
    /// Never.
    Never,
}

/// What becomes of messages on their way to an actor that crashes. Those that are sent to it later wait until it is back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mailbox {
    /// They wait until it is back.
    #[default]
    Kept,
    /// They are lost.
    Lost,
}

/// Where faults happen, of all the places where they can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Places {
    /// At all of them.
    #[default]
    All,
    /// Where it makes a difference: messages are lost last, when nothing else is left to happen, and partitions come after
    /// that; what can be mended is mended at once.
    ///
    /// To lose a message is never to receive it, and to be down or apart for long is to receive nothing for long. So clients
    /// see the same, and so does a property that looks at actors alone; and every execution ends as one of these does. States
    /// and schedules are fewer. If a property looks at what is in flight or at who is down, all places are tried after all. And so they are where
    /// a fault changes what can arrive: if messages have an order, and where those on their way to an actor that crashes are lost.
    Few,
}

// Beyond this many actors a partition cuts off one of them: there are too many ways to cut otherwise.
const SPLITS_MAX: usize = 6;

/// Whether `actor` is on the side whose bits are set. One that was created is on the side of its creator.
fn is_on_side(actor: ActorId, side: u64) -> bool {
    let mut index = actor.index();
    while ActorId::ROOTS_MAX <= index {
        index = (index - ActorId::ROOTS_MAX) / ActorId::CHILDREN_MAX;
    }
    side >> index & 1 == 1
}

/// Whether a partition keeps `from` and `to` apart. Clients reach everyone.
pub(crate) fn is_apart(from: ActorId, to: ActorId, cut: u64) -> bool {
    cut != 0 && !from.is_client() && !to.is_client() && is_on_side(from, cut) != is_on_side(to, cut)
}

impl Engine {
    /// Pushes the faults that may happen in `world`, and what mends them.
    pub(crate) fn faults(&mut self, world: &World, actions: &mut Vec<Action>) {
        let (faults, used) = (self.rules().faults, world.used);
        if world.cut != 0 {
            actions.push(Action::Heal);
        } else if used.partition < faults.partition {
            actions.extend(self.splits().map(|side| Action::Cut { side }));
        }
        for slot in operations(world.down) {
            if faults.restart == Restart::Always {
                let ways = self.ways_to_restart(world.locals[slot as usize]);
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
                let flying = &world.flying;
                let different = (0..flying.len()).filter(|&it| it == 0 || flying[it - 1] != flying[it]);
                let messages = different.filter(|&it| !self.envelope(flying[it]).is_timer);
                actions.extend(messages.map(|at| action(at as u16)));
            }
        }
    }

    /// Whether there are few places where faults make a difference.
    pub(crate) fn has_few_places(&self) -> bool {
        let Rules { delivery, ignored, faults } = self.rules();
        let is_kept = faults.crash == 0 || faults.mailbox == Mailbox::Kept;
        let is_any = faults.lose != 0 || faults.crash != 0 || faults.partition != 0;
        delivery == Delivery::Unordered && ignored == Ignored::Gone && is_kept && is_any
    }

    /// Whether the only thing that makes a difference is to mend what went wrong.
    pub(crate) fn must_mend(&self, world: &World) -> bool {
        world.cut != 0 || world.down != 0 && self.rules().faults.restart == Restart::Always
    }

    /// Leaves out faults that happen elsewhere too, to the same effect.
    pub(crate) fn leave_out(&self, world: &World, actions: &mut Vec<Action>) {
        if self.must_mend(world) {
            actions.retain(|it| matches!(it, Action::Restart { .. } | Action::Heal));
            return;
        }
        let (lose, cut) = match self.left_over(world, actions) {
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

    // How many messages can be received, if nothing else can happen but that they are lost or duplicated, or that there is a partition.
    fn left_over(&self, world: &World, faults: &[Action]) -> Option<usize> {
        let deliverable = || world.flying.iter().filter(|&&it| self.is_deliverable(world, it));
        let is_last =
            |it: &Action| matches!(it, Action::Lose { .. } | Action::Duplicate { .. } | Action::Cut { .. });
        let is_left_over = faults.iter().all(is_last) && !deliverable().any(|&it| self.envelope(it).is_timer);
        is_left_over.then(|| deliverable().count())
    }

    fn splits(&self) -> impl Iterator<Item = u64> + use<> {
        let roots = self.roots();
        let few = roots <= SPLITS_MAX;
        // The first actor is always on the other side, so that no cut is counted twice.
        let every = if few { (1u64 << (roots - 1)) - 1 } else { 0 };
        let one = if few || roots < 2 { 0 } else { roots };
        (1..=every).map(|it| it << 1).chain((0..one).map(|it| 1 << it))
    }

    /// What becomes of `world` by a fault, or by what mends one, other than a restart.
    pub(crate) fn go_wrong(&self, world: &World, action: Action, next: &mut World) {
        next.clone_from(world);
        match action {
            Action::Lose { at } => {
                next.flying.remove(at as usize);
                next.used.lose += 1;
            }
            Action::Duplicate { at } => {
                self.send(next, world.flying[at as usize]);
                next.used.duplicate += 1;
            }
            Action::Crash { slot } => {
                let faults = self.rules().faults;
                next.down |= 1 << slot;
                next.used.crash += 1;
                next.flying.retain(|&it| {
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
