/*
 * Functions of the C library that read memory, or write a result to it. The text is all ones at
 * first, and `write` makes twos of it, one by one; `out_…` writes a result, which `see_…` reads.
 */
#define _GNU_SOURCE
#include <clewline.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#ifdef LOCKED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK pthread_mutex_lock(&lock)
#define UNLOCK pthread_mutex_unlock(&lock)
#else
#define LOCK
#define UNLOCK
#endif

static char text[] = "1111111111";
static wchar_t wide[] = L"1111";
static long numbers[] = {1, 1, 1}, bytes[7] = {1};
/* A number, and what follows it. */
static char ends[] = "12 xx", hex[] = "0x1gxx", real[] = "1.5e1;xx", word[] = "infin;xx";

CLEWLINE_OPERATION(write) {
    LOCK;
    for (int at = 0; at < 10; at++) text[at] = '2';
    for (int at = 0; at < 4; at++) wide[at] = L'2';
    for (int at = 0; at < 3; at++) numbers[at] = 2;
    bytes[1] = 2;
    UNLOCK;
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(write_ends) {
    ends[3] = hex[4] = real[6] = word[6] = text[6] = 'y';
    return CLEWLINE_NOTHING;
}

#define READ(name, result)                                                                        \
    CLEWLINE_OPERATION(read_##name) {                                                             \
        LOCK;                                                                                     \
        long it = (long)(result);                                                                 \
        UNLOCK;                                                                                   \
        return it;                                                                                \
    }

static int compared(const void *one, const void *two) {
    return *(const long *)one > *(const long *)two ? 1 : *(const long *)one < *(const long *)two ? -1 : 0;
}
static long scanned(void) {
    long it = 0;
    sscanf(text, "%ld", &it);
    return it;
}
static __attribute__((noinline)) long printed(const char *format, ...) {
    char here[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(here, sizeof here, format, arguments);
    va_end(arguments);
    return strlen(here);
}
static long by_snprintf(void) {
    char here[128];
    return snprintf(here, sizeof here, "%d %f %*d %Lf %s", 1, 2.0, 3, 4, 5.0L, text);
}
static long piped(void) {
    int files[2];
    char here[10] = "";
    if (pipe(files) != 0) abort();
    if (write(files[1], text, 10) != 10 || read(files[0], here, 10) != 10) abort();
    close(files[0]), close(files[1]);
    return here[0];
}
static long put(void) {
    FILE *null = fopen("/dev/null", "w");
    long done = fwrite(text, 1, 10, null);
    fclose(null);
    return done;
}
static long gathered(void) {
    struct iovec blocks[] = {{"1", 1}, {text, 10}};
    int null = open("/dev/null", O_WRONLY);
    long done = writev(null, blocks, 2);
    close(null);
    return done;
}
static long dated(void) {
    char here[16];
    return strftime(here, sizeof here, "%d", (struct tm *)bytes);
}
static long sorted(void) {
    qsort(numbers, 3, sizeof *numbers, compared);
    return 0;
}

READ(atoi, atoi(text))
READ(strtol, strtoll(text, 0, 10))
READ(strtod, strtod(text, 0))
READ(sscanf, scanned())
READ(snprintf, by_snprintf())
READ(vsnprintf, printed("%d%d%d%d%d%d%.4s", 1, 2, 3, 4, 5, 6, text))
READ(write, piped())
READ(fwrite, put())
READ(qsort, sorted())
READ(wcslen, wcslen(wide))
READ(access, access(text, R_OK) == 0)
READ(rename, rename(text, "/") == 0)
READ(writev, gathered())
READ(poll, poll((struct pollfd *)numbers, 3, 0) < 0)
READ(select, select(192, (fd_set *)numbers, 0, 0, &(struct timeval){0}) < 0)
READ(strcoll, strcoll(text, "1111111111") != 0)
READ(memmem, memmem(text, 10, "12", 2) != 0)
READ(wcscmp, wcscmp(wide, L"1111") != 0)
READ(fnmatch, fnmatch("1*", text, 0))
READ(strftime, dated())

/* Nothing of this reads a byte after the one that decides. */
CLEWLINE_OPERATION(read_beginnings) {
    char here[16];
    long all = atoi(ends) + strtol(hex, 0, 16) + strtod(real, 0) + (strtod(word, 0) > 1);
    return all + snprintf(here, sizeof here, "%.*s", 4, text);
}

static void *result, *block;
static pthread_t thread;
static struct timespec now;
static struct timeval day;
static time_t seconds;
static char drawn[8];
static struct pollfd polled = {1, POLLOUT, 0};
static fd_set chosen;

static void *seven(void *it) { return (void *)7; }
static void joined(pthread_t *to, void **returned) {
    pthread_create(to, 0, seven, 0);
    pthread_join(*to, returned);
}

#define OUT(name, write, seen)                                                                    \
    CLEWLINE_OPERATION(out_##name) {                                                              \
        pthread_t other;                                                                          \
        (void)other;                                                                              \
        LOCK;                                                                                     \
        write;                                                                                    \
        UNLOCK;                                                                                   \
        return CLEWLINE_NOTHING;                                                                  \
    }                                                                                             \
    CLEWLINE_OPERATION(see_##name) {                                                              \
        LOCK;                                                                                     \
        long it = (seen) != 0;                                                                    \
        UNLOCK;                                                                                   \
        return it;                                                                                \
    }

OUT(pthread_create, joined(&thread, 0), thread)
OUT(pthread_join, joined(&other, &result), result)
OUT(posix_memalign, if (posix_memalign(&block, 64, 64)) abort(), block)
OUT(clock_gettime, clock_gettime(CLOCK_MONOTONIC, &now), now.tv_sec)
OUT(gettimeofday, gettimeofday(&day, 0), day.tv_sec)
OUT(time, time(&seconds), seconds)
OUT(poll, poll(&polled, 1, 0), polled.revents)
OUT(select, select(64, 0, &chosen, 0, &(struct timeval){0}), FD_ISSET(1, &chosen))
OUT(getrandom, if (getrandom(drawn, 8, 0) != 8) abort(), drawn[0])
