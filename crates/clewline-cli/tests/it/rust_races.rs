//! Data races of unmodified code in Rust.

use clewline_testing::pick;
use clewline_unmodified::Toolchain;

use crate::{
    run::{Folder, clewline},
    unmodified::{CRATE, is_possible},
};

const RACES: &str = r#"
#![cfg(test)]

use std::{
    cell::UnsafeCell,
    sync::{
        Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::*, fence},
        mpsc,
    },
    thread,
};

#[derive(Default)]
struct Shared {
    data: UnsafeCell<u64>,
    flag: AtomicBool,
}

unsafe impl Sync for Shared {}

impl Shared {
    fn put(&self) {
        unsafe { *self.data.get() += 1 }
    }

    fn get(&self) -> u64 {
        std::hint::black_box(unsafe { *self.data.get() })
    }
}

fn both(one: impl FnOnce(&Shared) + Send + 'static, other: impl FnOnce(&Shared) + Send + 'static) {
    let shared = Arc::new(Shared::default());
    let too = Arc::clone(&shared);
    let thread = thread::spawn(move || one(&too));
    other(&shared);
    thread.join().unwrap();
}

#[test]
fn racy_relaxed() {
    both(
        |it| {
            it.put();
            it.flag.store(true, Relaxed);
        },
        |it| {
            if it.flag.load(Relaxed) {
                it.get();
            }
        },
    );
}

#[test]
fn racy_acquire_of_a_relaxed_store() {
    both(
        |it| {
            it.put();
            it.flag.store(true, Relaxed);
        },
        |it| {
            if it.flag.load(Acquire) {
                it.get();
            }
        },
    );
}

#[test]
fn racy_counter() {
    both(Shared::put, Shared::put);
}

#[test]
fn racy_without_the_lock() {
    static LOCK: Mutex<()> = Mutex::new(());
    both(
        |it| {
            let _held = LOCK.lock().unwrap();
            it.put();
        },
        Shared::put,
    );
}

#[test]
fn right_release_and_acquire() {
    both(
        |it| {
            it.put();
            it.flag.store(true, Release);
        },
        |it| {
            if it.flag.load(Acquire) {
                it.get();
            }
        },
    );
}

#[test]
fn right_fences() {
    both(
        |it| {
            it.put();
            fence(Release);
            it.flag.store(true, Relaxed);
        },
        |it| {
            if it.flag.load(Relaxed) {
                fence(Acquire);
                it.get();
            }
        },
    );
}

#[test]
fn right_mutex() {
    static LOCK: Mutex<()> = Mutex::new(());
    let put = |it: &Shared| {
        let _held = LOCK.lock().unwrap();
        it.put();
    };
    both(put, put);
}

#[test]
fn right_rw_lock() {
    static LOCK: RwLock<()> = RwLock::new(());
    both(
        |it| {
            let _held = LOCK.write().unwrap();
            it.put();
        },
        |it| {
            let _held = LOCK.read().unwrap();
            it.get();
        },
    );
}

#[test]
fn right_once() {
    static ONCE: Once = Once::new();
    let get = |it: &Shared| {
        ONCE.call_once(|| it.put());
        it.get();
    };
    both(get, get);
}

#[test]
fn right_once_lock() {
    static CELL: OnceLock<Box<u64>> = OnceLock::new();
    let get = |_: &Shared| assert_eq!(**CELL.get_or_init(|| Box::new(1)), 1);
    both(get, get);
}

#[test]
fn right_channel() {
    let (sender, receiver) = mpsc::channel();
    both(
        move |it| {
            it.put();
            sender.send(()).unwrap();
        },
        move |it| {
            receiver.recv().unwrap();
            it.get();
        },
    );
}

#[test]
fn right_condvar() {
    static READY: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
    both(
        |it| {
            it.put();
            *READY.0.lock().unwrap() = true;
            READY.1.notify_one();
        },
        |it| {
            let mut ready = READY.0.lock().unwrap();
            while !*ready {
                ready = READY.1.wait(ready).unwrap();
            }
            it.get();
        },
    );
}

#[test]
fn right_barrier() {
    let one = Arc::new(Barrier::new(2));
    let too = Arc::clone(&one);
    both(
        move |it| {
            it.put();
            one.wait();
        },
        move |it| {
            too.wait();
            it.get();
        },
    );
}

#[test]
fn right_park() {
    let main = thread::current();
    both(
        move |it| {
            it.put();
            it.flag.store(true, Relaxed);
            main.unpark();
        },
        |it| {
            thread::park();
            // Without the flag the thread may have woken for no reason.
            if it.flag.load(Relaxed) {
                it.get();
            }
        },
    );
}

