//! A value that is sent to a receiver that has closed: one of them has it, and not both.

use std::thread;

#[test]
fn a_value_that_is_sent_is_had_by_one() {
    let (sender, mut receiver) = tokio::sync::oneshot::channel::<Box<u32>>();
    let sending = thread::spawn(move || sender.send(Box::new(1)).is_err());
    let receiving = thread::spawn(move || {
        receiver.close();
        receiver.try_recv().is_ok()
    });
    let (is_back, is_received) = (sending.join().unwrap(), receiving.join().unwrap());
    assert!(!(is_back && is_received), "both have it");
}
