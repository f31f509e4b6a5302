/* A counter of tokens whose take may fail while another call is in flight, and says so, or not. */
#include <clewline.h>
#include <stdatomic.h>

static atomic_long tokens, busy;

CLEWLINE_INIT { tokens = 0; busy = 0; }

CLEWLINE_OPERATION(add) {
    while (atomic_exchange(&busy, 1)) {}
    tokens++;
    busy = 0;
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(take) {
    if (atomic_exchange(&busy, 1)) return CLEWLINE_EMPTY;
    long left = tokens;
    if (left) tokens = left - 1;
    busy = 0;
    return left ? left : CLEWLINE_EMPTY;
}

#ifdef DECLARED
CLEWLINE_MAY_FAIL("take=null")
#endif
