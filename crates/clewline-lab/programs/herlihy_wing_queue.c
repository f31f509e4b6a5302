/*
 * A queue in an array that dequeuers search from its beginning.
 *
 * Source: M. Herlihy and J. Wing, "Linearizability: a correctness condition for concurrent
 * objects", 1990, section 4. An enqueuer gets a place by one addition to the back and fills it. A
 * dequeuer goes through all places before the back and takes the first value that it gets.
 *
 * The original searches until there is something. Here a dequeuer may find the queue empty: if it
 * finds no value twice in a row, with the same back and the same number of places that are not
 * filled yet.
 *
 * BUG_ONE_SEARCH: it returns after one search in vain, though a value may have come to a place that
 * was passed.
 */
#include <stdbool.h>
#include <stdlib.h>

#define PLACES 64
#define UNFILLED 0
#define EMPTIED (-1)

struct hw_queue {
    long places[PLACES]; /* each is unfilled, then holds a value, and then is emptied */
    unsigned back;
};

/* What a search in vain has seen. */
struct vain {
    unsigned back, unfilled;
};

struct hw_queue *hw_new(void) { return calloc(1, sizeof(struct hw_queue)); }

void hw_enqueue(struct hw_queue *q, long value) {
    unsigned place = __atomic_fetch_add(&q->back, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&q->places[place], value, __ATOMIC_SEQ_CST);
}

static bool search(struct hw_queue *q, long *value, struct vain *vain) {
    vain->back = __atomic_load_n(&q->back, __ATOMIC_SEQ_CST);
    vain->unfilled = 0;
    for (unsigned place = 0; place < vain->back; place++) {
        long found = __atomic_load_n(&q->places[place], __ATOMIC_SEQ_CST);
        if (found == UNFILLED)
            vain->unfilled++;
        else if (found != EMPTIED && __sync_bool_compare_and_swap(&q->places[place], found, EMPTIED)) {
            *value = found;
            return true;
        }
    }
    return false;
}

bool hw_dequeue(struct hw_queue *q, long *value) {
    struct vain last, again;
    if (search(q, value, &last))
        return true;
#ifndef BUG_ONE_SEARCH
    for (;;) {
        if (search(q, value, &again))
            return true;
        if (last.back == again.back && last.unfilled == again.unfilled)
            break;
        last = again;
    }
#else
    (void)again;
#endif
    return false;
}

/* The test. */
#include <clewline.h>

static struct hw_queue *q;

CLEWLINE_INIT { q = hw_new(); }

CLEWLINE_OPERATION(enq, value) {
    hw_enqueue(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    long value;
    return hw_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}
