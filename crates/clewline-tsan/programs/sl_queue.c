/*
 * A linked list for one thread, used by several.
 *
 * Source: the suite Scal of C. M. Kirsch and others, 2013, as L. Zhang, A. Chattopadhyay and C. Wang ("Round-Up", 2013,
 * table IV) tested it. Nothing is done about threads: no access is atomic. Two enqueuers link their nodes behind the
 * same one, and a value is lost; two dequeuers get the same value. One enqueuer and one dequeuer do not get in each
 * other's way.
 */
#include <stdbool.h>
#include <stdlib.h>

struct node {
    long value;
    struct node *next;
};

struct sl_queue {
    struct node *head; /* the dummy */
    struct node *tail;
};

struct sl_queue *sl_queue_new(void) {
    struct sl_queue *q = malloc(sizeof *q);
    q->head = q->tail = calloc(1, sizeof(struct node));
    return q;
}

void sl_queue_enqueue(struct sl_queue *q, long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = NULL;
    q->tail->next = node;
    q->tail = node;
}

bool sl_queue_dequeue(struct sl_queue *q, long *value) {
    struct node *next = q->head->next;
    if (!next)
        return false;
    q->head = next;
    *value = next->value;
    return true;
}

/* The test. */
#include <clewline.h>

static struct sl_queue *q;

CLEWLINE_INIT { q = sl_queue_new(); }

CLEWLINE_OPERATION(enq, value) {
    sl_queue_enqueue(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    long value;
    return sl_queue_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}
