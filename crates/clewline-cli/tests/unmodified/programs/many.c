/* N threads. Each writes a word of its own; the last two also add to a counter, not atomically if
 * WRONG. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 32
#endif

static long own[N];
static atomic_long count;

static void *work(void *argument) {
    long me = (long)argument;
    own[me] = me + 1;
    if (me < N - 2) return 0;
#ifdef WRONG
    atomic_store(&count, atomic_load(&count) + 1);
#else
    atomic_fetch_add(&count, 1);
#endif
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long me = 0; me < N; me++) pthread_create(&threads[me], 0, work, (void *)me);
    for (long me = 0; me < N; me++) {
        pthread_join(threads[me], 0);
        assert(own[me] == me + 1);
    }
    assert(atomic_load(&count) == 2);
    return 0;
}
