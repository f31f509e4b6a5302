//! Which versions of which crates are explored, with which test.

/// A version of a crate.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrateCase {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// Further settings of the dependency in the manifest.
    features: &'static str,
    /// The test.
    pub(super) source: &'static str,
    pub(super) known: KnownDefect,
}

/// The known defect of a version.
#[derive(Clone, Copy, Debug)]
pub(super) enum KnownDefect {
    /// It has a bug.
    Bug(&'static str),
    /// It had one before.
    Mended(&'static str),
    /// It has a bug that shows only where memory is weaker than here.
    WeakMemory(&'static str),
}

/// Crates without a known bug, all in one project.
#[derive(Clone, Copy, Debug)]
pub(super) struct CorrectCrates {
    dependencies: &'static [&'static str],
    pub(super) source: &'static str,
}

const PACKAGE: &str = "\
[package]
name = \"case\"
version = \"0.0.0\"
edition = \"2024\"

[workspace]

[profile.dev]
opt-level = 1

[dependencies]
";

impl CrateCase {
    pub(super) fn manifest(&self) -> String {
        let CrateCase { name, version, features, .. } = self;
        format!("{PACKAGE}{name} = {{ version = \"={version}\"{features} }}\n")
    }

    /// A lock file that names the version: a yanked version is accepted only like this.
    pub(super) fn lock(&self) -> String {
        let CrateCase { name, version, .. } = self;
        format!(
            "version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\
             source = \"registry+https://github.com/rust-lang/crates.io-index\"\n"
        )
    }
}

impl CorrectCrates {
    pub(super) fn manifest(&self) -> String {
        format!("{PACKAGE}{}\n", self.dependencies.join("\n"))
    }
}

pub(super) const RIGHT: CorrectCrates = CorrectCrates {
    dependencies: &[
        "append-only-vec = \"0.1\"",
        "arc-swap = \"1.7\"",
        "async-channel = \"2.5\"",
        "async-lock = \"3.4\"",
        "boxcar = \"0.2\"",
        "concurrent-queue = \"2.5\"",
        "crossbeam-channel = \"0.5.15\"",
        "crossbeam-deque = \"0.8\"",
        "crossbeam-queue = \"0.3\"",
        "crossbeam-skiplist = \"0.1\"",
        "dashmap = \"6.1\"",
        "event-listener = \"5.4\"",
        "flume = { version = \"0.12\", default-features = false }",
        "left-right = \"0.11\"",
        "moka = { version = \"0.12\", features = [\"sync\"] }",
        "once_cell = \"1.21\"",
        "oneshot = \"0.1.12\"",
        "papaya = \"0.2\"",
        "parking_lot = \"0.12\"",
        "ringbuf = \"0.4\"",
        "rtrb = \"0.3\"",
        "sharded-slab = \"0.1\"",
        "spin = \"0.10\"",
        "tokio = { version = \"1.52\", features = [\"sync\"] }",
        "triomphe = \"0.1\"",
    ],
    source: include_str!("../../../cases/right.rs"),
};

macro_rules! source {
    ($name:literal) => {
        include_str!(concat!("../../../cases/", $name, ".rs"))
    };
}

const fn case(
    name: &'static str,
    version: &'static str,
    features: &'static str,
    source: &'static str,
    known: KnownDefect,
) -> CrateCase {
    CrateCase { name, version, features, source, known }
}

const DOUBLE_FREE: &str = "RUSTSEC-2025-0024: a message is dropped twice when an unbounded channel goes away";
const BLOCK: &str = "crossbeam PR 972: the receiver goes away while the first message makes its block";
const NOT_THERE: &str = "crossbeam#1023: a key that is replaced is gone for a moment";
const SPURIOUS: &str = "heapless#583: full or empty though it is neither";
const SPINS: &str = "thingbuf#83: a push on a full buffer spins forever";
const LOST: &str = "crossfire-rs#70: disconnected though a message was sent";
const LOST_ASYNC: &str = "flume#120: disconnected though a message was sent";
const TORN: &str = "scc#176: a value is read after its lock was given back";
const HANGS: &str = "kanal#8: a receiver is not told that the last sender is gone";
const DROPPED: &str = "event-listener#138: a notification is lost while the first listener is made";
const LENGTH: &str = "crossbeam#523: a length below none";
const NOT_EMPTY: &str = "tokio#6602: not empty though the length is 0; no thread is needed";
const PERMIT: &str = "tokio PR 3660: a permit is lost when all are notified";
const BACKWARDS: &str = "arc-swap#198: versions go backwards, or are freed";
const WAKE: &str =
    "spmc#5: a wake-up is lost; what is found is worse: a value is written after its node was published";
const SEGFAULT: &str = "spmc#10: a segmentation fault";
const STILL: &str = "RUSTSEC-2026-0005 was mended here. What is found is another one: a receiver that gives up waits for a state that it has \
                     written itself, and frees the channel while the sender still uses it";
const UNDERFLOW: &str =
    "tokio PR 8062: a length below none; what is found is a length of 1 though nothing was sent";
const BOTH: &str = "RUSTSEC-2021-0124: sender and receiver both take the value if the receiver closes";
const POP: &str = "scc#153: what pop answers; not by this test, of a bag";
const STALE: &str = "moka PR 593: `Inserted` though something was replaced";
const RESIZED: &str = "dashmap#107: a segmentation fault on insert, seen with 24 threads";
const ORDERINGS: &str = "RUSTSEC-2022-0029: orderings of MsQueue; it cannot be run: std of today panics where the queue leaves an enum uninitialized";
const NEVER_PUSHED: &str =
    "RUSTSEC-2018-0009: values are freed twice; what is found is a value dropped that was never pushed";
const CANCELLED: &str = "RUSTSEC-2026-0005: memory used after it was freed, when a receiver gives up";

/// The first two make up a quick run.
#[rustfmt::skip]
pub(super) const CASES: [CrateCase; 42] = [
    case("crossbeam-channel", "0.5.14", "", source!("crossbeam_channel_drop"), KnownDefect::Bug(DOUBLE_FREE)),
    case("crossbeam-channel", "0.5.15", "", source!("crossbeam_channel_drop"), KnownDefect::Mended(DOUBLE_FREE)),
    case("crossbeam-channel", "0.5.7", "", source!("crossbeam_channel_drop"), KnownDefect::Bug(BLOCK)),
    case("crossbeam-channel", "0.5.8", "", source!("crossbeam_channel_drop"), KnownDefect::Mended(BLOCK)),
    case("crossbeam-skiplist", "0.1.3", "", source!("crossbeam_skiplist_replace"), KnownDefect::Bug(NOT_THERE)),
    case("heapless", "0.9.3", "", source!("heapless_queue"), KnownDefect::Bug(SPURIOUS)),
    case("thingbuf", "0.1.4", "", source!("thingbuf_push"), KnownDefect::Bug(SPINS)),
    case("thingbuf", "0.1.6", "", source!("thingbuf_push"), KnownDefect::Mended(SPINS)),
    case("crossfire", "3.1.19", ", default-features = false", source!("crossfire_drop"), KnownDefect::Bug(LOST)),
    case("crossfire", "3.1.22", ", default-features = false", source!("crossfire_drop"), KnownDefect::Mended(LOST)),
    case("flume", "0.10.14", ", default-features = false, features = [\"async\"]", source!("flume_async"), KnownDefect::Bug(LOST_ASYNC)),
    case("flume", "0.11.0", ", default-features = false, features = [\"async\"]", source!("flume_async"), KnownDefect::Mended(LOST_ASYNC)),
    case("scc", "2.3.0", "", source!("scc_read"), KnownDefect::Bug(TORN)),
    case("scc", "2.3.1", "", source!("scc_read"), KnownDefect::Mended(TORN)),
    case("kanal", "0.1.0-pre1", "", source!("kanal_hang"), KnownDefect::Bug(HANGS)),
    case("kanal", "0.1.1", "", source!("kanal_hang"), KnownDefect::Mended(HANGS)),
    case("event-listener", "5.3.0", "", source!("event_listener_notify"), KnownDefect::Bug(DROPPED)),
    case("event-listener", "5.3.1", "", source!("event_listener_notify"), KnownDefect::Mended(DROPPED)),
    case("crossbeam-queue", "0.2.1", "", source!("crossbeam_queue_len"), KnownDefect::Bug(LENGTH)),
    case("crossbeam-queue", "0.3.12", "", source!("crossbeam_queue_len"), KnownDefect::Mended(LENGTH)),
    case("tokio", "1.37.0", ", features = [\"sync\"]", source!("tokio_is_empty"), KnownDefect::Bug(NOT_EMPTY)),
    case("tokio", "1.38.0", ", features = [\"sync\"]", source!("tokio_is_empty"), KnownDefect::Mended(NOT_EMPTY)),
    case("tokio", "1.5.0", ", features = [\"sync\"]", source!("tokio_notify"), KnownDefect::Bug(PERMIT)),
    case("tokio", "1.7.0", ", features = [\"sync\"]", source!("tokio_notify"), KnownDefect::Mended(PERMIT)),
    case("arc-swap", "1.7.1", "", source!("arc_swap_load"), KnownDefect::WeakMemory(BACKWARDS)),
    case("spmc", "0.2.1", "", source!("spmc_recv"), KnownDefect::Bug(WAKE)),
    case("spmc", "0.2.2", "", source!("spmc_recv"), KnownDefect::Bug(SEGFAULT)),
    case("spmc", "0.3.0", "", source!("spmc_recv"), KnownDefect::Mended(SEGFAULT)),
    case("oneshot", "0.1.11", "", source!("oneshot_cancelled"), KnownDefect::Bug(CANCELLED)),
    case("oneshot", "0.1.12", "", source!("oneshot_cancelled"), KnownDefect::Bug(STILL)),
    case("tokio", "1.52.2", ", features = [\"sync\"]", source!("tokio_len"), KnownDefect::Bug(UNDERFLOW)),
    case("tokio", "1.52.3", ", features = [\"sync\"]", source!("tokio_len"), KnownDefect::Mended(UNDERFLOW)),
    case("tokio", "1.13.0", ", features = [\"sync\"]", source!("tokio_oneshot"), KnownDefect::Bug(BOTH)),
    case("tokio", "1.13.1", ", features = [\"sync\"]", source!("tokio_oneshot"), KnownDefect::Mended(BOTH)),
    case("scc", "2.1.8", "", source!("scc_pop"), KnownDefect::Bug(POP)),
    case("scc", "2.1.9", "", source!("scc_pop"), KnownDefect::Mended(POP)),
    case("moka", "0.12.15", ", features = [\"sync\"]", source!("moka_compute"), KnownDefect::Bug(STALE)),
    case("crossbeam", "0.2.9", "", source!("crossbeam_queue_push"), KnownDefect::WeakMemory(ORDERINGS)),
    case("crossbeam", "0.4.0", "", source!("crossbeam_queue_drop"), KnownDefect::Bug(NEVER_PUSHED)),
    case("crossbeam", "0.4.1", "", source!("crossbeam_queue_drop"), KnownDefect::Mended(NEVER_PUSHED)),
    case("dashmap", "4.0.0-rc6", "", source!("dashmap_insert"), KnownDefect::Bug(RESIZED)),
    case("spmc", "0.2.3", "", source!("spmc_recv"), KnownDefect::Bug(SEGFAULT)),
];
