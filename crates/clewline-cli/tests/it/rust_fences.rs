//! Fences in assembly, in Rust: they are not seen. What they may rule out is no violation.

use clewline_unmodified::Toolchain;

use crate::{
    run::{Folder, clewline},
    unmodified::{CRATE, is_possible},
};

const FENCES: &str = r#"
#![cfg(test)]

use std::{
    arch::x86_64::_mm_mfence,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    thread,
};

static WORDS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

fn side(at: usize) -> u32 {
    WORDS[at].store(1, Relaxed);
    unsafe { _mm_mfence() };
    WORDS[1 - at].load(Relaxed)
}

#[test]
fn one_sees_the_other() {
    let other = thread::spawn(|| side(1));
    let mine = side(0);
    assert!(mine + other.join().unwrap() != 0);
}
"#;

#[test]
#[ignore = "long"]
fn what_a_fence_may_rule_out_is_no_violation() {
    if !is_possible() || Toolchain::find().is_err() {
        return;
    }
    let folder = Folder::new("fences").with("Cargo.toml", &CRATE.replace("lost", "fences"));
    std::fs::create_dir(folder.path("src")).unwrap();
    let folder = folder.with("src/lib.rs", FENCES);
    let run = |more: &[&str]| {
        let ran = clewline(&folder, &[&["cargo", "test", "--"], more].concat(), "");
        let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        (ran.code, words)
    };
    let (code, words) = run(&["--memory-model", "rc11"]);
    assert_eq!(code, 3, "{words}");
    assert!(words.contains("and may order what the memory model leaves open: "), "{words}");
    assert!(words.contains("has the fence `mfence`"), "{words}");
    // By default that is only said.
    let (code, words) = run(&[]);
    assert_eq!(code, 0, "{words}");
    assert!(words.contains(", under sequential consistency In every execution"), "{words}");
    assert!(words.contains("Under rc11, an execution is wrong, but"), "{words}");
    let (code, words) = run(&["--trust", "sse2.rs"]);
    assert_eq!(code, 1, "{words}");
    assert!(words.contains("under rc11; it holds under sequential consistency"), "{words}");
}
