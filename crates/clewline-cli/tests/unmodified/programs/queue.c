/*
 * A Michael-Scott queue. BUG 1: the tail is moved before the node is linked. BUG 2: the value is
 * read after the head was moved, and the old node is freed by then.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include "test.h"

struct node {
    long value;
    struct node *_Atomic next;
};

static struct node *_Atomic head;
static struct node *_Atomic tail;

static struct node *make(long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    atomic_init(&node->next, NULL);
    return node;
}

static void init(void) {
    struct node *first = make(0);
    atomic_init(&head, first);
    atomic_init(&tail, first);
}

static long enq(long value) {
    struct node *node = make(value);
#if BUG == 1
    struct node *last = atomic_exchange(&tail, node);
    atomic_store(&last->next, node);
#else
    for (;;) {
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&last->next);
        if (next != NULL) {
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&last->next, &next, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            break;
        }
    }
#endif
    return NOTHING;
}

static long deq(long unused) {
    (void)unused;
    for (;;) {
        struct node *first = atomic_load(&head);
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&first->next);
        if (first != atomic_load(&head))
            continue;
        if (next == NULL)
            return NONE;
        if (first == last) {
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
#if BUG == 2
        if (atomic_compare_exchange_strong(&head, &first, next)) {
            long value = next->value;
            free(first);
            return value;
        }
#else
        long value = next->value;
        if (atomic_compare_exchange_strong(&head, &first, next))
            return value;
#endif
    }
}

SETUP {
    clewline_register_init(init);
    clewline_register_operation("enq", enq, 1);
    clewline_register_operation("deq", deq, 0);
    clewline_register_golden("queue");
    clewline_register_matrix("enq(1) deq | enq(2) deq");
}
