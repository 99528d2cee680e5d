/*
 * A pass in a separate thread in which a watched system call fails, while the
 * program continues: its answer, and a check that nothing of it remains.
 */
#ifndef TESTS_SUPPORT_FAULTS_FAILING_PASS_H
#define TESTS_SUPPORT_FAULTS_FAILING_PASS_H

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/faults/unharmed.h"
#include "tests/support/faults/watched_call.h"
#include "tests/support/hide.h"

/*
 * A seccomp filter that the calling thread installs for itself, and which the
 * processes that it starts inherit, passes the calls to a supervisor in a
 * separate process (SECCOMP_RET_USER_NOTIF, Linux 5.0). The supervisor knows
 * whose call it is, as it sees every clone(). Other threads are not filtered.
 */

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5) /* Linux 5.19 */
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#define ANY_CALL (-1)
#define MAX_CALL 512 /* more than there are numbers */
#define MAX_PROCESSES 256
#define MAX_NOTED 1024 /* calls of a role in a pass */

enum fault_role {
	ROLE_ORIGINAL,
	ROLE_COLLECTOR,
	ROLE_SWEEPER,
	NUM_ROLES,
};

enum fault_act {
	FAULT_NONE,  /* only count */
	FAULT_DENY,  /* with ERROR */
	FAULT_SHORT, /* half of what a read or write asks for */
	FAULT_KILL,  /* SIGKILL the caller */
	FAULT_STOP,  /* SIGSTOP the caller, then let the call go on */
	FAULT_PAUSE, /* the same, with SIGCONT after PAUSE_US */
};

struct fault {
	enum fault_role role;
	int nr; /* or ANY_CALL */
	enum fault_act act;
	int error;     /* positive errno */
	unsigned nth;  /* of this role's such calls, from 1 */
	bool for_ever; /* and every later one; of any role, as a filter does */
};

/* A call of a pass. The same SITE: by all that is seen, the same call again. */
struct noted_call {
	int nr;
	uint32_t site;
};

/*
 * The supervisor's, which sends it at its end: shared memory would make each
 * pass nap (see unharmed.c).
 */
struct fault_record {
	bool in_pass;
	pid_t tgid, original;
	unsigned seen, acts;
	int acted_on; /* the number of the call */
	unsigned counts[NUM_ROLES][MAX_CALL];

	/* of the fault's role, where it is FAULT_NONE */
	struct noted_call noted[MAX_NOTED];
	unsigned num_noted;

	/* the supervisor's own */
	pid_t pids[MAX_PROCESSES];
	enum fault_role roles[MAX_PROCESSES], next;
	unsigned num_pids;
};

/* True if the act could be done. */
bool fault_act(int listener, const struct fault *fault,
    const struct seccomp_notif *ask, pid_t tgid);

/* A place that nothing in check has pointed to before. */
/* Less than the least alternate stack: of more, each thread is asked. */
#define LOST_SIZE 1700
#define NS_PER_SEC 1000000000ull

struct failing_pass {
	/* Neither: an undisturbed pass. */
	const struct watched_call *call;
	const struct fault *fault;
	struct fault_record *record; /* of FAULT */
	bool no_ptrace;              /* besides: refused by a filter */
	const struct rlimit *files;  /* besides: RLIMIT_FSIZE, as long as the
					pass takes: check writes files too */
	bool by_filter;              /* deny without a supervisor */
	int listener, installed, go;
	int record_end; /* of a pipe from the supervisor */
	bool acted;     /* the call was met */
	bool checked;
	bool changed;      /* the thread's own errno, signal mask or stack */
	uint64_t began_at; /* beats */
	struct UnreachableMemoryInfo info; /* leaks freed */
};

#define NUM_STOPS 2

/* Passes stop threads by ptrace (0) or by signal (1). */
void choose_method(int method);

/* False: the kernel has no such filters. */
bool failing_pass_run(struct failing_pass *failing);

/*
 * "At once" is far below the deadline of 30 s, also on a busy machine, by the
 * beats of another process: a virtual machine may stand still for a minute.
 */
void assert_at_once(const struct failing_pass *failing);

/* What a program has to lose, and to keep. */
struct belongings {
	struct unharmed unharmed;
	size_t num_leaks;
};

void belongings_begin(struct belongings *own);

/* After a pass, whatever became of it: all is well, and the next one works. */
void belongings_check(
    struct belongings *own, const struct failing_pass *failing);

void belongings_end(struct belongings *own);

/*
 * A child, named "a-debugger", that traces the calling thread until *END is
 * closed; minus its number if it may not.
 */
pid_t start_debugger(int *end);

#endif
