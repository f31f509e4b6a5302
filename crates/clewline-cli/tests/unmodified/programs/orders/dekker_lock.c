/*
 * Dekker's entry protocol: each of two threads shows its flag, and enters if it does not see the
 * other. The result is whether none is there that must not be.
 */
#include "orders.h"

static atomic_int flags[2];
static atomic_int inside;

static long enter(int me, int number) {
    store(&flags[me], 1, relaxed);
    if (number == 1) FENCE(1, seq_cst);
    if (number == 2) FENCE(2, seq_cst);
    if (load(&flags[1 - me], ORDER(3, acquire, relaxed))) {
        store(&flags[me], 0, relaxed);
        return 1;
    }
    int is_alone = atomic_fetch_add_explicit(&inside, 1, relaxed) == 0;
    atomic_fetch_sub_explicit(&inside, 1, relaxed);
    store(&flags[me], 0, ORDER(4, release, relaxed));
    return is_alone;
}

CLEWLINE_OPERATION(first) { return enter(0, 1); }
CLEWLINE_OPERATION(second) { return enter(1, 2); }
