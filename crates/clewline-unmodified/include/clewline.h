/*
 * clewline.h: a test of a concurrent structure, in C or C++.
 *
 *     #include <clewline.h>
 *     #include "stack.h"                       // your code, as it is
 *
 *     static struct stack *s;
 *
 *     CLEWLINE_INIT                  { s = stack_new(); }
 *     CLEWLINE_OPERATION(push, value) { stack_push(s, value); return CLEWLINE_NOTHING; }
 *     CLEWLINE_OPERATION(pop)         { long v; return stack_pop(s, &v) ? v : CLEWLINE_EMPTY; }
 *
 * `clewline cc stack_test.c stack.c` compiles both. It first executes a few of these calls one at a
 * time, in every order: these serial histories are the reference. Then it executes the calls
 * concurrently, in every interleaving within a bound, and reports the first history that is not
 * linearizable: whose results no serial history produces. Crashes, deadlocks and accesses to freed
 * memory are reported, too.
 *
 * Each interleaving begins with the memory that the program had at the start: nothing has to be
 * freed or undone.
 */
#ifndef CLEWLINE_H
#define CLEWLINE_H

#include <limits.h>
#include <stdio.h>
#ifdef __cplusplus
#include <string>
#if __cplusplus >= 201703L
#include <optional>
#endif
#else
#include <stdbool.h>
#endif

/* The result of an operation: a number, or one of these. */
#define CLEWLINE_NOTHING LONG_MIN       /* no result, as of a push */
#define CLEWLINE_EMPTY (LONG_MIN + 1)   /* nothing to return, as of a pop of an empty stack */

#define CLEWLINE_TRUE (LONG_MIN + 2)    /* true, as specifications write it; 1 is a number */
#define CLEWLINE_FALSE (LONG_MIN + 3)
/* An operation returns no number below LONG_MIN + 2097152: these four and texts are there. */

/*
 * CLEWLINE_RESULT(x): the result for a value of C or C++. A bool is CLEWLINE_TRUE or
 * CLEWLINE_FALSE, an empty std::optional is CLEWLINE_EMPTY, a string is "itself" (a null pointer is
 * CLEWLINE_EMPTY), and a number is itself, also one of 128 bits. In C, a comparison is an int:
 * CLEWLINE_BOOL(a < b).
 *
 * CLEWLINE_FORMAT("(%d, %d)", it.x, it.y): the result is this text, as printf writes it, of at most
 * 1,000 bytes: a struct, or several out-parameters.
 *
 * CLEWLINE_STRING(argument): an argument of an operation as a const char *: `put("a", 1)`. That of
 * a number is its digits. The string exists until the program ends.
 */
#define CLEWLINE_BOOL(x) ((x) ? CLEWLINE_TRUE : CLEWLINE_FALSE)
#define CLEWLINE_STRING(argument) clewline_argument_text(argument)
#define CLEWLINE_FORMAT(...)                                                                        \
    __extension__({                                                                                 \
        char clewline_shown_[1001];                                                                 \
        snprintf(clewline_shown_, sizeof clewline_shown_, __VA_ARGS__);                             \
        clewline_text(clewline_shown_);                                                             \
    })

#ifdef __cplusplus
extern "C" {
#endif
long clewline_text(const char *shown);
long clewline_string(const char *string);
long clewline_integer(long high, unsigned long low, int is_signed);
const char *clewline_argument_text(long argument);
#ifdef __cplusplus
}
#endif

static inline long clewline_string_(const char *it) { return it ? clewline_string(it) : CLEWLINE_EMPTY; }
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 clewline_int128_;
__extension__ typedef unsigned __int128 clewline_uint128_;
static inline long clewline_signed_(clewline_int128_ it) {
    return clewline_integer((long)(it >> 64), (unsigned long)it, 1);
}
static inline long clewline_unsigned_(clewline_uint128_ it) {
    return clewline_integer((long)(it >> 64), (unsigned long)it, 0);
}
#endif

