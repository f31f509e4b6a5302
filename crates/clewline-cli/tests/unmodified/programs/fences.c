/* Two threads that need a fence, which is an instruction here. Under FULL each stores one word and
 * loads the other; else one sends a message. */
#include <assert.h>
#include <emmintrin.h>
#include <pthread.h>
#include <stdatomic.h>

#if defined(BY_MFENCE)
#define FULL_FENCE() __asm__ volatile("mfence" ::: "memory")
#elif defined(BY_LOCK)
#define FULL_FENCE() __asm__ volatile("lock; addl $0, -4(%%rsp)" ::: "memory", "cc")
#elif defined(BY_INTRINSIC)
#define FULL_FENCE() _mm_mfence()
#elif defined(BY_EXCHANGE)
static int word;
#define FULL_FENCE() __asm__ volatile("xchg %0, %1" : "+r"(zero), "+m"(word)::"memory")
#else
#define FULL_FENCE() __asm__ volatile("" ::: "memory")
#endif

#ifdef BY_PARTS
#define LOAD_FENCE() _mm_lfence()
#define STORE_FENCE() __asm__ volatile("sfence; nop" ::: "memory")
#else
#define LOAD_FENCE() __asm__ volatile("" ::: "memory")
#define STORE_FENCE() LOAD_FENCE()
#endif

static atomic_int one, two;
static int seen[2];

/* What the code keeps in registers is kept. */
static int swap_in(atomic_int *mine, atomic_int *other, double scale, __m128d vector) {
    double scaled = scale * 1.5;
    int zero = 0;
    (void)zero;
    __m128d sum = vector + vector;
    atomic_store_explicit(mine, 1, memory_order_relaxed);
    FULL_FENCE();
    int found = atomic_load_explicit(other, memory_order_relaxed);
    assert(scaled == scale + scale / 2 && sum[0] == 2 * vector[0] && sum[1] == 2 * vector[1]);
    return found;
}

static void *work(void *first) {
#ifdef FULL
    seen[!first] = first ? swap_in(&one, &two, 3, (__m128d){5, 7}) : swap_in(&two, &one, 11, (__m128d){13, 17});
#else
    if (first) {
        atomic_store_explicit(&one, 1, memory_order_relaxed);
        STORE_FENCE();
        atomic_store_explicit(&two, 1, memory_order_relaxed);
        seen[0] = 1;
    } else {
        seen[1] = 1;
        if (atomic_load_explicit(&two, memory_order_relaxed)) {
            LOAD_FENCE();
            seen[1] = atomic_load_explicit(&one, memory_order_relaxed);
        }
    }
#endif
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, i ? 0 : &one);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
#ifdef FULL
    assert(seen[0] || seen[1]);
#else
    assert(seen[1]);
#endif
    return 0;
}
