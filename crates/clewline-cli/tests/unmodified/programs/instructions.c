/* Instructions that code names. gcc instruments none of them, clang some. */
#include <clewline.h>
#include <emmintrin.h>
#include <pmmintrin.h>

static long long shared[2] __attribute__((aligned(16)));
_Atomic int sink;

#define SSE3 __attribute__((noinline, target("sse3")))

SSE3 static void put_word(long long *to, long value) { _mm_stream_si64(to, value); }
SSE3 static void put_both(long value) { _mm_stream_si128((__m128i *)shared, _mm_set1_epi64x(value)); }
SSE3 static void put_bytes(long value) {
    _mm_maskmoveu_si128(_mm_set1_epi64x(value), _mm_set1_epi8(-1), (char *)shared);
}
SSE3 static long get_both(void) {
    long long own[2] __attribute__((aligned(16)));
    _mm_stream_si128((__m128i *)own, _mm_lddqu_si128((__m128i *)shared));
    return own[0] == own[1] ? own[0] : -1;
}
SSE3 static void put_own(long value) {
    long long own[2] __attribute__((aligned(16)));
    _mm_stream_si128((__m128i *)own, _mm_set1_epi64x(value));
    _mm_prefetch(shared, _MM_HINT_T0);
    sink = own[0] == own[1];
}

#define WRITE(name, code)                                                                         \
    CLEWLINE_OPERATION(name, value) {                                                             \
        code;                                                                                     \
        return CLEWLINE_NOTHING;                                                                  \
    }

WRITE(word, put_word(shared, value))
WRITE(both, put_both(value))
WRITE(bytes, put_bytes(value))
WRITE(set, shared[0] = shared[1] = value)
WRITE(own, put_own(value))

CLEWLINE_OPERATION(get) { return shared[0]; }
CLEWLINE_OPERATION(get_both) { return get_both(); }
