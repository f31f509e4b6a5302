/* Treiber's stack, which never frees a node. */
#include "orders.h"

struct node {
    long value;
    struct node *next;
};
static struct node *_Atomic top;

CLEWLINE_OPERATION(push, value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = load(&top, ORDER(4, acquire, relaxed));
    while (!exchange_if(&top, &node->next, node, ORDER(1, release, relaxed), relaxed)) {}
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(pop) {
    struct node *node = load(&top, ORDER(2, acquire, relaxed));
    while (node) {
        if (exchange_if(&top, &node, node->next, ORDER(5, acq_rel, relaxed), ORDER(3, acquire, relaxed)))
            return node->value;
    }
    return CLEWLINE_EMPTY;
}
