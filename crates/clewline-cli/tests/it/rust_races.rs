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

/// A crate with this source, unless it cannot be explored here. Crates of one name would be built
/// into one file.
pub(crate) fn made_crate(name: &str, source: &str) -> Option<Folder> {
    if !is_possible() {
        return None;
    }
    if let Err(error) = Toolchain::find() {
        eprintln!("notice: skipped: {error}");
        return None;
    }
    let folder = Folder::new(&format!("cargo-{name}")).with("Cargo.toml", &CRATE.replace("lost", name));
    std::fs::create_dir(folder.path("src")).unwrap();
    Some(folder.with("src/lib.rs", source))
}

/// Code in Rust races, or is ordered by what the standard library does, which is not instrumented.
#[test]
#[ignore = "long"]
fn races_in_rust_are_found_and_none_is_invented() {
    let Some(folder) = made_crate("races", RACES) else { return };
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
    let Some(folder) = made_crate("many", MANY) else { return };
    let few = ["--format", "json", "--memory-model", "sc", "--executions", "5"];
    let ran = clewline(&folder, &[&["cargo", "test", "--"][..], &few].concat(), "");
    let found = ran.json();
    assert_eq!((found.len(), &found[0]["verdict"]), (1, &"unknown".into()), "{ran:?}");
    assert!(ran.stdout.contains("5 executions"), "{ran:?}");
    assert!(!ran.stdout.contains("more threads than"), "{ran:?}");
}

const SIZES: &str = r#"
#![cfg(test)]

use std::{
    arch::x86_64::*,
    cell::UnsafeCell,
    hint::black_box,
    sync::{Arc, Mutex},
    thread,
};

struct Shared<T>(UnsafeCell<T>);

unsafe impl<T> Sync for Shared<T> {}
unsafe impl<T> Send for Shared<T> {}

impl<T: Copy> Shared<T> {
    #[inline(never)]
    fn put(&self, it: T) {
        unsafe { *self.0.get() = it }
    }

    #[inline(never)]
    fn get(&self) -> T {
        unsafe { *self.0.get() }
    }
}

/// The values that two threads put and get, each while it holds the lock, if there is one.
fn both<T: Copy + 'static>(one: T, other: T, lock: Option<&'static Mutex<()>>) -> T {
    let shared = Arc::new(Shared(UnsafeCell::new(one)));
    let too = Arc::clone(&shared);
    let other = Shared(UnsafeCell::new(other));
    let thread = thread::spawn(move || {
        let _held = lock.map(|it| it.lock().unwrap());
        too.put({ other }.get());
    });
    let held = lock.map(|it| it.lock().unwrap());
    let found = black_box(shared.get());
    drop(held);
    thread.join().unwrap();
    found
}

static LOCK: Mutex<()> = Mutex::new(());

macro_rules! sizes {
    ($($racy:ident $right:ident $one:expr, $other:expr;)+) => {
        $(
            #[test]
            fn $racy() {
                both($one, $other, None);
            }

            #[test]
            fn $right() {
                both($one, $other, Some(&LOCK));
            }
        )+
    };
}

sizes! {
    racy_3 right_3 [1_u8; 3], [2; 3];
    racy_5 right_5 [1_u8; 5], [2; 5];
    racy_6 right_6 [1_u16; 3], [2; 3];
    racy_7 right_7 [1_u8; 7], [2; 7];
    racy_24 right_24 [1_u8; 24], [2; 24];
    racy_optional right_optional Some([1_u64; 3]), None;
    racy_pair right_pair (1_u128, 2_u128), (3, 4);
}

#[target_feature(enable = "avx")]
fn vectors(lock: Option<&'static Mutex<()>>) -> [u64; 4] {
    unsafe { std::mem::transmute(both(_mm256_set1_epi64x(1), _mm256_set1_epi64x(2), lock)) }
}

#[test]
fn racy_vector() {
    let found = unsafe { vectors(None) };
    assert!(found[0] == found[3], "torn: {found:?}");
}

#[test]
fn right_vector() {
    unsafe { vectors(Some(&LOCK)) };
}
"#;

/// The optimizer reads small arrays as integers of 3, 5, 6 or 7 bytes, and large vectors at once:
/// the pass for ThreadSanitizer leaves these out.
#[test]
#[ignore = "long"]
fn accesses_of_every_size_are_seen_in_rust() {
    let Some(folder) = made_crate("sizes", SIZES) else { return };
    let json = ["--format", "json", "--memory-model", "sc", "--preemptions", "1"];
    let ran = clewline(&folder, &[&["cargo", "test", "--"][..], &json].concat(), "");
    let found = ran.json();
    assert_eq!(found.len(), 16, "{ran:?}");
    for it in found {
        match it["subject"].as_str().unwrap().starts_with("racy_") {
            true => assert_eq!(it["cause"], "data-race", "{it}"),
            false => assert_eq!(it["verdict"], "holds", "{it}"),
        }
    }
    let given = [&["cargo", "test", "racy_vector", "--", "--no-races"][..], &json].concat();
    let ran = clewline(&folder, &given, "");
    assert_eq!(ran.json()[0]["cause"], "panic", "{ran:?}");
    assert!(ran.stdout.contains("torn: ["), "{ran:?}");
}

const READERS: &str = r#"
#![cfg(test)]

use std::{
    cell::UnsafeCell,
    hint::black_box,
    sync::{Arc, Mutex},
    thread,
};

struct Shared<T>(UnsafeCell<T>);

