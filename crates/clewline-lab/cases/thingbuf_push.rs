//! A push on a buffer that is full, while another thread still reads from it. No thread is needed.

use thingbuf::ThingBuf;

#[test]
fn a_push_on_a_full_buffer_says_so() {
    let buffer = ThingBuf::<u32>::new(2);
    buffer.push(1).unwrap();
    buffer.push(2).unwrap();
    let read = buffer.pop_ref();
    // One slot is taken, and a reader holds the other.
    assert!(buffer.push_ref().is_err());
    drop(read);
}
