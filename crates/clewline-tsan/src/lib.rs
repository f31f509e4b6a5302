//! Unmodified code under control: the runtime that replaces TSan's for code compiled for
//! ThreadSanitizer.
//!
//! With `-fsanitize=thread` a compiler inserts a call before each access to memory that may be
//! shared, and turns each atomic operation into a call. Here these calls end in the engine of
//! `clewline-threads`: a front end of a scheduler, not a race detector. So C, C++ and Rust code is
//! explored as it is.
//!
//! * `entry` has the functions that the compiler calls, and `interpose` the functions of the C
//!   library that the code calls: threads, locks, clocks.
//! * `heap` holds the code's blocks, `snapshot` its statics, and `park` its thread-local data. All
//!   are in their initial state when an execution begins.
//! * `races` finds the accesses that must be points, besides the atomic ones.
//! * `signals` and `watchdog` turn a crash into a finding, and report what cannot be observed.
//! * `register` holds what a test declares, and `run` explores it.
//!
//! Linux on x86-64 with the GNU C library. Elsewhere this library contains only `clewline_main`,
//! which reports that.

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod linux;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
mod elsewhere;
