/* The same in C++, with lambdas. */
#include <clewline.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

struct pair {
    int one;
    bool other;
};

static std::string to_text(const pair &it) {
    return "{one: " + std::to_string(it.one) + ", other: " + (it.other ? "true" : "false") + "}";
}

struct texts {
    std::mutex lock;
    std::string last = "none";

    std::string swap(const std::string &text) {
        std::unique_lock<std::mutex> held(lock);
        std::string old = last;
#ifdef TORN
        held.unlock();
        held.lock();
#endif
        last = text;
        return old;
    }
};

static clewline::test<texts> it;
static auto swap_ = it.operation("swap", [](texts &t, const std::string &text) { return t.swap(text); });
static auto echo = it.operation("echo", [](texts &, std::string_view text) { return std::string(text); });
static auto nothing = it.operation("nothing", [](texts &) { return std::optional<std::string>(); });
static auto maybe = it.operation("maybe", [](texts &, const char *text) { return std::optional<std::string>(text); });
static auto mixed = it.operation("mixed", [](texts &, std::string text, int times, bool is_long) {
    return is_long ? text + std::to_string(times) : text;
});
static auto yes = it.operation("yes", [](texts &) { return true; });
static auto four = it.operation("four", [](texts &, int a, long b, short c, unsigned d) {
    return 1000 * a + 100 * b + 10 * c + d;
});
static auto pair_ = it.operation("pair", [](texts &, int one) { return pair{one, one > 1}; });
static auto wide = it.operation("wide", [](texts &) { return (__int128)1 << 100; });
static auto below = it.operation("below", [](texts &) { return -((__int128)1 << 100); });
static auto most = it.operation("most", [](texts &) { return ~(unsigned __int128)0; });
