/*
 * One thread runs round a loop, and says when it has left it; the other looks whether it has, and
 * then changes what the loop reads. The loop is one that counts its rounds, one that looks at the
 * bytes of a word, one that counts in memory of its own, or one that waits.
 */

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROUNDS
#define ROUNDS 7
#endif

static atomic_int changed, left;
static char bytes[8];
static int sums[8];

/* What was written is in memory. */
#define KEEP __asm__ volatile("" ::: "memory")

static void count(void) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum += atomic_load(&changed);
    sums[0] = sum;
}

static void look_at_bytes(void) {
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += bytes[i];
        KEEP;
    }
    sums[1] = sum;
}

static void count_elsewhere(void) {
    int *rounds = malloc(sizeof *rounds);
    for (*rounds = 0; *rounds != ROUNDS && atomic_load(&changed) == 0; ++*rounds)
        KEEP;
    free(rounds);
}

static void wait(void) {
    while (atomic_load(&changed) == 0) {
    }
}

static void *loop(void *kind) {
    if (strcmp(kind, "count") == 0)
        count();
    else if (strcmp(kind, "bytes") == 0)
        look_at_bytes();
    else if (strcmp(kind, "elsewhere") == 0)
        count_elsewhere();
    else
        wait();
    atomic_store(&left, 1);
    return NULL;
}

static void *change(void *unused) {
    int has_left = atomic_load(&left);
    bytes[3] = 1;
    atomic_store(&changed, 1);
    assert(!has_left);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t one, other;
    pthread_create(&one, NULL, loop, argv[argc - 1]);
    pthread_create(&other, NULL, change, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
