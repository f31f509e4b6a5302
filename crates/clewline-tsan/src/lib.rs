//! Unmodified code under control: the runtime that code compiled for ThreadSanitizer calls instead
//! of TSan's.
//!
//! A compiler that is told `-fsanitize=thread` puts a call before each access to memory that others
//! may get at, and makes a call of each atomic operation. Here these calls end in the engine of
//! `clewline-threads`: the front end of a scheduler, and not a detector of races. So C, C++ and
//! Rust are explored as they stand.
//!
//! * `entry` is what the compiler calls, and `interpose` what the code calls of the C library:
//!   threads, locks, clocks.
//! * `heap` is where the code's blocks are, `snapshot` its statics, and `park` what belongs to its
//!   threads. All are as they were at first when an execution begins.
//! * `races` finds the accesses that need to be points, besides the atomic ones.
//! * `signals` and `watchdog` see to it that a crash is a finding, and what nobody can see is said.
//! * `register` is what a test says of itself, and `run` explores it.
//!
//! Linux on x86-64 with the GNU C library. Elsewhere this library is empty but for `clewline_main`,
//! which says so.

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod linux;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
mod elsewhere;
