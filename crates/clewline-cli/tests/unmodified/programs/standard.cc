/* Containers of the C++ standard library that threads share, with a lock or without one. */
#include <clewline.h>

#include <list>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

static std::mutex lock;

#ifdef LOCKED
#define GUARD std::lock_guard<std::mutex> guard(lock)
#else
#define GUARD
#endif

#if defined(MAP)
static std::map<long, long> all;
static void put(long key) { all[key] = key; }
static void remove(long key) { all.erase(key); }
#elif defined(HASH_MAP)
static std::unordered_map<long, long> all;
static void put(long key) { all[key] = key; }
static void remove(long key) { all.erase(key); }
#elif defined(LIST)
static std::list<long> all;
static void put(long key) { all.push_front(key); }
static void remove(long key) { all.remove(key); }
#else
static std::string all;
static void put(long key) { all.append(20, (char)('a' + key)); }
static void remove(long) { all.clear(); }
#endif

CLEWLINE_OPERATION(put, key) {
    GUARD;
    put(key);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(take, key) {
    GUARD;
    remove(key);
    return CLEWLINE_NOTHING;
}

/* How many there are, counted one by one. */
CLEWLINE_OPERATION(count) {
    GUARD;
    long n = 0;
    for (auto &each : all) {
        (void)each;
        n++;
    }
    return n;
}

CLEWLINE_MATRIX("put(1) | put(2) | count")
