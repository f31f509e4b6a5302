//! Atomics of foreign code under weak memory models.
//!
//! Memory always holds the last store in modification order, so that code which is not seen, and
//! plain accesses, read and write it as they are. A load that reads an older store returns what
//! the [memory state](super::super::memory) has kept of it.

use std::sync::atomic::Ordering;

use clewline_explore::{Access, SharedId, TaskId};

use super::{
    super::memory::{AtomicAccess, Loaded, MemoryModel, Origin, ReadModifyWrite},
    state::Control,
};
use crate::control::place::Place;

/// An atomic access of foreign code.
#[derive(Clone, Copy, Debug)]
pub struct ForeignAccess {
    /// The address.
    pub address: usize,
    /// The number of bytes.
    pub size: usize,
    /// The ordering.
    pub order: Ordering,
    /// The place in the code.
    pub place: Place,
}

/// The effect of a store.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// What memory must hold from now on.
    pub held: u64,
    /// Where the store comes from.
    pub origin: Origin,
    /// Whether it is the last one in modification order.
    pub is_newest: bool,
}

/// The effect of a read-modify-write.
#[derive(Clone, Copy, Debug)]
pub struct Updated {
    /// What it has read.
    pub read: Loaded,
    /// The value that it has stored; `None` if it only read.
    pub new: Option<(u64, Stored)>,
}

/// The word that contains an address.
fn word_of(address: usize) -> usize {
    address & !7
}

impl Control {
    /// Whether a memory model other than sequential consistency applies.
    #[inline(always)]
    #[must_use]
    pub fn has_weak_memory(self) -> bool {
        self.is_weak()
    }

    /// How a store with this ordering accesses its object.
    #[must_use]
    pub fn access_of_store(self, order: Ordering) -> Access {
        match (self.engine().weak.settings.model, order) {
            (MemoryModel::Tso, Ordering::SeqCst) => Access::Update,
            (MemoryModel::Tso, _) => Access::Buffer,
            (MemoryModel::SequentiallyConsistent | MemoryModel::ReleaseAcquire, _) => Access::Write,
        }
    }

    /// Whether the model applies to this access. If not, it reads and writes memory, and
    /// [`access_mixed`](Self::access_mixed) follows: accesses of different sizes overlap there.
    #[must_use]
    pub fn follows_model(self, address: usize, size: usize) -> bool {
        let engine = self.engine();
        let word = word_of(address);
        if word + 8 < address + size {
            self.mix_memory(address, size);
            return false;
        }
        let (object, word_id) = (engine.objects.id(address), engine.objects.id(word));
        let known = engine.memory().size(object);
        if engine.memory().is_mixed(word_id) {
            return false;
        }
        if known == size {
            return true;
        }
        let is_other = |at: &usize| {
            let engine = self.engine();
            let size_there = engine.objects.known(*at).map_or(0, |it| engine.memory().size(it));
            size_there != 0 && *at < address + size && address < *at + size_there
        };
        if (word..word + 8).any(|it| is_other(&it)) {
            self.mix(word);
            return false;
        }
        true
    }

    /// The model does not apply to the words of this memory.
    pub fn mix_memory(self, address: usize, size: usize) {
        for word in (word_of(address)..address + size).step_by(8) {
            self.mix(word);
        }
    }

    /// Accesses of different sizes overlap in this word.
    fn mix(self, word: usize) {
        let engine = self.engine();
        let id = engine.objects.id(word);
        if engine.memory().is_mixed(id) {
            return;
        }
        self.flush_all();
        let parts: Vec<SharedId> = (word..word + 8).filter_map(|it| engine.objects.known(it)).collect();
        engine.memory().mix(id, &parts);
    }

    /// All buffered stores reach memory.
    fn flush_all(self) {
        let engine = self.engine();
        for task in (0..engine.tasks.len()).map(|it| TaskId(it as u8)) {
            engine.flush_buffer(task);
        }
    }

    fn access_by(self, access: &ForeignAccess) -> AtomicAccess {
        let engine = self.engine();
        AtomicAccess {
            task: engine.current,
            object: engine.objects.id(access.address),
            place: access.place,
            order: access.order,
        }
    }

    /// An access to memory to which the model does not apply.
    pub fn access_mixed(self, access: &ForeignAccess, reads: bool, writes: bool) {
        self.note_mixed_access();
        self.engine().note_irregular_buffers();
        let by = self.access_by(access);
        let engine = self.engine();
        engine.flush_buffer(by.task);
        for word in (word_of(access.address)..access.address + access.size).step_by(8) {
            let id = engine.objects.id(word);
            engine.memory().access_mixed(by, id, reads, writes);
        }
    }

    /// An access to the whole word at `address`, to which the model does not apply, finds `old` and
    /// leaves `new`. Returns whether code that is not seen has stored `old`; `None` if it is not
    /// known.
    #[must_use]
    pub fn is_stored_unseen(self, address: usize, old: u64, new: u64) -> Option<bool> {
        let engine = self.engine();
        let word = engine.objects.id(address);
        engine.memory().is_stored_unseen(word, old, new)
    }

