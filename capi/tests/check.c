/* A program in C that uses everything in clewline_check.h. */
#include <clewline_check.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int is_true, const char *what, int line) {
    if (!is_true) {
        fprintf(stderr, "check.c:%d: %s; the last error is: %s\n", line, what, clewline_error());
        failures++;
    }
}

#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define OK(call) EXPECT((call) == CLEWLINE_OK)
#define ERROR_HAS(text) EXPECT(strstr(clewline_error(), (text)) != NULL)

static clewline_report *judged(clewline_history *history) {
    clewline_report *report = NULL;
    OK(clewline_history_judge(history, &report));
    return report;
}

static void a_violated_queue(void) {
    clewline_history *history = NULL;
    OK(clewline_history_new("queue", &history));
    OK(clewline_history_add(history, 1, NULL, "enq", "1", "true", 1, 4));
    OK(clewline_history_add(history, 2, NULL, "enq", "2", NULL, 6, 9));
    OK(clewline_history_add(history, 1, NULL, "deq", NULL, "2", 11, 14));
    OK(clewline_history_add_pending(history, 7, NULL, "enq", "3", 15));
    EXPECT(clewline_history_size(history) == 4);
    clewline_report *report = judged(history);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_VIOLATED);
    EXPECT(strcmp(clewline_report_sentence(report), "violated: the history is not linearizable as a queue") == 0);
    EXPECT(strstr(clewline_report_text(report), "are a counterexample") != NULL);
    EXPECT(strstr(clewline_report_json(report), "\"verdict\":\"violated\"") != NULL);
    EXPECT(strncmp(clewline_report_html(report), "<!DOCTYPE html>", 15) == 0);
    EXPECT(clewline_report_operations(report) == 4);
    EXPECT(clewline_report_counterexample_size(report) == 3);
    EXPECT(clewline_report_witness_size(report) == 0);
    const char *labels[] = {"enq(1)", "enq(2)", "deq() → 2"};
    const char *processes[] = {"1", "2", "1"};
    for (size_t at = 0; at < clewline_report_counterexample_size(report) && at < 3; at++) {
        clewline_operation operation;
        OK(clewline_report_counterexample(report, at, &operation));
        EXPECT(operation.index == at);
        EXPECT(strcmp(operation.label, labels[at]) == 0);
        EXPECT(strcmp(operation.process, processes[at]) == 0);
        EXPECT(operation.object == NULL);
    }
    clewline_operation operation;
    EXPECT(clewline_report_counterexample(report, 3, &operation) == CLEWLINE_INVALID_ARGUMENT);
    ERROR_HAS("expected a place before 3, found 3");

    /* It can be judged again, with more. */
    OK(clewline_history_add(history, 9, "another", "deq", NULL, "null", 20, 21));
    clewline_report *more = judged(history);
    EXPECT(clewline_report_operations(more) == 5);
    OK(clewline_report_free(more));
    OK(clewline_history_free(history));
    /* A report does not need its history. */
    EXPECT(clewline_report_verdict(report) == CLEWLINE_VIOLATED);
    OK(clewline_report_free(report));
}

static void a_register_that_holds(void) {
    clewline_history *history = NULL;
    OK(clewline_history_new("register", &history));
    OK(clewline_history_add(history, 2, "x", "read", NULL, "0", 5, 6));
    OK(clewline_history_add(history, 1, "x", "write", "\n1", "true", 2, 9));
    clewline_report *report = judged(history);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_VIOLATED);
    OK(clewline_report_free(report));

    OK(clewline_history_set_initial(history, "0"));
    OK(clewline_history_set_timeout_ms(history, 60000));
    OK(clewline_history_set_memory_bytes(history, (uint64_t)8 << 30));
    OK(clewline_history_set_jobs(history, 2));
    report = judged(history);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_HOLDS);
    EXPECT(clewline_report_counterexample_size(report) == 0);
    EXPECT(clewline_report_witness_size(report) == 3);
    clewline_operation operation;
    OK(clewline_report_witness(report, 0, &operation));
    EXPECT(operation.index == SIZE_MAX && strcmp(operation.process, "initial") == 0);
    OK(clewline_report_witness(report, 1, &operation));
    EXPECT(operation.index == 0 && strcmp(operation.object, "x") == 0 && strcmp(operation.label, "read() → 0") == 0);
    OK(clewline_report_free(report));
    OK(clewline_history_free(history));
}

