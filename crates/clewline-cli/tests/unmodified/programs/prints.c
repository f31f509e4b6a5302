/* An operation that prints what looks like a report. */
#include <clewline.h>
#include <stdio.h>

CLEWLINE_OPERATION(say) {
    static _Atomic long times;
    times++;
    puts("{\"verdict\":\"violated\"}");
    return CLEWLINE_NOTHING;
}
