//! Eight structures in Rust, with orderings that are weakened one by one: each that matters is
//! found under `rc11`, and no other is accused. The same in C are those of the command line's
//! tests.

use std::sync::atomic::AtomicU64;

use clewline::{
    LineUp,
    line_up::{Explorable, MemoryModel},
    sync::{
        UnsafeCell,
        atomic::{
            AtomicUsize,
            Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
            fence,
        },
    },
};

use clewline_testing::pick;

/// The number of the ordering that is weakened; 0 for none.
#[derive(Clone, Copy)]
struct Weakened(usize);

impl Weakened {
    fn order(self, number: usize, strong: Ordering) -> Ordering {
        if self.0 == number { Relaxed } else { strong }
    }

    fn fence(self, number: usize, strong: Ordering) {
        if self.0 != number {
            fence(strong);
        }
    }
}

/// Memory that is not atomic. What is in it is no point, and its accesses are checked for races.
#[derive(Default)]
struct Plain {
    cell: UnsafeCell<()>,
    value: AtomicU64,
}

impl Plain {
    fn get(&self) -> u64 {
        self.cell.with(|_| ());
        self.value.load(Relaxed)
    }

    fn set(&self, value: u64) {
        self.cell.with_mut(|_| ());
        self.value.store(value, Relaxed);
    }
}

/// A ring for one producer and one consumer.
struct SpscRing(Weakened, [Plain; 1], [AtomicUsize; 2]);

impl SpscRing {
    fn push(&self, value: u64) -> bool {
        let SpscRing(weakened, slots, [head, tail]) = self;
        let at = tail.load(weakened.order(5, Acquire));
        if at - head.load(weakened.order(1, Acquire)) == slots.len() {
            return false;
        }
        slots[at % slots.len()].set(value);
        tail.store(at + 1, weakened.order(2, Release));
        true
    }

    fn pop(&self) -> Option<u64> {
        let SpscRing(weakened, slots, [head, tail]) = self;
        let at = head.load(weakened.order(6, Acquire));
        if at == tail.load(weakened.order(3, Acquire)) {
            return None;
        }
        let value = slots[at % slots.len()].get();
        head.store(at + 1, weakened.order(4, Release));
        Some(value)
    }
}

fn spsc_ring(weakened: Weakened) -> LineUp<impl Explorable> {
    LineUp::new(move || SpscRing(weakened, Default::default(), Default::default()))
        .call("push(1)", |it: &SpscRing| it.push(1))
        .call("push(2)", |it: &SpscRing| it.push(2))
        .call("pop", SpscRing::pop)
        .matrix("push(1) push(2) | pop pop")
}

/// Vyukov's ring. A thread waits while it is full or empty.
struct VyukovRing(Weakened, [(AtomicUsize, Plain); 2], [AtomicUsize; 2]);

impl VyukovRing {
    fn push(&self, value: u64) {
        let VyukovRing(weakened, cells, [_, tail]) = self;
        let mut at = tail.load(Relaxed);
        loop {
            let (sequence, plain) = &cells[at % cells.len()];
            if sequence.load(weakened.order(1, Acquire)) != at {
                at = tail.load(Relaxed);
                continue;
            }
            match tail.compare_exchange(at, at + 1, weakened.order(5, AcqRel), Relaxed) {
                Ok(_) => {
                    plain.set(value);
                    return sequence.store(at + 1, weakened.order(2, Release));
                }
                Err(found) => at = found,
            }
        }
    }

    fn pop(&self) -> u64 {
        let VyukovRing(weakened, cells, [head, _]) = self;
        let mut at = head.load(Relaxed);
        loop {
            let (sequence, plain) = &cells[at % cells.len()];
            if sequence.load(weakened.order(3, Acquire)) != at + 1 {
                at = head.load(Relaxed);
                continue;
            }
            match head.compare_exchange(at, at + 1, weakened.order(6, AcqRel), Relaxed) {
                Ok(_) => {
                    let value = plain.get();
                    sequence.store(at + cells.len(), weakened.order(4, Release));
                    return value;
                }
                Err(found) => at = found,
            }
        }
    }
}

