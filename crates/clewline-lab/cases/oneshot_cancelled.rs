//! A receiver that gives up while a message is sent.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
    thread,
};

#[test]
fn a_receiver_that_gives_up_while_a_message_is_sent() {
    let (sender, receiver) = oneshot::channel::<Box<u32>>();
    let sending = thread::spawn(move || {
        let _is_gone = sender.send(Box::new(1));
    });
    let receiving = thread::spawn(move || {
        let mut future = pin!(receiver.into_future());
        let waker = Waker::noop();
        // Asked once, and then dropped.
        if let Poll::Ready(Ok(value)) = future.as_mut().poll(&mut Context::from_waker(waker)) {
            assert_eq!(*value, 1);
        }
    });
    sending.join().unwrap();
    receiving.join().unwrap();
}
