/* Operations whose process ends at some moment, from a signal handler. */
#define _GNU_SOURCE
#include <clewline.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic long count;

static void vanish(int signal) { syscall(SYS_exit_group, 7); }

CLEWLINE_OPERATION(vanish, after) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec time = {.it_value.tv_nsec = after * 1000};
    signal(SIGUSR1, vanish);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &time, 0);
    for (int at = 0; at < 20000; at++) count++;
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(add) { return ++count; }
