// std::queue of libstdc++ under a std::mutex, whose consumers wait at a std::condition_variable.
//
// BUG_UNLOCKED: values are pushed without the lock.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <clewline.h>

struct queue {
    std::mutex lock;
    std::condition_variable filled;
    std::queue<long> values;
};

static queue *q;

CLEWLINE_INIT { q = new queue; }
CLEWLINE_OPERATION(enq, value) {
#ifndef BUG_UNLOCKED
    std::lock_guard<std::mutex> guard(q->lock);
#endif
    q->values.push(value);
    q->filled.notify_one();
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(deq) {
    std::unique_lock<std::mutex> guard(q->lock);
    q->filled.wait(guard, [] { return !q->values.empty(); });
    long value = q->values.front();
    q->values.pop();
    return value;
}
