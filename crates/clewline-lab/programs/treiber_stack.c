/*
 * A lock-free stack: a linked list whose head is replaced by compare-and-swap.
 *
 * Source: R. K. Treiber, "Systems programming: coping with parallelism", 1986. Nodes are never used
 * again, so that a head that is the same is one that has not changed.
 *
 * BUG_STORE: a push that finds the stack empty stores the head, without looking again. BUG_FREE: a
 * pop frees its node at once, which another pop may be reading. If the memory is used again, a head
 * that was replaced and put back passes for one that was not.
 */
#include <stdbool.h>
#include <stdlib.h>

struct node {
    long value;
    struct node *next;
};

struct treiber_stack {
    struct node *head;
};

struct treiber_stack *treiber_new(void) { return calloc(1, sizeof(struct treiber_stack)); }

void treiber_push(struct treiber_stack *s, long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE);
#ifdef BUG_STORE
    if (!node->next) {
        __atomic_store_n(&s->head, node, __ATOMIC_RELEASE);
        return;
    }
#endif
    while (!__atomic_compare_exchange_n(&s->head, &node->next, node, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
}

bool treiber_pop(struct treiber_stack *s, long *value) {
    struct node *head = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE);
    while (head) {
        if (__atomic_compare_exchange_n(&s->head, &head, head->next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            *value = head->value;
#ifdef BUG_FREE
            free(head);
#endif
            return true;
        }
    }
    return false;
}

/* The test. */
#include <clewline.h>

static struct treiber_stack *s;

CLEWLINE_INIT { s = treiber_new(); }

CLEWLINE_OPERATION(push, value) {
    treiber_push(s, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(pop) {
    long value;
    return treiber_pop(s, &value) ? value : CLEWLINE_EMPTY;
}
