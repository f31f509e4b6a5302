//! What searches that make moves and take them back have in common.

/// Adds a move to those from `start` on, unless one of them spares it; removes those that it
/// spares.
pub(super) fn add_move<M: Copy>(moves: &mut Vec<M>, start: usize, new: M, spares: impl Fn(M, M) -> bool) {
    let mut place = start;
    while let Some(&old) = moves.get(place) {
        if spares(old, new) {
            return;
        }
        if spares(new, old) {
            moves.swap_remove(place);
        } else {
            place += 1;
        }
    }
    moves.push(new);
}

/// The most moves that were made, and how many of them are still made.
pub(super) struct Longest<M> {
    moves: Vec<M>,
    shared: usize,
}

impl<M: Copy> Longest<M> {
    pub(super) fn new() -> Longest<M> {
        Longest { moves: Vec::new(), shared: 0 }
    }

    /// Notes the moves that are made, if there were never more.
    pub(super) fn note(&mut self, made: &[M]) {
        if self.moves.len() < made.len() {
            self.moves.truncate(self.shared);
            self.moves.extend_from_slice(&made[self.shared..]);
            self.shared = made.len();
        }
    }

    /// Moves were taken back: this many are left.
    pub(super) fn take_back(&mut self, left: usize) {
        self.shared = self.shared.min(left);
    }

    pub(super) fn moves(&self) -> &[M] {
        &self.moves
    }

    /// For how many moves there is room.
    pub(super) fn capacity(&self) -> usize {
        self.moves.capacity()
    }
}
