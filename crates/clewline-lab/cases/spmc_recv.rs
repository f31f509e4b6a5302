//! A message wakes up a waiting receiver.

use std::thread;

#[test]
fn a_message_wakes_up_who_waits() {
    let (sender, receiver) = spmc::channel();
    #[allow(unused_mut)]
    let mut sender = sender;
    let receiving = thread::spawn(move || receiver.recv().unwrap());
    sender.send(1).unwrap();
    assert_eq!(receiving.join().unwrap(), 1);
}
