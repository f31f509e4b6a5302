//! A value that is read while it is replaced is not torn.

use std::{sync::Arc, thread};

use scc::HashMap;

#[test]
fn a_value_that_is_read_is_whole() {
    let map = Arc::new(HashMap::<u32, Box<(u64, u64)>>::new());
    let _is_new = map.insert(1, Box::new((1, 1)));
    let (writer, reader) = (map.clone(), map);
    let writing = thread::spawn(move || {
        let _replaced = writer.update(&1, |_, it| *it = Box::new((2, 2)));
    });
    let reading = thread::spawn(move || reader.read(&1, |_, it| (it.0, it.1)));
    writing.join().unwrap();
    let (one, two) = reading.join().unwrap().unwrap();
    assert_eq!(one, two, "torn");
}
