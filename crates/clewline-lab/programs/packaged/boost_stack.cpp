// boost::lockfree::stack: a lock-free stack for any number of threads.
#include <boost/lockfree/stack.hpp>
#include <clewline.h>

static boost::lockfree::stack<long> *s;

CLEWLINE_INIT { s = new boost::lockfree::stack<long>(2); }
CLEWLINE_OPERATION(push, value) { return CLEWLINE_RESULT(s->push(value)); }
CLEWLINE_OPERATION(pop) {
    long value;
    return s->pop(value) ? value : CLEWLINE_EMPTY;
}
