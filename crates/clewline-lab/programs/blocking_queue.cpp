// A queue in C++ whose consumers wait: std::mutex, std::condition_variable, std::deque, exceptions
// and thread_local.
//
// BUG_IF: who was woken up does not look again, and takes from a queue that is empty by now.
// BUG_UNLOCKED: puts without the lock.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>

class BlockingQueue {
public:
    void put(long value) {
#ifndef BUG_UNLOCKED
        std::lock_guard<std::mutex> guard(lock);
#endif
        values.push_back(value);
        size.fetch_add(1);
        is_filled.notify_one();
    }

    long take() {
        std::unique_lock<std::mutex> guard(lock);
#ifdef BUG_IF
        if (values.empty())
            is_filled.wait(guard);
#else
        is_filled.wait(guard, [this] { return !values.empty(); });
#endif
        return first();
    }

    // Throws if there is nothing.
    long take_now() {
        std::lock_guard<std::mutex> guard(lock);
        return first();
    }

private:
    long first() {
        if (values.empty())
            throw std::out_of_range("nothing to take");
        long value = values.front();
        values.pop_front();
        size.fetch_sub(1);
        return value;
    }

    std::mutex lock;
    std::condition_variable is_filled;
    std::deque<long> values;
    std::atomic<long> size{0};
};

// The test.
#include <clewline.h>

static BlockingQueue *q;
static thread_local long calls = 0;

CLEWLINE_INIT { q = new BlockingQueue; }

CLEWLINE_OPERATION(put, value) {
    calls++;
    q->put(value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(take) {
    try {
        return q->take();
    } catch (const std::out_of_range &) {
        return CLEWLINE_EMPTY;
    }
}

CLEWLINE_OPERATION(poll) {
    try {
        return q->take_now();
    } catch (const std::out_of_range &) {
        return CLEWLINE_EMPTY;
    }
}
