/* A program that writes to both of its outputs. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *run(void *unused) {
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    printf("printed\n");
    fflush(stdout);
    fprintf(stderr, "complained\n");
    return write(1, "written\n", 8) == 8 && write(2, "shouted\n", 8) == 8 ? 0 : 1;
}
