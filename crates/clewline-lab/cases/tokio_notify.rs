//! A permit that is given before all waiting are notified is not lost.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use tokio::sync::Notify;

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
fn a_permit_is_not_lost() {
    let notify = Arc::new(Notify::new());
    let (one, all) = (notify.clone(), notify.clone());
    let one = thread::spawn(move || one.notify_one());
    let all = thread::spawn(move || all.notify_waiters());
    one.join().unwrap();
    all.join().unwrap();
    block_on(notify.notified());
}
