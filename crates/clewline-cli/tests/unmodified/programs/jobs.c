/* What is special shows only in executions that a search makes late: b runs before a goes on. */
#include <clewline.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int x, y, z;
static long plain;
static pid_t first;

__attribute__((constructor)) static void begin(void) { first = getpid(); }

CLEWLINE_OPERATION(a) {
    for (int i = 1; i <= STEPS; i++)
        atomic_store(&x, i);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(b) {
    for (int i = 1; i <= STEPS; i++)
        atomic_store(&y, i);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(race) {
    if (atomic_load(&x) == 1 && atomic_load(&y) == 1) plain++;
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(wrong) {
    if (atomic_load(&x) == 1 && atomic_load(&y) == 1) return 99;
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(torn) {
    if (atomic_load(&x) == 1 && atomic_load(&y) == 1) {
        long seen = plain;
        plain = seen + 1;
    }
    return plain < 2 ? CLEWLINE_NOTHING : 99;
}

CLEWLINE_OPERATION(crash) {
    if (atomic_load(&x) == 1 && atomic_load(&y) == 1) *(volatile int *)NULL = 1;
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(wait) {
    if (atomic_load(&x) == 1 && atomic_load(&y) == 1)
        while (!atomic_load(&z))
            ;
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(leave) {
    if (atomic_load(&x) == 1 && atomic_load(&y) == 1) _exit(7);
    return CLEWLINE_NOTHING;
}

static __attribute__((noinline, no_sanitize("thread"))) void add_excluded(long *at) { *at += 1; }

CLEWLINE_OPERATION(unseen) {
    if (atomic_load(&x) == 1 && atomic_load(&y) == 1) add_excluded(&plain);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(copied) { return getpid() == first ? CLEWLINE_NOTHING : 99; }
