/*
 * Every atomic operation on every size, compared with the expected result, in a thread and before
 * the first thread.
 */
#include <stdint.h>
#include <string.h>
#include "test.h"

#define MUST(condition)                                     \
    do {                                                    \
        if (!(condition))                                   \
            clewline_fail("not so: " #condition);           \
    } while (0)

#define CHECK(type, name)                                                                                   \
    static type shared_##name;                                                                              \
    static void check_##name(void) {                                                                        \
        type *at = &shared_##name, old;                                                                     \
        type big = (type)0 - 3, small = 5;                                                                  \
        __atomic_store_n(at, big, __ATOMIC_SEQ_CST);                                                        \
        MUST(__atomic_load_n(at, __ATOMIC_RELAXED) == big);                                                 \
        MUST(__atomic_exchange_n(at, small, __ATOMIC_ACQ_REL) == big && *at == small);                      \
        MUST(__atomic_fetch_add(at, big, __ATOMIC_SEQ_CST) == small && *at == (type)(small + big));         \
        MUST(__atomic_fetch_sub(at, big, __ATOMIC_SEQ_CST) == (type)(small + big) && *at == small);         \
        MUST(__atomic_fetch_or(at, (type)8, __ATOMIC_SEQ_CST) == small && *at == 13);                       \
        MUST(__atomic_fetch_and(at, (type)12, __ATOMIC_SEQ_CST) == 13 && *at == 12);                        \
        MUST(__atomic_fetch_xor(at, (type)6, __ATOMIC_SEQ_CST) == 12 && *at == 10);                         \
        MUST(__atomic_fetch_nand(at, (type)3, __ATOMIC_SEQ_CST) == 10 && *at == (type)~(type)2);            \
        old = 1;                                                                                            \
        MUST(!__atomic_compare_exchange_n(at, &old, small, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));         \
        MUST(old == (type)~(type)2 && *at == old);                                                          \
        MUST(__atomic_compare_exchange_n(at, &old, big, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));            \
        MUST(old == (type)~(type)2 && *at == big);                                                          \
        old = big;                                                                                          \
        MUST(__atomic_compare_exchange_n(at, &old, small, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));          \
        MUST(*at == small);                                                                                 \
    }

CHECK(uint8_t, 1)
CHECK(uint16_t, 2)
CHECK(uint32_t, 4)
CHECK(uint64_t, 8)
CHECK(unsigned __int128, 16)

static void check_all(void) {
    check_1();
    check_2();
    check_4();
    check_8();
    check_16();
}

static long all(long unused) {
    (void)unused;
    check_all();
    return NOTHING;
}

/* A copy of more than one word. */
static struct {
    long first, second;
} pair;

/* Not static: a compiler would remove stores that are never read. */
long own __attribute__((aligned(64))), other __attribute__((aligned(64)));

static long half(long value) {
    __atomic_store_n(&own, 1, __ATOMIC_SEQ_CST);
    pair.second = value;
    __atomic_store_n(&own, 2, __ATOMIC_SEQ_CST);
    return NOTHING;
}
static long whole(long unused) {
    (void)unused;
    long copy[2];
    __atomic_store_n(&other, 1, __ATOMIC_SEQ_CST);
    memcpy(copy, &pair, sizeof copy);
    __atomic_store_n(&other, 2, __ATOMIC_SEQ_CST);
    return copy[1];
}

SETUP {
    clewline_register_init(check_all);
    clewline_register_operation("all", all, 0);
    clewline_register_operation("half", half, 1);
    clewline_register_operation("whole", whole, 0);
}
