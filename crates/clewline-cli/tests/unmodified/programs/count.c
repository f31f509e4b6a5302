/* Each thread stores K times to an atomic that all share. */
#include <stdatomic.h>
#include "test.h"

/* Not static: a compiler would remove stores that are never read. */
atomic_long shared;

static long store(long value) {
    for (int i = 0; i < K; i++)
        atomic_store(&shared, 100 * value + i); /* Other values, or it would look like a loop that waits. */
    return NOTHING;
}

SETUP {
    clewline_register_operation("store", store, 1);
    clewline_register_matrix("store(1) | store(2)");
}
