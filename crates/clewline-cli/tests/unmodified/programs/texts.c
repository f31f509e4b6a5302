/* Results and arguments that are more than a number. */
#include <clewline.h>

#include <pthread.h>
#include <string.h>

struct pair {
    int one;
    bool other;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *last = "none";

/* A library function with two out-parameters. */
static bool swap(const char *text, const char **old, size_t *length) {
    pthread_mutex_lock(&lock);
    *old = last;
#ifdef TORN
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    last = text;
    pthread_mutex_unlock(&lock);
    *length = strlen(*old);
    return true;
}

CLEWLINE_OPERATION(swap, text) {
    const char *old;
    size_t length;
    return swap(CLEWLINE_STRING(text), &old, &length) ? CLEWLINE_FORMAT("(%s, %zu)", old, length) : CLEWLINE_EMPTY;
}
CLEWLINE_OPERATION(echo, text) { return CLEWLINE_RESULT(CLEWLINE_STRING(text)); }
CLEWLINE_OPERATION(nothing) { return CLEWLINE_RESULT((const char *)0); }
CLEWLINE_OPERATION(yes) { return CLEWLINE_RESULT((bool)true); }
CLEWLINE_OPERATION(four, a, b, c, d) { return CLEWLINE_RESULT(1000 * a + 100 * b + 10 * c + d); }
CLEWLINE_OPERATION(pair, one) {
    struct pair it = {(int)one, one > 1};
    return CLEWLINE_FORMAT("{one: %d, other: %s}", it.one, it.other ? "true" : "false");
}
#ifndef CLEWLINE_STRICT
CLEWLINE_OPERATION(wide) { return CLEWLINE_RESULT((__int128)1 << 100); }
CLEWLINE_OPERATION(below) { return CLEWLINE_RESULT(-((__int128)1 << 100)); }
CLEWLINE_OPERATION(most) { return CLEWLINE_RESULT(~(unsigned __int128)0); }
CLEWLINE_OPERATION(small) { return CLEWLINE_RESULT((__int128)-7); }
#endif
