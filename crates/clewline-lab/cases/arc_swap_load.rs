//! Versions that are loaded do not go backwards, and are not freed.

use std::{sync::Arc, thread};

use arc_swap::ArcSwap;

#[test]
fn versions_do_not_go_backwards() {
    let shared = Arc::new(ArcSwap::from_pointee(1));
    let (writer, reader) = (shared.clone(), shared);
    let writing = thread::spawn(move || {
        writer.store(Arc::new(2));
        writer.store(Arc::new(3));
    });
    let reading = thread::spawn(move || {
        let first = reader.load();
        let second = reader.load();
        assert!(**first <= **second);
    });
    writing.join().unwrap();
    reading.join().unwrap();
}
