//! The length of a channel whose sender goes away.

use std::thread;

#[test]
fn a_length_is_at_most_what_was_sent() {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<u32>();
    let leaving = thread::spawn(move || drop(sender));
    let looking = thread::spawn(move || assert_eq!(receiver.len(), 0));
    leaving.join().unwrap();
    looking.join().unwrap();
}
