//! The runtime.

mod allocator;
mod body;
mod call;
mod current_task;
mod driver;
mod entry;
mod exit;
mod foreign;
mod heap;
mod interpose;
mod isolate;
mod modules;
mod output;
mod panics;
mod park;
mod places;
mod races;
mod real;
mod register;
mod run;
mod signals;
mod snapshot;
mod subject;
mod try_locks;
mod watchdog;
