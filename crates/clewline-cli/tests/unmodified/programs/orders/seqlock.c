/* A sequence lock with one writer. */
#include "orders.h"

static atomic_long sequence, low, high;

CLEWLINE_OPERATION(write, value) {
    long now = load(&sequence, relaxed);
    store(&sequence, now + 1, relaxed);
    FENCE(1, release);
    store(&low, value, relaxed);
    store(&high, value, relaxed);
    store(&sequence, now + 2, ORDER(2, release, relaxed));
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(read) {
    for (;;) {
        long before = load(&sequence, ORDER(3, acquire, relaxed));
        long value = 10 * load(&low, relaxed) + load(&high, relaxed);
        FENCE(4, acquire);
        if (before % 2 == 0 && before == load(&sequence, ORDER(5, acquire, relaxed))) return value;
    }
}
