/* A process that ends inside an execution without being noticed. */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (1 < argc && strcmp(argv[1], "killed") == 0)
        kill(getpid(), SIGKILL);
    if (1 < argc && strcmp(argv[1], "ends") == 0)
        syscall(SYS_exit_group, 0);
    return 0;
}
