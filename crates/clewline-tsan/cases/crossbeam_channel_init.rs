//! A first message while the receiver goes away.

use std::thread;

#[test]
fn a_first_message_while_the_receiver_goes_away() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let sending = thread::spawn(move || {
        let _is_gone = sender.send(Box::new(1));
    });
    let leaving = thread::spawn(move || drop(receiver));
    sending.join().unwrap();
    leaving.join().unwrap();
}
