//! The format `jsonl`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| clewline_fuzz::digest("jsonl", input));