#ifdef __cplusplus
namespace clewline {
inline long result(bool it) { return CLEWLINE_BOOL(it); }
inline long result(const char *it) { return clewline_string_(it); }
inline long result(char *it) { return clewline_string_(it); }
inline long result(const std::string &it) { return clewline_string(it.c_str()); }
#ifdef __SIZEOF_INT128__
inline long result(clewline_int128_ it) { return clewline_signed_(it); }
inline long result(clewline_uint128_ it) { return clewline_unsigned_(it); }
#endif
/* A number, or anything for which there is a `std::string to_text(const T &)` beside T. */
template <typename T> auto shown(const T &it, int) -> decltype(clewline_text(to_text(it).c_str())) {
    return clewline_text(to_text(it).c_str());
}
template <typename T> long shown(const T &it, long) { return static_cast<long>(it); }
template <typename T> long result(const T &it) { return shown(it, 0); }
#if __cplusplus >= 201703L
template <typename T> long result(const std::optional<T> &it) { return it ? result(*it) : CLEWLINE_EMPTY; }
#endif
}
#define CLEWLINE_RESULT(x) clewline::result(x)
#else
static inline long clewline_bool_(bool it) { return CLEWLINE_BOOL(it); }
static inline long clewline_number_(long it) { return it; }
#ifdef __SIZEOF_INT128__
#define CLEWLINE_WIDE_ clewline_int128_: clewline_signed_, clewline_uint128_: clewline_unsigned_,
#else
#define CLEWLINE_WIDE_
#endif
#define CLEWLINE_RESULT(x)                                                                          \
    _Generic((x), bool: clewline_bool_, char *: clewline_string_, const char *: clewline_string_,   \
        CLEWLINE_WIDE_ default: clewline_number_)(x)
#endif

/* CLEWLINE_INIT { … }: makes the object. One thread runs it before each interleaving. */
#define CLEWLINE_INIT CLEWLINE_PART_(init)

/*
 * CLEWLINE_FINISH { … }: one thread runs it after all calls of an interleaving, to check the
 * object.
 */
#define CLEWLINE_FINISH CLEWLINE_PART_(finish)

/*
 * CLEWLINE_OPERATION(pop) { … return result; }: `pop` on the command line and in reports.
 * CLEWLINE_OPERATION(push, value) { … }: `push(3)`, where `long value` is 3.
 * CLEWLINE_OPERATION(put, key, value) { … }: `put(1, 2)`. There may be up to four arguments.
 * Every path has to return a result. From the first operation on, a function of this file that ends
 * without one does not compile.
 */
#define CLEWLINE_OPERATION(...)                                                                     \
    CLEWLINE_CHOSEN_(__VA_ARGS__, CLEWLINE_TOO_MANY_, CLEWLINE_TOO_MANY_, CLEWLINE_TOO_MANY_,       \
        CLEWLINE_TOO_MANY_, CLEWLINE_TOO_MANY_, CLEWLINE_OPERATION_4_, CLEWLINE_OPERATION_3_,       \
        CLEWLINE_OPERATION_2_, CLEWLINE_OPERATION_1_, CLEWLINE_OPERATION_0_, )(__VA_ARGS__)

/*
 * CLEWLINE_ROLE("producer: enq"): in random matrices, one thread makes all calls of these
 * operations: for a queue with one producer, or a deque with an owner. Commas separate operations.
 */
#define CLEWLINE_ROLE(text) CLEWLINE_SETTING_(role, text)

/*
 * CLEWLINE_MATRIX("push(1) pop | push(2) pop"): the calls, one column for each thread. Without it,
 * matrices are random.
 */
#define CLEWLINE_MATRIX(text) CLEWLINE_SETTING_(matrix, text)

/*
 * CLEWLINE_GOLDEN("queue"): the reference is this specification, one that `clewline specs` lists.
 * Without it, the reference is the set of serial histories of the code itself.
 */
#define CLEWLINE_GOLDEN(specification) CLEWLINE_SETTING_(golden, specification)

/* CLEWLINE_QUASI("deq=2"): by how many places calls may be out of order, for relaxed structures. */
#define CLEWLINE_QUASI(factors) CLEWLINE_SETTING_(quasi, factors)

/*
 * CLEWLINE_MAY_FAIL("deq=null,enq=false"): results that calls may return with no effect while
 * another call overlaps, for a ring that reports full or empty while an operation is in flight;
 * "deq=null:always" allows them at any time.
 */
