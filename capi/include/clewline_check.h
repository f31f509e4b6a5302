/*
 * The checker of Clewline: is a history of concurrent operations linearizable?
 *
 *     cargo build --release --manifest-path capi/Cargo.toml
 *     cc program.c -I capi/include -L capi/target/release -lclewline_check
 *
 * Texts are UTF-8 and end with a zero byte; arguments and results are JSON, as in the format of
 * JSON lines. Texts that are passed in are copied. Texts that are returned belong to the handle
 * that they came from, and are valid until it is freed.
 *
 * Every function may be called from any thread, also with the same handle. A handle is a number in
 * the guise of a pointer: one that is null, was freed, or is of another kind, is reported as an
 * error, and so is a panic of the library.
 */
#ifndef CLEWLINE_CHECK_H
#define CLEWLINE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call of this library. */
typedef int32_t clewline_status;
enum {
    CLEWLINE_OK = 0,
    /* A null pointer, a handle that is none, a text that is not UTF-8, a number out of range. */
    CLEWLINE_INVALID_ARGUMENT = 1,
    /* No such specification; not an operation of it; not JSON; not a history. */
    CLEWLINE_INVALID_INPUT = 2,
    /* A file cannot be written. */
    CLEWLINE_IO = 3,
    /* A bug in Clewline. */
    CLEWLINE_INTERNAL = 4
};

/* What was found. The numbers are those of the exit codes of `clewline check`. */
typedef int32_t clewline_verdict;
enum {
    /* Not a report. */
    CLEWLINE_NO_VERDICT = -1,
    CLEWLINE_HOLDS = 0,
    CLEWLINE_VIOLATED = 1,
    /* A limit was reached: this is not a pass. */
    CLEWLINE_UNKNOWN = 3
};

typedef struct clewline_history clewline_history;
typedef struct clewline_recorder clewline_recorder;
typedef struct clewline_report clewline_report;

/* An operation of a counterexample. */
typedef struct clewline_operation {
    /* Its number: operations are numbered from 0, as they were added, or called in a recorder.
     * SIZE_MAX for a part of the initial state. */
    size_t index;
    /* The name of its process. */
    const char *process;
    /* The name of its object; null if it has none. */
    const char *object;
    /* How reports write it: `deq() → 3`. */
    const char *label;
} clewline_operation;

/* What was wrong in the last call on this thread that failed; empty if none did. Valid until
 * another call fails on this thread. */
const char *clewline_error(void);

/* The version of the library. */
const char *clewline_version(void);

/* ---- Histories: operations with times ---- */

/* A history of objects with a specification: `queue`, `map`, `cas-register`, `queue:8`. */
clewline_status clewline_history_new(const char *spec, clewline_history **history);

/* A history of objects whose specification is a script in Starlark; errors and reports call it
 * `file`. */
clewline_status clewline_history_new_script(const char *file, const char *text, clewline_history **history);

/* Frees a history; null is ignored. */
clewline_status clewline_history_free(clewline_history *history);

/* The state of each object before the first operation, as JSON; null: the usual one. */
clewline_status clewline_history_set_initial(clewline_history *history, const char *initial);

/* What is required of the history: `linearizable`, `strict`, `durable`, `buffered-durable`,
 * `sequential`, `regular`, or `strongest`, for the strongest of these that holds; null:
 * linearizable. */
clewline_status clewline_history_set_criterion(clewline_history *history, const char *criterion);

/* The time that judging may take, in milliseconds; 0: no limit. */
clewline_status clewline_history_set_timeout_ms(clewline_history *history, uint64_t timeout);

/* The memory that the process may use while it judges, in bytes; 0: no limit. */
clewline_status clewline_history_set_memory_bytes(clewline_history *history, uint64_t bytes);

/* How many threads may judge independent parts; 1 unless it is set. */
clewline_status clewline_history_set_jobs(clewline_history *history, uint32_t jobs);

/* Adds an operation that returned. `object` is null if there is one object only, `arg` if there is
 * no argument (several are a JSON array), and `ret` if nothing is returned. Times are of one clock;
 * equal ones overlap. Operations may be added in any order. */