    /// A load, where memory holds `held`.
    #[must_use]
    pub fn load_in_model(self, access: &ForeignAccess, held: u64) -> Loaded {
        let by = self.open(access, held);
        let loaded = self.with(|memory, engine| memory.load(by, held, engine));
        self.note_foreign_read(access, by, loaded);
        loaded
    }

    /// Begins an access where memory holds `held`.
    fn open(self, access: &ForeignAccess, held: u64) -> AtomicAccess {
        let by = self.access_by(access);
        if self.with(|memory, _| memory.open(by, access.size, held)) {
            self.note_unseen_effect();
        }
        by
    }

    /// A task has read a value.
    fn note_foreign_read(self, access: &ForeignAccess, by: AtomicAccess, loaded: Loaded) {
        self.note_old_read(loaded);
        let engine = self.engine();
        if engine.is_graph {
            let word = engine.objects.id(word_of(access.address));
            engine.note_read(by, word, loaded.value);
        }
    }

    /// A store, where memory holds `held`.
    #[must_use]
    pub fn store_in_model(self, access: &ForeignAccess, value: u64, held: u64) -> Stored {
        let by = self.open(access, held);
        let is_buffered =
            self.engine().weak.settings.model == MemoryModel::Tso && access.order != Ordering::SeqCst;
        if is_buffered && !self.engine().has_room_for_buffer() {
            self.cut_for_tasks(access.place);
        }
        let (now, origin) = self.with(|memory, engine| memory.store(by, value, held, engine));
        let engine = self.engine();
        if is_buffered {
            engine.tasks[by.task.index()].rounds.clear();
            engine.note_buffered(by, std::ptr::with_exposed_provenance(access.address), writer(access.size));
        }
        let is_newest = is_buffered || engine.memory().is_newest(by.object, origin);
        Stored { held: now, origin, is_newest }
    }

    /// A read-modify-write, where memory holds `held`.
    #[must_use]
    pub fn update_in_model(
        self,
        access: &ForeignAccess,
        change: &mut ReadModifyWrite<'_>,
        held: u64,
    ) -> Updated {
        let by = self.open(access, held);
        let updated = self.with(|memory, engine| memory.update(by, change, held, engine));
        self.note_foreign_read(access, by, updated.read);
        let memory = self.engine().memory();
        let held = memory.held(by.object);
        let stored = |origin| Stored { held, origin, is_newest: memory.is_newest(by.object, origin) };
        Updated { read: updated.read, new: updated.new.map(|(new, origin)| (new, stored(origin))) }
    }

    /// The memory at these addresses belongs to other objects from now on, or code writes it
    /// otherwise than by the model.
    pub fn forget_memory(self, address: usize, size: usize) {
        if !self.is_weak() {
            return;
        }
        let engine = self.engine();
        let end = address + size;
        for at in word_of(address)..end {
            let Some(object) = engine.objects.known(at) else { continue };
            if word_of(at) == at && address <= at && at + 8 <= end {
                engine.memory().forget_word(object);
            }
            let size = engine.memory().size(object);
            if size == 0 || at + size <= address {
                continue;
            }
            if engine.has_buffers() {
                engine.forget_buffered(object);
            }
            engine.memory().forget_stores(object);
            if engine.is_graph {
                // In a graph it is another object.
                engine.objects.forget(at);
            }
        }
    }

    /// What tasks released at an object happens before what `task` does next.
    pub fn acquire_object(self, task: TaskId, address: usize) {
        let engine = self.engine();
        let id = engine.objects.id(address);
        engine.memory().acquire(task, id, Access::Acquire);
    }

    /// What `task` did happens before what tasks do after they acquire the object.
    pub fn release_object(self, task: TaskId, address: usize) {
        let engine = self.engine();
        let id = engine.objects.id(address);
        engine.memory().release(task, id, Access::Acquire);
    }

    /// `later` continues after what `earlier` did so far.
    pub fn order_tasks(self, later: TaskId, earlier: TaskId) {
        self.engine().memory().begin_after(later, earlier);
    }

    /// `task` may have acquired, unseen, what all tasks did so far.
    pub fn note_unseen_acquire(self, task: TaskId) {
        self.note_unseen_effect();
        self.with(|memory, _| memory.acquire_unseen(task));
    }

    /// `task` may have released, unseen, what it did so far.
    pub fn note_unseen_release(self, task: TaskId) {
        self.note_unseen_effect();
        self.with(|memory, _| memory.release_unseen(task));
    }
}

/// Writes an atomic of that size.
fn writer(size: usize) -> super::buffers::WriteBack {
    unsafe fn write<T: TryFrom<u64>>(address: *const (), value: u64) {
        if let Ok(value) = T::try_from(value) {
            // SAFETY: the caller guarantees that such a value is there, which tasks may write.
            unsafe { address.cast_mut().cast::<T>().write_volatile(value) };
        }
    }
    match size {
        1 => write::<u8>,
        2 => write::<u16>,
        4 => write::<u32>,
        _ => write::<u64>,
    }
}