fn vyukov_ring(weakened: Weakened) -> LineUp<impl Explorable> {
    let cell = |it: usize| (AtomicUsize::new(it), Plain::default());
    LineUp::new(move || VyukovRing(weakened, [0, 1].map(cell), Default::default()))
        .call("push(1)", |it: &VyukovRing| it.push(1))
        .call("push(2)", |it: &VyukovRing| it.push(2))
        .call("push(3)", |it: &VyukovRing| it.push(3))
        .call("pop", VyukovRing::pop)
        .matrix("push(1) push(2) push(3) | pop pop")
}

const NODES: usize = 4;
const NONE: usize = NODES;
// What is in memory that was not initialized.
const GARBAGE: usize = 1_000;

/// Treiber's stack. The node of a value has its number.
struct Treiber(Weakened, [(Plain, Plain); NODES], AtomicUsize);

impl Treiber {
    fn push(&self, value: u64) {
        let Treiber(weakened, nodes, top) = self;
        let node = value as usize;
        nodes[node].0.set(10 + value);
        let mut found = top.load(weakened.order(4, Acquire));
        loop {
            nodes[node].1.set(found as u64);
            match top.compare_exchange(found, node, weakened.order(1, Release), Relaxed) {
                Ok(_) => return,
                Err(other) => found = other,
            }
        }
    }

    fn pop(&self) -> Option<u64> {
        let Treiber(weakened, nodes, top) = self;
        let mut node = top.load(weakened.order(2, Acquire));
        while node != NONE {
            let next = nodes[node].1.get() as usize;
            match top.compare_exchange(node, next, weakened.order(5, AcqRel), weakened.order(3, Acquire)) {
                Ok(_) => return Some(nodes[node].0.get()),
                Err(other) => node = other,
            }
        }
        None
    }
}

fn treiber_stack(weakened: Weakened) -> LineUp<impl Explorable> {
    LineUp::new(move || Treiber(weakened, Default::default(), AtomicUsize::new(NONE)))
        .call("push(1)", |it: &Treiber| it.push(1))
        .call("push(2)", |it: &Treiber| it.push(2))
        .call("pop", Treiber::pop)
        .matrix("push(1) pop | push(2) pop")
}

/// The queue of Michael and Scott. The first node is number 0.
struct MichaelScott(Weakened, [(Plain, AtomicUsize); NODES], [AtomicUsize; 2]);

impl MichaelScott {
    fn new(weakened: Weakened) -> MichaelScott {
        let node = |next: usize| (Plain::default(), AtomicUsize::new(next));
        MichaelScott(weakened, [NONE, GARBAGE, GARBAGE, GARBAGE].map(node), Default::default())
    }

    fn enq(&self, value: u64) {
        let MichaelScott(weakened, nodes, [_, tail]) = self;
        let node = value as usize;
        nodes[node].0.set(10 + value);
        nodes[node].1.store(NONE, Relaxed);
        loop {
            let last = tail.load(weakened.order(1, Acquire));
            let next = nodes[last].1.load(weakened.order(2, Acquire));
            if next != NONE {
                let _helped = tail.compare_exchange(last, next, weakened.order(5, Release), Relaxed);
                continue;
            }
            if nodes[last].1.compare_exchange(NONE, node, weakened.order(3, Release), Relaxed).is_ok() {
                let _helped = tail.compare_exchange(last, node, weakened.order(4, Release), Relaxed);
                return;
            }
        }
    }

    fn deq(&self) -> Option<u64> {
        let MichaelScott(weakened, nodes, [head, tail]) = self;
        loop {
            let first = head.load(weakened.order(6, Acquire));
            let last = tail.load(weakened.order(9, Acquire));
            let next = nodes[first].1.load(weakened.order(7, Acquire));
            if next == NONE {
                return None;
            }
            if first == last {
                let _helped = tail.compare_exchange(last, next, weakened.order(10, Release), Relaxed);
            }
            if head.compare_exchange(first, next, weakened.order(8, Release), Relaxed).is_ok() {
                return Some(nodes[next].0.get());
            }
        }
    }
}

