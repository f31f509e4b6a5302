//! Two senders and a receiver that goes away: each message is dropped once.

use std::thread;

#[test]
fn two_senders_and_a_receiver_that_goes_away() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let senders = [sender.clone(), sender];
    let senders = senders.map(|it| {
        thread::spawn(move || {
            let _is_gone = it.send(Box::new(1));
        })
    });
    let receiver = thread::spawn(move || drop(receiver));
    for sender in senders {
        sender.join().unwrap();
    }
    receiver.join().unwrap();
}
