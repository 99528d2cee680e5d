/*
 * Run tests/live/victims/victim_busy.c: start it, read which blocks it lost,
 * and ask at the end whether it is unharmed.
 */
#ifndef TESTS_SUPPORT_STOP_BUSY_VICTIM_H
#define TESTS_SUPPORT_STOP_BUSY_VICTIM_H

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"

#define BUSY_ENTRIES_MAX 256

struct busy_entry {
	uintptr_t address;
	size_t below; /* blocks */
};

struct busy_victim {
	pid_t pid;
	int input;
	FILE *output;
	struct busy_entry entries[BUSY_ENTRIES_MAX]; /* by address */
	size_t num_entries, num_lost, bytes_lost;
};

#define VICTIM_BUSY "tests/live/victims/victim_busy"

/* NAME: VICTIM_BUSY or VICTIM_BUSY "_static". */
void busy_start(struct busy_victim *victim, const char *name,
    const char *blocks, const char *threads);

/* It winds up, and says that nothing was done to it. */
void busy_expect_unharmed(struct busy_victim *victim);

#endif
