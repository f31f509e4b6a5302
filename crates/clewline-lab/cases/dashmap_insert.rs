//! Two threads that insert into an empty map, which grows.

use std::{sync::Arc, thread};

#[test]
fn what_is_inserted_is_there() {
    let map = Arc::new(dashmap::DashMap::<u32, Box<u32>>::with_capacity(0));
    let inserting = [1, 2].map(|key| {
        let map = map.clone();
        thread::spawn(move || map.insert(key, Box::new(key)))
    });
    for thread in inserting {
        assert!(!thread.join().unwrap(), "it is there already");
    }
    assert_eq!(map.len(), 2);
}
