//! Well-known crates, each used by two threads for a few calls: nothing may go wrong in any
//! schedule.

use std::{
    sync::{Arc, Condvar, Mutex, RwLock, mpsc},
    thread,
};

/// Runs two closures concurrently, and returns both results.
fn both<A: Send + 'static, B: Send + 'static>(
    one: impl FnOnce() -> A + Send + 'static,
    two: impl FnOnce() -> B + Send + 'static,
) -> (A, B) {
    let (one, two) = (thread::spawn(one), thread::spawn(two));
    (one.join().unwrap(), two.join().unwrap())
}

#[test]
fn arc_swap() {
    let shared = Arc::new(arc_swap::ArcSwap::from_pointee(1));
    let (writer, reader) = (shared.clone(), shared.clone());
    let ((), (first, second)) =
        both(move || writer.store(Arc::new(2)), move || (**reader.load(), **reader.load()));
    assert!(first <= second);
    assert_eq!(**shared.load(), 2);
}

#[test]
fn concurrent_queue() {
    let queue = Arc::new(concurrent_queue::ConcurrentQueue::bounded(2));
    let other = queue.clone();
    let got = both(
        move || {
            queue.push(1).unwrap();
            queue.pop().ok()
        },
        move || {
            other.push(2).unwrap();
            other.pop().ok()
        },
    );
    assert!(got == (Some(1), Some(2)) || got == (Some(2), Some(1)), "{got:?}");
}

#[test]
fn crossbeam_channel_bounded() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let ((), got) = both(
        move || (1..=2).for_each(|it| sender.send(it).unwrap()),
        move || (receiver.recv().unwrap(), receiver.recv().unwrap()),
    );
    assert_eq!(got, (1, 2));
}

#[test]
fn crossbeam_channel_unbounded() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let ((), got) = both(
        move || {
            let _is_gone = sender.send(Box::new(1));
        },
        move || receiver.recv().map(|it| *it),
    );
    assert_eq!(got, Ok(1));
}

#[test]
fn crossbeam_deque() {
    let worker = crossbeam_deque::Worker::new_lifo();
    worker.push(1);
    worker.push(2);
    let stealer = worker.stealer();
    let (mut got, stolen) = both(
        move || std::iter::from_fn(|| worker.pop()).collect::<Vec<_>>(),
        move || loop {
            match stealer.steal() {
                crossbeam_deque::Steal::Success(it) => return Some(it),
                crossbeam_deque::Steal::Empty => return None,
                crossbeam_deque::Steal::Retry => (),
            }
        },
    );
    got.extend(stolen);
    got.sort_unstable();
    assert_eq!(got, [1, 2]);
}

#[test]
fn crossbeam_queue() {
    let queue = Arc::new(crossbeam_queue::SegQueue::new());
    let (one, two) = (queue.clone(), queue.clone());
    let got = both(
        move || {
            one.push(1);
            one.pop()
        },
        move || {
            two.push(2);
            two.pop()
        },
    );
    assert!(got == (Some(1), Some(2)) || got == (Some(2), Some(1)), "{got:?}");
    assert!(queue.is_empty());
}

#[test]
fn crossbeam_skiplist() {
    let map = Arc::new(crossbeam_skiplist::SkipMap::new());
    let (one, two) = (map.clone(), map.clone());
    let removed = both(
        move || {
            one.insert(1, 1);
            one.remove(&2).is_some()
        },
        move || {
            two.insert(2, 2);
            two.remove(&1).is_some()
        },
    );
    assert_eq!(map.iter().count(), 2 - usize::from(removed.0) - usize::from(removed.1));
}

#[test]
fn dashmap() {
    let map = Arc::new(dashmap::DashMap::with_shard_amount(2));
    let (one, two) = (map.clone(), map.clone());
    both(move || *one.entry(7).or_insert(0) += 1, move || *two.entry(7).or_insert(0) += 2);
    assert_eq!(*map.get(&7).unwrap(), 3);
}

#[test]
fn flume() {
    let (sender, receiver) = flume::bounded(1);
    let ((), got) = both(
        move || (1..=2).for_each(|it| sender.send(it).unwrap()),
        move || (receiver.recv().unwrap(), receiver.recv().unwrap()),
    );
    assert_eq!(got, (1, 2));
}

#[test]
fn papaya() {
    let map = Arc::new(papaya::HashMap::new());
    let (one, two) = (map.clone(), map.clone());
    let seen = both(
        move || {
            one.pin().insert(1, 1);
            one.pin().get(&2).copied()
        },
        move || {
            two.pin().insert(2, 2);
            two.pin().get(&1).copied()
        },
    );
    assert!(seen.0.is_some() || seen.1.is_some());
}

#[test]
fn parking_lot() {
    let shared = Arc::new((parking_lot::Mutex::new(0), parking_lot::Condvar::new()));
    let (waiter, setter) = (shared.clone(), shared);
    let (got, ()) = both(
        move || {
            let mut value = waiter.0.lock();
            while *value == 0 {
                waiter.1.wait(&mut value);
            }
            *value
        },
        move || {
            *setter.0.lock() = 5;
            setter.1.notify_one();
        },
    );
    assert_eq!(got, 5);
}

#[test]
fn std_mpsc() {
    let (sender, receiver) = mpsc::channel();
    let ((), got) = both(
        move || (1..=2).for_each(|it| sender.send(it).unwrap()),
        move || (receiver.recv().unwrap(), receiver.recv().unwrap()),
    );
    assert_eq!(got, (1, 2));
}

#[test]
fn std_mutex_and_condvar() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let (waiter, setter) = (shared.clone(), shared);
    let (got, ()) = both(
        move || {
            let value = waiter.0.lock().unwrap();
            *waiter.1.wait_while(value, |it| *it == 0).unwrap()
        },
        move || {
            *setter.0.lock().unwrap() = 5;
            setter.1.notify_one();
        },
    );
    assert_eq!(got, 5);
}

#[test]
fn std_rwlock() {
    let shared = Arc::new(RwLock::new((0, 0)));
    let (writer, reader) = (shared.clone(), shared);
    let ((), got) = both(
        move || {
            let mut pair = writer.write().unwrap();
            pair.0 = 1;
            pair.1 = 1;
        },
        move || *reader.read().unwrap(),
    );
    assert_eq!(got.0, got.1);
}
