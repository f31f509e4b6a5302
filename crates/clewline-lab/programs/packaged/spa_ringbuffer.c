/* PipeWire's spa_ringbuffer: the indices of a ring for one producer and one consumer. */
#include <clewline.h>
#include <spa/utils/ringbuffer.h>

static struct spa_ringbuffer ring;
static long values[2];

CLEWLINE_INIT { spa_ringbuffer_init(&ring); }
CLEWLINE_OPERATION(enq, value) {
    uint32_t index;
    if (spa_ringbuffer_get_write_index(&ring, &index) == 2) return CLEWLINE_FALSE;
    values[index & 1] = value;
    spa_ringbuffer_write_update(&ring, index + 1);
    return CLEWLINE_TRUE;
}
CLEWLINE_OPERATION(deq) {
    uint32_t index;
    if (spa_ringbuffer_get_read_index(&ring, &index) == 0) return CLEWLINE_EMPTY;
    long value = values[index & 1];
    spa_ringbuffer_read_update(&ring, index + 1);
    return value;
}
