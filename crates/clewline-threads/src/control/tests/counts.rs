//! Four small programs, and how many executions they take.
//!
//! All with nodes in an arena and sequentially consistent accesses; node values are plain data.

use std::{cell::Cell, rc::Rc};

use clewline_explore::{
    Access,
    schedulers::{
        bounded::Bounded, bounded_dpor::BoundedDpor, causality::DependenceRelation, dpor::Dpor,
        exhaustive::Exhaustive, graph::Graph,
    },
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

fn plain() -> Dpor {
    Dpor::new(DependenceRelation::Conflicts)
}

fn dpor() -> Dpor {
    Dpor::new(DependenceRelation::Histories)
}

#[test]
fn counts_of_increments_and_of_a_counter_with_a_lock() {
    for mut scheduler in [plain(), dpor()] {
        assert_eq!(increments(&mut scheduler), ExplorationCounts { executions: 20, stuck: 0, histories: 20 });
    }
    for mut scheduler in [plain(), dpor()] {
        assert_eq!(
            mutex_counter(&mut scheduler),
            ExplorationCounts { executions: 1_680, stuck: 0, histories: 1_680 }
        );
    }
    assert_eq!(increments(&mut Graph::default()).executions, 20);
    assert_eq!(mutex_counter(&mut Graph::default()).executions, 1_680);
    assert_eq!(increments(&mut BoundedDpor::new(Some(2))).executions, 14);
    assert_eq!(mutex_counter(&mut BoundedDpor::new(Some(2))).executions, 192);
}

#[test]
fn counts_of_a_stack() {
    assert_eq!(treiber(&mut Exhaustive::default()), (126, 32));
    assert_eq!(treiber(&mut plain()), (62, 32));
    assert_eq!(treiber(&mut dpor()), (62, 32));
    assert_eq!(treiber(&mut Graph::default()), (62, 32));
    assert_eq!(treiber(&mut Bounded::new(Some(2))), (26, 22));
    assert_eq!(treiber(&mut BoundedDpor::new(Some(2))), (26, 22));
}

#[test]
fn counts_of_a_queue_whose_histories_a_plain_reduction_loses() {
    assert_eq!(queue(&mut Exhaustive::default()), (75_570, 30));
    assert_eq!(queue(&mut plain()), (158, 22));
    assert_eq!(queue(&mut dpor()), (220, 30));
    assert_eq!(queue(&mut Graph::default()), (220, 30));
    assert_eq!(queue(&mut Bounded::new(Some(2))), (120, 26));
    assert_eq!(queue(&mut BoundedDpor::new(Some(2))), (68, 26));
}

#[test]
fn locks_in_opposite_orders_have_one_schedule_per_order_and_one_deadlock() {
    let columns: &[&[usize]] = &[&[0], &[1]];
    let make = || [Mutex::new(0), Mutex::new(0)];
    let call = |it: &[Mutex<usize>; 2], first: &usize| {
        let _first = it[*first].lock().unwrap();
        let _second = it[1 - first].lock().unwrap();
        0
    };
    let seen = run(&mut dpor(), columns, make, call);
    assert_eq!((seen.executions, seen.stuck), (3, 1));
}

#[test]
fn serial_executions_are_the_orders_of_operations() {
    use clewline_explore::schedulers::serial::Serial;
    // Two tasks of two operations: 4! / (2! 2!); three of three: 9! / (3! 3! 3!).
    let two_by_two: &[&[usize]] = &[&[1, 1], &[1, 1]];
    let add = |it: &AtomicUsize, by: &usize| it.fetch_add(*by, SeqCst) + it.load(SeqCst);
    assert_eq!(run(&mut Serial::default(), two_by_two, || AtomicUsize::new(0), add).executions, 6);
    let uneven: &[&[usize]] = &[&[1, 1, 1], &[1], &[1, 1]];
    assert_eq!(run(&mut Serial::default(), uneven, || AtomicUsize::new(0), add).executions, 60);
    let three_by_three: &[&[usize]] = &[&[1, 1, 1], &[1, 1, 1], &[1, 1, 1]];
    assert_eq!(run(&mut Serial::default(), three_by_three, || AtomicUsize::new(0), add).executions, 1_680);
}

#[test]
fn serial_operations_wait_for_the_tasks_that_they_join() {
    use clewline_explore::schedulers::serial::Serial;
    let make = || Rc::new((AtomicUsize::new(0), 0_u8));
    // The operation starts a task and joins it: no other task moves in between.
    let call = |it: &Rc<(AtomicUsize, u8)>, by: &usize| {
        let (shared, by) = (Rc::clone(it), *by);
        let task = control().unwrap().spawn(Box::new(move || {
            shared.0.fetch_add(by, SeqCst);
        }));
        control().unwrap().attempt(&it.1, Attempt::new(Access::Join).after(task));
        it.0.load(SeqCst)
    };
    let seen = run(&mut Serial::default(), &[&[1, 1], &[1, 1]], make, call);
    assert_eq!((seen.stuck, seen.histories), (0, 6), "{seen:?}");
}