/* Overlapping increments whose order matters only to the search: it has to stop. */
static void a_limit_is_unknown(void) {
    clewline_history *history = NULL;
    unsigned seed = 7;
    OK(clewline_history_new("cas-register", &history));
    OK(clewline_history_add(history, 99, NULL, "write", "0", NULL, 0, 1));
    for (uint64_t process = 0; process < 60; process++) {
        char pair[32];
        unsigned from = (seed = seed * 1664525u + 1013904223u) >> 29;
        unsigned to = (seed = seed * 1664525u + 1013904223u) >> 29;
        snprintf(pair, sizeof pair, "[%u, %u]", from, to);
        OK(clewline_history_add(history, process, NULL, "cas", pair, "true", 10, 20));
    }
    OK(clewline_history_set_timeout_ms(history, 1));
    clewline_report *report = judged(history);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_UNKNOWN);
    EXPECT(strstr(clewline_report_sentence(report), "time limit") != NULL);
    OK(clewline_report_free(report));
    OK(clewline_history_free(history));
}

static void mistakes_are_errors(void) {
    clewline_history *history = NULL;
    EXPECT(clewline_history_new("queu", &history) == CLEWLINE_INVALID_INPUT);
    ERROR_HAS("queue");
    EXPECT(clewline_history_new(NULL, &history) == CLEWLINE_INVALID_ARGUMENT);
    EXPECT(clewline_history_new("queue", NULL) == CLEWLINE_INVALID_ARGUMENT);
    EXPECT(clewline_history_new("\xff", &history) == CLEWLINE_INVALID_ARGUMENT);
    ERROR_HAS("expected UTF-8");
    EXPECT(history == NULL);

    OK(clewline_history_new("queue", &history));
    EXPECT(clewline_history_add(history, 0, NULL, NULL, NULL, NULL, 0, 1) == CLEWLINE_INVALID_ARGUMENT);
    EXPECT(clewline_history_add(history, 0, NULL, "push", "1", NULL, 0, 1) == CLEWLINE_INVALID_INPUT);
    ERROR_HAS("push");
    EXPECT(clewline_history_add(history, 0, NULL, "enq", "{1", NULL, 0, 1) == CLEWLINE_INVALID_INPUT);
    ERROR_HAS("the argument: expected JSON");
    EXPECT(clewline_history_add(history, 0, NULL, "enq", "1, \"op\": 2", NULL, 0, 1) == CLEWLINE_INVALID_INPUT);
    EXPECT(clewline_history_add(history, 0, NULL, "enq", "1", "{]", 0, 1) == CLEWLINE_INVALID_INPUT);
    ERROR_HAS("the result: expected JSON");
    EXPECT(clewline_history_add(history, 0, NULL, "enq", "1", NULL, 2, 1) == CLEWLINE_INVALID_INPUT);
    EXPECT(clewline_history_set_jobs(history, 0) == CLEWLINE_INVALID_ARGUMENT);
    EXPECT(clewline_history_size(history) == 0);
    clewline_report *report = NULL;
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_INVALID_INPUT);
    ERROR_HAS("there is nothing in it");
    EXPECT(report == NULL);
    /* Two open operations of one process. */
    OK(clewline_history_add(history, 1, NULL, "enq", "1", NULL, 0, 10));
    OK(clewline_history_add(history, 1, NULL, "enq", "2", NULL, 5, 15));
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_INVALID_INPUT);
    ERROR_HAS("line 2");

    /* Handles of another kind, freed, and invented. */
    EXPECT(clewline_report_verdict((clewline_report *)history) == CLEWLINE_NO_VERDICT);
    ERROR_HAS("expected a report, found a history");
    EXPECT(clewline_report_text(NULL) == NULL);
    OK(clewline_history_free(history));
    EXPECT(clewline_history_free(history) == CLEWLINE_INVALID_ARGUMENT);
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_INVALID_ARGUMENT);
    ERROR_HAS("freed");
    EXPECT(clewline_history_size((clewline_history *)&history) == 0);
    OK(clewline_history_free(NULL));
    OK(clewline_recorder_free(NULL));
    OK(clewline_report_free(NULL));
}

static void a_file_is_read(void) {
    const char csv[] = "process,op,arg,ret,call,return\na,write,1,,0,1\nb,read,,2,3,4\n";
    clewline_history *history = NULL;
    OK(clewline_history_new("register", &history));
    OK(clewline_history_read(history, "read.csv", csv, sizeof csv - 1));
    EXPECT(clewline_history_read(history, "read.csv", csv, sizeof csv - 1) == CLEWLINE_INVALID_ARGUMENT);
    EXPECT(clewline_history_add(history, 0, NULL, "read", NULL, "1", 0, 1) == CLEWLINE_INVALID_ARGUMENT);
    clewline_report *report = judged(history);
    EXPECT(strcmp(clewline_report_sentence(report), "violated: read.csv is not linearizable as a register") == 0);
    clewline_operation operation;
    OK(clewline_report_counterexample(report, 0, &operation));
    EXPECT(strcmp(operation.process, "b") == 0);
    OK(clewline_report_free(report));
    OK(clewline_history_free(history));
    OK(clewline_history_new("register", &history));
    EXPECT(clewline_history_read(history, "null", NULL, 3) == CLEWLINE_INVALID_ARGUMENT);
    OK(clewline_history_read(history, "bad", "?", 1));
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_INVALID_INPUT);
    OK(clewline_history_free(history));
}

