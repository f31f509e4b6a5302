/* Functions whose symbols are those with which tokio orders tasks. */
#include <clewline.h>
#include <stdatomic.h>

static atomic_long spawned;
static long plain;

__attribute__((noinline)) void of_14current_thread_6Handle5spawn(void) { atomic_fetch_add(&spawned, 1); }
__attribute__((noinline)) void of_5tokio_12thread_rng_n(void) { atomic_fetch_add(&spawned, 2); }

CLEWLINE_OPERATION(spawn) {
    of_14current_thread_6Handle5spawn();
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(select_any) {
    of_5tokio_12thread_rng_n();
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(count) {
    atomic_fetch_add(&spawned, 1);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(race) {
    of_14current_thread_6Handle5spawn();
    return ++plain;
}
