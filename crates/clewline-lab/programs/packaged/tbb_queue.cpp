// oneTBB's concurrent_queue.
#include <oneapi/tbb/concurrent_queue.h>
#include <clewline.h>

static tbb::concurrent_queue<long> *q;
// The library loads its allocator when it is first called: before the test.
static const bool is_ready = (tbb::concurrent_queue<long>().push(0), true);

CLEWLINE_INIT { q = new tbb::concurrent_queue<long>; }
CLEWLINE_OPERATION(enq, value) {
    q->push(value);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(deq) {
    long value;
    return q->try_pop(value) ? value : CLEWLINE_EMPTY;
}
