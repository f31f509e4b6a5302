/* A pointer that one writer replaces, and readers follow. */
#include "orders.h"

static struct version {
    long low, high;
} *_Atomic current;

CLEWLINE_INIT {
    store(&current, calloc(1, sizeof(struct version)), relaxed);
}

CLEWLINE_OPERATION(update, value) {
    struct version *old = load(&current, ORDER(3, acquire, relaxed));
    struct version *new = malloc(sizeof *new);
    new->low = old->low + value;
    new->high = old->high + value;
    store(&current, new, ORDER(1, release, relaxed));
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(read) {
    struct version *now = load(&current, ORDER(2, acquire, relaxed));
    return 10 * now->low + now->high;
}
