/* Accesses that are instrumented, and some that are not. */
#include <clewline.h>

static long count;

static __attribute__((noinline, no_sanitize("thread"))) long bump_excluded(long *at) {
    long value = *at;
    *at = ++value;
    return value;
}

static __attribute__((noinline)) long bump_assembly(long *at) {
    long value;
    __asm__ volatile("movq %1, %0" : "=r"(value) : "m"(*at) : "memory");
    value++;
    __asm__ volatile("movq %1, %0" : "=m"(*at) : "r"(value) : "memory");
    return value;
}

/* Constants are not instrumented, since no code writes them. */
static __attribute__((noinline)) long read_table(long at) {
    static const long table[] = {3, 1, 4, 1, 5, 9, 2, 6};
    return table[at & 7];
}

CLEWLINE_OPERATION(excluded) { return bump_excluded(&count); }
CLEWLINE_OPERATION(assembly) { return bump_assembly(&count); }
CLEWLINE_OPERATION(table, at) { return read_table(at); }

CLEWLINE_OPERATION(add) {
#ifdef RIGHT
    return __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
#else
    return ++count;
#endif
}

CLEWLINE_MATRIX("add | add")
