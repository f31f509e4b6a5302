/* Threads of C11. BUG: without the lock. */
#include <assert.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>

static mtx_t lock;
static cnd_t filled;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int count, made, value;
static atomic_int closed;

static void make(void) { made++; }
static void close_it(void *pointer) { closed += *(int *)pointer; }

static int add(void *by) {
    call_once(&once, make);
    tss_set(key, by);
#ifndef BUG
    mtx_lock(&lock);
#endif
    count += *(int *)by;
#ifndef BUG
    mtx_unlock(&lock);
#endif
    mtx_lock(&lock);
    value++;
    cnd_signal(&filled);
    mtx_unlock(&lock);
    assert(tss_get(key) == by);
    return *(int *)by - 7;
}

int main(void) {
    thrd_t threads[2];
    int by[2] = {1, 2}, results[2];
    assert(mtx_init(&lock, mtx_plain) == thrd_success && cnd_init(&filled) == thrd_success);
    assert(tss_create(&key, close_it) == thrd_success);
    for (int i = 0; i < 2; i++)
        assert(thrd_create(&threads[i], add, &by[i]) == thrd_success);
    mtx_lock(&lock);
    assert(mtx_trylock(&lock) == thrd_busy);
    while (value < 2)
        assert(cnd_wait(&filled, &lock) == thrd_success);
    mtx_unlock(&lock);
    thrd_yield();
    for (int i = 0; i < 2; i++)
        assert(thrd_join(threads[i], &results[i]) == thrd_success);
    assert(results[0] == -6 && results[1] == -5);
    assert(made == 1 && closed == 3);
    assert(count == 3);
    return 0;
}
