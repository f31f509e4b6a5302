/* GLib's GAsyncQueue, in its shared library. */
#include <clewline.h>
#include <glib.h>

static GAsyncQueue *q;

CLEWLINE_INIT { q = g_async_queue_new(); }
CLEWLINE_OPERATION(enq, value) {
    g_async_queue_push(q, GSIZE_TO_POINTER(value));
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(deq) {
    void *value = g_async_queue_try_pop(q);
    return value ? (long)value : CLEWLINE_EMPTY;
}
