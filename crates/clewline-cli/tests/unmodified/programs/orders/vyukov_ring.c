/* Vyukov's ring for any number of producers and consumers, who wait while it is full or empty. */
#include "orders.h"

#define SIZE 2

static struct cell {
    atomic_size_t sequence;
    long value;
} cells[SIZE];
static atomic_size_t head, tail;

CLEWLINE_INIT {
    for (size_t i = 0; i < SIZE; i++) store(&cells[i].sequence, i, relaxed);
}

CLEWLINE_OPERATION(push, value) {
    size_t at = load(&tail, relaxed);
    for (;;) {
        struct cell *cell = &cells[at % SIZE];
        long ahead = (long)(load(&cell->sequence, ORDER(1, acquire, relaxed)) - at);
        if (ahead != 0) {
            at = load(&tail, relaxed);
        } else if (exchange_if(&tail, &at, at + 1, ORDER(5, acq_rel, relaxed), relaxed)) {
            cell->value = value;
            store(&cell->sequence, at + 1, ORDER(2, release, relaxed));
            return CLEWLINE_NOTHING;
        }
    }
}

CLEWLINE_OPERATION(pop) {
    size_t at = load(&head, relaxed);
    for (;;) {
        struct cell *cell = &cells[at % SIZE];
        long ahead = (long)(load(&cell->sequence, ORDER(3, acquire, relaxed)) - (at + 1));
        if (ahead != 0) {
            at = load(&head, relaxed);
        } else if (exchange_if(&head, &at, at + 1, ORDER(6, acq_rel, relaxed), relaxed)) {
            long value = cell->value;
            store(&cell->sequence, at + SIZE, ORDER(4, release, relaxed));
            return value;
        }
    }
}
