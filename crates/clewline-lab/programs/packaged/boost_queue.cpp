// boost::lockfree::queue: a lock-free queue for any number of threads.
#include <boost/lockfree/queue.hpp>
#include <clewline.h>

static boost::lockfree::queue<long> *q;

CLEWLINE_INIT { q = new boost::lockfree::queue<long>(2); }
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_RESULT(q->push(value)); }
CLEWLINE_OPERATION(deq) {
    long value;
    return q->pop(value) ? value : CLEWLINE_EMPTY;
}
