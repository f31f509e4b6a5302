/*
 * clewline.hpp: a test of a concurrent structure in C++, with lambdas.
 *
 *     #include <clewline.hpp>
 *     #include "stack.hpp"                     // your code, as it is
 *
 *     static clewline::test<stack<int>> it;
 *     static auto push = it.operation("push", [](stack<int> &s, int value) { s.push(value); });
 *     static auto pop = it.operation("pop", [](stack<int> &s) { return s.pop(); });
 *
 * Each interleaving begins with a new object: `stack<int>()`, or the one to which the lambda in
 * clewline::test<T> it([] { … }) returns a pointer. An operation takes the object and up to four
 * numbers or strings (std::string, std::string_view, const char *). It returns a bool, a number of
 * up to 128 bits, a string, a std::optional (None if it is empty), void, or a type with a
 * `std::string to_text(const type &)` beside it. All macros of clewline.h can be used, too. C++17
 * is required.
 */
#ifndef CLEWLINE_HPP
#define CLEWLINE_HPP

#include <clewline.h>
#include <string>
#include <string_view>
#include <type_traits>

namespace clewline {

/* An argument of an operation with strings. */
class argument {
public:
    argument(long given) : given(given) {}
    template <typename N, typename = std::enable_if_t<std::is_arithmetic_v<N> || std::is_enum_v<N>>>
    operator N() const { return static_cast<N>(given); }
    operator const char *() const { return CLEWLINE_STRING(given); }
    operator std::string() const { return CLEWLINE_STRING(given); }
    operator std::string_view() const { return CLEWLINE_STRING(given); }

private:
    long given;
};

/* A test of objects of one type. Its operations are declared in the same file. */
template <typename T> class test {
public:
    test() : test([] { return new T(); }) {}

    /* `make` returns a pointer to a new object. It captures nothing. */
    template <typename Make> explicit test(Make) {
        static_assert(std::is_empty<Make>::value, "the lambda captures nothing");
        clewline_register_init([] { object = made<Make>(); });
    }

    /* Declares an operation, which captures nothing. */
    template <typename F> const test &operation(const char *name, F) const {
        static_assert(std::is_empty<F>::value, "the lambda captures nothing");
        clewline_register_operation(name, call<F>, arguments<F>());
        return *this;
    }

private:
    static inline T *object = nullptr;

    /* A lambda that captures nothing has no state: any object of its type is the same. */
    template <typename F> static F &stateless() {
        alignas(F) static char room[sizeof(F)];
        return reinterpret_cast<F &>(room);
    }

    template <typename Make> static T *made() { return stateless<Make>()(); }

    /* How many arguments of type A the operation takes; 5 if it does not take them. */
    template <typename F, typename A> static constexpr int count() {
        if constexpr (std::is_invocable_v<F &, T &>) return 0;
        else if constexpr (std::is_invocable_v<F &, T &, A>) return 1;
        else if constexpr (std::is_invocable_v<F &, T &, A, A>) return 2;
        else if constexpr (std::is_invocable_v<F &, T &, A, A, A>) return 3;
        else if constexpr (std::is_invocable_v<F &, T &, A, A, A, A>) return 4;
        else return 5;
    }

    template <typename F> static constexpr bool has_strings = count<F, long>() == 5;
    template <typename F> using given = std::conditional_t<has_strings<F>, argument, long>;

    template <typename F> static constexpr int arguments() {
        constexpr int n = count<F, given<F>>();
        static_assert(n < 5, "an operation takes the object and up to four numbers or strings");
        return n;
    }

    template <typename F, typename... Given> static long result_of(Given... given) {
        using Result = std::invoke_result_t<F &, T &, Given...>;
        if constexpr (std::is_void_v<Result>) {
            stateless<F>()(*object, given...);
            return CLEWLINE_NOTHING;
        } else {
            return CLEWLINE_RESULT(stateless<F>()(*object, given...));
        }
    }

    template <typename F> static long call(long a, long b, long c, long d) {
        (void)a, (void)b, (void)c, (void)d;
        using A = given<F>;
        if constexpr (arguments<F>() == 0) return result_of<F>();
        else if constexpr (arguments<F>() == 1) return result_of<F>(A(a));
        else if constexpr (arguments<F>() == 2) return result_of<F>(A(a), A(b));
        else if constexpr (arguments<F>() == 3) return result_of<F>(A(a), A(b), A(c));
        else return result_of<F>(A(a), A(b), A(c), A(d));
    }
};

}

#endif
