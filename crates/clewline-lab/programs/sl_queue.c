/*
 * A linked list for one thread, used by several.
 *
 * Source: the suite Scal of C. M. Kirsch and others, 2013, as L. Zhang, A. Chattopadhyay and C.
 * Wang ("Round-Up", 2013, table IV) tested it. Nothing is done about threads: no access is atomic.
 * Two enqueuers link their nodes behind the same one, and a value is lost; two dequeuers get the
 * same value. One enqueuer and one dequeuer do not get in each other's way.
 *
 * ATOMIC: head, tail and links are atomics, as they are in Rust. Nodes still are not, so that
 * filling one is no step: this has the same histories, and fewer than the plain one.
 */
#include <stdbool.h>
#include <stdlib.h>

#ifdef ATOMIC
#define READ(from) __atomic_load_n(&(from), __ATOMIC_SEQ_CST)
#define WRITE(to, what) __atomic_store_n(&(to), what, __ATOMIC_SEQ_CST)
#else
#define READ(from) (from)
#define WRITE(to, what) ((to) = (what))
#endif

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
    struct node *tail = READ(q->tail);
    WRITE(tail->next, node);
    WRITE(q->tail, node);
}

bool sl_queue_dequeue(struct sl_queue *q, long *value) {
    struct node *head = READ(q->head);
    struct node *next = READ(head->next);
    if (!next)
        return false;
    WRITE(q->head, next);
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
