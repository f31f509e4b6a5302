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
//! lock a second time: two threads may take the same. **any** (root cause J) takes any element, as
//! a bag may.

use clewline_methods::line_up::Cause;
use clewline_threads::{
    Component, Explorable, choose,
    sync::{Mutex, MutexGuard},
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
                about: "`try-take` takes any element; documented, and meant to be so",
                cause: Cause::Nondeterminism,
                matrix: "add(10) add(20) | try-take",
                initial: "",
            }),
            build: || component(Bag::try_take_any),
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

    fn try_take_any(&self) -> Option<u32> {
        let mut lists = self.lock_all();
        let n = lists.iter().map(|it| it.len()).sum();
        let mut chosen = if n == 0 { return None } else { choose(n) };
        for list in &mut lists {
            if chosen < list.len() {
                return Some(list.remove(chosen));
            }
            chosen -= list.len();
        }
        None
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
