/*
 * A record that is filled before others can see it, by memset: a call that compilers like to write
 * in place.
 *
 * BUG_LATE: it is filled after that.
 */
#include <stdlib.h>
#include <string.h>

struct record {
    char bytes[24];
};

static struct record *published;

static void publish(void) {
    struct record *record = calloc(1, sizeof *record);
#ifdef BUG_LATE
    __atomic_store_n(&published, record, __ATOMIC_RELEASE);
    memset(record, 7, sizeof *record);
#else
    memset(record, 7, sizeof *record);
    __atomic_store_n(&published, record, __ATOMIC_RELEASE);
#endif
}

static int look(void) {
    struct record *record = __atomic_load_n(&published, __ATOMIC_ACQUIRE);
    return record ? record->bytes[23] : -1;
}

/* The test. */
#include <clewline.h>

CLEWLINE_INIT { published = NULL; }

CLEWLINE_OPERATION(publish) {
    publish();
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(look) {
    int seen = look();
    return seen < 0 ? CLEWLINE_EMPTY : seen;
}

CLEWLINE_MATRIX("publish | look")
