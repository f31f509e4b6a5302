/* A program that writes to both of its outputs. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
    printf("printed\n");
    fflush(stdout);
    fprintf(stderr, "complained\n");
    return write(1, "written\n", 8) == 8 && write(2, "shouted\n", 8) == 8 ? 0 : 1;
}
