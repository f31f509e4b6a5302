// Loops that end by themselves, and loops that never end.
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#ifndef ROUNDS
#define ROUNDS 1500
#endif

static atomic_int flag, other, turn, next;
static atomic_int forks[3];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int in_static;
static _Thread_local int in_thread;
static const char *kind;

static int is(const char *name) { return !strcmp(kind, name); }

// Each gives up at some time. Nothing else happens meanwhile.
static void poll_and_give_up(void) {
    if (is("register")) {
        for (int at = 0; at < ROUNDS && !atomic_load(&flag); at++) {
        }
    } else if (is("stack")) {
        int count[4] = {0};
        int *where = &count[2];
        while (!atomic_load(&flag) && ++*where < ROUNDS) {
            __asm__ volatile("" : : "r"(where) : "memory");
        }
    } else if (is("heap")) {
        int *count = calloc(1, sizeof *count);
        while (!atomic_load(&flag) && ++*count < ROUNDS) {
        }
        free(count);
    } else if (is("thread-local")) {
        while (!atomic_load(&flag) && ++in_thread < ROUNDS) {
        }
    } else if (is("static")) {
        while (!atomic_load(&flag) && ++in_static < ROUNDS) {
        }
    } else if (is("yields")) {
        for (int at = 0; at < ROUNDS && !atomic_load(&flag); at++)
            sched_yield();
    } else if (is("heap-yields")) {
        int *count = calloc(1, sizeof *count);
        while (!atomic_load(&flag) && ++*count < ROUNDS)
            sched_yield();
        free(count);
    } else if (is("try-lock")) {
        int at = 0;
        while (pthread_mutex_trylock(&lock) && ++at < ROUNDS) {
        }
        if (at < ROUNDS)
            pthread_mutex_unlock(&lock);
    } else if (is("backoff")) {
        unsigned sum = 0;
        for (unsigned delay = 1; delay < 4096 && !atomic_load(&flag); delay *= 2) {
            for (unsigned at = 0; at < delay; at++)
                sum = sum * 31 + at;
            sched_yield();
        }
        in_thread = (int)sum;
    } else if (is("clock")) {
        struct timespec now, begin;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while (!atomic_load(&flag) && now.tv_nsec - begin.tv_nsec < ROUNDS * 1000L);
    } else if (is("random")) {
        while (!atomic_load(&flag) && rand() % 500) {
        }
    } else if (is("counter")) {
        unsigned long long begin = __builtin_ia32_rdtsc();
        while (!atomic_load(&flag) && __builtin_ia32_rdtsc() - begin < 200000) {
        }
    }
}

static void *polls(void *unused) {
    (void)unused;
    poll_and_give_up();
    return NULL;
}

// Two threads take turns.
static void *ticket(void *unused) {
    (void)unused;
    for (int round = 0; round < 2; round++) {
        int mine = atomic_fetch_add(&next, 1);
        while (atomic_load(&turn) != mine) {
        }
        in_static++;
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}

// Two threads give way to each other, but not forever.
static void *give_way_a_few_times(void *which) {
    atomic_int *mine = which ? &flag : &other, *others = which ? &other : &flag;
    for (int round = 0; round < 3; round++) {
        atomic_store(mine, 1);
        if (!atomic_load(others))
            break;
        atomic_store(mine, 0);
        sched_yield();
    }
    atomic_store(mine, 0);
    return NULL;
}

// Two threads give way to each other.
static void *give_way(void *which) {
    atomic_int *mine = which ? &flag : &other, *others = which ? &other : &flag;
    for (;;) {
        atomic_store(mine, 1);
        if (!atomic_load(others))
            break;
        atomic_store(mine, 0);
        sched_yield();
    }
    atomic_store(mine, 0);
    return NULL;
}

static void *dine(void *which) {
    long left = (long)which, right = (left + 1) % 2;
    for (;;) {
        if (!atomic_exchange(&forks[left], 1)) {
            if (!atomic_exchange(&forks[right], 1))
                break;
            atomic_store(&forks[left], 0);
        }
        sched_yield();
    }
    atomic_store(&forks[right], 0);
    atomic_store(&forks[left], 0);
    return NULL;
}

// Nothing sets the flag.
static void *waits(void *unused) {
    (void)unused;
    while (!atomic_load(&flag)) {
        if (is("missed-yields"))
            sched_yield();
        else if (is("missed-sleeps"))
            usleep(10);
        else if (is("missed-polls"))
            poll(NULL, 0, 1000);
        else if (is("missed-selects"))
            select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 1});
    }
    return NULL;
}

static void *waits_locked(void *unused) {
    (void)unused;
    for (int is_set = 0; !is_set;) {
        pthread_mutex_lock(&lock);
        is_set = in_static;
        pthread_mutex_unlock(&lock);
        sched_yield();
    }
    return NULL;
}

static void both(void *(*body)(void *)) {
    pthread_t one, two;
    pthread_create(&one, NULL, body, (void *)0);
    pthread_create(&two, NULL, body, (void *)1);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

static void alone(void *(*body)(void *)) {
    pthread_t one;
    pthread_mutex_t *held = is("missed-locked") ? NULL : &lock;
    if (held)
        pthread_mutex_lock(held);
    pthread_create(&one, NULL, body, NULL);
    pthread_join(one, NULL);
    if (held)
        pthread_mutex_unlock(held);
}

int main(int argc, char **argv) {
    kind = argc < 2 ? "register" : argv[1];
    if (is("ticket"))
        both(ticket);
    else if (is("give-way-a-few-times"))
        both(give_way_a_few_times);
    else if (is("give-way"))
        both(give_way);
    else if (is("dine"))
        both(dine);
    else if (is("missed-locked"))
        alone(waits_locked);
    else if (!strncmp(kind, "missed", 6))
        alone(waits);
    else
        alone(polls);
    return 0;
}
