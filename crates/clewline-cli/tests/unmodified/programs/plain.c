/*
 * A program that is compiled without Clewline: increments are lost, and with an argument it may get
 * stuck.
 */
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static volatile long count;
static int deadlocks;

static void *add(void *is_second) {
    pthread_mutex_t *first = deadlocks && is_second ? &two : &one, *then = first == &one ? &two : &one;
    count = count + 1;
    pthread_mutex_lock(first);
    pthread_mutex_lock(then);
    pthread_mutex_unlock(then);
    pthread_mutex_unlock(first);
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    deadlocks = 1 < argc;
    pthread_create(&threads[0], 0, add, 0);
    pthread_create(&threads[1], 0, add, argv);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return count != 2;
}
