/* A ticket lock, and a counter under it. */
#include "orders.h"

static atomic_int next, serving;
static long count;

CLEWLINE_OPERATION(add) {
    int mine = atomic_fetch_add_explicit(&next, 1, ORDER(3, acq_rel, relaxed));
    while (load(&serving, ORDER(1, acquire, relaxed)) != mine) {}
    long now = ++count;
    store(&serving, mine + 1, ORDER(2, release, relaxed));
    return now;
}
