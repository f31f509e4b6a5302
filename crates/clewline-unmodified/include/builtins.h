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
#ifdef __cplusplus
}
#endif
#define __builtin_memcpy clewline_memcpy_
#define __builtin_memmove clewline_memmove_
#define __builtin_memset clewline_memset_
