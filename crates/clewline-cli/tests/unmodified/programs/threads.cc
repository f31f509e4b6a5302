// What C++ programs do: threads, locks, exceptions, statics, variables of threads.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include "test.h"

namespace {

std::mutex mutex;
std::condition_variable changed;
std::vector<long> items;
std::atomic<long> total;
std::shared_mutex shared;
long guarded;

long put(long value) {
    std::lock_guard<std::mutex> guard(mutex);
    items.push_back(value);
    changed.notify_one();
    return NOTHING;
}

// Waits until there is something.
long take(long) {
    std::unique_lock<std::mutex> guard(mutex);
    changed.wait(guard, [] { return !items.empty(); });
    long value = items.front();
    items.erase(items.begin());
    return value;
}

// The same with `if`: with two of them, one may find nothing.
long take_once(long) {
    std::unique_lock<std::mutex> guard(mutex);
    if (items.empty())
        changed.wait(guard);
    long value = items.at(0);
    items.erase(items.begin());
    return value;
}

// Waits for some time only.
long take_some(long) {
    std::unique_lock<std::mutex> guard(mutex);
    if (!changed.wait_for(guard, std::chrono::hours(1), [] { return !items.empty(); }))
        return NONE;
    long value = items.front();
    items.erase(items.begin());
    return value;
}

// Exceptions of several threads are in flight at the same time.
long throws(long value) {
    try {
        total.fetch_add(1);
        throw std::runtime_error(std::to_string(value));
    } catch (std::runtime_error &error) {
        total.fetch_add(1);
        try {
            throw value;
        } catch (long inner) {
            total.fetch_add(1);
            return std::stol(error.what()) == inner ? inner : -1;
        }
    }
}

thread_local long mine = 7;

// Each thread has its own, and it is fresh in every execution.
long local(long value) {
    long before = mine;
    mine = value;
    total.fetch_add(1);
    return mine == value ? before : -1;
}

// Threads inside of an operation, which get at its stack.
long both(long value) {
    std::atomic<long> sum{0};
    long plain = 0;
    std::thread one([&] { sum.fetch_add(value); });
    std::thread other([&] {
        plain = value;
        sum.fetch_add(value);
    });
    one.join();
    other.join();
    return sum.load() == 2 * value && plain == value ? NOTHING : -1;
}

long reads(long) {
    std::shared_lock<std::shared_mutex> lock(shared);
    return guarded;
}

long writes(long value) {
    std::unique_lock<std::shared_mutex> lock(shared);
    guarded = value;
    return NOTHING;
}

std::shared_timed_mutex timed;

// Reads if it can be done in time.
long reads_some(long) {
    std::shared_lock<std::shared_timed_mutex> lock(timed, std::chrono::seconds(1));
    return lock.owns_lock() ? guarded : NONE;
}

long writes_timed(long value) {
    std::unique_lock<std::shared_timed_mutex> lock(timed);
    guarded = value;
    return NOTHING;
}

struct Made {
    Made() { number = ++total; }
    long number;
};

// A static that is made when it is first needed, and only once.
long once(long) {
    static Made made;
    return made.number;
}

std::shared_ptr<long> pointer;

// Owners come and go in several threads.
long owners(long value) {
    std::shared_ptr<long> copy;
    {
        std::lock_guard<std::mutex> guard(mutex);
        copy = pointer;
        pointer = std::make_shared<long>(value);
    }
    return copy ? *copy : NONE;
}

SETUP {
    clewline_register_operation("put", put, 1);
    clewline_register_operation("take", take, 0);
    clewline_register_operation("take_some", take_some, 0);
    clewline_register_operation("take_once", take_once, 0);
    clewline_register_operation("throws", throws, 1);
    clewline_register_operation("local", local, 1);
    clewline_register_operation("both", both, 1);
    clewline_register_operation("reads", reads, 0);
    clewline_register_operation("writes", writes, 1);
    clewline_register_operation("reads_some", reads_some, 0);
    clewline_register_operation("writes_timed", writes_timed, 1);
    clewline_register_operation("once", once, 0);
    clewline_register_operation("owners", owners, 1);
}

} // namespace
