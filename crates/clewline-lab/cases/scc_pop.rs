//! Two values, and two threads that take one each.

use std::{sync::Arc, thread};

#[test]
fn each_value_is_taken_once() {
    let bag = Arc::new(scc::Bag::<u32, 2>::new());
    bag.push(1);
    bag.push(2);
    let takers = [bag.clone(), bag.clone()].map(|it| thread::spawn(move || it.pop()));
    let mut taken: Vec<u32> = takers.into_iter().filter_map(|it| it.join().unwrap()).collect();
    taken.sort_unstable();
    assert_eq!(taken, [1, 2]);
    assert!(bag.pop().is_none());
}
