//! Values that are taken out of a queue are dropped once. No thread is needed, but many calls:
//! memory is given back late.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crossbeam::queue::MsQueue;

static IS_DROPPED: [AtomicBool; 200] = [const { AtomicBool::new(false) }; 200];

struct Value(usize);

impl Drop for Value {
    fn drop(&mut self) {
        let is_dropped = IS_DROPPED.get(self.0).expect("a value that was pushed");
        assert!(!is_dropped.swap(true, SeqCst), "dropped twice");
    }
}

#[test]
fn each_value_is_dropped_once() {
    let queue = MsQueue::new();
    for number in 0..IS_DROPPED.len() {
        queue.push(Value(number));
        drop(queue.try_pop());
    }
}
