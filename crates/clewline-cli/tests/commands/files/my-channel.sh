#!/usr/bin/env bash
# A crate with a test of two threads.
set -euo pipefail
mkdir -p my-channel/src
cd my-channel
printf '[package]\nname = "my-channel"\nversion = "0.1.0"\nedition = "2024"\n\n[workspace]\n' > Cargo.toml
cat > src/lib.rs <<'RUST'
#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering::SeqCst},
        thread,
    };

    static SENT: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn two_senders() {
        let senders = [1, 2].map(|message| thread::spawn(move || SENT.fetch_add(message, SeqCst)));
        senders.into_iter().for_each(|it| drop(it.join().unwrap()));
        assert_eq!(SENT.load(SeqCst), 3);
    }
}
RUST
