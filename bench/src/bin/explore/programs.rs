// The programs, written once. Each engine includes this file below its own `AtomicUsize` and
// `Mutex`.
//
// Nodes are in an arena that is made with the structure, so that no call allocates, and
// each call brings the number of the node that it may use: 0 is none. A node's value is its number.
// `LOAD`, `STORE` and `UPDATE` are the orderings.

use crate::{Call, Subject};

/// A counter that is incremented in one access.
pub struct Counter(AtomicUsize);

impl Subject for Counter {
    fn make() -> Self {
        Counter(AtomicUsize::new(0))
    }

    #[inline]
    fn call(&self, _: Call) -> usize {
        self.0.fetch_add(1, UPDATE)
    }
}

/// A counter that is incremented as often as a call says.
pub struct Steps(AtomicUsize);

impl Subject for Steps {
    fn make() -> Self {
        Steps(AtomicUsize::new(0))
    }

    #[inline]
    fn call(&self, call: Call) -> usize {
        match call {
            Call::Put(n) => (0..n).map(|_| self.0.fetch_add(1, UPDATE)).fold(0, usize::max),
            Call::Take => self.0.load(LOAD),
        }
    }
}

/// A counter below a lock.
pub struct Locked(Mutex<usize>);

impl Subject for Locked {
    fn make() -> Self {
        Locked(Mutex::new(0))
    }

    #[inline]
    fn call(&self, _: Call) -> usize {
        let mut count = self.0.lock().expect("no thread panics");
        *count += 1;
        *count
    }
}

/// Treiber's stack. A thread that owns a node's link owns it alone, or reads what will not change:
/// these are not points.
pub struct Treiber {
    head: AtomicUsize,
    links: [std::sync::atomic::AtomicUsize; NODES],
}

impl Subject for Treiber {
    fn make() -> Self {
        Treiber {
            head: AtomicUsize::new(0),
            links: [const { std::sync::atomic::AtomicUsize::new(0) }; NODES],
        }
    }

    #[inline]
    fn call(&self, call: Call) -> usize {
        match call {
            Call::Put(node) => {
                let mut head = self.head.load(LOAD);
                loop {
                    self.links[node].store(head, STORE);
                    match self.head.compare_exchange(head, node, UPDATE, LOAD) {
                        Ok(_) => return 0,
                        Err(found) => head = found,
                    }
                }
            }
            Call::Take => {
                let mut head = self.head.load(LOAD);
                while head != 0 {
                    let next = self.links[head].load(LOAD);
                    match self.head.compare_exchange(head, next, UPDATE, LOAD) {
                        Ok(_) => break,
                        Err(found) => head = found,
                    }
                }
                head
            }
        }
    }
}

/// The queue of Michael and Scott.
pub struct MichaelScott {
    head: AtomicUsize,
    tail: AtomicUsize,
    links: [AtomicUsize; NODES],
}

impl Subject for MichaelScott {
    fn make() -> Self {
        MichaelScott {
            head: AtomicUsize::new(DUMMY),
            tail: AtomicUsize::new(DUMMY),
            links: std::array::from_fn(|_| AtomicUsize::new(0)),
        }
    }

    #[inline]
    fn call(&self, call: Call) -> usize {
        match call {
            Call::Put(node) => self.enqueue(node),
            Call::Take => self.dequeue(),
        }
    }
}

impl MichaelScott {
    fn enqueue(&self, node: usize) -> usize {
        loop {
            let tail = self.tail.load(LOAD);
            let next = self.links[tail].load(LOAD);
            if next != 0 {
                let _ = self.tail.compare_exchange(tail, next, UPDATE, LOAD);
            } else if self.links[tail].compare_exchange(0, node, UPDATE, LOAD).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, UPDATE, LOAD);
                return 0;
            }
        }
    }

    fn dequeue(&self) -> usize {
        loop {
            let head = self.head.load(LOAD);
            let tail = self.tail.load(LOAD);
            let next = self.links[head].load(LOAD);
            if head == tail {
                if next == 0 {
                    return 0;
                }
                let _ = self.tail.compare_exchange(tail, next, UPDATE, LOAD);
            } else if self.head.compare_exchange(head, next, UPDATE, LOAD).is_ok() {
                return next;
            }
        }
    }
}

const NODES: usize = 11;
const DUMMY: usize = 10;
