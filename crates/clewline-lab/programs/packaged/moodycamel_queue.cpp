// moodycamel::ConcurrentQueue: each producer has a queue of its own, and consumers go through them.
#include <concurrentqueue/concurrentqueue.h>
#include <clewline.h>

static moodycamel::ConcurrentQueue<long> *q;

CLEWLINE_INIT { q = new moodycamel::ConcurrentQueue<long>(8); }
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_RESULT(q->enqueue(value)); }
CLEWLINE_OPERATION(deq) {
    long value;
    return q->try_dequeue(value) ? value : CLEWLINE_EMPTY;
}
