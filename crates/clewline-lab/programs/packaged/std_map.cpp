// std::map of libstdc++ under a std::shared_mutex.
//
// BUG_SHARED: insertions hold the lock as readers do.
#include <map>
#include <mutex>
#include <shared_mutex>
#include <clewline.h>

#ifdef BUG_SHARED
using writer = std::shared_lock<std::shared_mutex>;
#else
using writer = std::unique_lock<std::shared_mutex>;
#endif

struct map {
    std::shared_mutex lock;
    std::map<long, long> values;
};

static map *m;

CLEWLINE_INIT { m = new map; }
CLEWLINE_OPERATION(insert, key, value) {
    writer guard(m->lock);
    return CLEWLINE_RESULT(m->values.insert({key, value}).second);
}
CLEWLINE_OPERATION(find, key) {
    std::shared_lock<std::shared_mutex> guard(m->lock);
    auto it = m->values.find(key);
    return it == m->values.end() ? CLEWLINE_EMPTY : it->second;
}
CLEWLINE_OPERATION(erase, key) {
    std::unique_lock<std::shared_mutex> guard(m->lock);
    return CLEWLINE_RESULT(m->values.erase(key) == 1);
}
