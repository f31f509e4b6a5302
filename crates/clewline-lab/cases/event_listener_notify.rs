//! A notification after a flag was set reaches a thread that read the flag before.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use event_listener::{Event, Listener};

#[test]
fn a_notification_reaches_who_listens() {
    let shared = Arc::new((AtomicBool::new(false), Event::new()));
    let (waiter, setter) = (shared.clone(), shared);
    let waiting = thread::spawn(move || {
        let listener = waiter.1.listen();
        if !waiter.0.load(SeqCst) {
            listener.wait();
        }
    });
    setter.0.store(true, SeqCst);
    setter.1.notify(1);
    waiting.join().unwrap();
}
