/* The deque of Chase and Lev, as Lê, Pop, Cohen and Zappa Nardelli have it (2013). */
#include "orders.h"

#define SIZE 4

static atomic_long items[SIZE];
static atomic_long top, bottom;

CLEWLINE_OPERATION(push, value) {
    long at = load(&bottom, relaxed);
    if (at - load(&top, ORDER(7, acquire, relaxed)) >= SIZE) return 0;
    store(&items[at % SIZE], value, relaxed);
    FENCE(1, release);
    store(&bottom, at + 1, relaxed);
    return 1;
}

CLEWLINE_OPERATION(take) {
    long at = load(&bottom, relaxed) - 1;
    store(&bottom, at, relaxed);
    FENCE(2, seq_cst);
    long first = load(&top, relaxed);
    if (at < first) {
        store(&bottom, at + 1, relaxed);
        return CLEWLINE_EMPTY;
    }
    long value = load(&items[at % SIZE], relaxed);
    if (at == first) {
        if (!exchange_if(&top, &first, first + 1, ORDER(6, seq_cst, relaxed), relaxed)) value = CLEWLINE_EMPTY;
        store(&bottom, at + 1, relaxed);
    }
    return value;
}

CLEWLINE_OPERATION(steal) {
    long first = load(&top, ORDER(4, acquire, relaxed));
    FENCE(3, seq_cst);
    long end = load(&bottom, ORDER(5, acquire, relaxed));
    if (end <= first) return CLEWLINE_EMPTY;
    long value = load(&items[first % SIZE], relaxed);
    if (!exchange_if(&top, &first, first + 1, ORDER(8, seq_cst, relaxed), relaxed)) return CLEWLINE_EMPTY;
    return value;
}
