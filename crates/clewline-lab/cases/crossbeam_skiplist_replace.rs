//! A key that is always there, while its value is replaced.

use std::{sync::Arc, thread};

use crossbeam_skiplist::SkipMap;

#[test]
fn a_key_that_is_replaced_is_always_there() {
    let map = Arc::new(SkipMap::new());
    map.insert(1, 1);
    let (writer, reader) = (map.clone(), map);
    let writing = thread::spawn(move || {
        writer.insert(1, 2);
    });
    let reading = thread::spawn(move || assert!(reader.get(&1).is_some(), "the key is gone"));
    writing.join().unwrap();
    reading.join().unwrap();
}
