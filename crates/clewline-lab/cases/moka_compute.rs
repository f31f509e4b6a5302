//! A value that is computed while another is put in: if the computed one stays, the other one was
//! replaced.

use std::thread;

use moka::{
    ops::compute::{CompResult, Op},
    sync::Cache,
};

#[test]
fn what_stays_has_replaced_the_other() {
    let cache = Cache::builder().max_capacity(10).build();
    let (one, two) = (cache.clone(), cache.clone());
    let computing = thread::spawn(move || {
        let computed = one.entry(1).and_compute_with(|_| Op::Put(10));
        matches!(computed, CompResult::Inserted(_))
    });
    let inserting = thread::spawn(move || two.insert(1, 5));
    let is_first = computing.join().unwrap();
    inserting.join().unwrap();
    assert!(!(is_first && cache.get(&1) == Some(10)), "inserted first, and the other one is gone");
}
