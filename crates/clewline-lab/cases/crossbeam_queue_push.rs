//! Two threads, each of which puts in a value before it takes one out.

use std::{sync::Arc, thread};

use crossbeam::sync::MsQueue;

#[test]
fn each_value_is_taken_once() {
    let queue = Arc::new(MsQueue::new());
    let users = [1, 2].map(|value| {
        let queue = queue.clone();
        thread::spawn(move || {
            queue.push(Box::new(value));
            queue.try_pop().map(|it| *it)
        })
    });
    let mut taken: Vec<u32> = users.into_iter().filter_map(|it| it.join().unwrap()).collect();
    taken.sort_unstable();
    assert_eq!(taken, [1, 2]);
}
