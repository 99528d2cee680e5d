#include "lib/check/other_check.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

/* mu-keeper, mu-watchdog, mu-collector; any name will do, as waiting ends. */
#define NAMES "mu-"

struct tracer {
	pid_t pid, found; /* 0: none */
};

static bool
take_tracer(void *ctx, int tid)
{
	struct tracer *tracer = ctx;
	char status[MU_PROC_STATUS_SIZE];
	int64_t number = 0;

	if (mu_proc_status_read(tracer->pid, tid, status, sizeof(status)) > 0)
		number = mu_proc_status_number(status, "\nTracerPid:", 0, 10);
	if (number > 0)
		tracer->found = (pid_t)number;
	return tracer->found == 0;
}

static pid_t
tracer_of(pid_t pid)
{
	struct tracer tracer = { .pid = pid };
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/task", pid);
	mu_proc_numbers(path, take_tracer, &tracer);
	return tracer.found;
}

static bool
is_helper(pid_t pid)
{
	char path[64], name[sizeof(NAMES)];

	mu_text_format(path, sizeof(path), "/proc/%d/comm", pid);
	return mu_procfs_read(path, name, sizeof(name)) > 0 &&
	    strncmp(name, NAMES, sizeof(NAMES) - 1) == 0;
}

bool
mu_other_check_await(pid_t pid, uint64_t deadline_ns)
{
	pid_t tracer;

	while ((tracer = tracer_of(pid)) != 0)
		if (!is_helper(tracer) ||
		    !mu_proc_await_over(tracer, deadline_ns))
			return false;
	return true;
}
