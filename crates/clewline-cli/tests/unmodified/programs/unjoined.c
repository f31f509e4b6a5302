/* Two threads count without a lock, after other threads have ended; the argument selects which. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static long plain;

static void *nothing(void *unused) { return unused; }

static void *count(void *unused) {
    plain++;
    return unused;
}

static pthread_t start(void *(*work)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    return thread;
}

static void *count_after_another(void *unused) {
    pthread_join(start(nothing), NULL);
    return count(unused);
}

int main(int argc, char **argv) {
    const char *kind = argc == 2 ? argv[1] : "";
    pthread_t other;
    if (strcmp(kind, "one of two has ended") == 0) {
        pthread_t first = start(nothing);
        other = start(count);
        pthread_join(first, NULL);
    } else if (strcmp(kind, "the first has ended") == 0) {
        pthread_join(start(nothing), NULL);
        other = start(count);
    } else if (strcmp(kind, "one has ended for the other") == 0) {
        other = start(count_after_another);
    } else {
        abort();
    }
    count(NULL);
    pthread_join(other, NULL);
    assert(plain == 2);
    return 0;
}
