/*
 * Functions of the C library that read and write blocks and strings. The text is empty at first.
 * `write_…` makes 12 letters of it, in two words, with one function; `read_…` reads it with one.
 */
#define _GNU_SOURCE
#include <clewline.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef LOCKED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK pthread_mutex_lock(&lock)
#define UNLOCK pthread_mutex_unlock(&lock)
#else
#define LOCK
#define UNLOCK
#endif

static char text[24] __attribute__((aligned(8)));
static const char letters[24] = "bbbbbbbbbbbb", none[24];

/* The compiler does not know what it does. */
__attribute__((noinline)) static void escape(void *it) { __asm__ volatile("" : : "r"(it) : "memory"); }

#define READ(name, result)                                                                        \
    CLEWLINE_OPERATION(read_##name) {                                                             \
        LOCK;                                                                                     \
        long it = (long)(result);                                                                 \
        UNLOCK;                                                                                   \
        return it;                                                                                \
    }
#define WRITE(name, write)                                                                        \
    CLEWLINE_OPERATION(write_##name) {                                                            \
        LOCK;                                                                                     \
        write;                                                                                    \
        UNLOCK;                                                                                   \
        return CLEWLINE_NOTHING;                                                                  \
    }

/* The place of what was found, or -1. */
static long at(const char *it) { return it ? it - text : -1; }
/* 0 for the empty text, 1 for the letters, and -1 for what is neither. */
static long which(int is_none, int is_letters) { return is_none ? 0 : is_letters ? 1 : -1; }
static long copied(char *it) {
    escape(it);
    long length = 0;
    while (it[length])
        length++;
    free(it);
    return length;
}

READ(strlen, strlen(text))
READ(strnlen, strnlen(text, 20))
READ(strchr, at(strchr(text, 0)))
READ(strrchr, at(strrchr(text, 'b')))
READ(strspn, strspn(text, "ab"))
READ(strcspn, strcspn(text, "ac"))
READ(memchr, at(memchr(text, 0, 20)))
READ(strdup, copied(strdup(text)))
READ(strndup, copied(strndup(text, 20)))
READ(memcmp, which(memcmp(text, none, 16) == 0, memcmp(text, letters, 16) == 0))
READ(memcmp_word, which(memcmp(text + 4, none, 8) == 0, memcmp(text + 4, letters + 4, 8) == 0))
READ(bcmp, which(bcmp(text, none, 16) == 0, bcmp(text, letters, 16) == 0))
READ(strcmp, which(strcmp(text, none) == 0, strcmp(text, letters) == 0))
READ(strncmp, which(strncmp(text, none, 20) == 0, strncmp(text, letters, 20) == 0))
READ(strcasecmp, which(strcasecmp(text, none) == 0, strcasecmp(text, "BBBBBBBBBBBB") == 0))
READ(strncasecmp, which(strncasecmp(text, none, 20) == 0, strncasecmp(text, "BBBBBBBBBBBB", 20) == 0))
READ(strcat, ({ char it[32] = ""; escape(it); strcat(it, text); copied(strdup(it)); }))
/* These are seen, but a torn read of them finds nothing that another one does not. */
READ(strstr, at(strstr(text, "x")))
READ(strpbrk, at(strpbrk(text, "x")))

WRITE(strcpy, strcpy(text, letters))
WRITE(stpcpy, stpcpy(text, letters))
WRITE(strncpy, strncpy(text, letters, 20))
WRITE(stpncpy, stpncpy(text, letters, 20))
WRITE(strcat, strcat(text, letters))
WRITE(strncat, strncat(text, letters, 20))
WRITE(mempcpy, mempcpy(text, letters, 16))
WRITE(memccpy, memccpy(text, letters, 0, 20))
WRITE(bcopy, bcopy(letters, text, 16))
WRITE(literal, strcpy(text, "bbbbbbbbbbbb"))

/* Overwritten with zeros, while another thread reads it. */
CLEWLINE_OPERATION(fill) { strcpy(text, letters); return CLEWLINE_NOTHING; }
WRITE(bzero, bzero(text, 16))
WRITE(explicit_bzero, explicit_bzero(text, 16))

