#include <clewline.h>
#include "queue.h"

static struct queue *q;

CLEWLINE_INIT                  { q = queue_new(); }
CLEWLINE_OPERATION(enq, value) { queue_enq(q, value); return CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(deq)        { long v; return queue_deq(q, &v) ? v : CLEWLINE_EMPTY; }
