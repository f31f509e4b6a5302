/*
 * A Treiber stack. BUG 1: push stores the top instead of comparing. BUG 2: pop frees its node at
 * once.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include "test.h"

struct node {
    long value;
    struct node *next;
};

static struct node *_Atomic top;

static long push(long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
#if BUG == 1
    node->next = atomic_load(&top);
    atomic_store(&top, node);
#else
    struct node *old = atomic_load(&top);
    do
        node->next = old;
    while (!atomic_compare_exchange_strong(&top, &old, node));
#endif
    return NOTHING;
}

static long pop(long unused) {
    (void)unused;
    struct node *old = atomic_load(&top);
    do
        if (old == NULL)
            return NONE;
    while (!atomic_compare_exchange_strong(&top, &old, old->next));
    long value = old->value;
#if BUG == 2
    free(old);
#endif
    return value;
}

SETUP {
    clewline_register_operation("push", push, 1);
    clewline_register_operation("pop", pop, 0);
    clewline_register_matrix("push(1) pop | push(2) pop");
}