/* A queue with one lock, recorded by four threads. */
static clewline_recorder *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items[4096];
static int head, tail;

static void *client(void *number) {
    uint64_t me = (uint64_t)(size_t)number;
    for (int round = 0; round < 100; round++) {
        uint64_t operation;
        char text[16];
        int item = (int)me * 1000 + round;
        snprintf(text, sizeof text, "%d", item);
        OK(clewline_recorder_call(shared, me, NULL, "enq", text, &operation));
        pthread_mutex_lock(&lock);
        items[tail++] = item;
        pthread_mutex_unlock(&lock);
        if (round == 50) {
            OK(clewline_recorder_dropped(shared, operation));
        } else {
            OK(clewline_recorder_returned(shared, operation, NULL));
        }
        OK(clewline_recorder_call(shared, me, NULL, "deq", NULL, &operation));
        pthread_mutex_lock(&lock);
        int got = head < tail ? items[head++] : -1;
        pthread_mutex_unlock(&lock);
        snprintf(text, sizeof text, "%d", got);
        OK(clewline_recorder_returned(shared, operation, got < 0 ? "null" : text));
    }
    return NULL;
}

static void threads_are_recorded(void) {
    pthread_t threads[4];
    clewline_history *history = NULL;
    OK(clewline_recorder_new("queue", &shared));
    for (size_t at = 0; at < 4; at++) {
        EXPECT(pthread_create(&threads[at], NULL, client, (void *)at) == 0);
    }
    for (size_t at = 0; at < 4; at++) {
        pthread_join(threads[at], NULL);
    }
    OK(clewline_recorder_history(shared, &history));
    OK(clewline_recorder_free(shared));
    EXPECT(clewline_history_size(history) == 800);
    clewline_report *report = judged(history);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_HOLDS);
    EXPECT(clewline_report_operations(report) == 800);
    OK(clewline_report_free(report));
    OK(clewline_history_free(history));
}

static void a_recorder_has_three_ends(const char *file) {
    clewline_recorder *recorder = NULL;
    uint64_t write, refused, lost, read;
    OK(clewline_recorder_new("register", &recorder));
    OK(clewline_recorder_call(recorder, 0, NULL, "write", "1", &write));
    OK(clewline_recorder_returned(recorder, write, "true"));
    EXPECT(clewline_recorder_returned(recorder, write, "true") == CLEWLINE_INVALID_ARGUMENT);
    ERROR_HAS("has ended");
    OK(clewline_recorder_call(recorder, 0, NULL, "write", "2", &refused));
    OK(clewline_recorder_failed(recorder, refused));
    OK(clewline_recorder_note(recorder, "the \"connection\" is lost"));
    OK(clewline_recorder_call(recorder, 0, NULL, "write", "3", &lost));
    OK(clewline_recorder_dropped(recorder, lost));
    OK(clewline_recorder_call(recorder, 0, NULL, "read", NULL, &read));
    EXPECT(clewline_recorder_returned(recorder, read, "nothing") == CLEWLINE_INVALID_INPUT);
    OK(clewline_recorder_returned(recorder, read, "2"));
    EXPECT(clewline_recorder_call(recorder, 0, NULL, "enq", "1", &write) == CLEWLINE_INVALID_INPUT);
    EXPECT(clewline_recorder_call(recorder, 0, NULL, "read", NULL, NULL) == CLEWLINE_INVALID_ARGUMENT);
    EXPECT(clewline_recorder_failed(recorder, 77) == CLEWLINE_INVALID_ARGUMENT);

    clewline_history *history = NULL;
    OK(clewline_recorder_history(recorder, &history));
    clewline_report *report = judged(history);
    /* The write of 2 had no effect, and nothing else wrote 2. */
    EXPECT(clewline_report_verdict(report) == CLEWLINE_VIOLATED);
    EXPECT(strstr(clewline_report_json(report), "connection") != NULL);
    clewline_operation operation;
    OK(clewline_report_counterexample(report, clewline_report_counterexample_size(report) - 1, &operation));
    EXPECT(operation.index == read && strcmp(operation.process, "0 (2)") == 0);
    OK(clewline_report_free(report));
    OK(clewline_history_free(history));
    OK(clewline_recorder_save(recorder, file));
    EXPECT(clewline_recorder_save(recorder, "/nowhere/at/all") == CLEWLINE_IO);
    OK(clewline_recorder_free(recorder));
    EXPECT(clewline_recorder_note(recorder, "late") == CLEWLINE_INVALID_ARGUMENT);
}

