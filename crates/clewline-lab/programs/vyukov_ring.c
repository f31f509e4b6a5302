/*
 * A bounded queue for many producers and consumers, after D. Vyukov, "Bounded MPMC queue", 2010.
 *
 * Each cell has a sequence number, which says whose turn it is. An enqueue takes a ticket, writes
 * the cell, and then publishes the number; until then a dequeue that comes to the cell finds the
 * queue empty, though other elements may be behind it: `deq` may return null, and `enq` false,
 * while an operation is in flight.
 *
 * RELAXED: these results are allowed. BUG_WRAP: a dequeue gives its cell back before it has read
 * it, so an enqueue one lap later may overwrite the element.
 */
#include <clewline.h>
#include <stdatomic.h>

#define CAPACITY 2

struct cell {
    atomic_ulong sequence;
    atomic_long value;
};

static struct ring {
    struct cell cells[CAPACITY];
    atomic_ulong tail, head;
} ring;

static int ring_enqueue(struct ring *r, long value) {
    unsigned long at = atomic_load_explicit(&r->tail, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &r->cells[at % CAPACITY];
        unsigned long sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        long ahead = (long)(sequence - at);
        if (ahead == 0) {
            if (atomic_compare_exchange_weak_explicit(&r->tail, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
                atomic_store_explicit(&cell->value, value, memory_order_relaxed);
                atomic_store_explicit(&cell->sequence, at + 1, memory_order_release);
                return 1;
            }
        } else if (ahead < 0) {
            return 0;
        } else {
            at = atomic_load_explicit(&r->tail, memory_order_relaxed);
        }
    }
}

static int ring_dequeue(struct ring *r, long *value) {
    unsigned long at = atomic_load_explicit(&r->head, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &r->cells[at % CAPACITY];
        unsigned long sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        long ahead = (long)(sequence - (at + 1));
        if (ahead == 0) {
            if (atomic_compare_exchange_weak_explicit(&r->head, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
#ifdef BUG_WRAP
                atomic_store_explicit(&cell->sequence, at + CAPACITY, memory_order_release);
#endif
                *value = atomic_load_explicit(&cell->value, memory_order_relaxed);
                atomic_store_explicit(&cell->sequence, at + CAPACITY, memory_order_release);
                return 1;
            }
        } else if (ahead < 0) {
            return 0;
        } else {
            at = atomic_load_explicit(&r->head, memory_order_relaxed);
        }
    }
}

CLEWLINE_INIT {
    for (unsigned long at = 0; at < CAPACITY; at++) atomic_store(&ring.cells[at].sequence, at);
    atomic_store(&ring.tail, 0);
    atomic_store(&ring.head, 0);
}

CLEWLINE_OPERATION(enq, value) { return ring_enqueue(&ring, value); }
CLEWLINE_OPERATION(deq) { long v; return ring_dequeue(&ring, &v) ? v : CLEWLINE_EMPTY; }
#ifdef RELAXED
CLEWLINE_MAY_FAIL("deq=null,enq=0")
#endif
