//! A push on a buffer that is full, while somebody still reads from it.

use std::thread;

use thingbuf::ThingBuf;

#[test]
fn a_push_on_a_full_buffer_says_so() {
    let buffer = ThingBuf::<u32>::new(1);
    thread::scope(|it| {
        it.spawn(|| {
            buffer.push(1).unwrap();
            let read = buffer.pop_ref();
            // One place, and somebody is in it.
            assert!(buffer.push_ref().is_err());
            drop(read);
        });
    });
}
