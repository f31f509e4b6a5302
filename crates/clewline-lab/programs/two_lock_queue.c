/*
 * A queue with a lock at either end.
 *
 * Source: M. M. Michael and M. L. Scott, "Simple, fast, and practical non-blocking and blocking
 * concurrent queue algorithms", 1996, the blocking one. A dummy keeps the two ends apart, so that
 * they share one link.
 *
 * BUG_ONE_LOCK: dequeuers take no lock. BUG_ORDER: both kinds of calls take both locks, each its
 * own first, and wait for each other forever.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    long value;
    struct node *next;
};

struct two_lock_queue {
    pthread_mutex_t head_lock, tail_lock;
    struct node *head, *tail;
};

struct two_lock_queue *two_lock_queue_new(void) {
    struct two_lock_queue *q = malloc(sizeof *q);
    pthread_mutex_init(&q->head_lock, NULL);
    pthread_mutex_init(&q->tail_lock, NULL);
    q->head = q->tail = calloc(1, sizeof(struct node));
    return q;
}

void two_lock_queue_enqueue(struct two_lock_queue *q, long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = NULL;
    pthread_mutex_lock(&q->tail_lock);
#ifdef BUG_ORDER
    pthread_mutex_lock(&q->head_lock);
#endif
    __atomic_store_n(&q->tail->next, node, __ATOMIC_RELEASE);
    q->tail = node;
#ifdef BUG_ORDER
    pthread_mutex_unlock(&q->head_lock);
#endif
    pthread_mutex_unlock(&q->tail_lock);
}

bool two_lock_queue_dequeue(struct two_lock_queue *q, long *value) {
#ifndef BUG_ONE_LOCK
    pthread_mutex_lock(&q->head_lock);
#endif
#ifdef BUG_ORDER
    pthread_mutex_lock(&q->tail_lock);
#endif
    struct node *next = __atomic_load_n(&q->head->next, __ATOMIC_ACQUIRE);
    if (next) {
        *value = next->value;
        q->head = next;
    }
#ifdef BUG_ORDER
    pthread_mutex_unlock(&q->tail_lock);
#endif
#ifndef BUG_ONE_LOCK
    pthread_mutex_unlock(&q->head_lock);
#endif
    return next != NULL;
}

/* The test. */
#include <clewline.h>

static struct two_lock_queue *q;

CLEWLINE_INIT { q = two_lock_queue_new(); }

CLEWLINE_OPERATION(enq, value) {
    two_lock_queue_enqueue(q, value);
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(deq) {
    long value;
    return two_lock_queue_dequeue(q, &value) ? value : CLEWLINE_EMPTY;
}