/* A difference in the first word decides: the second word is not read. */
static char other[24] __attribute__((aligned(8)));
CLEWLINE_OPERATION(write_end) { other[10] = 'x'; return CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(read_beginning) {
    return strcmp(other, "bb") + memcmp(other, "bbbbbbbbbb", 10) != 0 || strlen(other) != 0;
}

/* Results are those of the standard, at every alignment. */
static int sign(int it) { return (0 < it) - (it < 0); }
#define CHECK(it)                                                                                 \
    if (!(it))                                                                                    \
    clewline_fail(#it)

static void check(char *a, char *b, int length) {
    for (int i = 0; i < length; i++)
        a[i] = b[i] = (char)('a' + i);
    a[length] = b[length] = 0;
    CHECK(strlen(a) == (size_t)length && strnlen(a, 5) == (size_t)(length < 5 ? length : 5));
    CHECK(strcmp(a, b) == 0 && memcmp(a, b, length + 1) == 0 && strncmp(a, b, 100) == 0);
    CHECK(strchr(a, 'a' + length / 2) == (length ? a + length / 2 : NULL) && strchr(a, 0) == a + length);
    CHECK(strrchr(a, 'a') == (length ? a : NULL) && strchr(a, '?') == NULL && strrchr(a, '?') == NULL);
    CHECK(memchr(a, 0, length) == NULL && memchr(a, 0, length + 1) == a + length);
    CHECK(strspn(a, "abc") == (size_t)(length < 3 ? length : 3) && strspn(a, "") == 0);
    CHECK(strcspn(a, "?") == (size_t)length && strcspn(a, "cb") == (size_t)(length < 2 ? length : 1));
    CHECK(strpbrk(a, "cb") == (length < 2 ? NULL : a + 1) && strpbrk(a, "?") == NULL);
    CHECK(strstr(a, "") == a && strstr(a, b) == a && strstr(a, "bc") == (length < 3 ? NULL : a + 1));
    CHECK(strstr(a, "bd") == NULL);
    if (length) {
        b[length - 1] = '~';
        CHECK(sign(strcmp(a, b)) == -1 && sign(strcmp(b, a)) == 1 && sign(memcmp(a, b, length)) == -1);
        CHECK(strncmp(a, b, length - 1) == 0 && sign(strncmp(a, b, length)) == -1);
        b[length - 1] = (char)('A' + length - 1);
        CHECK(strcasecmp(a, b) == 0 && strncasecmp(a, b, 3) == 0 && strcmp(a, b) != 0);
        b[0] = (char)200;
        CHECK(sign(strcmp(a, b)) == -1 && sign(memcmp(b, a, 1)) == 1);
    }
    memset(b, '#', 60);
    CHECK(stpcpy(b, a) == b + length && strcmp(a, b) == 0 && b[length + 1] == '#');
    CHECK(strcat(b, "yz") == b && strlen(b) == (size_t)length + 2 && b[length] == 'y');
    CHECK(strncat(b, "123", 2) == b && strlen(b) == (size_t)length + 4 && b[length + 3] == '2');
    memset(b, '#', 60);
    CHECK(stpncpy(b, a, 7) == b + (length < 7 ? length : 7) && b[7] == '#' && b[6] == (length < 7 ? 0 : 'g'));
    CHECK(memccpy(b, a, 0, 60) == b + length + 1 && memccpy(b, a, '?', length) == NULL);
    CHECK(mempcpy(b, a, length) == b + length && strncpy(b, a, 60) == b && b[59] == 0);
    char *c = strdup(a), *d = strndup(a, 3);
    CHECK(strcmp(a, c) == 0 && strlen(d) == (size_t)(length < 3 ? length : 3));
    free(c);
    free(d);
}

static char left[80], right[80];
CLEWLINE_OPERATION(check_all) {
    char own[80];
    for (int one = 0; one < 8; one++)
        for (int length = 0; length < 20; length++) {
            check(left + one, right + 3, length);
            check(own + 1, right + one, length);
        }
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(step) { static long it; return __atomic_add_fetch(&it, 1, __ATOMIC_SEQ_CST); }
