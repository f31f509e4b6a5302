//! A message that was sent before the sender went away is received.

use std::thread;

use crossfire::{TryRecvError, mpsc};

#[test]
fn a_message_that_was_sent_is_received() {
    let (sender, receiver) = mpsc::bounded_blocking::<u32>(1);
    let sending = thread::spawn(move || {
        sender.send(1).unwrap();
        drop(sender);
    });
    let receiving = thread::spawn(move || {
        loop {
            match receiver.try_recv() {
                Ok(value) => return value,
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => panic!("disconnected, though a message was sent"),
            }
        }
    });
    sending.join().unwrap();
    assert_eq!(receiving.join().unwrap(), 1);
}
