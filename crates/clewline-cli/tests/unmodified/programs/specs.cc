/* The same as C++. */
#include "specs.c"
