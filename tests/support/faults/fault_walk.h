/*
 * Fail all system calls of a pass, one after the other: a probe lists what each
 * process calls and how often, so that the list is always up to date.
 *
 * FAULTS_FULL=1 in the environment: every call with every error. Otherwise one
 * error each and, of calls that repeat one another, the first, second, fourth,
 * eighth and so on, and the last; for stops, steps that double.
 */
#ifndef TESTS_SUPPORT_FAULTS_FAULT_WALK_H
#define TESTS_SUPPORT_FAULTS_FAULT_WALK_H

#include <stdio.h>
#include <stdlib.h>

#include "mu/sys.h"
#include "tests/support/faults/failing_pass.h"

/* How threads are stopped in the passes of a walk. */
enum walk_method {
	METHOD_PTRACE,
	METHOD_SIGNAL,
	METHOD_REFUSED, /* ptrace is tried and refused: by signal */
	NUM_METHODS,
};

struct walk {
	enum walk_method method;
	enum fault_role role;
	struct belongings own;
	struct fault_record *record;
	unsigned counts[NUM_ROLES][MAX_CALL];
	struct noted_call noted[MAX_NOTED]; /* of ROLE */
	unsigned num_noted;
	bool shares;   /* the program has shared memory, in spoilt passes */
	bool possible; /* there are seccomp listeners */
	bool cut;      /* not all of it was walked */

	/* what became of the passes */
	unsigned spoilt, complete, partial, failed;
	unsigned statuses[32];
};

extern const char *const role_names[NUM_ROLES];

const char *call_name(int nr);
bool walk_full(void);

/* In main(): a slow machine is to get a part, not the runner's limit. */
void walk_limit(void);

bool walk_in_time(struct walk *walk);

/*
 * False if the NTH call NR (or ANY_CALL) repeats another, by what the probe
 * saw, and is neither one of those to keep nor the last. What the probe has not
 * seen may be anything.
 */
bool walk_wants(const struct walk *walk, int nr, unsigned nth);

/*
 * Leave out of later walks what a pass of ROLE by METHOD calls as well, as the
 * options are now: another walk fails it.
 */
void walk_leave_out(enum walk_method method, enum fault_role role);

/* One pass that FAULT spoils; FAILING tells how it went. */
void walk_pass(
    struct walk *walk, const struct fault *fault, struct failing_pass *failing);

/* False, and said so, where it cannot be done. */
bool walk_begin(struct walk *walk, enum walk_method method,
    enum fault_role role, bool shares);

void walk_end(struct walk *walk);
void walk_count(struct walk *walk, const struct failing_pass *failing);

#endif
