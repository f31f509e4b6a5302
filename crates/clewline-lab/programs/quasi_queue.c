/*
 * A queue of segments: values leave segment by segment, and in any order inside of one.
 *
 * Source: Y. Afek, G. Korland and E. Yanovsky, "Quasi-linearizability: relaxed consistency for
 * improved concurrency", 2010, the segment queue; the bugs are those of L. Zhang, A. Chattopadhyay
 * and C. Wang, "Round-Up", 2013, table I. An enqueuer puts its value into the first free cell of
 * the last segment, and links another segment if there is none. A dequeuer takes any value of the
 * first segment, and goes to the next when all its cells have been emptied. A cell is used once.
 * With K + 1 cells in a segment the queue is out of order by K.
 *
 * BUG_B1: takes values of the next segment, too, and so removes one more than K away from the head.
 * BUG_B2: writes that a cell is emptied without looking again, and so removes a value that has been
 * removed before. BUG_B3: returns that the queue is empty when another thread was faster, though
 * there are other values.
 */
#include <stdbool.h>
#include <stdlib.h>

#ifndef K
#define K 2
#endif
#define CELLS (K + 1)
#define FREE 0
#define EMPTIED (-1)

struct segment {
    long cells[CELLS]; /* each is free, then holds a value, and then is emptied; they are filled in order */
    struct segment *next;
};

struct quasi_queue {
    struct segment *head, *tail;
};

/* Which of n is taken; the program that uses the queue says. */
unsigned quasi_queue_any(unsigned n);

static struct segment *segment_new(void) { return calloc(1, sizeof(struct segment)); }

struct quasi_queue *quasi_queue_new(void) {
    struct quasi_queue *q = malloc(sizeof *q);
    q->head = q->tail = segment_new();
    return q;
}

/* The segment behind this one, which is full; another one if there is none. */
static struct segment *next_or_add(struct segment *segment) {
    struct segment *next = __atomic_load_n(&segment->next, __ATOMIC_SEQ_CST);
    if (next)
        return next;
    struct segment *added = segment_new(), *other = NULL;
    if (__atomic_compare_exchange_n(&segment->next, &other, added, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return added;
    free(added);
    return other;
}

void quasi_queue_enqueue(struct quasi_queue *q, long value) {
    for (;;) {
        struct segment *tail = __atomic_load_n(&q->tail, __ATOMIC_SEQ_CST);
        for (int cell = 0; cell < CELLS; cell++)
            if (__sync_bool_compare_and_swap(&tail->cells[cell], FREE, value))
                return;
        struct segment *next = next_or_add(tail);
        (void)__sync_bool_compare_and_swap(&q->tail, tail, next);
    }
}

/* Values that were seen in cells. */
struct found {
    long *cells[2 * CELLS];
    long values[2 * CELLS];
    unsigned count;
};

/* Looks for the values of a segment. Returns whether it came to a cell that is free. */
static bool look(struct segment *segment, struct found *found) {
    for (int cell = 0; cell < CELLS; cell++) {
        long value = __atomic_load_n(&segment->cells[cell], __ATOMIC_SEQ_CST);
        if (value == FREE)
            return true;
        if (value != EMPTIED) {
            found->cells[found->count] = &segment->cells[cell];
            found->values[found->count++] = value;
        }
    }
    return false;
}

static bool take(long *cell, long value) {
#ifdef BUG_B2
    (void)value;
    __atomic_store_n(cell, EMPTIED, __ATOMIC_SEQ_CST);
    return true;
#else
    return __sync_bool_compare_and_swap(cell, value, EMPTIED);
#endif
}

bool quasi_queue_dequeue(struct quasi_queue *q, long *value) {
    for (;;) {
        struct segment *head = __atomic_load_n(&q->head, __ATOMIC_SEQ_CST);
        struct found found = {.count = 0};
        bool is_free = look(head, &found);
#ifdef BUG_B1
        struct segment *second = __atomic_load_n(&head->next, __ATOMIC_SEQ_CST);
        if (second)
            look(second, &found);
#endif
        if (found.count != 0) {
            unsigned any = quasi_queue_any(found.count);
            *value = found.values[any];
            if (take(found.cells[any], *value))
                return true;
#ifdef BUG_B3
            return false;
#endif
            continue;
        }
        if (is_free)
            return false;
        /* All cells are emptied for good. */
        struct segment *next = __atomic_load_n(&head->next, __ATOMIC_SEQ_CST);
        if (!next)
            return false;
        (void)__sync_bool_compare_and_swap(&q->head, head, next);
    }
}

/* The test. */
#include <clewline.h>

unsigned quasi_queue_any(unsigned n) { return n == 1 ? 0 : clewline_choose(n); }

static struct quasi_queue *q;

CLEWLINE_INIT { q = quasi_queue_new(); }

CLEWLINE_OPERATION(enq, value) {
    quasi_queue_enqueue(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    long value;
    return quasi_queue_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}

CLEWLINE_GOLDEN("queue")
#define TEXT_OF(number) #number
#define FACTOR(operation, number) operation "=" TEXT_OF(number)
CLEWLINE_QUASI(FACTOR("deq", K))
