//! Any format: the one that `CLEWLINE_FORMAT` names.

#![no_main]

use std::sync::LazyLock;

static FORMAT: LazyLock<String> = LazyLock::new(|| {
    std::env::var("CLEWLINE_FORMAT").expect("CLEWLINE_FORMAT names a format, such as jsonl")
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| clewline_fuzz::digest(&FORMAT, input));
