/*
 * A lock-free queue: a linked list with a dummy at its head and a tail that may lag behind.
 *
 * Source: M. M. Michael and M. L. Scott, "Simple, fast, and practical non-blocking and blocking
 * concurrent queue algorithms", 1996. Nodes are not used again, so the counters of the paper are
 * left out.
 *
 * BUG_UNLINKED_TAIL: takes its place at the tail first, by one exchange, and links the node before
 * it afterwards. In between the list is broken, and a dequeuer who comes to the gap takes it for
 * the end. BUG_FREE: a dequeuer frees the old dummy at once, which others may be reading.
 */
#include <stdbool.h>
#include <stdlib.h>

struct node {
    long value;
    struct node *next;
};

struct ms_queue {
    struct node *head, *tail;
};

struct ms_queue *ms_queue_new(void) {
    struct ms_queue *q = malloc(sizeof *q);
    q->head = q->tail = calloc(1, sizeof(struct node));
    return q;
}

/* Moves the tail on, unless another thread has. */
static void move_tail(struct ms_queue *q, struct node *from, struct node *to) {
    __atomic_compare_exchange_n(&q->tail, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void ms_queue_enqueue(struct ms_queue *q, long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = NULL;
#ifdef BUG_UNLINKED_TAIL
    struct node *last = __atomic_exchange_n(&q->tail, node, __ATOMIC_ACQ_REL);
    __atomic_store_n(&last->next, node, __ATOMIC_SEQ_CST);
#else
    for (;;) {
        struct node *tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE), *next = NULL;
        /* The value is in the queue when this succeeds. */
        if (__atomic_compare_exchange_n(&tail->next, &next, node, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            move_tail(q, tail, node);
            return;
        }
        move_tail(q, tail, next);
    }
#endif
}

bool ms_queue_dequeue(struct ms_queue *q, long *value) {
    for (;;) {
        struct node *head = __atomic_load_n(&q->head, __ATOMIC_ACQUIRE);
        struct node *tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE);
        struct node *next = __atomic_load_n(&head->next, __ATOMIC_ACQUIRE);
        if (!next)
            return false;
        if (head == tail) {
            /* The head must not overtake the tail. */
            move_tail(q, tail, next);
            continue;
        }
        *value = next->value;
        if (__atomic_compare_exchange_n(&q->head, &head, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
#ifdef BUG_FREE
            free(head);
#endif
            return true;
        }
    }
}

/* The test. */
#include <clewline.h>

static struct ms_queue *q;

CLEWLINE_INIT { q = ms_queue_new(); }

CLEWLINE_OPERATION(enq, value) {
    ms_queue_enqueue(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    long value;
    return ms_queue_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}
