//! Relaxed containers on real threads, simple enough to be trusted, and recordings of them.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
};

use clewline_core::{History, Random, Specification, Value};
use clewline_specs::{
    queue::{self, Queue},
    relaxed::Relaxed,
    stack::{self, Stack},
};
use clewline_threads::{Subject, WorkerSettings, Workers};

// What a slot holds besides a value.
const FREE: u64 = 0;
const TAKEN: u64 = u64::MAX;

/// A k-FIFO queue: segments of k + 1 slots, filled and emptied in any order. A slot is used once,
/// so a thread that finds a segment twice without a value, and with the same slots free, has found
/// the queue empty in between.
pub struct KFifo {
    slots: Vec<AtomicU64>,
    width: usize,
    head: AtomicUsize,
    tail: AtomicUsize,
    turn: AtomicUsize,
}

impl KFifo {
    /// A queue with room for `values` values.
    #[must_use]
    pub fn new(k: u32, values: usize) -> KFifo {
        let width = k as usize + 1;
        let slots = (0..(values / width + 2) * width).map(|_| AtomicU64::new(FREE)).collect();
        KFifo {
            slots,
            width,
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
        }
    }

    /// The slots of a segment, starting at another one each time.
    fn segment(&self, number: usize) -> impl Iterator<Item = &AtomicU64> {
        let start = self.turn.fetch_add(7, SeqCst) % self.width;
        let slots = &self.slots[number * self.width..(number + 1) * self.width];
        slots[start..].iter().chain(&slots[..start])
    }

    fn enq(&self, value: u64) {
        loop {
            let tail = self.tail.load(SeqCst);
            if self.segment(tail).any(|it| it.compare_exchange(FREE, value, SeqCst, SeqCst).is_ok()) {
                return;
            }
            let _another_did = self.tail.compare_exchange(tail, tail + 1, SeqCst, SeqCst);
        }
    }

    fn deq(&self) -> Option<u64> {
        loop {
            let head = self.head.load(SeqCst);
            let mut free = [0; 2];
            for free in &mut free {
                for slot in self.segment(head) {
                    let value = slot.load(SeqCst);
                    *free += usize::from(value == FREE);
                    let is_one = value != FREE && value != TAKEN;
                    if is_one && slot.compare_exchange(value, TAKEN, SeqCst, SeqCst).is_ok() {
                        return Some(value);
                    }
                }
            }
            match free {
                [_, 0] => (),
                [first, second] if first == second => return None,
                _ => continue,
            }
            let _another_did = self.head.compare_exchange(head, head + 1, SeqCst, SeqCst);
        }
    }
}

impl Subject<Relaxed<Queue>> for KFifo {
    fn call(&self, call: &queue::Call) -> Value {
        match *call {
            queue::Call::Enq(value) => {
                self.enq(value.get());
                Value::TRUE
            }
            queue::Call::Deq => self.deq().map_or(Value::NIL, |it| small(it.cast_signed())),
            queue::Call::Peek => unreachable!("no call peeks"),
        }
    }
}

/// A stack behind a lock, which pops any of its top k + 1 unless one above was overtaken k times.
pub struct LockedStack {
    k: u32,
    inside: Mutex<(Vec<(Value, u32)>, Random)>,
}

impl LockedStack {
    /// An empty stack.
    #[must_use]
    pub fn new(k: u32, seed: u64) -> LockedStack {
        LockedStack { k, inside: Mutex::new((Vec::new(), Random::new(seed))) }
    }
}

impl Subject<Relaxed<Stack>> for LockedStack {
    fn call(&self, call: &stack::Call) -> Value {
        let (inside, random) = &mut *self.inside.lock().expect("no thread panics");
        match *call {
            stack::Call::Push(value) => {
                inside.push((value, 0));
                Value::TRUE
            }
            stack::Call::Pop if inside.is_empty() => Value::NIL,
            stack::Call::Pop => {
                let worn = inside.iter().rev().position(|it| self.k <= it.1).unwrap_or(self.k as usize);
                let above = random.below(worn.min(self.k as usize).min(inside.len() - 1) + 1);
                let place = inside.len() - 1 - above;
                inside[place + 1..].iter_mut().for_each(|it| it.1 += 1);
                inside.remove(place).0
            }
            stack::Call::Peek => unreachable!("no call peeks"),
        }
    }
}

fn small(value: i64) -> Value {
    Value::from(value)
}

/// The recording of threads that call at random: half of the calls add values, none of them twice.
pub fn recorded<S: Specification<Return = Value> + 'static>(
    subject: impl Subject<S> + 'static,
    (threads, operations): (usize, usize),
    seed: u64,
    add: impl Fn(Value) -> S::Call,
    remove: impl Fn() -> S::Call,
) -> History<S::Call, Value>
where
    S::Call: Clone + Send + Sync + 'static,
{
    let settings = WorkerSettings { threads, ..WorkerSettings::default() };
    let mut crew: Workers<S> = Workers::new(settings).expect("threads");
    let mut random = Random::new(seed);
    let mut next = 0;
    let mut call = || {
        next += 1;
        if random.chance(0.5) { add(small(next)) } else { remove() }
    };
    let calls = (0..threads).map(|_| (0..operations / threads).map(|_| call()).collect()).collect();
    crew.launch(std::sync::Arc::new(subject), calls, seed);
    crew.wait().logs.merge()
}
