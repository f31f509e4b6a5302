/* A thread that `main` starts fails if it sees the flag and not the message; the others end. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ORDER
#define ORDER memory_order_relaxed
#endif

static atomic_int message, flag;

static void *writer(void *unused) {
    atomic_store_explicit(&message, 1, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, ORDER);
    return unused;
}

static void *reader(void *unused) {
    int is_seen = atomic_load_explicit(&flag, memory_order_acquire);
    int is_there = atomic_load_explicit(&message, memory_order_relaxed);
#ifdef CRASHES
    if (is_seen && !is_there) __builtin_trap();
#endif
    assert(!is_seen || is_there);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
