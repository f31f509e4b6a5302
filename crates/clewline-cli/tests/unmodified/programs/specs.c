/* An object for each built-in specification, under one lock. With TORN, one operation that changes
 * it gives the lock up in between. */
#include <clewline.h>

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long items[16];
static int count;

static void enter(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }
static void pause_if_torn(void) {
#ifdef TORN
    leave();
    enter();
#endif
}

static void insert_at(int at, long value) {
    assert(count < 16);
    memmove(items + at + 1, items + at, sizeof *items * (size_t)(count++ - at));
    items[at] = value;
}

static long remove_at(int at) {
    long value = items[at];
    pause_if_torn();
    if (count <= at) return value;
    memmove(items + at, items + at + 1, sizeof *items * (size_t)(--count - at));
    return value;
}

static long taken(int at, int removes) {
    enter();
    long value = count == 0 ? CLEWLINE_EMPTY : removes ? remove_at(at < 0 ? count - 1 : at) : items[at < 0 ? count - 1 : at];
    leave();
    return value;
}

static long put(int at, long value) {
    enter();
#ifdef CAPACITY
    bool fits = count < CAPACITY;
    if (fits) insert_at(at < 0 ? count : at, value);
    leave();
    return CLEWLINE_RESULT(fits);
#else
    insert_at(at < 0 ? count : at, value);
    leave();
    return CLEWLINE_NOTHING;
#endif
}

static int place(long value) {
    for (int at = 0; at < count; at++)
        if (items[at] == value) return at;
    return -1;
}

