/* liburcu's wait-free enqueue and blocking dequeue: cds_wfcq. Its functions are inlined here.
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
#include <urcu/wfcqueue.h>

struct element {
    long value;
    struct cds_wfcq_node node;
};

static struct cds_wfcq_head head;
static struct cds_wfcq_tail tail;

CLEWLINE_INIT { cds_wfcq_init(&head, &tail); }
CLEWLINE_OPERATION(enq, value) {
    struct element *element = malloc(sizeof *element);
    element->value = value;
    cds_wfcq_node_init(&element->node);
    cds_wfcq_enqueue(&head, &tail, &element->node);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(deq) {
    struct cds_wfcq_node *node = cds_wfcq_dequeue_blocking(&head, &tail);
    return node ? caa_container_of(node, struct element, node)->value : CLEWLINE_EMPTY;
}
