// oneTBB's concurrent_priority_queue: one thread executes the operations of all.
#include <oneapi/tbb/concurrent_priority_queue.h>
#include <clewline.h>

static tbb::concurrent_priority_queue<long> *q;
// The library loads its allocator when it is first called: before the test.
static const bool is_ready = (tbb::concurrent_priority_queue<long>().push(0), true);

CLEWLINE_INIT { q = new tbb::concurrent_priority_queue<long>; }
CLEWLINE_OPERATION(insert, value) {
    q->push(value);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(poll) {
    long value;
    return q->try_pop(value) ? value : CLEWLINE_EMPTY;
}
