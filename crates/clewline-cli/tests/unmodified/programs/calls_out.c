/* Functions of the C library that write to memory. */
#include <clewline.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *text;

#ifdef LOCKED
#define LOCK pthread_mutex_lock(&lock)
#define UNLOCK pthread_mutex_unlock(&lock)
#else
#define LOCK
#define UNLOCK
#endif

#ifdef POINTER
static int (*volatile pointer)(char *, size_t, const char *, ...) = snprintf;
#define snprintf pointer
#endif

CLEWLINE_INIT { text = calloc(1, 64); }

CLEWLINE_OPERATION(put, value) {
    LOCK;
    snprintf(text, 64, "%ld", value);
    UNLOCK;
    return CLEWLINE_NOTHING;
}

CLEWLINE_OPERATION(get) {
    LOCK;
    long first = text[0];
    UNLOCK;
    return first;
}

/* What is private may be written by any function. */
CLEWLINE_OPERATION(own) {
    char here[32], *there = malloc(32);
    snprintf(here, sizeof here, "%d", 7);
    strcpy(there, here);
    fprintf(stderr, "%s", there);
    return there[0];
}

CLEWLINE_MATRIX("put(1) | get")
