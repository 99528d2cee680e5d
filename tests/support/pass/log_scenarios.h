/*
 * The programs whose log is tested: each loses something or cannot be checked,
 * requests a check in one way, and prints the result on stdout.
 */
#ifndef TESTS_SUPPORT_PASS_LOG_SCENARIOS_H
#define TESTS_SUPPORT_PASS_LOG_SCENARIOS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/scenario.h"

#define PREFIX "libmemunreachable: "

int log_one_leak(void);
int get_one_leak(void);
int string_of_one_leak(void);
int string_of_failure(void);
int no_leaks_clean(void);
int no_leaks_large(void);
int no_leaks_lost(void);
int no_leaks_failed(void);

/* Asked from within a pass, whose own log is silent: it finds nothing. */
int no_leaks_busy(void);

int no_leaks_not_dumpable(void);
int log_failed(void);
int log_provider_failed(void);
int bad_info(void);
int two_passes(void);
int nothing(void);

/*
 * No process reads the log, and the pipe is full: the call returns all the
 * same, malloc continues, and a pass that logs nothing succeeds.
 */
int log_blocked(void);

extern const struct scenario scenarios[];

#endif
