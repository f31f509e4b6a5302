use std::{
    cell::{Cell, RefCell},
    panic::{self, AssertUnwindSafe},
    rc::Rc,
};

/// The same tests for each kind of fibers.
macro_rules! kinds {
    ($($name:ident)+) => {
        $(
            mod $name {
                use super::{super::$name::{Fiber, Root, Seat}, *};
                use crate::control::stacks;

                fn fiber(body: impl FnOnce(Seat) + 'static) -> Fiber {
                    Fiber::new(stacks::take().expect("memory for a stack"), body)
                }

                fn resume(fiber: &mut Fiber, root: &mut Root) {
                    // SAFETY: tests resume fibers that are not done, from outside.
                    unsafe { fiber.resume(root) };
                }

                #[test]
                fn a_resumed_body_continues_where_it_was_suspended() {
                    let seen = Rc::new(RefCell::new(Vec::new()));
                    let shared = Rc::clone(&seen);
                    let mut fiber = fiber(move |seat| {
                        for at in 0..3 {
                            shared.borrow_mut().push(at);
                            // SAFETY: this is the fiber's own seat.
                            unsafe { seat.suspend() };
                        }
                    });
                    let mut root = Root::new();
                    assert!(!fiber.has_begun());
                    for at in 0..3 {
                        resume(&mut fiber, &mut root);
                        assert_eq!(seen.borrow().last(), Some(&at));
                        assert!(fiber.has_begun() && !fiber.is_done());
                    }
                    resume(&mut fiber, &mut root);
                    assert!(fiber.is_done());
                    assert_eq!((Rc::strong_count(&seen), &*seen.borrow()), (1, &vec![0, 1, 2]));
                    stacks::give_back(fiber.into_stack());
                }

                #[test]
                fn registers_of_a_body_survive_a_switch() {
                    let mut root = Root::new();
                    let sums = Rc::new(Cell::new((0, 0.0)));
                    let mut fibers: Vec<Fiber> = (0..3)
                        .map(|mine: u64| {
                            let sums = Rc::clone(&sums);
                            fiber(move |seat| {
                                let (mut sum, mut product) = (mine, 1.5);
                                for at in 0..100 {
                                    sum = sum.wrapping_mul(31).wrapping_add(at);
                                    product *= 1.01;
                                    // SAFETY: this is the fiber's own seat.
                                    unsafe { seat.suspend() };
                                }
                                let (sum_all, product_all) = sums.get();
                                sums.set((sum_all ^ sum, product_all + product));
                            })
                        })
                        .collect();
                    while fibers.iter().any(|it| !it.is_done()) {
                        fibers.iter_mut().filter(|it| !it.is_done()).for_each(|it| resume(it, &mut root));
                    }
                    let expected = (0..3).map(|mine| (0..100).fold(mine, |sum: u64, at| {
                        sum.wrapping_mul(31).wrapping_add(at)
                    }));
                    let product = (0..100).fold(1.5, |it, _| it * 1.01);
                    assert_eq!(sums.get(), (expected.fold(0, |a, b| a ^ b), product + product + product));
                }

                #[test]
                fn a_body_that_never_begins_is_dropped() {
                    let owned = Rc::new(());
                    let kept = Rc::clone(&owned);
                    let mut given_up = fiber(move |_| drop(kept));
                    // SAFETY: no value on its stack needs to be dropped.
                    unsafe { given_up.give_up() };
                    assert_eq!(Rc::strong_count(&owned), 1);
                    stacks::give_back(given_up.into_stack());
                    let kept = Rc::clone(&owned);
                    drop(fiber(move |_| drop(kept)));
                    assert_eq!(Rc::strong_count(&owned), 1);
                }

                #[test]
                fn a_large_body_is_stored() {
                    #[repr(align(128))]
                    struct Large([u64; 100]);
                    let large = Large(std::array::from_fn(|at| at as u64));
                    let sum = Rc::new(Cell::new(0));
                    let shared = Rc::clone(&sum);
                    let mut fiber = fiber(move |_| {
                        let large = large;
                        assert!((&raw const large).is_aligned());
                        shared.set(large.0.iter().sum());
                    });
                    resume(&mut fiber, &mut Root::new());
                    assert_eq!((fiber.is_done(), sum.get()), (true, 4_950));
                }

                #[test]
                fn an_uncaught_panic_of_a_body_propagates_to_its_root() {
                    let mut fiber = fiber(|_| panic::resume_unwind(Box::new(7)));
                    let payload = panic::catch_unwind(AssertUnwindSafe(|| {
                        resume(&mut fiber, &mut Root::new());
                        fiber.is_done()
                    }));
                    assert_eq!(payload.err().and_then(|it| it.downcast::<i32>().ok()), Some(Box::new(7)));
                    assert!(fiber.is_done());
                }

                #[test]
                fn direct_switches_return_to_the_root_in_the_end() {
                    let mut root = Root::new();
                    let seats = Rc::new(Cell::new([Seat::NONE; 2]));
                    let order = Rc::new(RefCell::new(Vec::new()));
                    let mut fibers: Vec<Fiber> = (0..2)
                        .map(|me| {
                            let (seats, order) = (Rc::clone(&seats), Rc::clone(&order));
                            fiber(move |seat| {
                                let mut all = seats.get();
                                all[me] = seat;
                                seats.set(all);
                                // SAFETY: this is the fiber's own seat.
                                unsafe { seat.suspend() };
                                for at in 0..3 {
                                    order.borrow_mut().push((me, at));
                                    // SAFETY: this is the fiber's own seat, and the other fiber has
                                    // suspended itself.
                                    unsafe { seat.hand_to(seats.get()[1 - me]) };
                                }
                            })
                        })
                        .collect();
                    fibers.iter_mut().for_each(|it| resume(it, &mut root));
                    while let Some(fiber) = fibers.iter_mut().find(|it| !it.is_done()) {
                        resume(fiber, &mut root);
                    }
                    let mut order = order.take();
                    if Seat::IS_DIRECT {
                        assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]);
                    }
                    order.sort_unstable();
                    assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
                }
            }
        )+
    };
}

#[cfg(all(unix, target_arch = "x86_64", not(miri)))]
kinds!(direct);
#[cfg(not(miri))]
kinds!(portable);
#[cfg(miri)]
kinds!(threads);
