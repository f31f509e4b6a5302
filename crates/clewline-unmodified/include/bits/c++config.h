/*
 * Compiles std::string together with the code that uses it, so that it is instrumented: usually its
 * functions are in the shared library of the C++ standard library. Only GNU's C++ standard library
 * includes this file.
 */
#pragma GCC system_header
#include_next <bits/c++config.h>
#if _GLIBCXX_EXTERN_TEMPLATE > 0
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif
