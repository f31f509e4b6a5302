/* A stack of one, with lambdas: the results are a bool, an std::optional and nothing. */
#include <clewline.hpp>

#include <atomic>
#include <optional>
#include <stdexcept>

template <typename T> class cell {
public:
    explicit cell(T empty) : empty(empty), value(empty) {}

    bool put(T it) {
#ifdef TORN
        if (value.load() != empty) return false;
        value.store(it);
        return true;
#else
        T expected = empty;
        return value.compare_exchange_strong(expected, it);
#endif
    }

    std::optional<T> take() {
        T it = value.exchange(empty);
        return it == empty ? std::nullopt : std::optional<T>(it);
    }

    void clear() { value.store(empty); }

    void move(T from, T to) {
        if (!value.compare_exchange_strong(from, to)) throw std::runtime_error("nothing to move");
    }

private:
    const T empty;
    std::atomic<T> value;
};

static clewline::test<cell<long>> it([] { return new cell<long>(0); });
static auto put = it.operation("put", [](cell<long> &c, int value) { return c.put(value); });
static auto take = it.operation("take", [](cell<long> &c) { return c.take(); });
static auto clear = it.operation("clear", [](cell<long> &c) { c.clear(); });
static auto move = it.operation("move", [](cell<long> &c, long from, long to) { c.move(from, to); });
