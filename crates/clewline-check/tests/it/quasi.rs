//! Quasi linearizability by displacement. The lab's tests compare the search with Round-Up's
//! enumeration.

mod evidence;
mod factors;
mod readings;
