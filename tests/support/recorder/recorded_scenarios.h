/*
 * Scenarios that run this test program again with the recorder preloaded: each
 * looks at its heap several times, and ends with 0 if the walk agreed with the
 * record each time.
 */
#ifndef TESTS_SUPPORT_RECORDER_RECORDED_SCENARIOS_H
#define TESTS_SUPPORT_RECORDER_RECORDED_SCENARIOS_H

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/recorder/recorder.h"
#include "tests/support/suite.h"

#define SKIP 77

struct scenario {
	const char *name;
	int (*run)(unsigned seed); /* 0, 1 or SKIP */
};

/* 0 if the two agree. */
int check_now(const char *when);

/* RECORDED_FULL=1: as much as the time of a release allows, not of a day. */
int seeds(int few);

/* SCENARIO once; NAME=VALUE in SETTINGS, which ends with NULL, or NULL. */
void play(const char *scenario, int seed, const char *const *settings);

/* The other side of it: the status to exit with, or -1: no scenario asked. */
int played(
    int argc, char **argv, const struct scenario *scenarios, size_t count);

#define PLAYED(argc, argv, scenarios) \
	played(argc, argv, scenarios, sizeof(scenarios) / sizeof(*(scenarios)))

#endif
