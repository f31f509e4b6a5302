/*
 * Copies of more than a word, which may be torn. Each kind has a write, which sets all words to one
 * value, and a read, which returns it, or -1 if the words differ. `half_written` is 1 if the first
 * word is new and the last is old although the first was read first, which no indivisible write
 * allows; `half_read` likewise after writes of the first word and then the last.
 */
#include <clewline.h>
#include <string.h>

#define N 8
struct wide {
    long w[N];
};
struct pair {
    long a, b;
};
/* Not a multiple of a word, and not aligned. */
struct __attribute__((packed)) odd {
    char first, bytes[21];
};

static struct wide shared, other;
static struct pair two;
static struct odd odd;

/* The compiler does not know what it does. */
__attribute__((noinline)) static void escape(void *it) { __asm__ volatile("" : : "r"(it) : "memory"); }

static struct wide full(long value) {
    struct wide it;
    for (int i = 0; i < N; i++)
        it.w[i] = value;
    escape(&it);
    return it;
}
static long seen(struct wide *it) {
    escape(it);
    for (int i = 1; i < N; i++)
        if (it->w[i] != it->w[0])
            return -1;
    return it->w[0];
}

#define KIND(name, write, read)                                                                   \
    CLEWLINE_OPERATION(write_##name, value) {                                                     \
        struct wide it = full(value);                                                             \
        write;                                                                                    \
        return CLEWLINE_NOTHING;                                                                  \
    }                                                                                             \
    CLEWLINE_OPERATION(read_##name) {                                                             \
        struct wide it;                                                                           \
        read;                                                                                     \
        return seen(&it);                                                                         \
    }

KIND(struct, shared = it, it = shared)
KIND(memcpy, memcpy(&shared, &it, sizeof it), memcpy(&it, &shared, sizeof it))
KIND(memmove, memmove(&shared, &it, sizeof it), memmove(&it, &shared, sizeof it))
KIND(builtin, __builtin_memcpy(&shared, &it, sizeof it), __builtin_memcpy(&it, &shared, sizeof it))
KIND(loop, for (int i = 0; i < N; i++) shared.w[i] = it.w[i], for (int i = 0; i < N; i++) it.w[i] = shared.w[i])
KIND(volatile, *(volatile struct wide *)&shared = it, it = *(volatile struct wide *)&shared)

/* Between two shared places. */
CLEWLINE_OPERATION(move_struct) { other = shared; return CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(read_moved) { struct wide it = other; return seen(&it); }

/* memset, and an initializer of zeros. */
CLEWLINE_OPERATION(write_memset, value) { memset(&shared, (int)value, sizeof shared); return CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(write_zeros) { shared = (struct wide){{0}}; return CLEWLINE_NOTHING; }

/* A sum needs no copy: compilers may make vectors of it. */
CLEWLINE_OPERATION(read_sum) {
    struct wide it = shared;
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += it.w[i];
    return sum % N == 0 ? sum / N : -1;
}

/* Two words. */
CLEWLINE_OPERATION(write_pair, value) {
    struct pair it = {value, value};
    escape(&it);
    two = it;
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(read_pair) {
    struct pair it = two;
    escape(&it);
    return it.a == it.b ? it.a : -1;
}

/* Returned by value. */
__attribute__((noinline)) static struct wide get(void) { return shared; }
CLEWLINE_OPERATION(read_returned) { struct wide it = get(); return seen(&it); }

CLEWLINE_OPERATION(write_odd, value) {
    struct odd it;
    memset(&it, (int)value, sizeof it);
    escape(&it);
    odd = it;
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(read_odd) {
    struct odd it = odd;
    escape(&it);
    for (unsigned i = 0; i < sizeof it.bytes; i++)
        if (it.bytes[i] != it.first)
            return -1;
    return it.first;
}

/* Indivisible loads and stores of the first and the last word. */
CLEWLINE_OPERATION(half_written) {
    long first = __atomic_load_n(&shared.w[0], __ATOMIC_SEQ_CST);
    return first != 0 && __atomic_load_n(&shared.w[N - 1], __ATOMIC_SEQ_CST) == 0;
}
CLEWLINE_OPERATION(write_both) {
    __atomic_store_n(&shared.w[0], 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&shared.w[N - 1], 1, __ATOMIC_SEQ_CST);
    return CLEWLINE_NOTHING;
}
#define HALF_READ(name, read)                                                                     \
    CLEWLINE_OPERATION(half_read_##name) {                                                        \
        struct wide it;                                                                           \
        read;                                                                                     \
        escape(&it);                                                                              \
        return it.w[0] == 0 && it.w[N - 1] != 0;                                                  \
    }
HALF_READ(struct, it = shared)
HALF_READ(memcpy, memcpy(&it, &shared, sizeof it))

/* Under a lock, or of no other thread: no scheduling points. */
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
CLEWLINE_OPERATION(write_locked, value) {
    struct wide it = full(value), *own = malloc(sizeof it);
    *own = it;
    memcpy(&it, own, sizeof it);
    pthread_mutex_lock(&lock);
    shared = it;
    pthread_mutex_unlock(&lock);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(read_locked) {
    pthread_mutex_lock(&lock);
    struct wide it = shared;
    pthread_mutex_unlock(&lock);
    return seen(&it);
}

/*
 * Three words, each written by two threads: `find_…(n)` fails if the words that it reads are the
 * digits of n to base 3.
 */
struct three {
    long w[3];
};
static struct three digits;
static void find(struct three *it, long wanted) {
    escape(it);
    if (it->w[0] * 9 + it->w[1] * 3 + it->w[2] == wanted)
        clewline_fail("found");
}
#define DIGITS(name, write, read)                                                                 \
    CLEWLINE_OPERATION(set_##name, value) {                                                       \
        struct three it = {{value, value, value}};                                                \
        escape(&it);                                                                              \
        write;                                                                                    \
        return CLEWLINE_NOTHING;                                                                  \
    }                                                                                             \
    CLEWLINE_OPERATION(find_##name, wanted) {                                                     \
        struct three it;                                                                          \
        read;                                                                                     \
        find(&it, wanted);                                                                        \
        return CLEWLINE_NOTHING;                                                                  \
    }
DIGITS(struct, digits = it, it = digits)
DIGITS(memcpy, memcpy(&digits, &it, sizeof it), memcpy(&it, &digits, sizeof it))
DIGITS(words, for (int i = 0; i < 3; i++) __atomic_store_n(&digits.w[i], it.w[i], __ATOMIC_SEQ_CST),
       for (int i = 0; i < 3; i++) it.w[i] = __atomic_load_n(&digits.w[i], __ATOMIC_SEQ_CST))

/* Passed and returned by value: compilers copy these without instrumentation. */
#ifdef BY_VALUE
__attribute__((noinline)) static long first_or_none(struct wide it) { return seen(&it); }
__attribute__((noinline)) static struct wide made(long value) { return full(value); }
static struct wide *where(void) {
    struct wide *it = &shared;
    __asm__ volatile("" : "+r"(it));
    return it;
}
CLEWLINE_OPERATION(read_argument) { return first_or_none(shared); }
CLEWLINE_OPERATION(read_pointed) { return first_or_none(*where()); }
CLEWLINE_OPERATION(write_result, value) { shared = made(value); return CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(own_argument, value) {
    struct wide it = made(value);
    long result = first_or_none(it);
    __atomic_store_n(&shared.w[0], result, __ATOMIC_SEQ_CST);
    return result;
}
#endif
