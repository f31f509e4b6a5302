/*
 * Structures whose orderings can be weakened one by one: -DWEAKENED=N weakens the one with that
 * number.
 */
#include <clewline.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef WEAKENED
#define WEAKENED 0
#endif

#define ORDER(number, strong, weak) (WEAKENED == (number) ? memory_order_##weak : memory_order_##strong)
#define FENCE(number, order) \
    do { \
        if (WEAKENED != (number)) atomic_thread_fence(memory_order_##order); \
    } while (0)
#define load(at, order) atomic_load_explicit(at, order)
#define store(at, value, order) atomic_store_explicit(at, value, order)
#define exchange_if(at, expected, value, success, failure) \
    atomic_compare_exchange_strong_explicit(at, expected, value, success, failure)
#define relaxed memory_order_relaxed