#define CLEWLINE_MAY_FAIL(results) CLEWLINE_SETTING_(may_fail, results)

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a number below n, which must not be 0. Every choice is explored: use it as rand(). */
unsigned clewline_choose(unsigned n);

/* Ends this execution, and reports it with this message. A failed assert() does the same. */
void clewline_fail(const char *message);

/* The macros call these. */
void clewline_register_init(void (*init)(void));
void clewline_register_finish(void (*finish)(void));
void clewline_register_operation(const char *name, long (*operation)(long, long, long, long), int arguments);
void clewline_register_matrix(const char *text);
void clewline_register_role(const char *text);
void clewline_register_golden(const char *specification);
void clewline_register_quasi(const char *factors);
void clewline_register_may_fail(const char *results);
int clewline_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

/* Each macro defines a function that runs before main and registers what was declared. */
#define CLEWLINE_BEFORE_MAIN_(name) static __attribute__((constructor, used)) void name(void)
#define CLEWLINE_CHOSEN_(a, b, c, d, e, f, g, h, i, j, k, ...) k
#define CLEWLINE_JOINED_(a, b) CLEWLINE_JOINED_AGAIN_(a, b)
#define CLEWLINE_JOINED_AGAIN_(a, b) a##b
#define CLEWLINE_PART_(part)                                                                        \
    static void clewline_##part(void);                                                              \
    CLEWLINE_BEFORE_MAIN_(clewline_add_##part) { clewline_register_##part(clewline_##part); }       \
    static void clewline_##part(void)
#define CLEWLINE_SETTING_(what, text)                                                               \
    CLEWLINE_BEFORE_MAIN_(CLEWLINE_JOINED_(clewline_add_##what##_, __LINE__)) {                     \
        clewline_register_##what(text);                                                             \
    }
#ifdef __cplusplus
#define CLEWLINE_ASSERT_(condition, message) static_assert(condition, message)
#else
#define CLEWLINE_ASSERT_(condition, message) _Static_assert(condition, message)
#endif
/* `given` are the arguments of the operation among a, b, c and d, and `parameters` are its own. */
#define CLEWLINE_DECLARED_(name, count, given, parameters)                                          \
    CLEWLINE_ASSERT_(sizeof #name > 1, "CLEWLINE_OPERATION needs a name");                          \
    static __attribute__((noinline)) long clewline_operation_##name parameters;                     \
    static long clewline_call_##name(long a, long b, long c, long d) {                              \
        (void)a, (void)b, (void)c, (void)d;                                                         \
        return clewline_operation_##name given;                                                     \
    }                                                                                               \
    CLEWLINE_BEFORE_MAIN_(clewline_add_##name) {                                                    \
        clewline_register_operation(#name, clewline_call_##name, count);                            \
    }                                                                                               \
    _Pragma("GCC diagnostic error \"-Wreturn-type\"")                                               \
    static long clewline_operation_##name parameters
#define CLEWLINE_OPERATION_0_(name) CLEWLINE_DECLARED_(name, 0, (), (void))
#define CLEWLINE_OPERATION_1_(name, one) CLEWLINE_DECLARED_(name, 1, (a), (long one))
#define CLEWLINE_OPERATION_2_(name, one, two) CLEWLINE_DECLARED_(name, 2, (a, b), (long one, long two))
#define CLEWLINE_OPERATION_3_(name, one, two, three)                                                \
    CLEWLINE_DECLARED_(name, 3, (a, b, c), (long one, long two, long three))
#define CLEWLINE_OPERATION_4_(name, one, two, three, four)                                          \
    CLEWLINE_DECLARED_(name, 4, (a, b, c, d), (long one, long two, long three, long four))
#define CLEWLINE_TOO_MANY_(name, ...)                                                               \
    CLEWLINE_ASSERT_(!sizeof #name, "the operation `" #name "` has more than four arguments");      \
    static __attribute__((unused)) long clewline_operation_##name(void)

/*
 * A program with its own main calls clewline_main there. Define CLEWLINE_NO_MAIN if that main is in
 * this file.
 */
#ifndef CLEWLINE_NO_MAIN
__attribute__((weak)) int main(int argc, char **argv) { return clewline_main(argc, argv); }
#endif

#endif
