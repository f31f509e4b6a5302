/*
 * Accesses of two or three threads: the argument selects what they do. Those named `racy_…` race.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

const char *ThreadSanitizerQuery(const char *query);
void AnnotateHappensBefore(const char *file, int line, const volatile void *at);
void AnnotateHappensAfter(const char *file, int line, const volatile void *at);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at, size_t size, const char *why);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long is_write);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long is_write);
void __tsan_acquire(void *at);
void __tsan_release(void *at);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void __tsan_mutex_create(void *at, unsigned flags);
void __tsan_mutex_pre_lock(void *at, unsigned flags);
void __tsan_mutex_post_lock(void *at, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *at, unsigned flags);
void __tsan_mutex_post_unlock(void *at, unsigned flags);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_destroy_fiber(void *fiber);

#define relaxed memory_order_relaxed
#define acquire memory_order_acquire
#define release memory_order_release
#define acq_rel memory_order_acq_rel
#define load(at, order) atomic_load_explicit(&(at), order)
#define store(at, value, order) atomic_store_explicit(&(at), value, order)
#define add(at, value, order) atomic_fetch_add_explicit(&(at), value, order)

static long data, seen[4];
static char block[64], copies[4][64];
static atomic_int flag, other, third;
static atomic_long mixed;
static volatile int signalled;
/* Not static: a compiler would remove stores that are never read. */
struct { unsigned low : 4, high : 4; char near; } bits;
static long *_Atomic pointer;
static long *shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag c11_once = ONCE_FLAG_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static int is_set;
static void *fiber;

static void make(void) { data = 1; }

/* A lock that is made of an atomic. */
static void lock_spin(void) {
    while (atomic_exchange_explicit(&flag, 1, acquire))
        thrd_yield();
}
static void unlock_spin(void) { store(flag, 0, release); }

__attribute__((noinline)) static long use_stack(long me) {
    volatile long local[2] = {me, me};
    __asm__("" ::"r"(local) : "memory");
    return local[0] + local[1];
}

__attribute__((noinline)) static void lend(void) {
    long lent = 0;
    store(pointer, &lent, release);
    while (!load(flag, relaxed))
        thrd_yield();
}

#define CASE(name) static void name(long me)

/* Message passing. */
#define PASS(name, writes, reads)                                                                                  \
    CASE(name) {                                                                                                   \
        if (me == 0) {                                                                                             \
            data = 1;                                                                                              \
            writes;                                                                                                \
        } else if (me == 1) {                                                                                      \
            reads seen[me] = data;                                                                                 \
        }                                                                                                          \
    }
PASS(racy_relaxed, store(flag, 1, relaxed), if (load(flag, relaxed)))
PASS(racy_acquire_only, store(flag, 1, relaxed), if (load(flag, acquire)))
PASS(racy_release_only, store(flag, 1, release), if (load(flag, relaxed)))
PASS(racy_volatile, signalled = 1, if (signalled))
PASS(racy_late_fence, store(flag, 1, relaxed); atomic_thread_fence(release), if (load(flag, acquire)))
PASS(release_acquire, store(flag, 1, release), if (load(flag, acquire)))
PASS(sequential, atomic_store(&flag, 1), if (atomic_load(&flag)))
PASS(consume, store(flag, 1, release), if (load(flag, memory_order_consume)))
PASS(fences, atomic_thread_fence(release); store(flag, 1, relaxed),
     int it = load(flag, relaxed); atomic_thread_fence(acquire); if (it))
