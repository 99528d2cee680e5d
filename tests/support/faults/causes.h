/* A pass that fails for a known cause: its status, reason and remedy. */
#ifndef TESTS_SUPPORT_FAULTS_CAUSES_H
#define TESTS_SUPPORT_FAULTS_CAUSES_H

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/faults/unharmed.h"

extern pthread_mutex_t causes_held;

void causes_setup(void);
void check_info(const struct UnreachableMemoryInfo *info, int status,
    const char *words, const char *cure);
void must_say(int status, const char *words, const char *cure);

/*
 * Root becomes a user without privileges and without processes, not even those
 * of another run of a test. Dumpable again, which a change of user ends.
 */
void become_nobody(void);

#endif
