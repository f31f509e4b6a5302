/* libevent's evbuffer with its lock, in its shared library: a queue of longs. */
#include <clewline.h>
#include <event2/buffer.h>
#include <event2/thread.h>

static struct evbuffer *q;

CLEWLINE_INIT {
    evthread_use_pthreads();
    q = evbuffer_new();
    evbuffer_enable_locking(q, NULL);
}
CLEWLINE_OPERATION(enq, value) {
    evbuffer_add(q, &value, sizeof value);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(deq) {
    long value;
    return evbuffer_remove(q, &value, sizeof value) == sizeof value ? value : CLEWLINE_EMPTY;
}
