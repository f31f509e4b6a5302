/*
 * A bounded queue: a ring of segments, inside of which order is not kept.
 *
 * Source: C. M. Kirsch, M. Lippautz and H. Payer, "Fast and scalable, lock-free k-FIFO queues",
 * 2013, the bounded one. An enqueuer puts its value into a free slot of the tail's segment, and
 * moves the tail on if there is none. A dequeuer takes any value of the head's segment, and moves
 * the head on if there is none. Before it takes a value of the only segment it moves the tail away,
 * so that nothing is put where something has been taken. With K + 1 slots in a segment the queue is
 * out of order by K.
 *
 * An enqueuer may come late: its value is in a slot that the head has passed, or passes now. So it
 * looks again, and is committed if the segment is behind the head; if it is the head's, it changes
 * a count beside the head, so that a dequeuer that wanted to move the head without having seen the
 * value fails; else it takes its value back, and starts anew.
 *
 * BUG_UNCOMMITTED: never looks again, and loses values.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef K
#define K 2
#endif
#define SLOTS (K + 1)
#define SEGMENTS 64

/*
 * A word has a number in its upper half and a count in its lower one. Of a slot: a value, or 0 if
 * it is free, and how often it has changed. Of the head: a position, and how often it was held
 * there.
 */
typedef uint64_t word;
#define WORD(number, count) ((word)(uint32_t)(number) << 32 | (uint32_t)(count))
#define NUMBER(word) ((uint32_t)((word) >> 32))
#define COUNT(word) ((uint32_t)(word))

struct bk_queue {
    word ring[SEGMENTS][SLOTS];
    word head;
    uint32_t tail; /* positions only grow: head <= tail < head + SEGMENTS */
};

/* Which of n is taken; the program that uses the queue says. */
unsigned bk_queue_any(unsigned n);

struct bk_queue *bk_queue_new(void) { return calloc(1, sizeof(struct bk_queue)); }

static word load(word *at) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
static uint32_t load_tail(struct bk_queue *q) { return __atomic_load_n(&q->tail, __ATOMIC_SEQ_CST); }
static bool swap(word *at, word from, word to) { return __sync_bool_compare_and_swap(at, from, to); }
static word changed(word slot, uint32_t value) { return WORD(value, COUNT(slot) + 1); }

static void move_tail(struct bk_queue *q, uint32_t from) {
    (void)__sync_bool_compare_and_swap(&q->tail, from, from + 1);
}

static void move_head(struct bk_queue *q, word from) { (void)swap(&q->head, from, WORD(NUMBER(from) + 1, 0)); }

/* The slots of a segment that hold a value: where they are, and what was there. */
static unsigned full_slots(struct bk_queue *q, uint32_t position, word *slots[SLOTS], word seen[SLOTS]) {
    unsigned count = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        word *at = &q->ring[position % SEGMENTS][slot];
        word found = load(at);
        if (NUMBER(found) != 0) {
            slots[count] = at;
            seen[count++] = found;
        }
    }
    return count;
}

/*
 * Whether a value that was put into a slot will be found, or was. If not, it has been taken back.
 */
static bool is_committed(struct bk_queue *q, uint32_t position, word *slot, word put) {
#ifdef BUG_UNCOMMITTED
    (void)q, (void)position, (void)slot, (void)put;
    return true;
#else
    if (load(slot) != put)
        return true;
    word head = load(&q->head);
    if (NUMBER(head) < position)
        return true;
    if (NUMBER(head) == position && swap(&q->head, head, WORD(position, COUNT(head) + 1)))
        return true;
    return !swap(slot, put, changed(put, 0));
#endif
}

/* Makes room at the tail. Returns whether there is any. */
static bool make_room(struct bk_queue *q, uint32_t tail) {
    word head = load(&q->head), *slots[SLOTS], seen[SLOTS];
    if (tail + 1 < NUMBER(head) + SEGMENTS) {
        move_tail(q, tail);
        return true;
    }
    if (full_slots(q, NUMBER(head), slots, seen) == 0) {
        move_head(q, head);
        return true;
    }
    return load(&q->head) != head;
}

bool bk_queue_enqueue(struct bk_queue *q, int value) {
    for (;;) {
        uint32_t tail = load_tail(q);
        word *slot = NULL, seen = 0;
        for (int at = 0; at < SLOTS; at++) {
            slot = &q->ring[tail % SEGMENTS][at];
            seen = load(slot);
            if (NUMBER(seen) == 0)
                break;
            slot = NULL;
        }
        /* The slot was free while the tail was there. */
        if (tail != load_tail(q))
            continue;
        if (!slot) {
            if (!make_room(q, tail))
                return false;
            continue;
        }
        if (swap(slot, seen, changed(seen, value)) && is_committed(q, tail, slot, changed(seen, value)))
            return true;
    }
}

bool bk_queue_dequeue(struct bk_queue *q, int *value) {
    for (;;) {
        word head = load(&q->head), *slots[SLOTS], seen[SLOTS];
        unsigned count = full_slots(q, NUMBER(head), slots, seen);
        uint32_t tail = load_tail(q);
        if (head != load(&q->head))
            continue;
        if (count != 0) {
            unsigned any = bk_queue_any(count);
            if (NUMBER(head) == tail)
                move_tail(q, tail);
            if (swap(slots[any], seen[any], changed(seen[any], 0))) {
                *value = (int)NUMBER(seen[any]);
                return true;
            }
        } else if (NUMBER(head) == tail) {
            /*
             * Nothing is taken from the only segment before the tail has moved: it was empty when
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

unsigned bk_queue_any(unsigned n) { return n == 1 ? 0 : clewline_choose(n); }

static struct bk_queue *q;

CLEWLINE_INIT { q = bk_queue_new(); }

CLEWLINE_OPERATION(enq, value) {
    if (!bk_queue_enqueue(q, (int)value))
        clewline_fail("the ring is full");
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    int value;
    return bk_queue_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}

CLEWLINE_GOLDEN("queue")
#define TEXT_OF(number) #number
#define FACTOR(operation, number) operation "=" TEXT_OF(number)
CLEWLINE_QUASI(FACTOR("deq", K))