PASS(release_fence, atomic_thread_fence(release); store(flag, 1, relaxed), if (load(flag, acquire)))
PASS(acquire_fence, store(flag, 1, release), int it = load(flag, relaxed); atomic_thread_fence(acquire); if (it))
PASS(exchange, atomic_exchange_explicit(&flag, 1, release), int one = 1; if (atomic_compare_exchange_strong_explicit(&flag, &one, 2, acquire, relaxed)))
PASS(racy_failed_exchange, store(flag, 1, release), int two = 2; if (!atomic_compare_exchange_strong_explicit(&flag, &two, 3, acquire, relaxed) && two))
PASS(failed_exchange, store(flag, 1, release), int two = 2; if (!atomic_compare_exchange_strong_explicit(&flag, &two, 3, acquire, acquire) && two))
PASS(neighbours, store(flag, 1, release); store(other, 1, relaxed), if (load(flag, acquire)))
PASS(halves, atomic_store_explicit(&mixed, 0x100000001, release), if (load(((atomic_int *)&mixed)[1], acquire)))
PASS(annotated, assert(*ThreadSanitizerQuery("pure_happens_before") == '1');
     AnnotateHappensBefore(__FILE__, __LINE__, &flag); store(flag, 1, relaxed),
     int it = load(flag, relaxed); if (it) AnnotateHappensAfter(__FILE__, __LINE__, &flag); if (it))
PASS(announced, __tsan_release(&flag); store(flag, 1, relaxed), int it = load(flag, relaxed); if (it) __tsan_acquire(&flag); if (it))

/* A read-modify-write continues a release sequence, a store does not. */
#define SEQUENCE(name, middle)                                                                                     \
    CASE(name) {                                                                                                   \
        if (me == 0) {                                                                                             \
            data = 1;                                                                                              \
            store(flag, 1, release);                                                                               \
        } else if (me == 1) {                                                                                      \
            if (load(flag, relaxed) == 1)                                                                          \
                middle;                                                                                            \
        } else if (load(flag, acquire) == 2) {                                                                     \
            seen[me] = data;                                                                                       \
        }                                                                                                          \
    }
SEQUENCE(release_sequence, add(flag, 1, relaxed))
SEQUENCE(racy_sequence, store(flag, 2, relaxed))

CASE(racy_counter) { data++; }
CASE(racy_missing_lock) {
    if (me == 0) {
        pthread_mutex_lock(&mutex);
        data++;
        pthread_mutex_unlock(&mutex);
    } else {
        seen[me] = data;
    }
}
CASE(racy_two_locks) {
    pthread_mutex_t *it = me ? &mutex : &second_mutex;
    pthread_mutex_lock(it);
    data++;
    pthread_mutex_unlock(it);
}
CASE(racy_reading_lock) {
    pthread_rwlock_rdlock(&rwlock);
    data = me;
    pthread_rwlock_unlock(&rwlock);
}
CASE(racy_double_check) {
    if (!shared) {
        pthread_mutex_lock(&mutex);
        if (!shared) {
            long *it = malloc(sizeof *it);
            *it = 1;
            shared = it;
        }
        pthread_mutex_unlock(&mutex);
    }
    seen[me] = *shared;
}
CASE(double_check) {
    if (!load(pointer, acquire)) {
        pthread_mutex_lock(&mutex);
        if (!load(pointer, relaxed)) {
            long *it = malloc(sizeof *it);
            *it = 1;
            store(pointer, it, release);
        }
        pthread_mutex_unlock(&mutex);
    }
    seen[me] = *load(pointer, acquire);
}
CASE(racy_free) {
    if (me == 0) {
        seen[me] = *shared;
        store(flag, 1, relaxed);
    } else if (me == 1 && load(flag, acquire)) {
        free(shared);
    }
}
CASE(counted_free) {
    seen[me] = *shared;
    if (add(third, -1, acq_rel) == 1)
        free(shared);
}
CASE(racy_stack) {
    if (me == 0) {
        long lent = 0;
        store(pointer, &lent, release);
        seen[me] = lent;
        while (!load(flag, acquire))
            thrd_yield();
    } else if (me == 1) {
        long *it = load(pointer, acquire);
        if (it)
            *it = 1;
        store(flag, 1, release);
    }
}
/* The frame of `lend` is gone when that of `use_stack` takes its place. */
CASE(stack_frames) {
    if (me == 0) {
        lend();
        seen[me] = use_stack(me);
    } else if (me == 1) {
        long *it = load(pointer, acquire);
        if (it)
            *it = 1;
        store(flag, 1, relaxed);
    }
}
CASE(racy_bits) {
    if (me == 0)
        bits.low = 1;
    else
        bits.high = 1;
}
CASE(near_bits) {
    if (me == 0)
        bits.low = 1;
    else if (me == 1)
        bits.near = 1;
}
CASE(racy_sizes) {
    if (me == 0)
        memset(block, 1, 8);
    else if (me == 1)
        seen[me] = block[5];
}
CASE(sizes) {
    if (me == 0)
        memset(block, 1, 5);
    else if (me == 1)
        seen[me] = block[5];
}
CASE(racy_mixed) {
    if (me == 0)
        store(mixed, 1, relaxed);
    else if (me == 1)
        seen[me] = *(long *)&mixed;
}
CASE(racy_copy) {
    if (me == 0)
        memcpy(block, copies[0], sizeof block);
    else
        memcpy(copies[me], block, sizeof block);
}
CASE(locked_copy) {
    pthread_mutex_lock(&mutex);
    memcpy(me ? copies[me] : block, me ? block : copies[0], sizeof block);
    pthread_mutex_unlock(&mutex);
}
CASE(racy_signal) {
    if (me == 0) {
        data = 1;
        pthread_cond_signal(&condition);
    } else if (me == 1) {
        struct timespec soon = {0, 0};
        pthread_mutex_lock(&mutex);
        if (pthread_cond_timedwait(&condition, &mutex, &soon) == 0)
            seen[me] = data;
        pthread_mutex_unlock(&mutex);
    }
}
CASE(atomics) {
    add(flag, 1, relaxed);
    store(other, (int)me, relaxed);
    seen[me] = load(third, relaxed);
}
#define LOCKED(name, locks, unlocks)                                                                               \
    CASE(name) {                                                                                                   \
        locks;                                                                                                     \
        data++;                                                                                                    \
        unlocks;                                                                                                   \
    }
