/*
 * A stack in a list that is never changed, but replaced.
 *
 * Source: the kinds of L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up", 2013, table I, which has
 * a quasi stack that is in fact linearizable, and two bugs. What it was like inside is not said.
 * Here the top is one word: who pops a value copies the nodes above it, and replaces the top by
 * compare-and-swap.
 *
 * BUG_B1: returns that the stack is empty when another thread was faster.
 * BUG_B2: pops any of the first K + 2 values, and so one more than K away from the top.
 */
#include <stdbool.h>
#include <stdlib.h>

#ifndef K
#define K 2
#endif
#ifdef BUG_B2
#define REACH (K + 2)
#else
#define REACH 1
#endif

/* A node never changes, and is never freed. */
struct node {
    long value;
    struct node *below;
};

struct quasi_stack {
    struct node *top;
};

/* Which of n is taken; the program that uses the stack says. */
unsigned quasi_stack_any(unsigned n);

struct quasi_stack *quasi_stack_new(void) { return calloc(1, sizeof(struct quasi_stack)); }

static struct node *node_new(long value, struct node *below) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->below = below;
    return node;
}

void quasi_stack_push(struct quasi_stack *s, long value) {
    struct node *node = node_new(value, NULL);
    do {
        node->below = __atomic_load_n(&s->top, __ATOMIC_SEQ_CST);
    } while (!__sync_bool_compare_and_swap(&s->top, node->below, node));
}

bool quasi_stack_pop(struct quasi_stack *s, long *value) {
    for (;;) {
        struct node *top = __atomic_load_n(&s->top, __ATOMIC_SEQ_CST), *first[REACH];
        unsigned count = 0;
        for (struct node *at = top; at && count < REACH; at = at->below)
            first[count++] = at;
        if (count == 0)
            return false;
        unsigned depth = quasi_stack_any(count);
        struct node *rest = first[depth]->below;
        for (unsigned above = depth; above-- > 0;)
            rest = node_new(first[above]->value, rest);
        if (__sync_bool_compare_and_swap(&s->top, top, rest)) {
            *value = first[depth]->value;
            return true;
        }
#ifdef BUG_B1
        return false;
#endif
    }
}

/* The test. */
#include <clewline.h>

unsigned quasi_stack_any(unsigned n) { return n == 1 ? 0 : clewline_choose(n); }

static struct quasi_stack *s;

CLEWLINE_INIT { s = quasi_stack_new(); }

CLEWLINE_OPERATION(push, value) {
    quasi_stack_push(s, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(pop) {
    long value;
    return quasi_stack_pop(s, &value) ? value : CLEWLINE_EMPTY;
}

CLEWLINE_GOLDEN("stack")
#define TEXT_OF(number) #number
#define FACTOR(operation, number) operation "=" TEXT_OF(number)
CLEWLINE_QUASI(FACTOR("pop", K))
