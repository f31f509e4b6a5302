/*
 * Included before each file that gcc compiles: gcc would expand these builtin functions in place,
 * without instrumentation. The names in quotes are those that the linker knows.
 */
#pragma GCC system_header
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((nothrow)) void *clewline_memcpy_(void *, const void *, __SIZE_TYPE__) __asm__("memcpy");
__attribute__((nothrow)) void *clewline_memmove_(void *, const void *, __SIZE_TYPE__) __asm__("memmove");
__attribute__((nothrow)) void *clewline_memset_(void *, int, __SIZE_TYPE__) __asm__("memset");
__attribute__((nothrow)) int clewline_memcmp_(const void *, const void *, __SIZE_TYPE__) __asm__("memcmp");
__attribute__((nothrow)) int clewline_strcmp_(const char *, const char *) __asm__("strcmp");
__attribute__((nothrow)) int clewline_strncmp_(const char *, const char *, __SIZE_TYPE__) __asm__("strncmp");
__attribute__((nothrow)) char *clewline_strcpy_(char *, const char *) __asm__("strcpy");
#ifdef __cplusplus
}
#endif
#define __builtin_memcpy clewline_memcpy_
#define __builtin_memmove clewline_memmove_
#define __builtin_memset clewline_memset_
#define __builtin_strcpy clewline_strcpy_
/* Constants may be computed with these. */
#define CLEWLINE_UNLESS_CONSTANT_(builtin, function, ...)                                          \
    (__builtin_constant_p(builtin(__VA_ARGS__)) ? builtin(__VA_ARGS__) : function(__VA_ARGS__))
#define __builtin_memcmp(...) CLEWLINE_UNLESS_CONSTANT_(__builtin_memcmp, clewline_memcmp_, __VA_ARGS__)
#define __builtin_strcmp(...) CLEWLINE_UNLESS_CONSTANT_(__builtin_strcmp, clewline_strcmp_, __VA_ARGS__)
#define __builtin_strncmp(...) CLEWLINE_UNLESS_CONSTANT_(__builtin_strncmp, clewline_strncmp_, __VA_ARGS__)
