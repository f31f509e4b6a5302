//! Both kinds of fibers in isolation, for a benchmark that compares them.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// The same code for each kind.
macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident)+) => {
        $(
            $(#[$meta])*
            pub mod $name {
                use super::{super::$name::{Fiber, Root, Seat}, *};
                use crate::control::stacks;

                #[derive(Default)]
                struct Shared {
                    seats: RefCell<Vec<Seat>>,
                    // The number of switches left before the turn returns to the root.
                    left: Cell<u64>,
                    is_over: Cell<bool>,
                }

                /// Fibers that run in turn.
                #[allow(missing_debug_implementations, reason = "a stack has nothing to show")]
                pub struct Ring {
                    fibers: Vec<Fiber>,
                    root: Box<Root>,
                    shared: Rc<Shared>,
                }

                impl Ring {
                    /// `count` fibers, each of which has begun.
                    ///
                    /// # Panics
                    ///
                    /// If there is no memory for their stacks.
                    #[must_use]
                    pub fn new(count: usize) -> Ring {
                        let shared = Rc::new(Shared::default());
                        let fiber = |me: usize| {
                            let shared = Rc::clone(&shared);
                            let stack = stacks::take().expect("memory for a stack");
                            Fiber::new(stack, move |seat| {
                                shared.seats.borrow_mut().push(seat);
                                take_turns(&shared, seat, (me + 1) % count);
                            })
                        };
                        let fibers = (0..count).map(fiber).collect();
                        let mut ring = Ring { fibers, root: Box::new(Root::new()), shared };
                        // Once to register the seat, and once more to read the next one.
                        ring.resume_each(2);
                        ring
                    }

                    /// The root resumes each fiber `rounds` times, and each suspends itself.
                    pub fn resume_each(&mut self, rounds: u64) {
                        let root = &raw mut *self.root;
                        for _ in 0..rounds {
                            for fiber in &mut self.fibers {
                                // SAFETY: no fiber is done before the ring is dropped, and none
                                // runs while the root does.
                                unsafe { fiber.resume(root) };
                            }
                        }
                    }

                    /// Each fiber switches to the next one, `turns` times in all; where direct
                    /// switches are not supported, the root passes the turn on.
                    pub fn hand_on(&mut self, turns: u64) {
                        let root = &raw mut *self.root;
                        self.shared.left.set(turns);
                        let mut at = 0;
                        while 0 < self.shared.left.get() {
                            // SAFETY: as above.
                            unsafe { self.fibers[at].resume(root) };
                            at = (at + 1) % self.fibers.len();
                        }
                    }
                }

                impl Drop for Ring {
                    fn drop(&mut self) {
                        self.shared.is_over.set(true);
                        self.resume_each(1);
                        for fiber in self.fibers.drain(..) {
                            stacks::give_back(fiber.into_stack());
                        }
                    }
                }

                fn take_turns(shared: &Shared, me: Seat, next: usize) {
                    // SAFETY: this is the fiber's own seat.
                    unsafe { me.suspend() };
                    // By now every fiber has run once.
                    let next = shared.seats.borrow()[next];
                    while !shared.is_over.get() {
                        let left = shared.left.get();
                        if left == 0 {
                            // SAFETY: this is the fiber's own seat.
                            unsafe { me.suspend() };
                        } else {
                            shared.left.set(left - 1);
                            // SAFETY: this is the fiber's own seat, and every other fiber has
                            // suspended itself or switched away.
                            unsafe { me.hand_to(next) };
                        }
                    }
                }

                /// Creates `count` fibers, runs each to its end, and keeps their stacks for the
                /// next time.
                ///
                /// # Panics
                ///
                /// If there is no memory for their stacks.
                pub fn begin_and_end(count: u64) {
                    let seen = Rc::new(Cell::new(0));
                    let mut root = Root::new();
                    let fiber = |_| {
                        let seen = Rc::clone(&seen);
                        let stack = stacks::take().expect("memory for a stack");
                        Fiber::new(stack, move |_| seen.set(seen.get() + 1))
                    };
                    let mut fibers: Vec<Fiber> = (0..count).map(fiber).collect();
                    for fiber in &mut fibers {
                        // SAFETY: it has not begun, and this is the root.
                        unsafe { fiber.resume(&raw mut root) };
                    }
                    fibers.into_iter().for_each(|it| stacks::give_back(it.into_stack()));
                    assert_eq!(seen.get(), count, "every fiber has run");
                }
            }
        )+
    };
}

kinds! {
    /// The fibers of corosensei, which switch through the root.
    portable
}
#[cfg(all(unix, target_arch = "x86_64"))]
kinds! {
    /// Our own fibers.
    direct
}
