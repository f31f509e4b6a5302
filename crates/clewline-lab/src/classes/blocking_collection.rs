//! A queue whose takers wait for an element, until adding is completed.
//!
//! The elements are in a lock-free [queue](super::concurrent_queue), which alone determines the
//! contents. A thread that finds nothing sleeps until something is added. One word counts the
//! threads that are adding, and holds whether adding is complete: the thread that completes it
//! waits for those that are still adding, so that nothing is added afterwards.
//!
//! **pre** (root cause D) does not count adding threads: an element may be added after adding was
//! completed. **count** (root cause H) keeps a count beside the queue, which is incremented after
//! an element was added: it may be 0 although there is one. **try-take** (root cause I) keeps such
//! a count, too, and a taker needs a permit from it first: it may find none although there is an
//! element. It does not offer `to-array`, which would show such an element sooner. **cancel** (root
//! cause K) can be canceled, and a taker checks for that only before it looks for an element: it
//! may take one that was added after the cancellation.

use clewline_matrix::Component;
use clewline_methods::line_up::Cause;
use clewline_threads::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    thread,
};

use super::concurrent_queue::Queue;
use crate::{
    class::{Class, ClassVariant, Flaw},
    monitor::Monitor,
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "blocking-collection",
    about: "a queue from which takers wait for an element",
    source: "BlockingCollection of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[
        ClassVariant { name: "", flaw: None, build: || Box::new(with_array(PLAIN)) },
        ClassVariant {
            name: "pre",
            flaw: Some(Flaw {
                letter: 'D',
                about: "completing does not wait for a thread that is adding, and its element comes later",
                cause: Cause::NotLinearizable,
                matrix: "add(10) | complete-adding is-completed",
                initial: "",
            }),
            build: || Box::new(with_array(Kind { adders: Adders::NotCounted, ..PLAIN })),
        },
        ClassVariant {
            name: "count",
            flaw: Some(Flaw {
                letter: 'H',
                about: "`count` may be 0 though there is an element; documented, and meant to be so",
                cause: Cause::NotLinearizable,
                matrix: "add(10) | to-array count",
                initial: "",
            }),
            build: || Box::new(with_array(Kind { counting: Counting::Beside, ..PLAIN })),
        },
        ClassVariant {
            name: "try-take",
            flaw: Some(Flaw {
                letter: 'I',
                about: "`try-take` may find nothing though there is an element; documented, and meant to be so",
                cause: Cause::NotLinearizable,
                matrix: "add(10) | try-add(20) try-take | try-take",
                initial: "",
            }),
            build: || Box::new(component(Kind { counting: Counting::Permits, ..PLAIN })),
        },
        ClassVariant {
            name: "cancel",
            flaw: Some(Flaw {
                letter: 'K',
                about: "`cancel` takes effect after it has returned; documented, and meant to be so",
                cause: Cause::NotLinearizable,
                matrix: "take | cancel add(10)",
                initial: "",
            }),
            build: || Box::new(with_array(PLAIN).call("cancel", Collection::cancel)),
        },
    ],
};

#[derive(Clone, Copy)]
struct Kind {
    adders: Adders,
    counting: Counting,
}

const PLAIN: Kind = Kind { adders: Adders::Counted, counting: Counting::Elements };

/// Whether adding threads are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Adders {
    Counted,
    NotCounted,
}

/// What is counted.
#[derive(Clone, Copy)]
enum Counting {
    /// What is in the queue.
    Elements,
    /// What came and what went, each afterwards.
    Beside,
    /// Permits to take, which are given after an element came.
    Permits,
}

struct Collection {
    queue: Queue,
    // How many are adding, and whether no more are to come.
    adders: AtomicU32,
    count: AtomicU32,
    is_canceled: AtomicBool,
    sleepers: Monitor<u32>,
    kind: Kind,
}

const COMPLETE: u32 = 1 << 31;

/// Why a call is refused.
#[derive(Debug)]
enum Refused {
    /// Nothing can be added any more, and nothing will come.
    Completed,
    Canceled,
}

impl Collection {
    fn new(kind: Kind) -> Self {
        Collection {
            queue: Queue::new(),
            adders: AtomicU32::new(0),
            count: AtomicU32::new(0),
            is_canceled: AtomicBool::new(false),
            sleepers: Monitor::new(0),
            kind,
        }
    }

    fn add(&self, element: u32) -> Result<(), Refused> {
        self.enter()?;
        self.queue.enqueue(element);
        match self.kind.counting {
            Counting::Elements => (),
            Counting::Beside | Counting::Permits => {
                self.count.fetch_add(1, SeqCst);
            }
        }
        self.wake();
        if self.kind.adders == Adders::Counted {
            self.adders.fetch_sub(1, SeqCst);
        }
        Ok(())
    }

