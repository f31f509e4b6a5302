//! A message that was sent before the sender went away is received, by a future that is asked again
//! and again.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
    thread,
};

#[test]
fn a_message_that_was_sent_is_received() {
    let (sender, receiver) = flume::unbounded();
    let sending = thread::spawn(move || {
        sender.send(1).unwrap();
        drop(sender);
    });
    let receiving = thread::spawn(move || {
        let mut future = pin!(receiver.recv_async());
        loop {
            // A task that waits for several futures polls all of them whenever one is woken.
            match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(value) => return value,
                Poll::Pending => thread::yield_now(),
            }
        }
    });
    sending.join().unwrap();
    assert_eq!(receiving.join().unwrap(), Ok(1));
}
