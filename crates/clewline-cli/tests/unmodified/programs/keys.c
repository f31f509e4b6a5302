/* Thread-specific data whose key a constructor has created, as those of libraries do. */
#include <clewline.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;

__attribute__((constructor)) static void create(void) { pthread_key_create(&key, NULL); }

/* The number of this call among those of its thread. */
CLEWLINE_OPERATION(count) {
    long *calls = pthread_getspecific(key);
    if (!calls) {
        calls = calloc(1, sizeof *calls);
        pthread_setspecific(key, calls);
    }
    return ++*calls;
}
