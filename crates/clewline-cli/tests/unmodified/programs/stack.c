/* A thread that uses a variable on the stack of another one, which uses it as well. */
#include <assert.h>
#include <pthread.h>

static void *add(void *shared) {
    *(int *)shared += 1;
    return NULL;
}

int main(void) {
    int shared = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, add, &shared);
#ifdef WAITS
    pthread_join(thread, NULL);
    shared += 1;
#else
    shared += 1;
    pthread_join(thread, NULL);
#endif
    assert(shared == 2);
    return 0;
}
