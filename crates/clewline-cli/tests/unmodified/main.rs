//! Programs in C and C++, compiled and explored.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod atomics;
mod counts;
mod cpp;
mod isolation;
mod jobs;
mod lab_programs;
mod libraries;
mod loops;
mod main_explored;
mod orders;
mod points;
mod program;
mod projects;
mod races;
mod strings;
mod structures;
mod texts;
mod torn;
mod unseen;
mod waits;
mod weak;
mod wrong;
