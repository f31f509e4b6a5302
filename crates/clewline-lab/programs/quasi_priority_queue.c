/*
 * A priority queue in a sorted list that is never changed, but replaced.
 *
 * Source: the kinds of L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up", 2013, table I. What
 * theirs was like inside is not said. Here the list is one word: who adds or removes an integer
 * copies the nodes before it, and replaces the first by compare-and-swap. The greatest integer is
 * first.
 *
 * A node says how often its integer has been overtaken. One of the first K + 1 is removed, and none
 * from behind an integer that has been overtaken K times: so the queue is out of order by K.
 *
 * BUG_B2: removes one of the first K + 2, whatever was overtaken.
 */
#include <stdbool.h>
#include <stdlib.h>

#ifndef K
#define K 2
#endif
#define MOST 64

/* A node never changes, and is never freed. */
struct node {
    long value;
    int overtaken;
    struct node *next;
};

struct quasi_pq {
    struct node *head;
};

/* Which of n is taken; the program that uses the queue says. */
unsigned quasi_pq_any(unsigned n);

struct quasi_pq *quasi_pq_new(void) { return calloc(1, sizeof(struct quasi_pq)); }

static struct node *node_new(long value, int overtaken, struct node *next) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->overtaken = overtaken;
    node->next = next;
    return node;
}

/* The list of the first nodes, each overtaken so often again, and then of the rest. */
static struct node *list(struct node **first, unsigned count, int again, struct node *rest) {
    while (count-- > 0)
        rest = node_new(first[count]->value, first[count]->overtaken + again, rest);
    return rest;
}

void quasi_pq_add(struct quasi_pq *q, long value) {
    for (;;) {
        struct node *head = __atomic_load_n(&q->head, __ATOMIC_SEQ_CST), *before[MOST], *at;
        unsigned count = 0;
        for (at = head; at && value <= at->value; at = at->next)
            before[count++] = at;
        if (__sync_bool_compare_and_swap(&q->head, head, list(before, count, 0, node_new(value, 0, at))))
            return;
    }
}

bool quasi_pq_poll(struct quasi_pq *q, long *value) {
    for (;;) {
        struct node *head = __atomic_load_n(&q->head, __ATOMIC_SEQ_CST), *first[K + 2];
        unsigned count = 0;
#ifdef BUG_B2
        for (struct node *at = head; at && count < K + 2; at = at->next)
            first[count++] = at;
#else
        for (struct node *at = head; at && count < K + 1; at = at->next) {
            first[count++] = at;
            if (at->overtaken >= K)
                break;
        }
#endif
        if (count == 0)
            return false;
        unsigned any = quasi_pq_any(count);
        if (__sync_bool_compare_and_swap(&q->head, head, list(first, any, 1, first[any]->next))) {
            *value = first[any]->value;
            return true;
        }
    }
}

/* The test. */
#include <clewline.h>

unsigned quasi_pq_any(unsigned n) { return n == 1 ? 0 : clewline_choose(n); }

static struct quasi_pq *q;

CLEWLINE_INIT { q = quasi_pq_new(); }

CLEWLINE_OPERATION(add, value) {
    quasi_pq_add(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(poll) {
    long value;
    return quasi_pq_poll(q, &value) ? value : CLEWLINE_EMPTY;
}

CLEWLINE_GOLDEN("priority-queue")
#define TEXT_OF(number) #number
#define FACTOR(operation, number) operation "=" TEXT_OF(number)
CLEWLINE_QUASI(FACTOR("poll", K))
