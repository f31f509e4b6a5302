/* What a program does where no schedule is chosen: one kind each. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;

static void *add(void *unused) {
    int before = count;
    count = before + 1;
    return unused;
}

static void add_twice(void) {
    pthread_t one, other;
    pthread_create(&one, 0, add, 0);
    pthread_create(&other, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A thread that shares nothing that races. */
static void *add_locked(void *unused) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void add_locked_twice(void) {
    pthread_t one;
    pthread_create(&one, 0, add_locked, 0);
    add_locked(0);
    pthread_join(one, 0);
}

#ifdef EARLY
__attribute__((constructor)) static void begin(void) {
    pthread_t early;
    pthread_create(&early, 0, add_locked, 0);
    pthread_join(early, 0);
}
#endif

static void check_count(void) {
    assert(count == 2);
}

static int run_cloned(void *unused) {
    (void)unused;
    return 0;
}

static int ended(pid_t child) {
    int status;
    return waitpid(child, &status, 0) == child ? status : 1;
}

int main(int argc, char **argv) {
    const char *kind = 1 < argc ? argv[1] : "";
    if (strcmp(kind, "alone") == 0) {
        if (getenv("NEVER_SET"))
            add_twice();
        return 0;
    }
    if (strcmp(kind, "exit-handler") == 0 || strcmp(kind, "exit") == 0) {
        atexit(check_count);
        add_twice();
        if (strcmp(kind, "exit") == 0)
            exit(0);
        return 0;
    }
    if (strcmp(kind, "right-exit-handler") == 0)
        atexit(check_count);
    add_locked_twice();
    if (strcmp(kind, "fork") == 0 || strcmp(kind, "vfork") == 0) {
        pid_t child = strcmp(kind, "fork") == 0 ? fork() : vfork();
        if (child == 0)
            _exit(0);
        return ended(child);
    }
    if (strcmp(kind, "fork-and-return") == 0) {
        pid_t child = fork();
        return child == 0 ? 0 : ended(child);
    }
    if (strcmp(kind, "clone") == 0) {
        char *stack = malloc(1 << 16);
        return ended(clone(run_cloned, stack + (1 << 16), SIGCHLD, 0));
    }
    if (strcmp(kind, "posix_spawn") == 0) {
        pid_t child;
        char *arguments[] = {"true", 0}, *environment[] = {0};
        return posix_spawnp(&child, "true", 0, 0, arguments, environment) != 0 || ended(child);
    }
    if (strcmp(kind, "system") == 0)
        return system("exit 0");
    if (strcmp(kind, "popen") == 0) {
        FILE *output = popen("exit 0", "r");
        return output ? pclose(output) : 1;
    }
    if (strcmp(kind, "dlopen") == 0) {
        void *library = dlopen(argv[2], RTLD_NOW);
        assert(library);
        void (*use)(void) = (void (*)(void))dlsym(library, "use");
        assert(use);
        use();
    }
    return 0;
}
