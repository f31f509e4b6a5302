/*
 * A buffer of one place: who puts waits while it is full, and who takes waits while it is empty.
 *
 * BUG_IF: who was woken up does not look again, though another may have been faster.
 * BUG_ONE_CONDITION: all wait for the same condition and one of them is woken up, who may be the
 * wrong one.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct buffer {
    pthread_mutex_t lock;
    pthread_cond_t is_free, is_full;
    bool has_value;
    long value;
};

#ifdef BUG_IF
#define WAIT_WHILE if
#else
#define WAIT_WHILE while
#endif
#ifdef BUG_ONE_CONDITION
#define IS_FREE(b) (&(b)->is_full)
#else
#define IS_FREE(b) (&(b)->is_free)
#endif

struct buffer *buffer_new(void) {
    struct buffer *b = calloc(1, sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->is_free, NULL);
    pthread_cond_init(&b->is_full, NULL);
    return b;
}

void buffer_put(struct buffer *b, long value) {
    pthread_mutex_lock(&b->lock);
    WAIT_WHILE (b->has_value)
        pthread_cond_wait(IS_FREE(b), &b->lock);
    b->has_value = true;
    b->value = value;
    pthread_cond_signal(&b->is_full);
    pthread_mutex_unlock(&b->lock);
}

long buffer_take(struct buffer *b) {
    pthread_mutex_lock(&b->lock);
    WAIT_WHILE (!b->has_value)
        pthread_cond_wait(&b->is_full, &b->lock);
    long value = b->value;
    b->has_value = false;
    pthread_cond_signal(IS_FREE(b));
    pthread_mutex_unlock(&b->lock);
    return value;
}

/* The test. */
#include <clewline.h>

static struct buffer *b;

CLEWLINE_INIT { b = buffer_new(); }

CLEWLINE_OPERATION(put, value) {
    buffer_put(b, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(take) { return buffer_take(b); }
