/*
 * Copies that were left behind: see process_copy.h.
 *
 * Runs in: keeper, the command.
 */
#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/process_copy_end.h"

#define MAX_LEFT 8 /* per call; each needs a stop of a thread */

/* A thread has few children, and its first ones are the oldest. */
#define LIST_SIZE 4096

struct leftovers {
	pid_t pid;
	pid_t found[MAX_LEFT];
	size_t count;
};

/*
 * True for a zombie child of PID that has the name that only we set, and no
 * tracer that would reap it.
 */
static bool
is_left(pid_t pid)
{
	static const char name[] = "Name:\t" MU_REMOTE_COPY "\n";
	char status[MU_PROC_STATUS_SIZE];

	return mu_proc_status_read(pid, 0, status, sizeof(status)) > 0 &&
	    strncmp(status, name, sizeof(name) - 1) == 0 &&
	    strstr(status, "\nState:\tZ") != NULL &&
	    mu_proc_status_number(status, "\nTracerPid:", 0, 10) == 0;
}

/* Parse "17 18 4711 ", the children that thread TID has started. */
static bool
visit(void *ctx, int tid)
{
	struct leftovers *left = ctx;
	char path[64], text[LIST_SIZE];
	const char *at = text;
	uint64_t child;
	ssize_t n;

	mu_text_format(
	    path, sizeof(path), "/proc/%d/task/%d/children", left->pid, tid);
	n = mu_procfs_read(path, text, sizeof(text));
	while (left->count < MAX_LEFT && n > 0 &&
	    mu_proc_number(&at, text + n, 10, &child)) {
		if (is_left((pid_t)child))
			left->found[left->count++] = (pid_t)child;
		at += at < text + n;
	}
	return left->count < MAX_LEFT;
}

static struct leftovers
find_left(pid_t pid)
{
	struct leftovers left = { .pid = pid };
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/task", pid);
	mu_proc_numbers(path, visit, &left);
	return left;
}

bool
mu_process_copy_any_left(pid_t pid)
{
	return find_left(pid).count > 0;
}

void
mu_process_copy_drop_left(pid_t pid, uintptr_t back, uint64_t deadline_ns)
{
	const struct leftovers left = find_left(pid);
	struct mu_process_copy copy;
	size_t i;

	for (i = 0; i < left.count; i++) {
		copy = (struct mu_process_copy) {
			.pid = left.found[i],
			.child = mu_proc_inner_pid(left.found[i]),
			.code = { .back = back },
		};
		mu_process_copy_reap_ended(&copy, pid, deadline_ns, NULL);
	}
}
