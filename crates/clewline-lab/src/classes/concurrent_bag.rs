//! A bag: an unordered collection.
//!
//! Elements are in several lists with a lock each, to reduce contention between adders. A taker
//! goes from list to list and keeps the locks of those that it found empty, so that nothing is
//! added there meanwhile; an operation on all elements takes all locks.
//!
//! The element determines its list, and the newest of a list is taken first: the plain variant is
//! deterministic, though a bag need not be.
//!
//! **pre** (root cause E) reads the newest element under the lock, and removes it when it has the
//! lock a second time: two threads may take the same.
//!
//! **any** (root cause J) is as in .NET: each thread has a list of its own, made and appended to
//! the list of lists, under a global lock, when it first adds. A taker takes the newest of its own
//! list, or else steals the oldest of the first list that is not empty, in the order in which lists
//! were made. One call at a time this is deterministic. But a thread may have made its list and not
//! yet added to it, and a thief may have passed a list before something is added there: so which
//! element is taken, and the order of `to-array`, do not follow from the order of the calls. A bag
//! may do so, and it is documented.

use std::{collections::VecDeque, sync::Arc};

use clewline_matrix::{Component, Explorable};
use clewline_methods::line_up::Cause;
use clewline_threads::{
    sync::{Mutex, MutexGuard},
    thread::{self, ThreadId},
};

use crate::{
    class::{Class, ClassVariant, Flaw},
    locking::lock,
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "concurrent-bag",
    about: "a bag of several lists with a lock each",
    source: "ConcurrentBag of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[
        ClassVariant { name: "", flaw: None, build: || component(Bag::try_take) },
        ClassVariant {
            name: "pre",
            flaw: Some(Flaw {
                letter: 'E',
                about: "`try-take` looks at an element and removes it in two steps, and two may take the same",
                cause: Cause::NotLinearizable,
                matrix: "add(10) try-take | try-take",
                initial: "",
            }),
            build: || component(Bag::try_take_in_two_steps),
        },
        ClassVariant {
            name: "any",
            flaw: Some(Flaw {
                letter: 'J',
                about: "lists of threads are made before they are added to, and passed before others are: `try-take` takes any element, and `to-array` has any order; documented, and meant to be so",
                cause: Cause::NotLinearizable,
                matrix: "add(10) to-array | add(20) to-array",
                initial: "",
            }),
            build: stealing,
        },
    ],
};

struct Bag {
    lists: [Mutex<Vec<u32>>; LISTS],
}

const LISTS: usize = 2;

impl Bag {
    fn new() -> Self {
        Bag { lists: [const { Mutex::new(Vec::new()) }; LISTS] }
    }

    fn add(&self, element: u32) {
        lock(&self.lists[element as usize / 10 % LISTS]).push(element);
    }

    /// The first list that is not empty, if there is one, behind the empty ones.
    fn lock_first(&self) -> Vec<MutexGuard<'_, Vec<u32>>> {
        let mut locked = Vec::new();
        for list in &self.lists {
            let list = lock(list);
            let is_empty = list.is_empty();
            locked.push(list);
            if !is_empty {
                break;
            }
        }
        locked
    }

    fn lock_all(&self) -> Vec<MutexGuard<'_, Vec<u32>>> {
        self.lists.iter().map(lock).collect()
    }

    fn try_take(&self) -> Option<u32> {
        self.lock_first().last_mut()?.pop()
    }

    fn try_take_in_two_steps(&self) -> Option<u32> {
        let newest = self.try_peek()?;
        self.lock_first().last_mut()?.pop();
        Some(newest)
    }

    fn try_peek(&self) -> Option<u32> {
        self.lock_first().last()?.last().copied()
    }

    fn count(&self) -> usize {
        self.lock_all().iter().map(|it| it.len()).sum()
    }

    fn is_empty(&self) -> bool {
        self.lock_first().last().is_none_or(|it| it.is_empty())
    }

    fn to_array(&self) -> Vec<u32> {
        self.lock_all().iter().flat_map(|it| it.iter().copied()).collect()
    }
}

