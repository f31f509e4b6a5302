/* The bounded queue of APR's utilities, apr_queue, in its shared library. */
#include <apr_general.h>
#include <apr_queue.h>
#include <clewline.h>

static apr_queue_t *q;

CLEWLINE_INIT {
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    apr_queue_create(&q, 2, pool);
}
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_BOOL(apr_queue_trypush(q, (void *)value) == APR_SUCCESS); }
CLEWLINE_OPERATION(deq) {
    void *value;
    return apr_queue_trypop(q, &value) == APR_SUCCESS ? (long)value : CLEWLINE_EMPTY;
}