fn ms_queue(weakened: Weakened) -> LineUp<impl Explorable> {
    LineUp::new(move || MichaelScott::new(weakened))
        .call("enq(1)", |it: &MichaelScott| it.enq(1))
        .call("enq(2)", |it: &MichaelScott| it.enq(2))
        .call("enq(3)", |it: &MichaelScott| it.enq(3))
        .call("deq", MichaelScott::deq)
        .matrix("enq(1) deq | enq(2) deq")
        .matrix("enq(1) | deq | enq(2)")
        .matrix("enq(1) | enq(2) | enq(3)")
}

/// The deque of Chase and Lev, as Lê, Pop, Cohen and Zappa Nardelli have it (2013). Indices begin
/// with 1.
struct ChaseLev(Weakened, [AtomicUsize; 4], [AtomicUsize; 2]);

impl ChaseLev {
    fn push(&self, value: usize) -> bool {
        let ChaseLev(weakened, items, [top, bottom]) = self;
        let at = bottom.load(Relaxed);
        if at - top.load(weakened.order(7, Acquire)) >= items.len() {
            return false;
        }
        items[at % items.len()].store(value, Relaxed);
        weakened.fence(1, Release);
        bottom.store(at + 1, Relaxed);
        true
    }

    fn take(&self) -> Option<usize> {
        let ChaseLev(weakened, items, [top, bottom]) = self;
        let at = bottom.load(Relaxed) - 1;
        bottom.store(at, Relaxed);
        weakened.fence(2, SeqCst);
        let first = top.load(Relaxed);
        if at < first {
            bottom.store(at + 1, Relaxed);
            return None;
        }
        let value = items[at % items.len()].load(Relaxed);
        let mut is_taken = true;
        if at == first {
            is_taken = top.compare_exchange(first, first + 1, weakened.order(6, SeqCst), Relaxed).is_ok();
            bottom.store(at + 1, Relaxed);
        }
        is_taken.then_some(value)
    }

    fn steal(&self) -> Option<usize> {
        let ChaseLev(weakened, items, [top, bottom]) = self;
        let first = top.load(weakened.order(4, Acquire));
        weakened.fence(3, SeqCst);
        if bottom.load(weakened.order(5, Acquire)) <= first {
            return None;
        }
        let value = items[first % items.len()].load(Relaxed);
        let stolen = top.compare_exchange(first, first + 1, weakened.order(8, SeqCst), Relaxed);
        stolen.is_ok().then_some(value)
    }
}

fn chase_lev_deque(weakened: Weakened) -> LineUp<impl Explorable> {
    LineUp::new(move || ChaseLev(weakened, Default::default(), [1, 1].map(AtomicUsize::new)))
        .call("push(1)", |it: &ChaseLev| it.push(1))
        .call("push(2)", |it: &ChaseLev| it.push(2))
        .call("take", ChaseLev::take)
        .call("steal", ChaseLev::steal)
        .matrix("push(1) push(2) take | steal steal")
}

/// A sequence lock with one writer, around two words.
struct SequenceLock(Weakened, AtomicUsize, [AtomicUsize; 2]);

impl SequenceLock {
    fn write(&self, value: usize) {
        let SequenceLock(weakened, sequence, words) = self;
        let now = sequence.load(Relaxed);
        sequence.store(now + 1, Relaxed);
        weakened.fence(1, Release);
        words.iter().for_each(|it| it.store(value, Relaxed));
        sequence.store(now + 2, weakened.order(2, Release));
    }

    /// Whether what is read is one value; what is being written is not read.
    fn is_whole(&self) -> bool {
        let SequenceLock(weakened, sequence, words) = self;
        let before = sequence.load(weakened.order(3, Acquire));
        let [low, high] = [0, 1].map(|it: usize| words[it].load(Relaxed));
        weakened.fence(4, Acquire);
        !before.is_multiple_of(2) || before != sequence.load(weakened.order(5, Acquire)) || low == high
    }
}

fn seqlock(weakened: Weakened) -> LineUp<impl Explorable> {
    LineUp::new(move || SequenceLock(weakened, AtomicUsize::new(0), Default::default()))
        .call("write(1)", |it: &SequenceLock| it.write(1))
        .call("write(2)", |it: &SequenceLock| it.write(2))
        .call("is-whole", SequenceLock::is_whole)
        .matrix("write(1) write(2) | is-whole")
}

/// A ticket lock, and a counter under it.
struct TicketLock(Weakened, [AtomicUsize; 2], Plain);

