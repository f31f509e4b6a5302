//! A channel that is empty says so, after any number of messages. No thread is needed.

use tokio::sync::mpsc;

#[test]
fn an_empty_channel_says_so() {
    let (sender, mut receiver) = mpsc::channel(64);
    for _ in 0..40 {
        sender.try_send(1).unwrap();
        receiver.try_recv().unwrap();
        assert_eq!((receiver.len(), receiver.is_empty()), (0, true));
    }
}
