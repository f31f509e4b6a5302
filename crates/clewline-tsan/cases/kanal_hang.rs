//! A message through a channel without places: both ends come back.

use std::thread;

#[test]
fn both_ends_come_back() {
    let (sender, receiver) = kanal::bounded::<u32>(0);
    let sending = thread::spawn(move || sender.send(1).unwrap());
    let receiving = thread::spawn(move || receiver.recv().unwrap());
    sending.join().unwrap();
    assert_eq!(receiving.join().unwrap(), 1);
}
