/*
 * After a timed wait that times out, the clock is not before the deadline; the argument selects the
 * function.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static mtx_t of_c11;
static struct timespec until;
static const char *kind;

static int is(const char *name) { return strcmp(kind, name) == 0; }
static long ns(struct timespec it) { return it.tv_sec * 1000000000 + it.tv_nsec; }

static void *waits(void *unused) {
    struct timespec half = {0, 500000000}, two = {2, 0};
    int word = 0;
    if (is("mutex")) {
        assert(pthread_mutex_timedlock(&mutex, &until) != 0);
    } else if (is("c11")) {
        assert(mtx_timedlock(&of_c11, &until) == thrd_timedout);
    } else if (is("read")) {
        assert(pthread_rwlock_timedrdlock(&lock, &until) != 0);
    } else if (is("write")) {
        assert(pthread_rwlock_timedwrlock(&lock, &until) != 0);
    } else if (is("semaphore")) {
        assert(sem_timedwait(&semaphore, &until) != 0);
    } else if (is("futex")) {
        assert(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &two, NULL, 0) != 0);
    } else if (is("sleep")) {
        for (int i = 0; i < 3; i++)
            nanosleep(&half, NULL);
    } else if (is("c11-sleep")) {
        thrd_sleep(&two, NULL);
    } else {
        pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
        assert(is("condition"));
        pthread_mutex_lock(&own);
        assert(pthread_cond_timedwait(&condition, &own, &until) != 0);
    }
    return unused;
}

int main(int argc, char **argv) {
    struct timespec now;
    pthread_t thread;
    assert(argc == 2);
    kind = argv[1];
    sem_init(&semaphore, 0, 0);
    mtx_init(&of_c11, mtx_timed);
    mtx_lock(&of_c11);
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_create(&thread, NULL, waits, NULL);
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    assert(ns(until) <= ns(now));
    /* A second has passed, and not a year. */
    assert(now.tv_sec < until.tv_sec + 60);
    return 0;
}
