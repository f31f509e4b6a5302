// oneTBB's concurrent_unordered_map: split-ordered lists. Erasing is not allowed concurrently.
#include <oneapi/tbb/concurrent_unordered_map.h>
#include <clewline.h>

static tbb::concurrent_unordered_map<long, long> *m;
// The library loads its allocator when it is first called: before the test.
static const bool is_ready = tbb::concurrent_unordered_map<long, long>().insert({0, 0}).second;

CLEWLINE_INIT { m = new tbb::concurrent_unordered_map<long, long>; }
CLEWLINE_OPERATION(insert, key, value) { return CLEWLINE_RESULT(m->insert({key, value}).second); }
CLEWLINE_OPERATION(find, key) {
    auto it = m->find(key);
    return it == m->end() ? CLEWLINE_EMPTY : it->second;
}
