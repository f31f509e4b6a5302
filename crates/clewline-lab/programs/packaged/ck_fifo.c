/* ConcurrencyKit's queue for one producer and one consumer: ck_fifo_spsc. */
#include <ck_fifo.h>
#include <clewline.h>
#include <stdlib.h>

static ck_fifo_spsc_t q;

static ck_fifo_spsc_entry_t *entry(void) { return malloc(sizeof(ck_fifo_spsc_entry_t)); }

CLEWLINE_INIT { ck_fifo_spsc_init(&q, entry()); }
CLEWLINE_OPERATION(enq, value) {
    ck_fifo_spsc_enqueue(&q, entry(), (void *)value);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(deq) {
    void *value;
    return ck_fifo_spsc_dequeue(&q, &value) ? (long)value : CLEWLINE_EMPTY;
}
