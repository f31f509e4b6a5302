#include <clewline.hpp>
#include <deque>
#include <mutex>
#include <optional>

class queue {
    std::mutex mutex;
    std::deque<int> elements;

  public:
    void enq(int value) {
        std::scoped_lock lock(mutex);
        elements.push_back(value);
    }

    std::optional<int> deq() {
        std::scoped_lock lock(mutex);
        if (elements.empty()) {
            return std::nullopt;
        }
        int value = elements.front();
        elements.pop_front();
        return value;
    }
};

static clewline::test<queue> it;
static auto enq = it.operation("enq", [](queue &q, int value) { q.enq(value); });
static auto deq = it.operation("deq", [](queue &q) { return q.deq(); });
