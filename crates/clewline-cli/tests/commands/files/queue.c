/* A bounded queue with one lock. */
#include <pthread.h>
#include <stdlib.h>
#include "queue.h"

struct queue {
    pthread_mutex_t lock;
    long values[16];
    int head, tail;
};

struct queue *queue_new(void) {
    struct queue *q = calloc(1, sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    return q;
}

void queue_enq(struct queue *q, long value) {
    pthread_mutex_lock(&q->lock);
    q->values[q->tail++] = value;
    pthread_mutex_unlock(&q->lock);
}

int queue_deq(struct queue *q, long *value) {
    pthread_mutex_lock(&q->lock);
    int is_there = q->head < q->tail;
    if (is_there)
        *value = q->values[q->head++];
    pthread_mutex_unlock(&q->lock);
    return is_there;
}
