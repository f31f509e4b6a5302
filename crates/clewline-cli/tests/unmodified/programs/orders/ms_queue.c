/* The queue of Michael and Scott, which never frees a node. */
#include "orders.h"

struct node {
    long value;
    struct node *_Atomic next;
};
static struct node *_Atomic head, *_Atomic tail;

CLEWLINE_INIT {
    struct node *node = calloc(1, sizeof *node);
    store(&head, node, relaxed);
    store(&tail, node, relaxed);
}

CLEWLINE_OPERATION(enq, value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    store(&node->next, NULL, relaxed);
    for (;;) {
        struct node *last = load(&tail, ORDER(1, acquire, relaxed));
        struct node *next = load(&last->next, ORDER(2, acquire, relaxed));
        if (next) {
            exchange_if(&tail, &last, next, ORDER(5, release, relaxed), relaxed);
        } else if (exchange_if(&last->next, &next, node, ORDER(3, release, relaxed), relaxed)) {
            exchange_if(&tail, &last, node, ORDER(4, release, relaxed), relaxed);
            return CLEWLINE_NOTHING;
        }
    }
}

CLEWLINE_OPERATION(deq) {
    for (;;) {
        struct node *first = load(&head, ORDER(6, acquire, relaxed));
        struct node *last = load(&tail, ORDER(9, acquire, relaxed));
        struct node *next = load(&first->next, ORDER(7, acquire, relaxed));
        if (!next) return CLEWLINE_EMPTY;
        if (first == last) exchange_if(&tail, &last, next, ORDER(10, release, relaxed), relaxed);
        if (exchange_if(&head, &first, next, ORDER(8, release, relaxed), relaxed)) return next->value;
    }
}
