// boost::lockfree::spsc_queue: a wait-free ring for one producer and one consumer.
#include <boost/lockfree/spsc_queue.hpp>
#include <clewline.h>

static boost::lockfree::spsc_queue<long, boost::lockfree::capacity<2>> *q;

CLEWLINE_INIT { q = new boost::lockfree::spsc_queue<long, boost::lockfree::capacity<2>>; }
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_RESULT(q->push(value)); }
CLEWLINE_OPERATION(deq) {
    long value;
    return q->pop(value) ? value : CLEWLINE_EMPTY;
}
