/* Violations that occur in some executions only, one each. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "test.h"

static atomic_int turn;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static long *_Atomic shared;
static long plain;

static void init(void) {
    atomic_init(&shared, malloc(sizeof(long)));
#ifdef INIT_LOOPS
    for (;;)
        plain++;
#endif
}

#ifdef CONSTRUCTOR_LOOPS
__attribute__((constructor)) static void never_ends(void) {
    for (;;)
        plain++;
}
#endif

/* Both take the locks in opposite orders. */
static long forth(long unused) {
    (void)unused;
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&one);
    return NOTHING;
}
static long back(long unused) {
    (void)unused;
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&one);
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&other);
    return NOTHING;
}

/* A null pointer between two stores. */
static long hide(long unused) {
    (void)unused;
    long *kept = atomic_exchange(&shared, NULL);
    atomic_store(&shared, kept);
    return NOTHING;
}
static long look(long unused) {
    (void)unused;
    *(volatile long *)atomic_load(&shared) = 1;
    return NOTHING;
}

/* Freed by both if both find it. */
static long drop(long unused) {
    (void)unused;
    long *found = atomic_load(&shared);
    if (found != NULL) {
        atomic_store(&shared, NULL);
        free(found);
    }
    return NOTHING;
}

/* An assertion that another thread can break. */
static long claim(long me) {
    atomic_store(&turn, (int)me);
    assert(atomic_load(&turn) == me);
    return NOTHING;
}

/* A non-atomic update. */
static long add(long unused) {
    (void)unused;
    plain = plain + 1;
    return NOTHING;
}
static long get(long unused) {
    (void)unused;
    return plain;
}

/* The same, in the second half of a word. */
static struct {
    int low, high;
} halves __attribute__((aligned(8)));
static long raise_low(long unused) {
    (void)unused;
    return ++halves.low;
}
static long raise_high(long unused) {
    (void)unused;
    return ++halves.high;
}

/* Correct locks. */
static long count(long unused) {
    (void)unused;
    pthread_mutex_lock(&one);
    long value = ++plain;
    pthread_mutex_unlock(&one);
    return value;
}

/* The same with trylock. */
static long try_count(long unused) {
    (void)unused;
    if (pthread_mutex_trylock(&one) != 0)
        return NONE;
    long value = ++plain;
    pthread_mutex_unlock(&one);
    return value;
}

/*
 * Another block in the place of the first, which an exchange takes for the same if it has the same
 * address.
 */
static atomic_long begun, done;
static long replace(long unused) {
    (void)unused;
    atomic_fetch_add(&begun, 1);
    free(atomic_load(&shared));
    atomic_store(&shared, malloc(sizeof(long)));
    atomic_fetch_add(&done, 1);
    return NOTHING;
}
static long confirm(long unused) {
    (void)unused;
    long before = atomic_load(&done);
    long *found = atomic_load(&shared);
    if (atomic_load(&begun) != before)
        return NOTHING;
    int is_replaced = atomic_load(&done) != before;
    if (atomic_compare_exchange_strong(&shared, &found, found) && is_replaced)
        clewline_fail("another one with the same address");
    return NOTHING;
}

/* Loops without end: through accesses that no other thread makes, and without an access. */
static long spin(long i) {
    static long buffer[64];
    for (;; i++)
        buffer[i % 64] += i;
    return NOTHING;
}
static long spin_unseen(long unused) {
    for (;;)
        __asm__ volatile("" : "+r"(unused));
    return NOTHING;
}

/* A blocking system call. */
static long sleep_in_read(long unused) {
    (void)unused;
    int ends[2];
    char c;
    if (pipe(ends) != 0)
        return 1;
    return read(ends[0], &c, 1);
}

static int depth(int n) {
    volatile char room[4096];
    memset((char *)room, n, sizeof room);
    return depth(n + 1) + room[n % 7];
}
static long overflow(long unused) {
    (void)unused;
    return depth(0);
}

SETUP {
    clewline_register_init(init);
    clewline_register_operation("forth", forth, 0);
    clewline_register_operation("back", back, 0);
    clewline_register_operation("hide", hide, 0);
    clewline_register_operation("look", look, 0);
    clewline_register_operation("drop", drop, 0);
    clewline_register_operation("claim", claim, 1);
    clewline_register_operation("add", add, 0);
    clewline_register_operation("get", get, 0);
    clewline_register_operation("raise_low", raise_low, 0);
    clewline_register_operation("raise_high", raise_high, 0);
    clewline_register_operation("count", count, 0);
    clewline_register_operation("try_count", try_count, 0);
    clewline_register_operation("replace", replace, 0);
    clewline_register_operation("confirm", confirm, 0);
    clewline_register_operation("spin", spin, 0);
    clewline_register_operation("spin_unseen", spin_unseen, 0);
    clewline_register_operation("sleep_in_read", sleep_in_read, 0);
    clewline_register_operation("overflow", overflow, 0);
}
