//! Four small programs, and how many executions they take.
//!
//! All with nodes in an arena and sequentially consistent accesses; node values are plain data.

use std::cell::Cell;

use clewline_explore::schedulers::{
    bounded::Bounded, bounded_dpor::BoundedDpor, causality::Dependence, dpor::Dpor, exhaustive::Exhaustive,
};

use super::*;

/// A stack of nodes: each has the number of the next one; 0 is none.
struct Treiber {
    head: AtomicUsize,
    next: [Cell<usize>; 4],
    values: [Cell<usize>; 4],
}

impl Treiber {
    fn new() -> Self {
        Treiber { head: AtomicUsize::new(0), next: Default::default(), values: Default::default() }
    }

    fn push(&self, node: usize, value: usize) {
        self.values[node].set(value);
        let mut head = self.head.load(SeqCst);
        loop {
            self.next[node].set(head);
            match self.head.compare_exchange(head, node, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        let mut head = self.head.load(SeqCst);
        while head != 0 {
            match self.head.compare_exchange(head, self.next[head].get(), SeqCst, SeqCst) {
                Ok(_) => return Some(self.values[head].get()),
                Err(now) => head = now,
            }
        }
        None
    }
}

/// The queue of Michael and Scott; node 1 is the first one.
struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    next: [AtomicUsize; 5],
    values: [Cell<usize>; 5],
}

impl Queue {
    fn new() -> Self {
        Queue {
            head: AtomicUsize::new(1),
            tail: AtomicUsize::new(1),
            next: Default::default(),
            values: Default::default(),
        }
    }

    fn enq(&self, node: usize, value: usize) {
        self.values[node].set(value);
        loop {
            let tail = self.tail.load(SeqCst);
            let next = self.next[tail].load(SeqCst);
            if next != 0 {
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
            } else if self.next[tail].compare_exchange(0, node, SeqCst, SeqCst).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, SeqCst, SeqCst);
                return;
            }
        }
    }

    fn deq(&self) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            let next = self.next[head].load(SeqCst);
            if next == 0 {
                return None;
            }
            if head == tail {
                let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
                continue;
            }
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(self.values[next].get());
            }
        }
    }
}

fn treiber(scheduler: &mut dyn Scheduler) -> (u64, usize) {
    let call = |it: &Treiber, node: &usize| match node {
        0 => it.pop().map_or(0, |it| it + 1),
        node => {
            it.push(*node, node + 9);
            0
        }
    };
    let seen = run(scheduler, &[&[1, 0], &[2, 0]], Treiber::new, call);
    (seen.executions, seen.histories)
}

fn queue(scheduler: &mut dyn Scheduler) -> (u64, usize) {
    let call = |it: &Queue, node: &usize| match node {
        0 => it.deq().map_or(0, |it| it + 1),
        node => {
            it.enq(*node, node + 8);
            0
        }
    };
    let seen = run(scheduler, &[&[2, 0], &[3, 0]], Queue::new, call);
    (seen.executions, seen.histories)
}

#[test]
fn counts_of_treiber_and_michael_scott() {
    let plain = || Dpor::new(Dependence::Conflicts);
    let dpor = || Dpor::new(Dependence::Histories);
    eprintln!("treiber {:?} {:?} {:?}", treiber(&mut Exhaustive::default()), treiber(&mut plain()), treiber(&mut dpor()));
    eprintln!("queue {:?} {:?} {:?}", queue(&mut Exhaustive::default()), queue(&mut plain()), queue(&mut dpor()));
    for b in 0..4 {
        eprintln!("{b} treiber {:?} {:?}", treiber(&mut Bounded::new(Some(b))), treiber(&mut BoundedDpor::new(Some(b))));
        eprintln!("{b} queue {:?} {:?}", queue(&mut Bounded::new(Some(b))), queue(&mut BoundedDpor::new(Some(b))));
    }
}