    fn try_add(&self, element: u32) -> Result<bool, Refused> {
        self.add(element).map(|()| true)
    }

    /// Counts the caller as adding, unless adding is complete.
    fn enter(&self) -> Result<(), Refused> {
        let mut adders = self.adders.load(SeqCst);
        loop {
            if adders & COMPLETE == COMPLETE {
                self.wait_for_adders();
                return Err(Refused::Completed);
            }
            if self.kind.adders == Adders::NotCounted {
                return Ok(());
            }
            match self.adders.compare_exchange(adders, adders + 1, SeqCst, SeqCst) {
                Ok(_) => return Ok(()),
                Err(other) => adders = other,
            }
        }
    }

    fn complete_adding(&self) {
        self.adders.fetch_or(COMPLETE, SeqCst);
        self.wait_for_adders();
        self.wake();
    }

    fn wait_for_adders(&self) {
        while !self.is_adding_completed() {
            thread::yield_now();
        }
    }

    fn is_adding_completed(&self) -> bool {
        self.adders.load(SeqCst) == COMPLETE
    }

    fn is_completed(&self) -> bool {
        self.is_adding_completed() && self.is_empty()
    }

    fn is_empty(&self) -> bool {
        match self.kind.counting {
            Counting::Elements | Counting::Beside => self.queue.is_empty(),
            Counting::Permits => self.count.load(SeqCst) == 0,
        }
    }

    fn count(&self) -> u32 {
        match self.kind.counting {
            Counting::Elements => self.queue.count() as u32,
            Counting::Beside | Counting::Permits => {
                // It may have gone down before it went up.
                self.count.load(SeqCst).cast_signed().max(0).cast_unsigned()
            }
        }
    }

    fn try_take(&self) -> Option<u32> {
        match self.kind.counting {
            Counting::Elements => self.queue.try_dequeue(),
            Counting::Beside => {
                let element = self.queue.try_dequeue()?;
                self.count.fetch_sub(1, SeqCst);
                Some(element)
            }
            Counting::Permits => {
                self.take_permit().then(|| self.queue.try_dequeue().expect("a permit is for an element"))
            }
        }
    }

    fn take_permit(&self) -> bool {
        let mut count = self.count.load(SeqCst);
        while 0 < count {
            match self.count.compare_exchange(count, count - 1, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(other) => count = other,
            }
        }
        false
    }

    /// Tries a second time before it gives up: the schedule decides how much happens in between.
    fn try_take_for_a_while(&self) -> Option<u32> {
        self.try_take().or_else(|| self.try_take())
    }

    fn take(&self) -> Result<u32, Refused> {
        loop {
            if self.is_canceled.load(SeqCst) {
                return Err(Refused::Canceled);
            }
            if let Some(element) = self.try_take() {
                return Ok(element);
            }
            if self.is_adding_completed() {
                // The last element may have been added before adding was completed, and after the
                // attempt above.
                return self.try_take().ok_or(Refused::Completed);
            }
            self.sleep();
        }
    }

    /// Sleeps until there is something to do. May wake too early.
    fn sleep(&self) {
        let mut sleepers = self.sleepers.enter();
        if self.is_empty() && !self.is_adding_completed() && !self.is_canceled.load(SeqCst) {
            *sleepers += 1;
            sleepers = self.sleepers.wait(sleepers);
            *sleepers -= 1;
        }
    }

    fn wake(&self) {
        let sleepers = self.sleepers.enter();
        if 0 < *sleepers {
            self.sleepers.wake_all();
        }
    }

    fn cancel(&self) {
        self.is_canceled.store(true, SeqCst);
        self.wake();
    }
}

fn component(kind: Kind) -> Component<Collection> {
    Component::new(move || Collection::new(kind))
        .call("count", Collection::count)
        .call("try-add(20)", |it| it.try_add(20))
        .call("try-add(30,1)", |it| it.try_add(30))
        .call("is-completed", Collection::is_completed)
        .call("is-adding-completed", Collection::is_adding_completed)
        .call("complete-adding", Collection::complete_adding)
        .call("add(10)", |it| it.add(10))
        .call("take", Collection::take)
        .call("take-with-enum", |it| it.take().ok())
        .call("try-take", Collection::try_take)
        .call("try-take(1)", Collection::try_take_for_a_while)
}

fn with_array(kind: Kind) -> Component<Collection> {
    component(kind).call("to-array", |it| it.queue.to_array())
}
