//! The length of a queue while another thread pushes and pops.

use std::{sync::Arc, thread};

use crossbeam_queue::SegQueue;

#[test]
fn a_length_is_at_most_what_was_pushed() {
    let queue = Arc::new(SegQueue::new());
    // The next value is the last one of its block.
    for value in 0..30 {
        queue.push(value);
        let _same = queue.pop();
    }
    let other = queue.clone();
    let using = thread::spawn(move || {
        other.push(1);
        let _one = other.pop();
    });
    let length = queue.len();
    assert!(length <= 1, "{length}");
    using.join().unwrap();
}