impl TicketLock {
    fn add(&self) -> u64 {
        let TicketLock(weakened, [next, serving], count) = self;
        let mine = next.fetch_add(1, weakened.order(3, AcqRel));
        while serving.load(weakened.order(1, Acquire)) != mine {}
        let now = count.get() + 1;
        count.set(now);
        serving.store(mine + 1, weakened.order(2, Release));
        now
    }
}

fn ticket_lock(weakened: Weakened) -> LineUp<impl Explorable> {
    LineUp::new(move || TicketLock(weakened, Default::default(), Plain::default()))
        .call("add", TicketLock::add)
        .matrix("add add | add")
}

/// A pointer that one writer replaces, and readers follow.
struct RcuPointer(Weakened, [Plain; NODES], AtomicUsize);

impl RcuPointer {
    fn update(&self, value: u64) {
        let RcuPointer(weakened, versions, current) = self;
        let old = current.load(weakened.order(3, Acquire));
        let new = &versions[value as usize];
        new.set(versions[old].get() + value);
        current.store(value as usize, weakened.order(1, Release));
    }

    fn read(&self) -> u64 {
        let RcuPointer(weakened, versions, current) = self;
        versions[current.load(weakened.order(2, Acquire))].get()
    }
}

fn rcu_pointer(weakened: Weakened) -> LineUp<impl Explorable> {
    LineUp::new(move || RcuPointer(weakened, Default::default(), AtomicUsize::new(0)))
        .call("update(1)", |it: &RcuPointer| it.update(1))
        .call("update(2)", |it: &RcuPointer| it.update(2))
        .call("read", RcuPointer::read)
        .matrix("update(1) update(2) | read")
}

/// Each ordering, by its number, is found if it is weakened and matters, and is not accused if it
/// does not.
fn check<E: Explorable>(name: &str, structure: impl Fn(Weakened) -> LineUp<E>, matters: &[bool]) {
    for scheduler in pick(&["graph"][..], &["graph", "bounded-dpor"]) {
        check_by(scheduler, name, &structure, matters, None);
    }
}

/// The same by one scheduler, which leaves the ordering `undecided` as unknown.
#[track_caller]
fn check_by<E: Explorable>(
    scheduler: &str,
    name: &str,
    structure: &impl Fn(Weakened) -> LineUp<E>,
    matters: &[bool],
    undecided: Option<usize>,
) {
    for number in 0..=matters.len() {
        let explored = structure(Weakened(number))
            .scheduler(scheduler.parse().unwrap())
            .memory_model(MemoryModel::ReleaseAcquire)
            .shrink(std::time::Duration::ZERO)
            .without_environment()
            .run()
            .unwrap();
        let expected = match number {
            _ if undecided == Some(number) => "unknown",
            1.. if matters[number - 1] => "violated",
            _ => "holds",
        };
        let cause = explored.found.as_ref().and_then(|it| it.finding()).map(|it| it.cause);
        eprintln!("{name} {number} {scheduler}: {cause:?}, {}", explored.summary.executions);
        assert_eq!(explored.verdict().word(), expected, "{name} {number}: {explored}");
    }
}

#[test]
fn each_ordering_of_a_structure_that_matters_is_found_and_no_other_is_accused() {
    check("spsc ring", spsc_ring, &[true, true, true, true, false, false]);
    check("Treiber's stack", treiber_stack, &[true, true, true, false, false]);
    check("Chase and Lev's deque", chase_lev_deque, &[true, true, true, false, true, false, false, false]);
    check("sequence lock", seqlock, &[true, true, true, true, false]);
    check("ticket lock", ticket_lock, &[true, true, false]);
    check("pointer as in RCU", rcu_pointer, &[true, true, false]);
    check("Vyukov's ring", vyukov_ring, &[true, true, true, true, false, false]);
}

#[test]
#[ignore = "long"]
fn each_ordering_of_a_queue_that_matters_is_found_and_no_other_is_accused() {
    let matters = [true, true, true, true, true, true, true, true, false, true];
    let check = |scheduler, undecided| {
        check_by(scheduler, "Michael and Scott's queue", &ms_queue, &matters, undecided);
    };
    check("bounded-dpor", None);
    // It executes a wrong graph again in another order, in which calls return something else.
    check("graph", Some(10));
}
