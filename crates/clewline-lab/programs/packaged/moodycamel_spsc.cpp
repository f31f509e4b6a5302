// moodycamel::ReaderWriterQueue: for one producer and one consumer.
#include <readerwriterqueue/readerwriterqueue.h>
#include <clewline.h>

static moodycamel::ReaderWriterQueue<long> *q;

CLEWLINE_INIT { q = new moodycamel::ReaderWriterQueue<long>(1); }
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_RESULT(q->enqueue(value)); }
CLEWLINE_OPERATION(deq) {
    long value;
    return q->try_dequeue(value) ? value : CLEWLINE_EMPTY;
}
