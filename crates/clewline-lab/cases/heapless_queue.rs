//! A queue of four places, and two threads that put in one value each before they take one out.

use std::{sync::Arc, thread};

#[allow(deprecated)]
type Queue = heapless::mpmc::Queue<u32, 2>;

#[test]
fn who_has_put_in_finds_something() {
    let queue = Arc::new(Queue::new());
    let threads = [1, 2].map(|value| {
        let queue = queue.clone();
        thread::spawn(move || {
            assert!(queue.enqueue(value).is_ok(), "full, though there is room");
            assert!(queue.dequeue().is_some(), "empty, though there is a value");
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