unsafe impl<T> Sync for Shared<T> {}
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> &T {
        unsafe { &*self.0.get() }
    }
}

static LOCK: Mutex<()> = Mutex::new(());

#[derive(Debug)]
struct Pair(u64, u64);

/// A thread changes a value that this one reads, each while it holds the lock, if there is one.
fn both<T: 'static, R>(
    value: T,
    change: fn(&mut T),
    read: impl FnOnce(&T) -> R,
    lock: Option<&'static Mutex<()>>,
) {
    let shared = Arc::new(Shared(UnsafeCell::new(value)));
    let too = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        let _held = lock.map(|it| it.lock().unwrap());
        change(unsafe { &mut *too.0.get() });
    });
    let held = lock.map(|it| it.lock().unwrap());
    black_box(read(shared.get()));
    drop(held);
    thread.join().unwrap();
}

/// One byte of it, so that nothing but the bytes is written.
fn bump(text: &mut String) {
    unsafe { text.as_bytes_mut()[2] = b'x' };
}

macro_rules! readers {
    ($($racy:ident $right:ident $value:expr, $change:expr, $read:expr;)+) => {
        $(
            #[test]
            fn $racy() {
                both($value, $change, $read, None);
            }

            #[test]
            fn $right() {
                both($value, $change, $read, Some(&LOCK));
            }
        )+
    };
}

readers! {
    racy_clone right_clone String::from("text"), bump, |it| it.clone();
    racy_text right_text String::from("text"), bump, |it| format!("{it}");
    racy_number right_number 7_u32, |it| *it = 8, |it| format!("{it:?}");
    racy_struct right_struct Pair(1, 2), |it| it.1 = 3, |it| format!("{it:?}");
    racy_dynamic right_dynamic 1_i128, |it| *it = 3, |it| {
        let it: &dyn std::fmt::LowerHex = black_box(it);
        format!("{it:x}")
    };
    racy_equal right_equal [1_u8; 16], |it| it[9] = 3, |it| it[..] == [1; 16][..];
    racy_utf8 right_utf8 [b'a'; 16], |it| it[9] = b'b', |it| std::str::from_utf8(it).is_ok();
}
"#;

/// The standard library is not instrumented: what some of its functions read is known.
#[test]
fn what_the_standard_library_of_rust_reads_is_not_passed_over() {
    let Some(folder) = made_crate("readers", READERS) else { return };
    let given = ["cargo", "test", "--", "--format", "json", "--memory-model", "sc", "--preemptions", "1"];
    let ran = clewline(&folder, &given, "");
    let found = ran.json();
    assert_eq!(found.len(), 14, "{ran:?}");
    for it in found {
        match it["subject"].as_str().unwrap().starts_with("racy_") {
            true => {
                assert_eq!(it["verdict"], "unknown", "{it}");
                let reason = it["reason"].as_str().unwrap();
                assert!(reason.contains(") reads memory that other threads write"), "{it}");
            }
            false => assert_eq!(it["verdict"], "holds", "{it}"),
        }
    }
}

const BUILD: &str = r#"
use std::process::Command;

fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let run = |command: &mut Command| assert!(command.status().unwrap().success());
    run(Command::new("cc").args(["-O1", "-fPIC", "-c", "native.c", "-o"]).arg(format!("{out}/native.o")));
    run(Command::new("ar").arg("rcs").arg(format!("{out}/libnative.a")).arg(format!("{out}/native.o")));
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=native");
}
"#;

const NATIVE: &str = "\
unsigned long count;
void unused(void) {}
void bump(void) { count++; }
unsigned long twice(unsigned long it) { return 2 * it; }
";

const CALLS: &str = r#"
#![cfg(test)]

use std::{
    sync::atomic::{AtomicU64, Ordering::*},
    thread,
};

unsafe extern "C" {
    fn bump();
    fn twice(it: u64) -> u64;
}

fn both(call: fn()) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let run = move || {
        COUNT.fetch_add(1, Relaxed);
        call();
    };
    let thread = thread::spawn(run);
    run();
    thread.join().unwrap();
}

#[test]
fn calls_c() {
    both(|| unsafe { bump() });
}

#[test]
fn calls_other_c() {
    both(|| _ = std::hint::black_box(unsafe { twice(1) }));
}

#[test]
fn calls_none() {
    both(|| ());
}
"#;

/// What a build script has compiled is not instrumented. It matters where it runs.
#[test]
fn code_in_c_of_a_crate_is_not_seen() {
    let Some(folder) = made_crate("native", CALLS) else { return };
    let folder = folder.with("build.rs", BUILD).with("native.c", NATIVE);
    let given = ["cargo", "test", "--", "--format", "json", "--memory-model", "sc", "--preemptions", "1"];
    let ran = clewline(&folder, &given, "");
    let found = ran.json();
    assert_eq!(found.len(), 3, "{ran:?}");
    let reason = |at: usize| found[at]["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason(0).contains("bump of libnative.a is not instrumented: it is not seen"), "{ran:?}");
    assert!(!reason(0).contains("twice") && reason(2).contains("twice of libnative.a"), "{ran:?}");
    assert_eq!(found[1]["verdict"], "holds", "{ran:?}");
    for trusted in ["libnative", "bump"] {
        let trusting = [&["cargo", "test", "calls_c"][..], &given[2..], &["--trust", trusted]].concat();
        assert_eq!(clewline(&folder, &trusting, "").json()[0]["verdict"], "holds", "{trusted}");
    }
}
