/* Two threads that a program starts, each of which stores K times to an atomic that both share. */
#include <pthread.h>
#include <stdatomic.h>

/* Not static: a compiler would remove stores that are never read. */
atomic_long shared;

static void *store(void *value) {
    for (int i = 0; i < K; i++)
        atomic_store(&shared, 100 * (long)value + i); /* Other values, or it would look like a loop that waits. */
    return value;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, store, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
