/* liburcu's lock-free stack with blocking pop: cds_lfs. Its functions are inlined here.
 *
 * PORTABLE: with the library's atomics for other processors, which need no assembly.
 */
#define _LGPL_SOURCE
#ifdef PORTABLE
#define _URCU_ARCH_UATOMIC_X86_H
#include <urcu/uatomic/generic.h>
#endif
#include <clewline.h>
#include <stdlib.h>
#include <urcu/compiler.h>
#include <urcu/lfstack.h>

struct element {
    long value;
    struct cds_lfs_node node;
};

static struct cds_lfs_stack s;

CLEWLINE_INIT { cds_lfs_init(&s); }
CLEWLINE_OPERATION(push, value) {
    struct element *element = malloc(sizeof *element);
    element->value = value;
    cds_lfs_node_init(&element->node);
    cds_lfs_push(&s, &element->node);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(pop) {
    struct cds_lfs_node *node = cds_lfs_pop_blocking(&s);
    return node ? caa_container_of(node, struct element, node)->value : CLEWLINE_EMPTY;
}
