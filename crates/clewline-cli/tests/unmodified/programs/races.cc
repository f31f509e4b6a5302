// What orders accesses in C++. The argument selects a case; those named `racy_…` race.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

static long data;
static long seen[2];
static std::mutex mutex;
static std::shared_mutex shared;
static std::condition_variable condition;
static std::once_flag once;
static bool is_set;
static std::promise<long> promise;
static std::shared_ptr<long> pointer;

struct Made {
    long value = ++data;
};

static long made() {
    static Made it;
    return it.value;
}

static const std::map<std::string, std::function<void(int)>> cases = {
    {"mutex", [](int) {
        std::lock_guard<std::mutex> held(mutex);
        data++;
    }},
    {"shared", [](int me) {
        if (me == 0) {
            std::unique_lock<std::shared_mutex> held(shared);
            data++;
        } else {
            std::shared_lock<std::shared_mutex> held(shared);
            seen[me] = data;
        }
    }},
    {"racy_shared", [](int) {
        std::shared_lock<std::shared_mutex> held(shared);
        data++;
    }},
    {"condition", [](int me) {
        std::unique_lock<std::mutex> held(mutex);
        if (me == 0) {
            data = 1;
            is_set = true;
            condition.notify_one();
        } else {
            condition.wait(held, [] { return is_set; });
            seen[me] = data;
        }
    }},
    {"once", [](int me) {
        std::call_once(once, [] { data = 1; });
        seen[me] = data;
    }},
    {"guard", [](int me) { seen[me] = made() + data; }},
    {"racy_guard", [](int me) {
        seen[me] = made();
        data++;
    }},
    {"future", [](int me) {
        if (me == 0) {
            data = 1;
            promise.set_value(2);
        } else if (promise.get_future().get() == 2) {
            seen[me] = data;
        }
    }},
    {"pointer", [](int me) {
        std::shared_ptr<long> own;
        {
            std::lock_guard<std::mutex> held(mutex);
            own.swap(pointer);
            pointer = std::make_shared<long>(me);
        }
        if (own)
            seen[me] = *own;
    }},
    {"thread", [](int me) {
        if (me == 0) {
            data = 1;
            std::thread([] { data++; }).join();
            data++;
        }
    }},
    {"racy_thread", [](int me) {
        if (me == 0) {
            std::thread it([] { data++; });
            data++;
            it.join();
        }
    }},
};

int main(int argc, char **argv) {
    const auto &work = cases.at(argc == 2 ? argv[1] : "");
    std::thread one([&] { work(0); }), other([&] { work(1); });
    one.join();
    other.join();
    return 0;
}