static void a_criterion_is_another_question(void) {
    clewline_history *history = NULL;
    clewline_report *report = NULL;
    EXPECT(clewline_history_new("register", &history) == CLEWLINE_OK);
    /* The read is stale, and of another process than the writes. */
    EXPECT(clewline_history_add(history, 0, NULL, "write", "1", NULL, 0, 1) == CLEWLINE_OK);
    EXPECT(clewline_history_add(history, 0, NULL, "write", "2", NULL, 2, 3) == CLEWLINE_OK);
    EXPECT(clewline_history_add(history, 1, NULL, "read", NULL, "1", 4, 5) == CLEWLINE_OK);
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_OK);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_VIOLATED);
    EXPECT(clewline_report_free(report) == CLEWLINE_OK);
    EXPECT(clewline_history_set_criterion(history, "sequential") == CLEWLINE_OK);
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_OK);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_HOLDS);
    EXPECT(clewline_report_free(report) == CLEWLINE_OK);
    EXPECT(clewline_history_set_criterion(history, "good") == CLEWLINE_INVALID_INPUT);
    EXPECT(clewline_history_set_criterion(history, NULL) == CLEWLINE_OK);
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_OK);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_VIOLATED);
    EXPECT(clewline_report_free(report) == CLEWLINE_OK);
    EXPECT(clewline_history_free(history) == CLEWLINE_OK);
}

static void a_script_is_a_specification(void) {
    const char *tickets = "def initial():\n    return 0\n"
                          "def step(state, op, args, ret):\n    return [state + 1] if ret == state + 1 else []\n";
    clewline_history *history = NULL;
    clewline_recorder *recorder = NULL;
    clewline_report *report = NULL;
    uint64_t operation = 0;
    EXPECT(clewline_history_new_script("tickets.star", "def initial(): return x", &history) == CLEWLINE_INVALID_INPUT);
    EXPECT(strstr(clewline_error(), "tickets.star:1:23: `x` is not defined") != NULL);
    EXPECT(clewline_history_new_script("tickets.star", NULL, &history) == CLEWLINE_INVALID_ARGUMENT);
    EXPECT(clewline_history_new_script("tickets.star", tickets, &history) == CLEWLINE_OK);
    EXPECT(clewline_history_add(history, 0, NULL, "next", NULL, "1", 0, 1) == CLEWLINE_OK);
    EXPECT(clewline_history_add(history, 0, NULL, "next", NULL, "1", 2, 3) == CLEWLINE_OK);
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_OK);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_VIOLATED);
    EXPECT(strstr(clewline_report_sentence(report), "tickets.star") != NULL);
    EXPECT(clewline_report_free(report) == CLEWLINE_OK);
    EXPECT(clewline_history_free(history) == CLEWLINE_OK);
    EXPECT(clewline_recorder_new_script("tickets.star", tickets, &recorder) == CLEWLINE_OK);
    EXPECT(clewline_recorder_call(recorder, 0, NULL, "next", NULL, &operation) == CLEWLINE_OK);
    EXPECT(clewline_recorder_returned(recorder, operation, "1") == CLEWLINE_OK);
    EXPECT(clewline_recorder_history(recorder, &history) == CLEWLINE_OK);
    EXPECT(clewline_history_judge(history, &report) == CLEWLINE_OK);
    EXPECT(clewline_report_verdict(report) == CLEWLINE_HOLDS);
    EXPECT(clewline_report_free(report) == CLEWLINE_OK);
    EXPECT(clewline_history_free(history) == CLEWLINE_OK);
    EXPECT(clewline_recorder_free(recorder) == CLEWLINE_OK);
}

int main(int count, char **arguments) {
    EXPECT(strcmp(clewline_error(), "") == 0);
    EXPECT(strlen(clewline_version()) >= 5);
    a_violated_queue();
    a_register_that_holds();
    a_limit_is_unknown();
    a_criterion_is_another_question();
    a_script_is_a_specification();
    mistakes_are_errors();
    a_file_is_read();
    threads_are_recorded();
    a_recorder_has_three_ends(count > 1 ? arguments[1] : "recorded.jsonl");
    printf("%d failures\n", failures);
    return failures != 0;
}
