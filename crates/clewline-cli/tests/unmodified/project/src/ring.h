#ifndef RING_H
#define RING_H
#include <stdbool.h>
struct ring;
struct ring *ring_new(void);
bool ring_put(struct ring *r, long value);
bool ring_take(struct ring *r, long *value);
#endif
