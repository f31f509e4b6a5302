// Functions of the C++ library that are called through the tables of objects.
#include <clewline.h>
#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <sstream>
#include <streambuf>
#include <string>

struct nothing {
    void lock() {}
    void unlock() {}
};
#ifdef LOCKED
static std::mutex mutex;
#else
static nothing mutex;
#endif

// A buffer without a lock, as a class that it is not known to be.
static std::byte memory[256];
static std::pmr::monotonic_buffer_resource own{memory, sizeof memory, std::pmr::null_memory_resource()};
static std::pmr::memory_resource *volatile resource = &own;
static std::stringbuf text{std::string(32, ' ')};
static std::streambuf *volatile buffer = &text;

CLEWLINE_OPERATION(take) {
    std::pmr::memory_resource *it = resource;
    mutex.lock();
    void *found = it->allocate(8);
    mutex.unlock();
    return ((std::byte *)found - memory) / 8;
}
CLEWLINE_OPERATION(write, value) {
    std::streambuf *it = buffer;
    char letters[] = {(char)('a' + value), (char)('a' + value)};
    mutex.lock();
    it->sputn(letters, 2);
    mutex.unlock();
    return CLEWLINE_NOTHING;
}
// Of the thread alone.
CLEWLINE_OPERATION(format, value) {
    std::ostringstream out;
    out << value;
    std::streambuf *it = out.rdbuf();
    it->sputn("!", 1);
    return (long)out.str().size();
}
