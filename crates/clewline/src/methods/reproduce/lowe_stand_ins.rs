//! Stand-ins for subjects that are not there yet: a map and a queue, each behind a lock.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use clewline_core::{Deterministic, Value};
use clewline_specs::{
    map::{self, Content, Map},
    queue::{self, Queue},
};
use clewline_threads::Subject;

use super::lowe;
use crate::methods::stress::Stress;

/// The subject of that name, or what stands in for it.
pub(super) fn subject(name: &str) -> Stress {
    Stress::subject(name).unwrap_or_else(|_| {
        let stress = match name {
            lowe::MAP => Stress::new(Map::default(), LockedMap::default),
            lowe::QUEUE => Stress::new(Queue::default(), LockedQueue::default),
            _ => Stress::subject("register:unsynchronized").expect("in the table"),
        };
        stress.named(name)
    })
}

#[derive(Default)]
struct LockedMap(Mutex<BTreeMap<Value, Content>>);

impl Subject<Map> for LockedMap {
    fn call(&self, call: &map::Call) -> Content {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Map::default().apply(&mut state, call).expect("no call is refused but append")
    }
}

#[derive(Default)]
struct LockedQueue(Mutex<VecDeque<Value>>);

impl Subject<Queue> for LockedQueue {
    fn call(&self, call: &queue::Call) -> Value {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Queue::default().apply(&mut state, call).expect("no call is refused")
    }
}
