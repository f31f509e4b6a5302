use std::{cell::RefCell, ops::ControlFlow, rc::Rc};

use clewline_core::Random;
use clewline_explore::{Ending, explore, schedulers::exhaustive::Exhaustive};
use clewline_testing::pick;

use super::*;
use crate::control::{Calls, Limits, Memory, MemoryModel, ThreadProgram};
use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// Runs `body` outside an exploration, and as the only task in each model, with and without race
/// detection. All must return the same.
#[track_caller]
fn check_same<R: PartialEq + std::fmt::Debug + 'static>(body: fn() -> R, expected: R) {
    assert_eq!(body(), expected, "outside of an exploration");
    let models = [MemoryModel::SequentiallyConsistent, MemoryModel::Tso, MemoryModel::ReleaseAcquire];
    for (model, races) in models.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let left = Rc::new(RefCell::new(None));
        let calls = Calls { columns: vec![vec![()]], ..Calls::default() };
        let result = Rc::clone(&left);
        let call = move |(): &(), (): &()| *result.borrow_mut() = Some(body());
        let memory = Memory { model, races, ..Memory::default() };
        let mut program = ThreadProgram::new(calls, || (), call, Limits::default()).with_memory(memory);
        explore(&mut program, &mut Exhaustive::default(), u64::MAX, |_, ending, _| {
            assert_eq!(*ending, Ending::Full);
            assert_eq!(left.take().as_ref(), Some(&expected), "{model:?}, races: {races}");
            ControlFlow::Continue(())
        });
    }
}

/// The same random calls on an atomic of `std` or of ours: all results, and the final value.
macro_rules! random_calls {
    ($name:ty, $type:ty, $of:expr) => {{
        let mut random = Random::new(7);
        let of: fn(u64) -> $type = $of;
        let atomic = <$name>::new(of(random.next()));
        let mut results = vec![atomic.load(SeqCst)];
        let orders = [Relaxed, Acquire, Release, AcqRel, SeqCst];
        for _ in 0..pick(20, 200) {
            let (value, order) = (of(random.next()), orders[random.below(5)]);
            let now = *results.last().unwrap();
            results.push(match random.below(8) {
                0 => atomic.swap(value, order),
                1 => atomic.fetch_and(value, order),
                2 => atomic.fetch_nand(value, order),
                3 => atomic.fetch_or(value, order),
                4 => atomic.fetch_xor(value, order),
                5 => atomic.compare_exchange(now, value, order, Relaxed).unwrap_or_else(|it| it),
                6 => atomic
                    .fetch_update(AcqRel, Acquire, |it| (it != value).then_some(value))
                    .unwrap_or_else(|it| it),
                _ => {
                    atomic.store(value, [Relaxed, Release, SeqCst][random.below(3)]);
                    atomic.load([Relaxed, Acquire, SeqCst][random.below(3)])
                }
            });
        }
        results.push(atomic.into_inner());
        results
    }};
}

macro_rules! random_sums {
    ($name:ty, $type:ty) => {{
        let mut random = Random::new(7);
        let atomic = <$name>::default();
        let mut results = Vec::new();
        for _ in 0..pick(20, 100) {
            let value = random.next() as $type;
            results.push(match random.below(4) {
                0 => atomic.fetch_add(value, SeqCst),
                1 => atomic.fetch_sub(value, Relaxed),
                2 => atomic.fetch_max(value, AcqRel),
                _ => atomic.fetch_min(value, Release),
            });
        }
        results
    }};
}

macro_rules! integers_are_those_of_std {
    ($($test:ident, $name:ident, $type:ty;)+) => {
        $(
            #[test]
            fn $test() {
                let expected = random_calls!(atomic::$name, $type, |it| it as $type);
                check_same(|| random_calls!($name, $type, |it| it as $type), expected);
                let expected = random_sums!(atomic::$name, $type);
                check_same(|| random_sums!($name, $type), expected);
                assert_eq!(size_of::<$name>(), size_of::<$type>());
                assert_eq!(align_of::<$name>(), align_of::<atomic::$name>());
                assert_eq!(format!("{:?}", $name::from(3)), "3");
            }
        )+
    };
}

integers_are_those_of_std! {
    i8_is_that_of_std, AtomicI8, i8;
    i16_is_that_of_std, AtomicI16, i16;
    i32_is_that_of_std, AtomicI32, i32;
    i64_is_that_of_std, AtomicI64, i64;
    isize_is_that_of_std, AtomicIsize, isize;
    u8_is_that_of_std, AtomicU8, u8;
    u16_is_that_of_std, AtomicU16, u16;
    u32_is_that_of_std, AtomicU32, u32;
    u64_is_that_of_std, AtomicU64, u64;
    usize_is_that_of_std, AtomicUsize, usize;
}

#[test]
fn atomic_bool_behaves_as_in_std() {
    let expected = random_calls!(atomic::AtomicBool, bool, |it| it % 2 == 0);
    check_same(|| random_calls!(AtomicBool, bool, |it| it % 2 == 0), expected);
    let not = || {
        let atomic = AtomicBool::new(false);
        (atomic.fetch_not(SeqCst), atomic.fetch_not(SeqCst), atomic.into_inner())
    };
    check_same(not, (false, true, false));
}

#[test]
fn atomic_pointers_behave_as_in_std() {
    let body = || {
        let (mut one, mut two) = (1, 2);
        let (first, second): (*mut i32, *mut i32) = (&mut one, &mut two);
        let mut atomic = AtomicPtr::new(first);
        let is_first = atomic.swap(second, AcqRel) == first;
        // SAFETY: it points to `two`.
        unsafe { *atomic.load(Acquire) += 5 };
        let fails = atomic.compare_exchange(first, second, SeqCst, Relaxed) == Err(second);
        atomic.store(std::ptr::null_mut(), Release);
        *atomic.get_mut() = first;
        let is_first_again = atomic.load(Relaxed) == first;
        (is_first, fails, is_first_again, two)
    };
    check_same(body, (true, true, true, 7));
}

#[test]
fn a_pointer_to_an_atomic_gives_it_back() {
    static COUNT: AtomicUsize = AtomicUsize::new(3);
    // SAFETY: the pointer comes from a static atomic.
    let same = unsafe { AtomicUsize::from_ptr(COUNT.as_ptr()) };
    same.fetch_add(1, SeqCst);
    assert_eq!(COUNT.load(SeqCst), 4);
}

#[test]
fn invalid_orderings_panic_as_in_std() {
    for races in [false, true] {
        let bodies: [fn(&AtomicUsize); 3] = [
            |it| {
                it.load(Release);
            },
            |it| it.store(1, Acquire),
            |_| fence(Relaxed),
        ];
        for body in bodies {
            let calls = Calls { columns: vec![vec![()]], ..Calls::default() };
            let call = move |it: &AtomicUsize, (): &()| body(it);
            let memory = Memory { races, ..Memory::default() };
            let mut program = ThreadProgram::new(calls, || AtomicUsize::new(0), call, Limits::default())
                .with_memory(memory);
            let mut endings = Vec::new();
            explore(&mut program, &mut Exhaustive::default(), u64::MAX, |_, ending, _| {
                endings.push(ending.clone());
                ControlFlow::Continue(())
            });
            assert_eq!(endings, [Ending::Panicked], "races: {races}");
        }
    }
}
