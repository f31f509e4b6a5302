//! Which structures of which packages are explored, with which calls, and what is right.

/// A driver with its options, and its verdict as judged by hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct LibraryCase {
    /// The structure.
    pub(super) name: &'static str,
    /// The package that has it.
    pub(super) package: &'static str,
    /// The driver.
    pub(super) file: &'static str,
    pub(super) text: &'static str,
    /// Flags of the compiler.
    pub(super) flags: &'static str,
    pub(super) matrix: &'static str,
    /// Results that may be returned with no effect.
    pub(super) may_fail: Option<&'static str>,
    /// Whether data races are set aside. What follows from a race under rc11 is undefined, so only
    /// sequential consistency is explored then.
    pub(super) ignores_races: bool,
    /// Whether each execution has a process of its own: the library maps memory itself, which is
    /// not restored.
    pub(super) isolates: bool,
    /// Code that is not seen and need not be.
    pub(super) trusted: &'static str,
    /// The right verdict, and why it is right.
    pub(super) expected: &'static str,
    pub(super) judged: &'static str,
}

macro_rules! case {
    ($name:literal, $package:literal, $file:literal, $matrix:expr, $expected:literal, $judged:literal $(, $field:ident: $value:expr)*) => {
        LibraryCase {
            name: $name,
            package: $package,
            file: $file,
            text: include_str!(concat!("../../../programs/packaged/", $file)),
            matrix: $matrix,
            expected: $expected,
            judged: $judged,
            $($field: $value,)*
            ..PLAIN
        }
    };
}

const PLAIN: LibraryCase = LibraryCase {
    name: "",
    package: "",
    file: "",
    text: "",
    flags: "",
    matrix: "",
    may_fail: None,
    ignores_races: false,
    isolates: false,
    trusted: "",
    expected: "",
    judged: "",
};

const QUEUE: &str = "enq(1) deq | enq(2) deq";
const STACK: &str = "push(1) pop | push(2) pop";
const PIPE: &str = "enq(1) enq(2) enq(3) | deq deq";
const MAP: &str = "insert(1, 1) erase(1) | insert(1, 2) find(1)";

const BUILTINS: &str = "-DCK_USE_CC_BUILTINS=1";
const URCU: &str = "-DPORTABLE -lurcu-cds -lurcu-common";
const TBB: &str = "libtbb libtbbmalloc";
const GLIB: &str = "-I/usr/include/glib-2.0 -I/usr/lib/x86_64-linux-gnu/glib-2.0/include -lglib-2.0";
const APR: &str = "-I/usr/include/apr-1.0 -D_LARGEFILE64_SOURCE -laprutil-1 -lapr-1";

