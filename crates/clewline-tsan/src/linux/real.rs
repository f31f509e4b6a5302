//! The original functions of the C library that are replaced here.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    sync::atomic::{AtomicUsize, Ordering},
};

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;

/// The next function of that name after this library's.
pub(super) fn find(found: &AtomicUsize, name: &CStr) -> usize {
    let known = found.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: the name is a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
    assert_ne!(address, 0, "the C library has {name:?}");
    found.store(address, Ordering::Relaxed);
    address
}

macro_rules! real {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        $(
            /// # Safety
            ///
            /// The preconditions of the C function.
            pub(in crate::linux) unsafe fn $name($($argument: $type),*) -> $result {
                static FOUND: AtomicUsize = AtomicUsize::new(0);
                const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name has no zero inside"),
                };
                let function = find(&FOUND, NAME);
                // SAFETY: it has this type in the C library.
                unsafe {
                    let function: unsafe extern "C" fn($($type),*) -> $result = std::mem::transmute(function);
                    function($($argument),*)
                }
            }
        )+
    };
}

type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
type Object = *mut c_void;
type Time = *const c_void;

real! {
    fn pthread_create(thread: *mut libc::pthread_t, attributes: *const libc::pthread_attr_t, start: Start, argument: *mut c_void) -> c_int;
    fn pthread_join(thread: libc::pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_detach(thread: libc::pthread_t) -> c_int;
    fn pthread_exit(result: *mut c_void) -> !;
    fn pthread_mutex_lock(mutex: Object) -> c_int;
    fn pthread_mutex_trylock(mutex: Object) -> c_int;
    fn pthread_mutex_timedlock(mutex: Object, until: Time) -> c_int;
    fn pthread_mutex_clocklock(mutex: Object, clock: c_int, until: Time) -> c_int;
    fn pthread_mutex_unlock(mutex: Object) -> c_int;
    fn pthread_cond_wait(condvar: Object, mutex: Object) -> c_int;
    fn pthread_cond_timedwait(condvar: Object, mutex: Object, until: Time) -> c_int;
    fn pthread_cond_clockwait(condvar: Object, mutex: Object, clock: c_int, until: Time) -> c_int;
    fn pthread_cond_signal(condvar: Object) -> c_int;
    fn pthread_cond_broadcast(condvar: Object) -> c_int;
    fn pthread_rwlock_rdlock(lock: Object) -> c_int;
    fn pthread_rwlock_wrlock(lock: Object) -> c_int;
    fn pthread_rwlock_tryrdlock(lock: Object) -> c_int;
    fn pthread_rwlock_trywrlock(lock: Object) -> c_int;
    fn pthread_rwlock_unlock(lock: Object) -> c_int;
    fn pthread_rwlock_timedrdlock(lock: Object, until: Time) -> c_int;
    fn pthread_rwlock_timedwrlock(lock: Object, until: Time) -> c_int;
    fn pthread_rwlock_clockrdlock(lock: Object, clock: c_int, until: Time) -> c_int;
    fn pthread_rwlock_clockwrlock(lock: Object, clock: c_int, until: Time) -> c_int;
    fn sem_clockwait(semaphore: Object, clock: c_int, until: Time) -> c_int;
    fn pthread_cancel(thread: libc::pthread_t) -> c_int;
    fn thrd_join(thread: libc::pthread_t, result: *mut c_int) -> c_int;
    fn thrd_create(thread: *mut libc::pthread_t, start: usize, argument: *mut c_void) -> c_int;
    fn pthread_once(once: Object, work: extern "C" fn()) -> c_int;
    fn pthread_key_create(key: *mut c_uint, destructor: Destructor) -> c_int;
    fn pthread_key_delete(key: c_uint) -> c_int;
    fn pthread_getspecific(key: c_uint) -> *mut c_void;
    fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
    fn pthread_spin_lock(lock: Object) -> c_int;
    fn pthread_spin_trylock(lock: Object) -> c_int;
    fn pthread_spin_unlock(lock: Object) -> c_int;
    fn pthread_barrier_init(barrier: Object, attributes: *const c_void, n: c_uint) -> c_int;
    fn pthread_barrier_wait(barrier: Object) -> c_int;
    fn sem_wait(semaphore: Object) -> c_int;
    fn sem_trywait(semaphore: Object) -> c_int;
    fn sem_timedwait(semaphore: Object, until: Time) -> c_int;
    fn sem_post(semaphore: Object) -> c_int;
    fn sched_yield() -> c_int;
    fn usleep(time: c_uint) -> c_int;
    fn sleep(time: c_uint) -> c_uint;
    fn nanosleep(time: Time, left: Object) -> c_int;
    fn clock_nanosleep(clock: c_int, flags: c_int, time: Time, left: Object) -> c_int;
    fn poll(files: *mut libc::pollfd, n: libc::nfds_t, timeout_ms: c_int) -> c_int;
    fn ppoll(files: *mut libc::pollfd, n: libc::nfds_t, time: Time, mask: *const libc::sigset_t) -> c_int;
    fn select(n: c_int, read: *mut libc::fd_set, write: *mut libc::fd_set, except: *mut libc::fd_set, time: *mut libc::timeval) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut libc::timespec) -> c_int;
    fn gettimeofday(time: *mut libc::timeval, zone: Object) -> c_int;
    fn time(time: *mut libc::time_t) -> libc::time_t;
    fn getrandom(bytes: *mut u8, n: usize, flags: c_uint) -> isize;
    fn malloc_usable_size(block: *mut u8) -> usize;
    fn __libc_start_main(main: Main, argc: c_int, argv: *mut *mut c_char, init: usize, fini: usize, loader: usize, stack: usize) -> c_int;
    fn write(file: c_int, bytes: *const c_void, n: usize) -> isize;
    fn fork() -> c_int;
    fn posix_spawn(child: *mut c_int, path: *const c_char, actions: Object, attributes: Object, argv: Object, environment: Object) -> c_int;
    fn posix_spawnp(child: *mut c_int, file: *const c_char, actions: Object, attributes: Object, argv: Object, environment: Object) -> c_int;
    fn system(command: *const c_char) -> c_int;
    fn popen(command: *const c_char, mode: *const c_char) -> Object;
    fn __cxa_atexit(handler: usize, argument: usize, module: usize) -> c_int;
    fn abort() -> !;
    fn exit(status: c_int) -> !;
    fn __assert_fail(message: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> !;
    fn __cxa_thread_atexit_impl(destructor: Destructor, object: *mut c_void, module: *mut c_void) -> c_int;
    fn __cxa_guard_acquire(guard: *mut u8) -> c_int;
    fn __cxa_guard_release(guard: *mut u8) -> ();
    fn __cxa_guard_abort(guard: *mut u8) -> ();
}
