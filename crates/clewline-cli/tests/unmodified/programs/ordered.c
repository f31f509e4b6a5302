/*
 * Non-atomic accesses of two threads, ordered by happens-before in different ways; the argument
 * selects one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static const char *kind;
static long plain, slots[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t of_c11;

static int is(const char *name) { return strcmp(kind, name) == 0; }
static void make(void) { plain = 2; }

static void *work(void *argument) {
    long me = (long)argument;
    if (is("nothing")) {
        plain++;
    } else if (is("mutex")) {
        pthread_mutex_lock(&mutex);
        plain++;
        pthread_mutex_unlock(&mutex);
    } else if (is("try")) {
        if (pthread_mutex_trylock(&mutex) == 0) {
            plain++;
            pthread_mutex_unlock(&mutex);
        }
    } else if (is("c11")) {
        mtx_lock(&of_c11);
        plain++;
        mtx_unlock(&of_c11);
    } else if (is("write")) {
        pthread_rwlock_wrlock(&lock);
        plain++;
        pthread_rwlock_unlock(&lock);
    } else if (is("read")) {
        if (me == 0)
            pthread_rwlock_rdlock(&lock);
        else
            pthread_rwlock_wrlock(&lock);
        slots[me] = plain;
        if (me == 1)
            plain = 2;
        pthread_rwlock_unlock(&lock);
    } else if (is("spin")) {
        pthread_spin_lock(&spin);
        plain++;
        pthread_spin_unlock(&spin);
    } else if (is("semaphore")) {
        sem_wait(&semaphore);
        plain++;
        sem_post(&semaphore);
    } else if (is("once")) {
        pthread_once(&once, make);
        slots[me] = plain;
    } else if (is("barrier")) {
        slots[me] = me + 1;
        pthread_barrier_wait(&barrier);
        if (slots[1 - me] != 2 - me)
            abort();
    } else if (is("condition")) {
        /* A wakeup orders the accesses before it, independently of the lock. */
        struct timespec soon = {0, 0};
        if (me == 0) {
            plain = 1;
            pthread_cond_signal(&condition);
        } else {
            pthread_mutex_lock(&mutex);
            if (pthread_cond_timedwait(&condition, &mutex, &soon) == 0)
                slots[me] = plain;
            pthread_mutex_unlock(&mutex);
        }
    } else if (is("join")) {
        /* The other thread is started and joined by this one. */
        if (me == 0) {
            pthread_t other;
            plain = 1;
            pthread_create(&other, NULL, work, (void *)2);
            pthread_join(other, NULL);
            plain++;
        } else if (me == 2) {
            plain++;
        }
    } else {
        abort();
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    kind = argc == 2 ? argv[1] : "";
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&semaphore, 0, 1);
    mtx_init(&of_c11, mtx_plain);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