LOCKED(mutexes, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
LOCKED(writing_lock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCKED(spinlock, pthread_spin_lock(&spin), pthread_spin_unlock(&spin))
LOCKED(own_lock, lock_spin(), unlock_spin())
LOCKED(c11_lock, mtx_lock(&c11_mutex), mtx_unlock(&c11_mutex))
LOCKED(semaphores, sem_wait(&semaphore), sem_post(&semaphore))
LOCKED(announced_lock,
       __tsan_mutex_pre_lock(&third, 0); lock_spin(); __tsan_mutex_post_lock(&third, 0, 0),
       __tsan_mutex_pre_unlock(&third, 0); store(flag, 0, relaxed); __tsan_mutex_post_unlock(&third, 0))
LOCKED(annotated_lock,
       while (atomic_exchange_explicit(&flag, 1, relaxed)) thrd_yield(); AnnotateRWLockAcquired(__FILE__, __LINE__, &flag, 1),
       AnnotateRWLockReleased(__FILE__, __LINE__, &flag, 1); store(flag, 0, relaxed))
LOCKED(ignored, __tsan_ignore_thread_begin(), __tsan_ignore_thread_end())
LOCKED(ignored_accesses, AnnotateIgnoreReadsBegin(__FILE__, __LINE__); AnnotateIgnoreWritesBegin(__FILE__, __LINE__),
       AnnotateIgnoreWritesEnd(__FILE__, __LINE__); AnnotateIgnoreReadsEnd(__FILE__, __LINE__))
CASE(racy_ignored_reads) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    data = me;
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
CASE(benign) {
    AnnotateBenignRaceSized(__FILE__, __LINE__, &data, sizeof data, "a counter that need not be exact");
    data++;
}
CASE(reading_lock) {
    if (me == 0) {
        pthread_rwlock_wrlock(&rwlock);
        data = 1;
    } else {
        pthread_rwlock_rdlock(&rwlock);
        seen[me] = data;
    }
    pthread_rwlock_unlock(&rwlock);
}
CASE(onces) {
    pthread_once(&once, make);
    seen[me] = data;
}
CASE(c11_onces) {
    call_once(&c11_once, make);
    seen[me] = data;
}
CASE(barriers) {
    seen[me] = me;
    pthread_barrier_wait(&barrier);
    if (me == 0)
        data = seen[1];
}
CASE(conditions) {
    pthread_mutex_lock(&mutex);
    if (me == 0) {
        data = is_set = 1;
        pthread_cond_broadcast(&condition);
    } else {
        while (!is_set)
            pthread_cond_wait(&condition, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    seen[me] = data;
}
CASE(c11_conditions) {
    mtx_lock(&c11_mutex);
    if (me == 0) {
        data = is_set = 1;
        cnd_broadcast(&c11_condition);
    } else {
        while (!is_set)
            cnd_wait(&c11_condition, &c11_mutex);
    }
    mtx_unlock(&c11_mutex);
    seen[me] = data;
}
static void *increment(void *unused) {
    data++;
    return unused;
}
CASE(joins) {
    if (me == 0) {
        pthread_t it;
        data = 1;
        pthread_create(&it, NULL, increment, NULL);
        pthread_join(it, NULL);
        data++;
    }
}
CASE(racy_unjoined) {
    if (me == 0) {
        pthread_t it;
        pthread_create(&it, NULL, increment, NULL);
        data++;
        pthread_join(it, NULL);
    }
}
CASE(reuse) {
    long *it = malloc(sizeof *it);
    *it = me;
    seen[me] = *it;
    free(it);
}
/* A fiber that continues on another thread. */
CASE(fibers) {
    if (me == 0) {
        void *own = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(fiber, 0);
        data = 1;
        __tsan_switch_to_fiber(own, 0);
        store(flag, 1, relaxed);
    } else if (me == 1 && load(flag, relaxed)) {
        __tsan_switch_to_fiber(fiber, 0);
        seen[me] = data;
    }
}

#define ENTRY(name) {#name, name}
static const struct {
    const char *name;
    void (*work)(long);
} cases[] = {
    ENTRY(racy_relaxed), ENTRY(racy_acquire_only), ENTRY(racy_release_only), ENTRY(racy_volatile), ENTRY(racy_late_fence),
    ENTRY(racy_failed_exchange), ENTRY(racy_sequence), ENTRY(racy_counter), ENTRY(racy_missing_lock), ENTRY(racy_two_locks),
    ENTRY(racy_reading_lock), ENTRY(racy_double_check), ENTRY(racy_free), ENTRY(racy_stack), ENTRY(racy_bits),
    ENTRY(racy_sizes), ENTRY(racy_mixed), ENTRY(racy_copy), ENTRY(racy_signal), ENTRY(racy_ignored_reads),
    ENTRY(racy_unjoined), ENTRY(release_acquire), ENTRY(sequential), ENTRY(consume), ENTRY(fences), ENTRY(release_fence),
    ENTRY(acquire_fence), ENTRY(exchange), ENTRY(failed_exchange), ENTRY(neighbours), ENTRY(halves), ENTRY(annotated),
    ENTRY(announced), ENTRY(release_sequence), ENTRY(double_check), ENTRY(counted_free), ENTRY(stack_frames),
    ENTRY(near_bits), ENTRY(sizes), ENTRY(locked_copy), ENTRY(atomics), ENTRY(mutexes), ENTRY(writing_lock), ENTRY(spinlock),
    ENTRY(own_lock), ENTRY(c11_lock), ENTRY(semaphores), ENTRY(announced_lock), ENTRY(annotated_lock), ENTRY(ignored),
    ENTRY(ignored_accesses), ENTRY(benign), ENTRY(reading_lock), ENTRY(onces), ENTRY(c11_onces), ENTRY(barriers),
    ENTRY(conditions), ENTRY(c11_conditions), ENTRY(joins), ENTRY(reuse), ENTRY(fibers),
};
static void (*chosen)(long);

static void *work(void *argument) {
    chosen((long)argument);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[3];
    size_t count = sizeof cases / sizeof *cases;
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (strcmp(cases[i].name, argv[1]) == 0)
            chosen = cases[i].work;
    if (!chosen)
        return 2;
    /* Two threads are enough for most. */
    long n = strstr(argv[1], "sequence") ? 3 : 2;
    shared = strstr(argv[1], "free") ? malloc(sizeof *shared) : NULL;
    if (shared)
        *shared = 7;
    third = n;
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, n);
    sem_init(&semaphore, 0, 1);
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_condition);
    fiber = __tsan_create_fiber(0);
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
