// atomic_queue::AtomicQueue: a ring of atomics for any number of threads; 0 marks an empty place.
#include <atomic_queue/atomic_queue.h>
#include <clewline.h>

using queue = atomic_queue::AtomicQueue<long, 4, 0l, false>;
static queue *q;

CLEWLINE_INIT { q = new queue; }
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_RESULT(q->try_push(value)); }
CLEWLINE_OPERATION(deq) {
    long value;
    return q->try_pop(value) ? value : CLEWLINE_EMPTY;
}
