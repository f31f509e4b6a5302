/*
 * An unbounded queue: a list of segments, inside of which order is not kept.
 *
 * Source: C. M. Kirsch, M. Lippautz and H. Payer, "Fast and scalable, lock-free k-FIFO queues",
 * 2013, the unbounded one. As the bounded one, but that segments are linked, and are marked before
 * they are taken out of the list: an enqueuer who comes late learns from the mark that its segment
 * is gone. With K + 1 slots in a segment the queue is out of order by K.
 *
 * Neither segments nor slots are used again here, so that they need no counters. The head has one
 * in the upper bits of its pointer, which x86-64 does not use.
 *
 * BUG_LATE_MARK: takes a segment out of the list first and marks it then.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef K
#define K 2
#endif
#define SLOTS (K + 1)
#define FREE 0
#define EMPTIED (-1)

struct segment {
    long slots[SLOTS]; /* each is free, then holds a value, and then is emptied; they are filled in order */
    bool is_going;     /* whether a thread takes it out of the list, or has */
    struct segment *next;
};

/* A pointer, and how often the head was held there by an enqueuer. */
typedef uint64_t tagged;
#define TAGGED(segment, held) ((tagged)(uintptr_t)(segment) | (tagged)(held) << 48)
#define SEGMENT(head) ((struct segment *)(uintptr_t)((head) & 0xffffffffffff))
#define HELD(head) ((head) >> 48)

struct ubk_queue {
    tagged head;
    struct segment *tail;
};

/* Which of n is taken; the program that uses the queue says. */
unsigned ubk_queue_any(unsigned n);

struct ubk_queue *ubk_queue_new(void) {
    struct ubk_queue *q = malloc(sizeof *q);
    q->tail = calloc(1, sizeof(struct segment));
    q->head = TAGGED(q->tail, 0);
    return q;
}

static tagged load_head(struct ubk_queue *q) { return __atomic_load_n(&q->head, __ATOMIC_SEQ_CST); }
static struct segment *load_tail(struct ubk_queue *q) { return __atomic_load_n(&q->tail, __ATOMIC_SEQ_CST); }

/* Moves the tail to the next segment, and adds that if need be, unless another thread has. */
static void move_tail(struct ubk_queue *q, struct segment *from) {
    struct segment *next = __atomic_load_n(&from->next, __ATOMIC_SEQ_CST);
    if (!next) {
        struct segment *added = calloc(1, sizeof *added);
        if (__atomic_compare_exchange_n(&from->next, &next, added, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            next = added;
        else
            free(added);
    }
    (void)__sync_bool_compare_and_swap(&q->tail, from, next);
}

/* Moves the head on, unless it has moved or was held. There is a next segment. */
static void move_head(struct ubk_queue *q, tagged from) {
    struct segment *segment = SEGMENT(from);
    struct segment *next = __atomic_load_n(&segment->next, __ATOMIC_SEQ_CST);
#ifdef BUG_LATE_MARK
    if (__sync_bool_compare_and_swap(&q->head, from, TAGGED(next, 0)))
        __atomic_store_n(&segment->is_going, true, __ATOMIC_SEQ_CST);
#else
    __atomic_store_n(&segment->is_going, true, __ATOMIC_SEQ_CST);
    /*
     * If this fails a thread holds it. Then it stays marked, and only those who hold it stay in it.
     */
    (void)__sync_bool_compare_and_swap(&q->head, from, TAGGED(next, 0));
#endif
}

/*
 * Whether a value that was put into a slot will be found, or was. If not, it has been taken back.
 */
static bool is_committed(struct ubk_queue *q, struct segment *segment, long *slot, long value) {
    if (__atomic_load_n(slot, __ATOMIC_SEQ_CST) != value)
        return true;
    /*
     * In this order: a segment that was not at the head and is not going after that is still behind
     * the head.
     */
    tagged head = load_head(q);
    if (SEGMENT(head) == segment) {
        if (__sync_bool_compare_and_swap(&q->head, head, TAGGED(segment, HELD(head) + 1)))
            return true;
    } else if (!__atomic_load_n(&segment->is_going, __ATOMIC_SEQ_CST)) {
        return true;
    }
    return !__sync_bool_compare_and_swap(slot, value, EMPTIED);
}

void ubk_queue_enqueue(struct ubk_queue *q, long value) {
    for (;;) {
        struct segment *tail = load_tail(q);
        long *slot = NULL;
        for (int at = 0; at < SLOTS && !slot; at++)
            if (__atomic_load_n(&tail->slots[at], __ATOMIC_SEQ_CST) == FREE)
                slot = &tail->slots[at];
        /* The slot was free while the tail was there. */
        if (tail != load_tail(q))
            continue;
        if (!slot) {
            move_tail(q, tail);
            continue;
        }
        if (__sync_bool_compare_and_swap(slot, FREE, value) && is_committed(q, tail, slot, value))
            return;
    }
}

bool ubk_queue_dequeue(struct ubk_queue *q, long *value) {
    for (;;) {
        tagged head = load_head(q);
        struct segment *segment = SEGMENT(head);
        long *slots[SLOTS], values[SLOTS];
        unsigned count = 0;
        for (int at = 0; at < SLOTS; at++) {
            long found = __atomic_load_n(&segment->slots[at], __ATOMIC_SEQ_CST);
            if (found == FREE)
                break;
            if (found != EMPTIED) {
                slots[count] = &segment->slots[at];
                values[count++] = found;
            }
        }
        struct segment *tail = load_tail(q);
        if (head != load_head(q))
            continue;
        if (count != 0) {
            unsigned any = ubk_queue_any(count);
            if (segment == tail)
                move_tail(q, tail);
            if (__sync_bool_compare_and_swap(slots[any], values[any], EMPTIED)) {
                *value = values[any];
                return true;
            }
        } else if (segment == tail) {
            /*
             * Slots are filled in order, and taken only after the tail has moved: it was empty when
             * we looked.
             */
            if (tail == load_tail(q))
                return false;
        } else {
            move_head(q, head);
        }
    }
}

/* The test. */
#include <clewline.h>

unsigned ubk_queue_any(unsigned n) { return n == 1 ? 0 : clewline_choose(n); }

static struct ubk_queue *q;

CLEWLINE_INIT { q = ubk_queue_new(); }

CLEWLINE_OPERATION(enq, value) {
    ubk_queue_enqueue(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    long value;
    return ubk_queue_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}

CLEWLINE_GOLDEN("queue")
#define TEXT_OF(number) #number
#define FACTOR(operation, number) operation "=" TEXT_OF(number)
CLEWLINE_QUASI(FACTOR("deq", K))
