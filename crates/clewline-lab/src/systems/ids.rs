//! The actors of a system, by index.

use clewline_actors::ActorId;

/// The first `count` actors of a system.
pub(in crate::systems) fn all(count: u32) -> impl Iterator<Item = ActorId> {
    (0..count).map(ActorId::new)
}

/// The first `count` actors of a system, without `me`.
pub(in crate::systems) fn others(count: u32, me: ActorId) -> impl Iterator<Item = ActorId> {
    all(count).filter(move |it| *it != me)
}
