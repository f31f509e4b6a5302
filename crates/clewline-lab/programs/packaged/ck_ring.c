/* ConcurrencyKit's ring: ck_ring, for one producer and one consumer, or (MPMC) for many. */
#include <ck_ring.h>
#include <clewline.h>

#ifdef MPMC
#define ENQUEUE ck_ring_enqueue_mpmc
#define DEQUEUE ck_ring_dequeue_mpmc
#else
#define ENQUEUE ck_ring_enqueue_spsc
#define DEQUEUE ck_ring_dequeue_spsc
#endif

static ck_ring_t ring;
static ck_ring_buffer_t buffer[4];

CLEWLINE_INIT { ck_ring_init(&ring, 4); }
CLEWLINE_OPERATION(enq, value) { return CLEWLINE_BOOL(ENQUEUE(&ring, buffer, (void *)value)); }
CLEWLINE_OPERATION(deq) {
    void *value;
    return DEQUEUE(&ring, buffer, &value) ? (long)value : CLEWLINE_EMPTY;
}
