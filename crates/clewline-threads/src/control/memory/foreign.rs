//! Memory of code that was not written for these models.
//!
//! Such code is seen only in part. So where something may have happened unseen, a load reads the
//! newest store only, and learns that every store so far is overwritten or may be:
//!
//! * A location that holds another value than was stored: code that is not seen has written it, and
//!   may have released everything.
//! * A word in which accesses of different sizes overlap: it has one value, the one in memory. What
//!   its stores release is kept for the whole word.
//! * Code that is not seen may have acquired what any task did, or released it.
//!
//! None of this adds to happens-before: which operations precede which is never a guess.

use clewline_explore::{SharedId, TaskId};

use super::{
    super::view::View, AtomicAccess, MemoryState, Message, TaskState, origin::Origin,
    release_acquire::STAMP_GAP,
};

impl MemoryState {
    /// The atomic that `by` accesses holds `held`. If that is not what was stored, code that is not
    /// seen may have released everything. Returns whether that is so.
    pub(in crate::control) fn open(&mut self, by: AtomicAccess, size: usize, held: u64) -> bool {
        self.task(by.task);
        let location = self.at(by.object);
        let is_new = location.messages.is_empty();
        if !is_new && location.held == held {
            return false;
        }
        self.forget_stores(by.object);
        let (view, origin) = if is_new {
            (View::default(), Origin::INITIAL)
        } else {
            self.has_global_effect = true;
            let origin = Origin { step: 0, ..self.new_store(by) };
            (self.everything(), origin)
        };
        let location = self.at(by.object);
        (location.held, location.size) = (held, size as u8);
        let stamp = location.first_stamp;
        location.messages.push(Message { stamp, value: held, view, is_followed: false, origin });
        !is_new
    }

    /// The newest store of each location.
    fn everything(&self) -> View {
        let mut view = View::default();
        view.join_stores(&self.newest_stores());
        view
    }

    fn newest_stores(&self) -> Vec<u64> {
        self.locations.iter().map(|it| it.messages.last().map_or(it.first_stamp, |it| it.stamp)).collect()
    }

    /// Another object is at this address from now on, or code that is not seen writes it.
    pub(in crate::control) fn forget_stores(&mut self, object: SharedId) {
        let Some(location) = self.locations.get_mut(object.0 as usize) else { return };
        if let Some(last) = location.messages.last() {
            location.first_stamp = last.stamp + STAMP_GAP;
            location.messages.clear();
        }
        location.size = 0;
    }

    /// Accesses to a word may be of equal sizes from now on.
    pub(in crate::control) fn forget_word(&mut self, word: SharedId) {
        if let Some(location) = self.locations.get_mut(word.0 as usize) {
            (location.is_mixed, location.known) = (false, None);
        }
    }

    /// An access to a mixed word finds `old` and leaves `new`. Returns whether code that is not
    /// seen has stored `old`; `None` if it is not known.
    pub(in crate::control) fn is_stored_unseen(
        &mut self,
        word: SharedId,
        old: u64,
        new: u64,
    ) -> Option<bool> {
        self.at(word).known.replace(new).map(|it| it != old)
    }

    /// The size of the accesses to the atomic; 0 if none is known.
    pub(in crate::control) fn size(&self, object: SharedId) -> usize {
        self.locations.get(object.0 as usize).map_or(0, |it| it.size.into())
    }

    /// Whether accesses of different sizes overlap in the word.
    pub(in crate::control) fn is_mixed(&self, word: SharedId) -> bool {
        self.locations.get(word.0 as usize).is_some_and(|it| it.is_mixed)
    }

    /// Accesses of different sizes overlap in `word`, among them those to `parts`.
    pub(in crate::control) fn mix(&mut self, word: SharedId, parts: &[SharedId]) {
        let mut released = View::default();
        for part in parts {
            if let Some(message) = self.at(*part).messages.last() {
                released.join_stores(message.view.stores());
            }
            self.forget_stores(*part);
        }
        let location = self.at(word);
        location.is_mixed = true;
        location.sync.join_stores(released.stores());
    }

    /// An access to a mixed word.
    pub(in crate::control) fn access_mixed(
        &mut self,
        by: AtomicAccess,
        word: SharedId,
        reads: bool,
        writes: bool,
    ) {
        self.task(by.task);
        self.at(word);
        let (task, location) =
            (&mut self.tasks[by.task.index()].clocks, &mut self.locations[word.0 as usize]);
        if reads {
            let mut known = View::default();
            known.join_stores(location.sync.stores());
            task.read(by.order, &known);
        }
        if writes {
            let mut released = View::default();
            task.store(by.task, by.order, &mut released);
            location.sync.join_stores(released.stores());
        }
    }

    /// `task` may have acquired everything, unseen.
    pub(in crate::control) fn acquire_unseen(&mut self, task: TaskId) {
        self.has_global_effect = true;
        let newest = self.newest_stores();
        self.task(task).clocks.now.join_stores(&newest);
    }

    /// `task` may have released what it knows, unseen.
    pub(in crate::control) fn release_unseen(&mut self, task: TaskId) {
        let known = self.task(task).clocks.now.stores().to_vec();
        let knows = |it: &TaskState| {
            let all = it.clocks.now.stores().iter().chain(std::iter::repeat(&0));
            known.iter().zip(all).all(|(released, its)| released <= its)
        };
        // To acquire what all know makes no difference.
        self.has_global_effect |= !self.tasks.iter().all(knows);
        if self.released_unseen.len() < known.len() {
            self.released_unseen.resize(known.len(), 0);
        }
        for (all, mine) in self.released_unseen.iter_mut().zip(known) {
            *all = (*all).max(mine);
        }
    }

    /// Whether `origin` is the newest store of the location.
    pub(in crate::control) fn is_newest(&self, object: SharedId, origin: Origin) -> bool {
        let newest = self.locations.get(object.0 as usize).and_then(|it| it.messages.last());
        newest.is_some_and(|it| it.origin.number == origin.number)
    }
}
