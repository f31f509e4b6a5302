/*
 * A queue in an array whose enqueuers take a place first, and fill it later.
 *
 * Source: M. Herlihy and N. Shavit, "The art of multiprocessor programming", 2008, an exercise of
 * chapter 3; L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up", 2013, table I.
 *
 * It is never right: while one enqueuer has its place and has not written, another takes the next
 * place, writes and returns. A dequeuer then finds nothing at the head, and returns that the queue
 * is empty though there is a value.
 */
#include <stdbool.h>
#include <stdlib.h>

#define PLACES 64

struct iqueue {
    long places[PLACES]; /* 0 is a place that is not filled */
    unsigned head, tail;
};

struct iqueue *iqueue_new(void) { return calloc(1, sizeof(struct iqueue)); }

void iqueue_enqueue(struct iqueue *q, long value) {
    unsigned place;
    do {
        place = __atomic_load_n(&q->tail, __ATOMIC_SEQ_CST);
    } while (!__sync_bool_compare_and_swap(&q->tail, place, place + 1));
    /* The flaw is the gap before this. */
    __atomic_store_n(&q->places[place], value, __ATOMIC_SEQ_CST);
}

bool iqueue_dequeue(struct iqueue *q, long *value) {
    for (;;) {
        unsigned place = __atomic_load_n(&q->head, __ATOMIC_SEQ_CST);
        *value = __atomic_load_n(&q->places[place], __ATOMIC_SEQ_CST);
        if (*value == 0)
            return false;
        if (__sync_bool_compare_and_swap(&q->head, place, place + 1))
            return true;
    }
}

/* The test. */
#include <clewline.h>

static struct iqueue *q;

CLEWLINE_INIT { q = iqueue_new(); }

CLEWLINE_OPERATION(enq, value) {
    iqueue_enqueue(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    long value;
    return iqueue_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}
