/*
 * A stack of segments, inside of which order is not kept.
 *
 * Source: T. A. Henzinger, C. M. Kirsch, H. Payer, A. Sezgin and A. Sokolova, "Quantitative
 * relaxation of concurrent data structures", 2013. A push puts its value into a free slot of the
 * top segment, and adds a segment if there is none. A pop takes any value of the top segment; if
 * there is none it removes the segment, or finds the stack empty if that is the only one. With K +
 * 1 slots in a segment the stack is out of order by K.
 *
 * A push may come late: its value is in a segment that is being removed. Who removes one says so
 * first, and looks after that whether it is still empty. So a push that finds no thread removing is
 * committed. Else, if the segment is still on top, it changes a count beside the top, so that the
 * one who removes fails; or it takes its value back, and starts anew.
 *
 * BUG_SCAL: how the suite Scal had it, after L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up",
 * 2013, section VI-D. A push reads twice whether a thread is removing: it is committed if the first
 * read says no, and sees to its value if the second says yes. The word was changed and changed back
 * in between (A, B, A): then neither is the case, and the push starts anew and leaves its value
 * where it is, which then is in the stack twice.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef K
#define K 2
#endif
#define SLOTS (K + 1)

/*
 * A slot has a value in its upper half, 0 if it is free, and in its lower one how often it has
 * changed.
 */
typedef uint64_t slot;
#define SLOT(value, changes) ((slot)(uint32_t)(value) << 32 | (uint32_t)(changes))
#define VALUE(slot) ((uint32_t)((slot) >> 32))
#define CHANGES(slot) ((uint32_t)(slot))

struct segment {
    slot slots[SLOTS];
    int removers; /* how many are removing it; stays above 0 once it is removed */
    struct segment *below;
};

/* A pointer, and in its upper bits, which x86-64 does not use, how often the top has changed. */
typedef uint64_t tagged;
#define TAGGED(segment, changes) ((tagged)(uintptr_t)(segment) | (tagged)(changes) << 48)
#define SEGMENT(top) ((struct segment *)(uintptr_t)((top) & 0xffffffffffff))

struct k_stack {
    tagged top;
};

/* Which of n is taken; the program that uses the stack says. */
unsigned k_stack_any(unsigned n);

static struct segment *segment_on(struct segment *below) {
    struct segment *segment = calloc(1, sizeof *segment);
    segment->below = below;
    return segment;
}

struct k_stack *k_stack_new(void) {
    struct k_stack *s = malloc(sizeof *s);
    s->top = TAGGED(segment_on(NULL), 0);
    return s;
}

static tagged load_top(struct k_stack *s) { return __atomic_load_n(&s->top, __ATOMIC_SEQ_CST); }
static slot load(slot *at) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
static slot changed(slot from, uint32_t value) { return SLOT(value, CHANGES(from) + 1); }

static bool change(slot *at, slot from, uint32_t value) {
    return __sync_bool_compare_and_swap(at, from, changed(from, value));
}

/* Puts a segment on top, if the top is still the same; returns whether it was. */
static bool replace_top(struct k_stack *s, tagged from, struct segment *segment) {
    return __sync_bool_compare_and_swap(&s->top, from, TAGGED(segment, (from >> 48) + 1));
}

/* The slots of a segment that hold a value: where they are, and what was there. */
static unsigned full_slots(struct segment *segment, slot *slots[SLOTS], slot seen[SLOTS]) {
    unsigned count = 0;
    for (int at = 0; at < SLOTS; at++) {
        slot found = load(&segment->slots[at]);
        if (VALUE(found) != 0) {
            slots[count] = &segment->slots[at];
            seen[count++] = found;
        }
    }
    return count;
}

static void remove_segment(struct k_stack *s, tagged top) {
    struct segment *segment = SEGMENT(top);
    slot *slots[SLOTS], seen[SLOTS];
    if (load_top(s) != top)
        return;
    __atomic_fetch_add(&segment->removers, 1, __ATOMIC_SEQ_CST);
    if (full_slots(segment, slots, seen) == 0 && replace_top(s, top, segment->below))
        return;
    __atomic_fetch_sub(&segment->removers, 1, __ATOMIC_SEQ_CST);
}

/*
 * Whether a value that was put into a slot will be found, or was. If not, it has been taken back,
 * or should have been.
 */
static bool is_committed(struct k_stack *s, tagged top, slot *at, slot put) {
    struct segment *segment = SEGMENT(top);
    if (load(at) != put)
        return true;
    if (__atomic_load_n(&segment->removers, __ATOMIC_SEQ_CST) == 0)
        return true;
#ifdef BUG_SCAL
    if (__atomic_load_n(&segment->removers, __ATOMIC_SEQ_CST) == 0)
        return false;
#endif
    if (load_top(s) == top && replace_top(s, top, segment))
        return true;
    return !change(at, put, 0);
}

void k_stack_push(struct k_stack *s, int value) {
    for (;;) {
        tagged top = load_top(s);
        struct segment *segment = SEGMENT(top);
        slot *free_slot = NULL, seen = 0;
        for (int at = 0; at < SLOTS && !free_slot; at++) {
            seen = load(&segment->slots[at]);
            if (VALUE(seen) == 0)
                free_slot = &segment->slots[at];
        }
        /* The slot was free while the segment was on top. */
        if (load_top(s) != top)
            continue;
        if (!free_slot) {
            if (load_top(s) == top)
                (void)replace_top(s, top, segment_on(segment));
            continue;
        }
        if (change(free_slot, seen, value) && is_committed(s, top, free_slot, changed(seen, value)))
            return;
    }
}

/* Whether there was a moment at which no slot held a value. */
static bool was_empty(struct segment *segment) {
    slot seen[SLOTS];
    for (int at = 0; at < SLOTS; at++) {
        seen[at] = load(&segment->slots[at]);
        if (VALUE(seen[at]) != 0)
            return false;
    }
    for (int at = 0; at < SLOTS; at++)
        if (load(&segment->slots[at]) != seen[at])
            return false;
    return true;
}

bool k_stack_pop(struct k_stack *s, int *value) {
    for (;;) {
        tagged top = load_top(s);
        struct segment *segment = SEGMENT(top);
        slot *slots[SLOTS], seen[SLOTS];
        unsigned count = full_slots(segment, slots, seen);
        if (load_top(s) != top)
            continue;
        if (count != 0) {
            unsigned any = k_stack_any(count);
            if (change(slots[any], seen[any], 0)) {
                *value = (int)VALUE(seen[any]);
                return true;
            }
        } else if (segment->below) {
            remove_segment(s, top);
        } else if (was_empty(segment) && load_top(s) == top) {
            return false;
        }
    }
}

/* The test. */
#include <clewline.h>

unsigned k_stack_any(unsigned n) { return n == 1 ? 0 : clewline_choose(n); }

static struct k_stack *s;

CLEWLINE_INIT { s = k_stack_new(); }

CLEWLINE_OPERATION(push, value) {
    k_stack_push(s, (int)value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(pop) {
    int value;
    return k_stack_pop(s, &value) ? value : CLEWLINE_EMPTY;
}

CLEWLINE_GOLDEN("stack")
#define TEXT_OF(number) #number
#define FACTOR(operation, number) operation "=" TEXT_OF(number)
CLEWLINE_QUASI(FACTOR("pop", K))
