/* A violation that only the final function shows. */
#include <stdatomic.h>
#include "test.h"

static atomic_long sum;

static long add(long value) {
    long old = atomic_load(&sum);
    atomic_store(&sum, old + value);
    return NOTHING;
}

static void finish(void) {
    if (atomic_load(&sum) != 3)
        clewline_fail("something was lost");
}

SETUP {
    clewline_register_operation("add", add, 1);
    clewline_register_finish(finish);
    clewline_register_matrix("add(1) | add(2)");
}
