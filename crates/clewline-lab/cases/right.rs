//! Well-known crates, each used by two threads for a few calls: nothing may go wrong in any
//! schedule.

use std::{
    sync::{
        Arc, Condvar, Mutex, RwLock,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
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

/// The values 1 and 2 were pushed, or not, and those come out in order.
fn check_ring(pushed: (bool, bool), got: (Option<i32>, Option<i32>)) {
    let got: Vec<i32> = [got.0, got.1].into_iter().flatten().collect();
    let all: Vec<i32> = [(pushed.0, 1), (pushed.1, 2)].iter().filter(|it| it.0).map(|it| it.1).collect();
    assert!(pushed.0 && all.starts_with(&got), "{pushed:?} {got:?}");
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

#[test]
fn append_only_vec() {
    let list = Arc::new(append_only_vec::AppendOnlyVec::new());
    let (one, two) = (list.clone(), list.clone());
    let places = both(move || one.push(1), move || two.push(2));
    assert_eq!((list[places.0], list[places.1], list.len()), (1, 2, 2));
}

#[test]
fn async_channel() {
    let (sender, receiver) = async_channel::bounded(1);
    let ((), got) = both(
        move || sender.send_blocking(1).unwrap(),
        move || (receiver.recv_blocking(), receiver.recv_blocking().is_err()),
    );
    assert_eq!(got, (Ok(1), true));
}

#[test]
fn async_lock() {
    let shared = Arc::new(async_lock::Mutex::new(0));
    let (one, two) = (shared.clone(), shared.clone());
    both(move || *one.lock_blocking() += 1, move || *two.lock_blocking() += 2);
    assert_eq!(*shared.lock_blocking(), 3);
}

#[test]
fn boxcar() {
    let list = Arc::new(boxcar::Vec::new());
    let (one, two) = (list.clone(), list.clone());
    let places = both(move || one.push(1), move || two.push(2));
    assert_eq!((list.get(places.0), list.get(places.1)), (Some(&1), Some(&2)));
}

#[test]
fn event_listener() {
    let shared = Arc::new((AtomicBool::new(false), event_listener::Event::new()));
    let (waiter, setter) = (shared.clone(), shared);
    both(
        move || {
            while !waiter.0.load(Ordering::SeqCst) {
                let listener = waiter.1.listen();
                if !waiter.0.load(Ordering::SeqCst) {
                    event_listener::Listener::wait(listener);
                }
            }
        },
        move || {
            setter.0.store(true, Ordering::SeqCst);
            setter.1.notify(1);
        },
    );
}

#[test]
fn left_right() {
    struct Add(i32);
    impl left_right::Absorb<Add> for i32 {
        fn absorb_first(&mut self, it: &mut Add, _: &i32) {
            *self += it.0;
        }
        fn sync_with(&mut self, first: &i32) {
            *self = *first;
        }
    }
    let (mut writer, reader) = left_right::new::<i32, Add>();
    let ((), (first, second)) = both(
        move || {
            writer.append(Add(1)).publish();
        },
        move || {
            let read = || reader.enter().map_or(1, |it| *it);
            (read(), read())
        },
    );
    assert!(first <= second);
}

#[test]
fn moka() {
    let cache = moka::sync::Cache::new(10);
    let (one, two) = (cache.clone(), cache.clone());
    let got = both(move || one.get_with(1, || 1), move || two.get_with(1, || 2));
    assert_eq!(got.0, got.1);
}

#[test]
fn once_cell() {
    let cell = Arc::new(once_cell::sync::OnceCell::new());
    let (one, two) = (cell.clone(), cell);
    let got = both(move || *one.get_or_init(|| 1), move || *two.get_or_init(|| 2));
    assert_eq!(got.0, got.1);
}

#[test]
fn oneshot() {
    let (sender, receiver) = oneshot::channel();
    let ((), got) = both(move || sender.send(1).unwrap(), move || receiver.recv());
    assert_eq!(got, Ok(1));
}

#[test]
fn ringbuf() {
    use ringbuf::traits::{Consumer, Producer, Split};
    let (mut producer, mut consumer) = ringbuf::HeapRb::new(1).split();
    let (pushed, got) = both(
        move || (producer.try_push(1).is_ok(), producer.try_push(2).is_ok()),
        move || (consumer.try_pop(), consumer.try_pop()),
    );
    check_ring(pushed, got);
}

#[test]
fn rtrb() {
    let (mut producer, mut consumer) = rtrb::RingBuffer::new(1);
    let (pushed, got) = both(
        move || (producer.push(1).is_ok(), producer.push(2).is_ok()),
        move || (consumer.pop().ok(), consumer.pop().ok()),
    );
    check_ring(pushed, got);
}

#[test]
fn sharded_slab() {
    let slab = Arc::new(sharded_slab::Slab::new());
    let (one, two) = (slab.clone(), slab);
    let key = one.insert(1).unwrap();
    let (taken, got) = both(move || one.take(key), move || two.get(key).map(|it| *it));
    assert!(taken == Some(1) && got.is_none_or(|it| it == 1));
}

#[test]
fn spin_mutex() {
    let shared = Arc::new(spin::Mutex::new(0));
    let (one, two) = (shared.clone(), shared.clone());
    both(move || *one.lock() += 1, move || *two.lock() += 2);
    assert_eq!(*shared.lock(), 3);
}

#[test]
fn spin_rwlock() {
    let shared = Arc::new(spin::RwLock::new((0, 0)));
    let (writer, reader) = (shared.clone(), shared);
    let ((), got) = both(move || *writer.write() = (1, 1), move || *reader.read());
    assert_eq!(got.0, got.1);
}

#[test]
fn tokio_mpsc() {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let ((), got) = both(
        move || sender.blocking_send(1).unwrap(),
        move || (receiver.blocking_recv(), receiver.blocking_recv()),
    );
    assert_eq!(got, (Some(1), None));
}

#[test]
fn triomphe() {
    let shared = triomphe::Arc::new(Box::new(1));
    let other = shared.clone();
    let got =
        both(move || triomphe::Arc::try_unwrap(shared).ok(), move || triomphe::Arc::try_unwrap(other).ok());
    assert!(got.0.is_none() || got.1.is_none());
}
