/* A lock that the compiler does not see: `locked` does not race. `racy` does not take it. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

static int held;
static long data;
static int is_locked;

__attribute__((noinline)) static int swap(int *at, int value) {
    __asm__ volatile("xchg %0, %1" : "+r"(value), "+m"(*at)::"memory");
    return value;
}

static void *work(void *unused) {
    if (is_locked)
        while (swap(&held, 1))
            sched_yield();
    data++;
    if (is_locked)
        swap(&held, 0);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    is_locked = argc == 2 && strcmp(argv[1], "locked") == 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
