/*
 * A program with a main of its own. WRONG 1: two threads take the last one. 2: a deadlock. 3: it
 * fails. 4: a thread outlives main.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int left = 1, taken;

static void *take(void *unused) {
    (void)unused;
    pthread_mutex_lock(&one);
    int is_there = left != 0;
#if WRONG == 1
    pthread_mutex_unlock(&one);
    pthread_mutex_lock(&one);
#endif
    if (is_there) {
        left--;
        taken++;
    }
    pthread_mutex_unlock(&one);
    return unused;
}

static void *back(void *unused) {
    (void)unused;
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&one);
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&other);
    return unused;
}

static void *forever(void *unused) {
    (void)unused;
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&other);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    printf("%s with %d arguments\n", argv[0], argc);
#if WRONG == 2
    pthread_create(&threads[0], NULL, back, NULL);
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&one);
    pthread_join(threads[0], NULL);
    return 0;
#elif WRONG == 4
    pthread_create(&threads[0], NULL, forever, NULL);
    return 0;
#else
    (void)back;
    (void)forever;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
#if WRONG == 3
    exit(taken == 1 ? 3 : 0);
#endif
    return taken == 1 ? 0 : 1;
#endif
}
