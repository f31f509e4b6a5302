/* ConcurrencyKit's stack for any number of threads: ck_stack. No entry is used twice. */
#include <ck_stack.h>
#include <clewline.h>
#include <stdlib.h>

struct element {
    ck_stack_entry_t entry;
    long value;
};

static ck_stack_t s;

CLEWLINE_INIT { ck_stack_init(&s); }
CLEWLINE_OPERATION(push, value) {
    struct element *element = malloc(sizeof *element);
    element->value = value;
    ck_stack_push_upmc(&s, &element->entry);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(pop) {
    ck_stack_entry_t *entry = ck_stack_pop_upmc(&s);
    return entry ? ((struct element *)entry)->value : CLEWLINE_EMPTY;
}
