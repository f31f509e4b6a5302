/* A ring for one producer and one consumer. */
#include "orders.h"

#ifndef SIZE
#define SIZE 1
#endif

static long slots[SIZE];
static atomic_size_t head, tail;

CLEWLINE_OPERATION(push, value) {
    size_t at = load(&tail, ORDER(5, acquire, relaxed));
    if (at - load(&head, ORDER(1, acquire, relaxed)) == SIZE) return 0;
    slots[at % SIZE] = value;
    store(&tail, at + 1, ORDER(2, release, relaxed));
    return 1;
}

CLEWLINE_OPERATION(pop) {
    size_t at = load(&head, ORDER(6, acquire, relaxed));
    if (at == load(&tail, ORDER(3, acquire, relaxed))) return CLEWLINE_EMPTY;
    long value = slots[at % SIZE];
    store(&head, at + 1, ORDER(4, release, relaxed));
    return value;
}
