/*
 * List the threads of a process from /proc.
 *
 * Runs in: any.
 */
#ifndef PTRACE_LIVE_TASK_LIST_H
#define PTRACE_LIVE_TASK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mu/arena.h"
#include "mu/status.h"

/*
 * A buffer that can be used for many listings. Initialise to zero, except the
 * arena.
 */
struct mu_task_list {
	pid_t *tids; /* ascending; the kernel may repeat one */
	size_t count, max;
	struct mu_arena *arena;
	bool no_memory;
};

/* List the threads of PID, including zombies; replaces the earlier listing. */
enum mu_status mu_task_list_read(
    struct mu_task_list *list, pid_t pid, struct mu_why *why);

/*
 * The number of threads of PID, including zombies, or -errno: what a listing
 * taken now would have.
 */
long mu_task_count(pid_t pid);

/* Orders pid_t, and structures that start with one. */
int mu_task_compare(const void *a, const void *b);

#endif
