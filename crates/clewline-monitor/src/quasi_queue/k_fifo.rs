//! K-FIFO schedules: the order of adds and the order of removals, found by a search and merged.

mod half;
mod merge;
mod schedule;

pub(super) use schedule::{ScheduleSearch, SearchResult};
