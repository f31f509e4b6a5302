// libcds' VyukovMPMCCycleQueue: a ring for any number of threads, whose loops back off.
#include <cds/container/vyukov_mpmc_cycle_queue.h>
#include <clewline.h>

using queue = cds::container::VyukovMPMCCycleQueue<long>;
static queue *q;

CLEWLINE_INIT { q = new queue(2); }
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_RESULT(q->enqueue(value)); }
CLEWLINE_OPERATION(deq) {
    long value;
    return q->dequeue(value) ? value : CLEWLINE_EMPTY;
}
