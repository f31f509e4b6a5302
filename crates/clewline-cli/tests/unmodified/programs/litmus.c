/*
 * Runs a litmus test, which is written as `clewline_testing::litmus` does, and appends its outcome
 * to a
 * file: litmus 'Wx1 Ry.acq | Wy1 Rx' FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define READS 8

/* Two of them share a word of eight bytes. */
static atomic_int locations[3];

static struct thread {
    const char *from, *to;
    char read[READS];
    int reads;
} threads[THREADS];

static int load(atomic_int *at, char order) {
    switch (order) {
    case 'a': return atomic_load_explicit(at, memory_order_acquire);
    case 's': return atomic_load_explicit(at, memory_order_seq_cst);
    default: return atomic_load_explicit(at, memory_order_relaxed);
    }
}

static void store(atomic_int *at, int value, char order) {
    switch (order) {
    case 'r': atomic_store_explicit(at, value, memory_order_release); break;
    case 's': atomic_store_explicit(at, value, memory_order_seq_cst); break;
    default: atomic_store_explicit(at, value, memory_order_relaxed);
    }
}

static int swap(atomic_int *at, int value, char order) {
    switch (order) {
    case 'a': return atomic_exchange_explicit(at, value, memory_order_acquire);
    case 'r': return atomic_exchange_explicit(at, value, memory_order_release);
    case 'b': return atomic_exchange_explicit(at, value, memory_order_acq_rel);
    case 's': return atomic_exchange_explicit(at, value, memory_order_seq_cst);
    default: return atomic_exchange_explicit(at, value, memory_order_relaxed);
    }
}

static void fence(char order) {
    switch (order) {
    case 'a': atomic_thread_fence(memory_order_acquire); break;
    case 'r': atomic_thread_fence(memory_order_release); break;
    case 'b': atomic_thread_fence(memory_order_acq_rel); break;
    case 's': atomic_thread_fence(memory_order_seq_cst); break;
    }
}

/* acq, rel, ar and sc as a, r, b and s. */
static char order_of(const char *suffix) {
    return *suffix != '.' ? 0 : suffix[1] == 'a' && suffix[2] == 'r' ? 'b' : suffix[1];
}

static void *run(void *argument) {
    struct thread *own = argument;
    const char *at = own->from;
    while (at < own->to) {
        if (*at == ' ') {
            at++;
            continue;
        }
        char kind = *at++;
        atomic_int *location = kind == 'F' ? 0 : &locations[*at++ - 'x'];
        int value = 0;
        while ('0' <= *at && *at <= '9') value = 10 * value + *at++ - '0';
        char order = order_of(at);
        while (at < own->to && *at != ' ') at++;
        switch (kind) {
        case 'R': own->read[own->reads++] = '0' + load(location, order); break;
        case 'X': own->read[own->reads++] = '0' + swap(location, value, order); break;
        case 'W': store(location, value, order); break;
        case 'F': fence(order); break;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    pthread_t started[THREADS];
    int n = 0;
    for (const char *at = argv[1]; at; n++) {
        const char *bar = strchr(at, '|');
        threads[n].from = at;
        threads[n].to = bar ? bar : at + strlen(at);
        at = bar ? bar + 1 : 0;
    }
    for (int i = 0; i < n; i++) pthread_create(&started[i], 0, run, &threads[i]);
    for (int i = 0; i < n; i++) pthread_join(started[i], 0);
    char line[128];
    int length = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < threads[i].reads; j++) line[length++] = threads[i].read[j];
        line[length++] = i + 1 < n ? '|' : ';';
    }
    for (int i = 0; i < 3; i++) line[length++] = '0' + load(&locations[i], 0);
    line[length++] = '\n';
    int file = open(argv[2], O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (file < 0 || write(file, line, length) != length) return 3;
    close(file);
    return 0;
}