#[test]
fn right_scope() {
    let shared = Shared::default();
    thread::scope(|scope| {
        scope.spawn(|| shared.put());
    });
    shared.get();
}

#[test]
fn right_arc() {
    let one = Arc::new(vec![1]);
    let too = Arc::clone(&one);
    let thread = thread::spawn(move || assert_eq!(too[0], 1));
    assert_eq!(one.len(), 1);
    drop(one);
    thread.join().unwrap();
}

#[test]
fn right_mutex_and_relaxed_atomics() {
    let shared = Arc::new((AtomicUsize::new(0), Mutex::new(0)));
    let too = Arc::clone(&shared);
    let step = |(word, lock): &(AtomicUsize, Mutex<usize>)| {
        let mut count = lock.lock().unwrap();
        assert_eq!(word.load(Relaxed), *count);
        *count += 1;
        word.store(*count, Relaxed);
    };
    let thread = thread::spawn(move || step(&too));
    step(&shared);
    thread.join().unwrap();
}

#[test]
fn right_once_and_relaxed_atomics() {
    let shared = Arc::new((AtomicUsize::new(0), OnceLock::new()));
    let too = Arc::clone(&shared);
    let step = |(word, once): &(AtomicUsize, OnceLock<()>)| {
        once.get_or_init(|| word.store(1, Relaxed));
        assert_eq!(word.load(Relaxed), 1);
    };
    let thread = thread::spawn(move || step(&too));
    step(&shared);
    thread.join().unwrap();
}

#[test]
fn weak_message() {
    let words = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
    let too = Arc::clone(&words);
    let thread = thread::spawn(move || {
        too.0.store(1, Relaxed);
        too.1.store(true, Relaxed);
    });
    if words.1.load(Acquire) {
        assert_eq!(words.0.load(Relaxed), 1);
    }
    thread.join().unwrap();
}
"#;

/// Code in Rust races, or is ordered by what the standard library does, which is not instrumented.
#[test]
#[ignore = "long"]
fn races_in_rust_are_found_and_none_is_invented() {
    if !is_possible() {
        return;
    }
    if let Err(error) = Toolchain::find() {
        eprintln!("notice: skipped: {error}");
        return;
    }
    let folder = Folder::new("cargo-races").with("Cargo.toml", &CRATE.replace("lost", "races"));
    std::fs::create_dir(folder.path("src")).unwrap();
    let folder = folder.with("src/lib.rs", RACES);
    for model in pick(&["rc11"][..], &["sc", "rc11"]).iter().copied() {
        let given = ["cargo", "test", "--", "--format", "json", "--preemptions", pick("1", "2")];
        let ran = clewline(&folder, &[&given[..], &["--memory-model", model]].concat(), "");
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        let found = ran.json();
        assert_eq!(found.len(), RACES.matches("#[test]").count(), "{}", ran.stdout);
        for it in found {
            let name = it["subject"].as_str().unwrap();
            match () {
                () if name.starts_with("racy_") => assert_eq!(it["cause"], "data-race", "{model}: {it}"),
                () if name.starts_with("weak_") && model != "sc" => {
                    assert_eq!(it["cause"], "panic", "{model}: {it}");
                }
                () => assert_eq!(it["verdict"], "holds", "{model}: {it}"),
            }
        }
    }
}

const MANY: &str = r#"
#![cfg(test)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::*},
    },
    thread,
};

#[test]
fn many() {
    let count = Arc::new(AtomicUsize::new(0));
    let start = |_| {
        let count = Arc::clone(&count);
        thread::spawn(move || drop(count.fetch_add(1, SeqCst)))
    };
    let threads: Vec<_> = (0..32).map(start).collect();
    threads.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(count.load(SeqCst), 32);
}
"#;

/// Of the orders of 32 threads a few are executed: nothing but their number is a limit.
#[test]
fn thirty_two_threads_of_rust_are_explored() {
    if !is_possible() || Toolchain::find().is_err() {
        eprintln!("notice: skipped: no toolchain");
        return;
    }
    // Another name: crates of one name would be built into one file.
    let folder = Folder::new("cargo-many").with("Cargo.toml", &CRATE.replace("lost", "many"));
    std::fs::create_dir(folder.path("src")).unwrap();
    let folder = folder.with("src/lib.rs", MANY);
    let few = ["--format", "json", "--memory-model", "sc", "--executions", "5"];
    let ran = clewline(&folder, &[&["cargo", "test", "--"][..], &few].concat(), "");
    let found = ran.json();
    assert_eq!((found.len(), &found[0]["verdict"]), (1, &"unknown".into()), "{ran:?}");
    assert!(ran.stdout.contains("5 executions"), "{ran:?}");
    assert!(!ran.stdout.contains("more threads than"), "{ran:?}");
}
