// oneTBB's concurrent_hash_map.
#include <oneapi/tbb/concurrent_hash_map.h>
#include <clewline.h>

using map = tbb::concurrent_hash_map<long, long>;
static map *m;
// The library loads its allocator when it is first called: before the test.
static const bool is_ready = map().insert({0, 0});

CLEWLINE_INIT { m = new map; }
CLEWLINE_OPERATION(insert, key, value) { return CLEWLINE_RESULT(m->insert({key, value})); }
CLEWLINE_OPERATION(find, key) {
    map::const_accessor it;
    return m->find(it, key) ? it->second : CLEWLINE_EMPTY;
}
CLEWLINE_OPERATION(erase, key) { return CLEWLINE_RESULT(m->erase(key)); }
