/* Threads that churn during looks at the heap, pause, and end. */
#ifndef TESTS_SUPPORT_RECORDER_RECORDED_THREADS_H
#define TESTS_SUPPORT_RECORDER_RECORDED_THREADS_H

#include <pthread.h>

#include "tests/support/recorder/recorded_churn.h"
#include "tests/support/recorder/recorded_scenarios.h"

#define THREADS_MAX 64
extern struct churn churns[THREADS_MAX];

/* COUNT threads come, OPERATIONS each, and go; ROUNDS times over. */
int run_threads(
    unsigned seed, unsigned count, size_t operations, unsigned rounds);

#endif