clewline_status clewline_history_add(clewline_history *history, uint64_t process, const char *object, const char *op,
                                     const char *arg, const char *ret, int64_t called, int64_t returned);

/* Adds an operation that did not return: it may have taken effect, or not. */
clewline_status clewline_history_add_pending(clewline_history *history, uint64_t process, const char *object,
                                             const char *op, const char *arg, int64_t called);

/* Reads the contents of a file, in any format that `clewline check` recognises, into a history that
 * is empty. Reports call it `name`. */
clewline_status clewline_history_read(clewline_history *history, const char *name, const void *contents, size_t size);

/* How many operations were added; 0 for a history that was read, until it is judged. */
size_t clewline_history_size(const clewline_history *history);

/* Judges the history so far. */
clewline_status clewline_history_judge(const clewline_history *history, clewline_report **report);

/* ---- Recorders: calls and returns as they happen ---- */

/* A recorder for objects with a specification. */
clewline_status clewline_recorder_new(const char *spec, clewline_recorder **recorder);

/* A recorder for objects whose specification is a script in Starlark. */
clewline_status clewline_recorder_new_script(const char *file, const char *text, clewline_recorder **recorder);

/* Frees a recorder; null is ignored. */
clewline_status clewline_recorder_free(clewline_recorder *recorder);

/* Records that `client` calls an operation, whose number is stored. To be called before the
 * operation begins. A client whose operation is still open, or was dropped, counts as another
 * process from then on. */
clewline_status clewline_recorder_call(clewline_recorder *recorder, uint64_t client, const char *object,
                                       const char *op, const char *arg, uint64_t *operation);

/* Records that an operation returned. To be called after the response is there. `ret` is null if
 * nothing is returned. If this fails, the operation is still open. */
clewline_status clewline_recorder_returned(clewline_recorder *recorder, uint64_t operation, const char *ret);

/* Records that an operation certainly had no effect, and never will have: it was refused, or never
 * sent. After a timeout or a lost connection this is not certain: drop the operation. */
clewline_status clewline_recorder_failed(clewline_recorder *recorder, uint64_t operation);

/* Records that it will never be known whether an operation took effect: it stays pending. */
clewline_status clewline_recorder_dropped(clewline_recorder *recorder, uint64_t operation);

/* Notes that something happened now, such as the crash of a server; reports show it. */
clewline_status clewline_recorder_note(clewline_recorder *recorder, const char *text);

/* A copy of the history so far. Operations that are open are pending. Recording goes on. */
clewline_status clewline_recorder_history(const clewline_recorder *recorder, clewline_history **history);

/*
 * Saves the history so far as JSON lines, for `clewline check`. A file that is there is replaced.
 */
clewline_status clewline_recorder_save(const clewline_recorder *recorder, const char *path);

/* ---- Reports ---- */

/* Frees a report, with all texts that came from it; null is ignored. */
clewline_status clewline_report_free(clewline_report *report);

/* The verdict. */
clewline_verdict clewline_report_verdict(const clewline_report *report);

/* The first line: `violated: the history is not linearizable as a queue`. Null for no report, as
 * are the following texts. */
const char *clewline_report_sentence(const clewline_report *report);

/* The whole report, for people. */
const char *clewline_report_text(const clewline_report *report);

/* The report for programs: the object that `clewline check --format json` prints. */
const char *clewline_report_json(const clewline_report *report);

/* The report as a page: the contents of a file for a browser. */
const char *clewline_report_html(const clewline_report *report);

/* How many operations were judged. */
size_t clewline_report_operations(const clewline_report *report);

/* How many operations the counterexample has; 0 if there is none. */
size_t clewline_report_counterexample_size(const clewline_report *report);

/* The operation at place `at`, from 0, of the counterexample, in the order of calls. */
clewline_status clewline_report_counterexample(const clewline_report *report, size_t at,
                                               clewline_operation *operation);

/* How many operations the linearization has; 0 if there is none. */
size_t clewline_report_witness_size(const clewline_report *report);

/* The operation at place `at`, from 0, of the linearization. */
clewline_status clewline_report_witness(const clewline_report *report, size_t at, clewline_operation *operation);

#ifdef __cplusplus
}
#endif

#endif
