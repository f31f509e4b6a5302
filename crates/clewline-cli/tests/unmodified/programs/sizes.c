/* Accesses of sizes that clang does not instrument: large vectors, long double, odd bit-fields. */
#include <clewline.h>

typedef long vector __attribute__((vector_size(32)));

static vector wide = {1, 1, 1, 1};
static long double extended = 1;
static struct __attribute__((packed)) {
    char before;
    int bits : 24;
} odd = {0, 1};
static const vector table[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
static _Thread_local vector local;
static _Atomic int sink;

/* The compiler does not know what it reads. */
static long first_or_none(vector *it) {
    __asm__ volatile("" : : "r"(it) : "memory");
    return (*it)[0] == (*it)[3] ? (*it)[0] : -1;
}

#define KIND(name, write, read)                                                                   \
    __attribute__((noinline)) static void set_##name(long value) { write; }                       \
    __attribute__((noinline)) static long get_##name(void) { read; }                              \
    CLEWLINE_OPERATION(write_##name, value) {                                                     \
        set_##name(value);                                                                        \
        return CLEWLINE_NOTHING;                                                                  \
    }                                                                                             \
    CLEWLINE_OPERATION(read_##name) { return get_##name(); }

KIND(vector, wide = ((vector){value, value, value, value}), vector it = wide; return first_or_none(&it))
KIND(extended, extended = value, return (long)extended)
KIND(odd, odd.bits = (int)value, return odd.bits)

/* Of the function or the thread, and constants. */
CLEWLINE_OPERATION(own, value) {
    vector many[4];
    long double sum = 0;
    for (int i = 0; i < 4; i++) {
        many[i] = table[i & 1] * value;
        sum += many[i][value & 3];
    }
    local = local + many[value & 3];
    sink++;
    return (long)sum + local[value & 3];
}
