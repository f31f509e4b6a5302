/* Two words that are stored and loaded, with the orderings that are defined. */
#include <clewline.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef STORE
#define STORE memory_order_relaxed
#endif
#ifndef LOAD
#define LOAD memory_order_acquire
#endif

static atomic_int data, flag;
static atomic_int *_Atomic cell;
static union {
    atomic_int half;
    atomic_long whole;
} mixed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void set(atomic_int *at, int value) { atomic_store_explicit(at, value, STORE); }
static int get(atomic_int *at) { return atomic_load_explicit(at, LOAD); }

/* A message and its flag. */
CLEWLINE_OPERATION(send) {
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    set(&flag, 1);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(receive) {
    return get(&flag) ? atomic_load_explicit(&data, memory_order_relaxed) : CLEWLINE_EMPTY;
}

/* The same under a lock. */
CLEWLINE_OPERATION(send_locked) {
    pthread_mutex_lock(&mutex);
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    pthread_mutex_unlock(&mutex);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(receive_locked) {
    pthread_mutex_lock(&mutex);
    int seen = atomic_load_explicit(&flag, memory_order_relaxed);
    int value = atomic_load_explicit(&data, memory_order_relaxed);
    pthread_mutex_unlock(&mutex);
    return 10 * seen + value;
}

/* One word of each is stored, and then the other is loaded. */
CLEWLINE_OPERATION(first) {
    set(&data, 1);
    return get(&flag);
}
CLEWLINE_OPERATION(second) {
    set(&flag, 1);
    return get(&data);
}

/* An atomic in memory that is freed and allocated again. */
CLEWLINE_OPERATION(renew, value) {
    atomic_int *old = atomic_exchange(&cell, NULL);
    free(old);
    atomic_int *block = malloc(sizeof *block);
    atomic_store_explicit(block, value, memory_order_relaxed);
    int seen = atomic_load_explicit(block, memory_order_relaxed);
    free(atomic_exchange(&cell, block));
    return seen;
}

/* Accesses of different sizes overlap: they are ordered by the flag. */
CLEWLINE_OPERATION(write_half) {
    atomic_store_explicit(&mixed.half, 1, memory_order_relaxed);
    set(&flag, 1);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(read_whole) {
    return get(&flag) ? atomic_load_explicit(&mixed.whole, memory_order_relaxed) : CLEWLINE_EMPTY;
}