fn component(try_take: fn(&Bag) -> Option<u32>) -> Box<dyn Explorable> {
    let component = Component::new(Bag::new);
    Box::new(
        component
            .call("count", Bag::count)
            .call("add(10)", |it| it.add(10))
            .call("add(20)", |it| it.add(20))
            .call("try-take", try_take)
            .call("is-empty", Bag::is_empty)
            .call("try-peek", Bag::try_peek)
            .call("to-array", Bag::to_array),
    )
}

/// A list for each thread that has added something.
struct StealingBag {
    lists: Mutex<Vec<(ThreadId, Arc<Mutex<OwnList>>)>>,
}

/// The elements that a thread has added, the oldest first.
#[derive(Default)]
struct OwnList {
    elements: VecDeque<u32>,
    // How many were ever added: a thief that found nothing looks again if this has changed.
    added: u32,
}

impl StealingBag {
    fn new() -> Self {
        StealingBag { lists: Mutex::new(Vec::new()) }
    }

    fn list(&self, at: usize) -> Option<Arc<Mutex<OwnList>>> {
        lock(&self.lists).get(at).map(|it| Arc::clone(&it.1))
    }

    fn own(&self) -> Option<Arc<Mutex<OwnList>>> {
        let me = thread::current().id();
        lock(&self.lists).iter().find(|it| it.0 == me).map(|it| Arc::clone(&it.1))
    }

    /// The list of this thread, which is made if there is none.
    fn own_or_new(&self) -> Arc<Mutex<OwnList>> {
        self.own().unwrap_or_else(|| {
            let list = Arc::new(Mutex::new(OwnList::default()));
            lock(&self.lists).push((thread::current().id(), Arc::clone(&list)));
            list
        })
    }

    fn add(&self, element: u32) {
        let own = self.own_or_new();
        let mut own = lock(&own);
        own.elements.push_back(element);
        own.added += 1;
    }

    /// The newest element of this thread's list, or the oldest of another; `get` removes it or not.
    fn take_or_steal(
        &self,
        get_own: fn(&mut VecDeque<u32>) -> Option<u32>,
        steal: fn(&mut VecDeque<u32>) -> Option<u32>,
    ) -> Option<u32> {
        let own = self.own();
        if let Some(newest) = own.and_then(|it| get_own(&mut lock(&it).elements)) {
            return Some(newest);
        }
        let mut before = None;
        loop {
            let mut added = Vec::new();
            for at in 0.. {
                let Some(list) = self.list(at) else { break };
                let mut list = lock(&list);
                if let Some(oldest) = steal(&mut list.elements) {
                    return Some(oldest);
                }
                added.push(list.added);
            }
            if before.as_ref() == Some(&added) {
                return None;
            }
            before = Some(added);
        }
    }

    fn try_take(&self) -> Option<u32> {
        self.take_or_steal(VecDeque::pop_back, VecDeque::pop_front)
    }

    fn try_peek(&self) -> Option<u32> {
        self.take_or_steal(|it| it.back().copied(), |it| it.front().copied())
    }

    /// Stops all threads at their lists, and looks at them.
    fn with_all<R>(&self, look: impl FnOnce(&[MutexGuard<'_, OwnList>]) -> R) -> R {
        let lists = lock(&self.lists);
        let locked: Vec<MutexGuard<'_, OwnList>> = lists.iter().map(|it| lock(&it.1)).collect();
        look(&locked)
    }

    fn count(&self) -> usize {
        self.with_all(|lists| lists.iter().map(|it| it.elements.len()).sum())
    }

    fn is_empty(&self) -> bool {
        self.count() == 0
    }

    fn to_array(&self) -> Vec<u32> {
        self.with_all(|lists| lists.iter().flat_map(|it| it.elements.iter().copied()).collect())
    }
}

fn stealing() -> Box<dyn Explorable> {
    let component = Component::new(StealingBag::new);
    Box::new(
        component
            .call("count", StealingBag::count)
            .call("add(10)", |it| it.add(10))
            .call("add(20)", |it| it.add(20))
            .call("try-take", StealingBag::try_take)
            .call("is-empty", StealingBag::is_empty)
            .call("try-peek", StealingBag::try_peek)
            .call("to-array", StealingBag::to_array),
    )
}