#if defined QUEUE
CLEWLINE_OPERATION(enq, value) { return put(-1, value); }
CLEWLINE_OPERATION(deq) { return taken(0, 1); }
CLEWLINE_OPERATION(peek) { return taken(0, 0); }
#elif defined STACK
CLEWLINE_OPERATION(push, value) { return put(-1, value); }
CLEWLINE_OPERATION(pop) { return taken(-1, 1); }
CLEWLINE_OPERATION(peek) { return taken(-1, 0); }
#elif defined DEQUE
CLEWLINE_OPERATION(push_front, value) { return put(0, value); }
CLEWLINE_OPERATION(push_back, value) { return put(-1, value); }
CLEWLINE_OPERATION(pop_front) { return taken(0, 1); }
CLEWLINE_OPERATION(pop_back) { return taken(-1, 1); }
#elif defined BAG
CLEWLINE_OPERATION(add, value) { return put(0, value); }
CLEWLINE_OPERATION(take) { return taken(0, 1); }
#elif defined PRIORITY
CLEWLINE_OPERATION(add, value) {
    enter();
    int at = 0;
    while (at < count && (PRIORITY) * items[at] > (PRIORITY) * value) at++;
    insert_at(at, value);
    leave();
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(poll) { return taken(0, 1); }
CLEWLINE_OPERATION(peek) { return taken(0, 0); }
#elif defined SET
CLEWLINE_OPERATION(add, value) {
    enter();
    bool is_new = place(value) < 0;
    pause_if_torn();
    if (is_new || SET == 2) insert_at(count, value);
    leave();
    return SET == 2 ? CLEWLINE_NOTHING : CLEWLINE_RESULT(is_new);
}
CLEWLINE_OPERATION(remove, value) {
    enter();
    int at = place(value);
    if (at >= 0) remove_at(at);
    leave();
    return CLEWLINE_BOOL(at >= 0);
}
CLEWLINE_OPERATION(contains, value) {
    enter();
    bool is_there = place(value) >= 0;
    leave();
    return CLEWLINE_RESULT(is_there);
}
#if SET == 3
CLEWLINE_OPERATION(read) {
    char text[100] = "[";
    enter();
    for (int at = 0; at < count; at++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%ld", at ? ", " : "", items[at]);
    leave();
    return CLEWLINE_FORMAT("%s]", text);
}
#endif
#elif defined MAP
static long values[4];   /* 0 is absent */
static long shown(long value) { return value ? value : CLEWLINE_EMPTY; }
static long exchanged(long key, long value, long expected, int is_conditional) {
    enter();
    long old = values[key];
    pause_if_torn();
    if (!is_conditional || old == expected) values[key] = value;
    leave();
    return old;
}
CLEWLINE_OPERATION(get, key) { return shown(exchanged(key, 0, -1, 1)); }
CLEWLINE_OPERATION(put, key, value) { return exchanged(key, value, 0, 0), CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(insert, key, value) { return shown(exchanged(key, value, 0, 0)); }
CLEWLINE_OPERATION(remove, key) { return shown(exchanged(key, 0, 0, 0)); }
CLEWLINE_OPERATION(erase, key) { return exchanged(key, 0, 0, 0), CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(contains, key) { return CLEWLINE_BOOL(exchanged(key, 0, -1, 1)); }
CLEWLINE_OPERATION(cas, key, from, to) { return CLEWLINE_BOOL(exchanged(key, to, from, 1) == from); }
CLEWLINE_OPERATION(get_or_insert, key, value) {
    long old = exchanged(key, value, 0, 1);
    return old ? old : value;
}
#elif defined TEXTS
static char *text;
CLEWLINE_OPERATION(append, key, more) {
    (void)key;
    enter();
    char *old = text ? text : (char *)"";
    char *now = (char *)malloc(strlen(old) + strlen(CLEWLINE_STRING(more)) + 1);
    strcat(strcpy(now, old), CLEWLINE_STRING(more));
    pause_if_torn();
    text = now;
    leave();
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(get, key) {
    (void)key;
    enter();
    char *now = text;
    leave();
    return CLEWLINE_RESULT(now);
}
#elif defined REGISTER
static long value = CLEWLINE_EMPTY;
CLEWLINE_OPERATION(read) {
    enter();
    long now = value;
    leave();
    return now;
}
CLEWLINE_OPERATION(write, now) {
    enter();
    value = now;
    leave();
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(cas, from, to) {
    enter();
    bool is_equal = value == from;
    pause_if_torn();
    if (is_equal) value = to;
    leave();
    return CLEWLINE_RESULT(is_equal);
}
#elif defined COUNTER
static long sum;
static long added(long by) {
    enter();
    long old = sum;
    pause_if_torn();
    sum = old + by;
    leave();
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(inc) { return added(1); }
CLEWLINE_OPERATION(dec) { return added(-1); }
CLEWLINE_OPERATION(add, by) { return added(by); }
CLEWLINE_OPERATION(read) {
    enter();
    long now = sum;
    leave();
    return now;
}
#elif defined CHANNEL
static bool is_closed;
CLEWLINE_OPERATION(send, value) {
    enter();
    bool is_open = !is_closed;
    pause_if_torn();
    if (is_open) insert_at(count, value);
    leave();
    return CLEWLINE_RESULT(is_open);
}
CLEWLINE_OPERATION(recv) {
    enter();
    long value = count ? remove_at(0) : is_closed ? CLEWLINE_RESULT("closed") : CLEWLINE_EMPTY;
    leave();
    return value;
}
CLEWLINE_OPERATION(close) {
    enter();
    is_closed = true;
    leave();
    return CLEWLINE_NOTHING;
}
#elif defined BANK
static long accounts[2];
CLEWLINE_OPERATION(transfer, from, to, amount) {
    enter();
    accounts[from] -= amount;
    pause_if_torn();
    accounts[to] += amount;
    leave();
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(read) {
    enter();
    long one = accounts[0], other = accounts[1];
    leave();
    return CLEWLINE_FORMAT("[%ld, %ld]", one, other);
}
#elif defined MUTEX
static sem_t held;
CLEWLINE_INIT { sem_init(&held, 0, 1); }
#ifdef TORN
CLEWLINE_OPERATION(lock) { return CLEWLINE_NOTHING; }
#else
CLEWLINE_OPERATION(lock) { return sem_wait(&held), CLEWLINE_NOTHING; }
#endif
CLEWLINE_OPERATION(unlock) { return sem_post(&held), CLEWLINE_NOTHING; }
#elif defined SEMAPHORE
static sem_t permits;
CLEWLINE_INIT { sem_init(&permits, 0, 1); }
#ifdef TORN
CLEWLINE_OPERATION(acquire) { return CLEWLINE_NOTHING; }
#else
CLEWLINE_OPERATION(acquire) { return sem_wait(&permits), CLEWLINE_NOTHING; }
#endif
CLEWLINE_OPERATION(release) { return sem_post(&permits), CLEWLINE_NOTHING; }
#endif
