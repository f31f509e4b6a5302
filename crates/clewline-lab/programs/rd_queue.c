/*
 * A linked list from which one of the first values is dequeued, at random.
 *
 * Source: Y. Afek, G. Korland and E. Yanovsky, "Quasi-linearizability: relaxed consistency for
 * improved concurrency", 2010, the random dequeue queue. Values are enqueued as in the queue of
 * Michael and Scott. A dequeuer marks one of the first K + 1 nodes behind the head as taken, and
 * the head moves over nodes that are. The first of these nodes is one that is not taken; taken ones
 * behind it count.
 *
 * BUG_NO_WINDOW: counts only nodes that are not taken, so that the first value may be overtaken for
 * ever.
 */
#include <stdbool.h>
#include <stdlib.h>

#ifndef K
#define K 2
#endif

struct node {
    long value;
    bool is_taken;
    struct node *next;
};

struct rd_queue {
    struct node *head; /* all nodes up to this one are taken */
    struct node *tail; /* may be behind */
};

/* Which of n is taken; the program that uses the queue says. */
unsigned rd_queue_any(unsigned n);

struct rd_queue *rd_queue_new(void) {
    struct rd_queue *q = malloc(sizeof *q);
    q->head = q->tail = calloc(1, sizeof(struct node));
    q->head->is_taken = true;
    return q;
}

void rd_queue_enqueue(struct rd_queue *q, long value) {
    struct node *node = calloc(1, sizeof *node);
    node->value = value;
    for (;;) {
        struct node *tail = __atomic_load_n(&q->tail, __ATOMIC_SEQ_CST), *next = NULL;
        bool is_linked =
            __atomic_compare_exchange_n(&tail->next, &next, node, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        (void)__sync_bool_compare_and_swap(&q->tail, tail, is_linked ? node : next);
        if (is_linked)
            return;
    }
}

bool rd_queue_dequeue(struct rd_queue *q, long *value) {
    for (;;) {
        struct node *head = __atomic_load_n(&q->head, __ATOMIC_SEQ_CST);
        struct node *taken_to = head, *at = head, *values[K + 1];
        unsigned count = 0, passed = 0;
        while (passed <= K && (at = __atomic_load_n(&at->next, __ATOMIC_SEQ_CST))) {
            if (!__atomic_load_n(&at->is_taken, __ATOMIC_SEQ_CST)) {
                values[count++] = at;
            } else if (count == 0) {
                /* The head is about to pass it. */
                taken_to = at;
                continue;
            }
#ifdef BUG_NO_WINDOW
            passed = count;
#else
            passed++;
#endif
        }
        if (taken_to != head)
            (void)__sync_bool_compare_and_swap(&q->head, head, taken_to);
        if (count == 0) {
            /*
             * Nothing was behind the last node when it was read, and all before it had been taken.
             */
            if (!at)
                return false;
            continue;
        }
        struct node *node = values[rd_queue_any(count)];
        if (__sync_bool_compare_and_swap(&node->is_taken, false, true)) {
            *value = node->value;
            return true;
        }
    }
}

/* The test. */
#include <clewline.h>

unsigned rd_queue_any(unsigned n) { return n == 1 ? 0 : clewline_choose(n); }

static struct rd_queue *q;

CLEWLINE_INIT { q = rd_queue_new(); }

CLEWLINE_OPERATION(enq, value) {
    rd_queue_enqueue(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    long value;
    return rd_queue_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}

CLEWLINE_GOLDEN("queue")
#define TEXT_OF(number) #number
#define FACTOR(operation, number) operation "=" TEXT_OF(number)
CLEWLINE_QUASI(FACTOR("deq", K))