/// Every row, by package.
#[rustfmt::skip]
pub(super) const LIBRARIES: [LibraryCase; 36] = [
    case!("boost::lockfree::queue", "libboost-dev", "boost_queue.cpp", QUEUE, "violated",
        "a pool reads `next` of a free node without an atomic, while the thread that has taken the node writes it"),
    case!("the same, races set aside", "libboost-dev", "boost_queue.cpp", QUEUE, "holds",
        "Michael and Scott's queue with tags; a value of the race is used only if the compare and swap after it succeeds", ignores_races: true),
    case!("boost::lockfree::stack, races set aside", "libboost-dev", "boost_stack.cpp", STACK, "holds",
        "Treiber's stack with tags, and the same pool", ignores_races: true),
    case!("boost::lockfree::spsc_queue", "libboost-dev", "boost_spsc.cpp", PIPE, "violated",
        "store buffering: each side stores its index with release and reads the other's with acquire, so both may read an old one: full, and empty"),
    case!("the same, push may fail", "libboost-dev", "boost_spsc.cpp", PIPE, "holds",
        "nothing but that", may_fail: Some("enq=false")),
    case!("cds_wfcq", "liburcu-dev", "urcu_wfcqueue.c", QUEUE, "unknown",
        "its atomics for x86 are inline assembly", flags: "-lurcu-cds -lurcu-common"),
    case!("cds_wfcq, portable atomics, races set aside", "liburcu-dev", "urcu_wfcqueue.c", QUEUE, "holds",
        "a dequeue waits until the node before the tail is linked", flags: URCU, ignores_races: true),
    case!("cds_lfs, portable atomics, races set aside", "liburcu-dev", "urcu_lfstack.c", STACK, "holds",
        "Treiber's stack with a lock for pop", flags: URCU, ignores_races: true),
    case!("ck_ring", "libck-dev", "ck_ring.c", PIPE, "unknown",
        "its loads and stores are inline assembly"),
    case!("ck_ring, builtin atomics", "libck-dev", "ck_ring.c", PIPE, "violated",
        "loads and stores are volatile then, which is a data race in C11", flags: BUILTINS),
    case!("the same, races set aside", "libck-dev", "ck_ring.c", PIPE, "holds",
        "Lamport's ring", flags: BUILTINS, ignores_races: true),
    case!("ck_ring_mpmc, the same", "libck-dev", "ck_ring.c", QUEUE, "holds",
        "enqueuers publish in order; a dequeuer that loses the compare and swap reads both indices again", flags: "-DCK_USE_CC_BUILTINS=1 -DMPMC", ignores_races: true),
    case!("ck_fifo_spsc, the same", "libck-dev", "ck_fifo.c", "enq(1) enq(2) | deq deq", "holds",
        "a list with a dummy node, one thread at each end", flags: BUILTINS, ignores_races: true),
    case!("ck_stack_upmc, the same", "libck-dev", "ck_stack.c", STACK, "holds",
        "Treiber's stack, whose nodes are not used again here", flags: BUILTINS, ignores_races: true),
    case!("tbb::concurrent_queue", "libtbb-dev", "tbb_queue.cpp", QUEUE, "violated",
        "try_pop reads both counters relaxed: it may see an element gone, and not the one that came before", flags: "-ltbb", isolates: true, trusted: TBB),
    case!("the same, try_pop may fail", "libtbb-dev", "tbb_queue.cpp", QUEUE, "holds",
        "nothing but that", flags: "-ltbb", isolates: true, trusted: TBB, may_fail: Some("deq=null")),
    case!("tbb::concurrent_hash_map", "libtbb-dev", "tbb_hash_map.cpp", "insert(1, 1) | erase(1) find(1)", "holds",
        "each bucket has a lock for readers and writers", flags: "-ltbb", isolates: true, trusted: TBB),
    case!("tbb::concurrent_unordered_map", "libtbb-dev", "tbb_unordered_map.cpp", "insert(1, 1) | insert(1, 2) find(1)", "holds",
        "a split-ordered list: a node is inserted by one compare and swap, and none is removed", flags: "-ltbb", isolates: true, trusted: TBB),
    case!("tbb::concurrent_priority_queue", "libtbb-dev", "tbb_priority_queue.cpp", "insert(1) poll | insert(2)", "holds",
        "one thread executes the operations of all", flags: "-ltbb", isolates: true, trusted: TBB),
    case!("std::queue, a mutex, a condition variable", "libstdc++", "std_queue.cpp", QUEUE, "holds",
        "every access is under the mutex"),
    case!("the same, pushed without the mutex", "libstdc++", "std_queue.cpp", QUEUE, "violated",
        "two threads write the queue, and nothing orders them", flags: "-DBUG_UNLOCKED"),
    case!("std::map under std::shared_mutex", "libstdc++", "std_map.cpp", MAP, "holds",
        "writers exclude readers and writers", flags: "-std=c++17"),
    case!("the same, inserted under the readers' lock", "libstdc++", "std_map.cpp", MAP, "violated",
        "two readers may hold the lock, and both write", flags: "-std=c++17 -DBUG_SHARED"),
    case!("GAsyncQueue", "libglib2.0-dev", "glib_async_queue.c", QUEUE, "unknown",
        "it is in a library that is not instrumented", flags: GLIB),
    case!("the same, trusted", "libglib2.0-dev", "glib_async_queue.c", QUEUE, "holds",
        "each call takes the mutex of the queue", flags: GLIB, trusted: "libglib-2.0 libpcre2-8"),
    case!("apr_queue", "libaprutil1-dev", "apr_queue.c", QUEUE, "holds",
        "each call takes a mutex of POSIX, which is seen", flags: APR, trusted: "libaprutil-1 libapr-1 libexpat libcrypt libuuid"),
    case!("evbuffer with its lock", "libevent-dev", "event_buffer.c", QUEUE, "holds",
        "each call takes the lock of the buffer, a mutex of POSIX", flags: "-levent_core -levent_pthreads", trusted: "libevent_core-2.1 libevent_pthreads-2.1"),
    case!("moodycamel::ConcurrentQueue", "libconcurrentqueue-dev", "moodycamel_queue.cpp", QUEUE, "violated",
        "try_dequeue reads the sizes relaxed, and may find nothing; its documentation says that it is not linearizable"),
    case!("the same, try_dequeue may fail", "libconcurrentqueue-dev", "moodycamel_queue.cpp", QUEUE, "holds",
        "nothing but that, for one value of each producer", may_fail: Some("deq=null")),
    case!("moodycamel::ReaderWriterQueue", "libreaderwriterqueue-dev", "moodycamel_spsc.cpp", "enq(1) enq(2) | deq deq", "holds",
        "each index is written by one thread, with release after the element"),
    case!("atomic_queue::AtomicQueue", "libatomic-queue-dev", "atomic_queue.cpp", QUEUE, "violated",
        "try_pop reads the head relaxed after a failed compare and swap, and may read an old one"),
    case!("the same, try_pop may fail", "libatomic-queue-dev", "atomic_queue.cpp", QUEUE, "holds",
        "nothing but that", may_fail: Some("deq=null")),
    case!("cds::container::VyukovMPMCCycleQueue", "libcds-dev", "cds_vyukov.cpp", QUEUE, "violated",
        "dequeue reads the position of enqueuers relaxed before it returns that the ring is empty", flags: "-lcds"),
    case!("the same, dequeue may fail", "libcds-dev", "cds_vyukov.cpp", QUEUE, "holds",
        "nothing but that", flags: "-lcds", may_fail: Some("deq=null")),
    case!("libcuckoo::cuckoohash_map", "libcuckoo-dev", "cuckoo_map.cpp", MAP, "holds",
        "both buckets of a key are locked"),
    case!("spa_ringbuffer", "libspa-0.2-dev", "spa_ringbuffer.c", PIPE, "violated",
        "store buffering, as of boost's", flags: "-I/usr/include/spa-0.2"),
];

#[cfg(test)]
mod tests {
    use clewline_core::MayFail;
    use clewline_methods::line_up::Matrix;

    use super::*;

    #[test]
    fn every_row_can_be_read() {
        for case in LIBRARIES {
            assert!(case.matrix.parse::<Matrix>().is_ok(), "{}", case.name);
            assert!(case.may_fail.is_none_or(|it| it.parse::<MayFail>().is_ok()), "{}", case.name);
            assert!(["holds", "violated", "unknown"].contains(&case.expected), "{}", case.name);
            // Every flag that selects a variant is known to the driver or to the library.
            for flag in case.flags.split(' ').filter_map(|it| it.strip_prefix("-DBUG_")) {
                assert!(case.text.contains(&format!("BUG_{flag}")), "{}", case.name);
            }
        }
    }
}
