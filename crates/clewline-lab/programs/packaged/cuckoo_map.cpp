// libcuckoo's cuckoohash_map: a hash map with a lock for each bucket.
#include <libcuckoo/cuckoohash_map.hh>
#include <clewline.h>

using map = libcuckoo::cuckoohash_map<long, long>;
static map *m;

CLEWLINE_INIT { m = new map(4); }
CLEWLINE_OPERATION(insert, key, value) { return CLEWLINE_RESULT(m->insert(key, value)); }
CLEWLINE_OPERATION(find, key) {
    long value;
    return m->find(key, value) ? value : CLEWLINE_EMPTY;
}
CLEWLINE_OPERATION(erase, key) { return CLEWLINE_RESULT(m->erase(key)); }
