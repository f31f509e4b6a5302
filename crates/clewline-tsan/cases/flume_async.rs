//! A message that was sent before the sender went away is received, by a future.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn a_message_that_was_sent_is_received() {
    let (sender, receiver) = flume::unbounded();
    let sending = thread::spawn(move || {
        sender.send(1).unwrap();
        drop(sender);
    });
    let receiving = thread::spawn(move || block_on(receiver.recv_async()));
    sending.join().unwrap();
    assert_eq!(receiving.join().unwrap(), Ok(1));
}
