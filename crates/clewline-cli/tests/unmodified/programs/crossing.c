/* Copies of at most eight bytes, which are in two words of memory, from and to one. */
#include <clewline.h>
#include <string.h>

#define KIND(size)                                                                                \
    struct bytes##size {                                                                          \
        char at[size];                                                                            \
    };                                                                                            \
    struct {                                                                                      \
        char before[9 - size];                                                                    \
        struct bytes##size it;                                                                    \
    } shared##size __attribute__((aligned(16)));                                                  \
    __attribute__((noinline)) static void put##size(struct bytes##size *to, long value) {         \
        struct bytes##size own __attribute__((aligned(8)));                                       \
        for (int i = 0; i < size; i++) own.at[i] = (char)value;                                   \
        __asm__ volatile("" : "+m"(own));                                                         \
        *to = own;                                                                                \
    }                                                                                             \
    __attribute__((noinline)) static long get##size(struct bytes##size *from) {                   \
        struct bytes##size own __attribute__((aligned(8))) = *from;                               \
        __asm__ volatile("" : "+m"(own));                                                         \
        return own.at[0] == own.at[size - 1] ? own.at[0] : -1;                                    \
    }                                                                                             \
    CLEWLINE_OPERATION(write_##size, value) {                                                     \
        put##size(&shared##size.it, value);                                                       \
        return CLEWLINE_NOTHING;                                                                  \
    }                                                                                             \
    CLEWLINE_OPERATION(read_##size) { return get##size(&shared##size.it); }

KIND(2)
KIND(3)
KIND(4)
KIND(5)
KIND(7)
KIND(8)
