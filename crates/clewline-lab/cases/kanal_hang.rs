//! A receiver that waits comes back when the last sender goes away.

use std::thread;

#[test]
fn a_receiver_comes_back_when_the_sender_goes() {
    let (sender, receiver) = kanal::unbounded::<u32>();
    let leaving = thread::spawn(move || drop(sender));
    let receiving = thread::spawn(move || assert!(receiver.recv().is_err()));
    leaving.join().unwrap();
    receiving.join().unwrap();
}
