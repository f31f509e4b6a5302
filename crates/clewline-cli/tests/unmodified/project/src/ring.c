#include "ring.h"
#include <stdatomic.h>
#include <stdlib.h>
#define CAPACITY 2
struct ring { long slots[CAPACITY]; atomic_uint head, tail; };
struct ring *ring_new(void) { return (struct ring *)calloc(1, sizeof(struct ring)); }
bool ring_put(struct ring *r, long value) {
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (tail - atomic_load_explicit(&r->head, memory_order_acquire) == CAPACITY) return false;
    r->slots[tail % CAPACITY] = value;
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return true;
}
bool ring_take(struct ring *r, long *value) {
    unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (head == atomic_load_explicit(&r->tail, memory_order_acquire)) return false;
    *value = r->slots[head % CAPACITY];
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    return true;
}
