#include <clewline.h>
#include "ring.h"
static struct ring *r;
CLEWLINE_INIT { r = ring_new(); }
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_RESULT(ring_put(r, value)); }
CLEWLINE_OPERATION(deq) { long v; return ring_take(r, &v) ? v : CLEWLINE_EMPTY; }
CLEWLINE_GOLDEN("queue:2")
CLEWLINE_ROLE("producer: enq")
CLEWLINE_ROLE("consumer: deq")
