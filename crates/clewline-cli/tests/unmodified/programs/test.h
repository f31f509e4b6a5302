/* What the tests here need of clewline.h. */
#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif
void clewline_register_init(void (*init)(void));
void clewline_register_finish(void (*finish)(void));
void clewline_register_operation(const char *name, long (*operation)(long), int takes_argument);
void clewline_register_matrix(const char *matrix);
void clewline_register_golden(const char *specification);
void clewline_register_quasi(const char *factors);
void clewline_fail(const char *message);
unsigned clewline_choose(unsigned n);
int clewline_main(int argc, char **argv);
#ifdef __cplusplus
}
#endif

#define NOTHING LONG_MIN
#define NONE (LONG_MIN + 1)
#define SETUP __attribute__((constructor)) static void setup(void)
int main(int argc, char **argv) { return clewline_main(argc, argv); }
