/*
 * The threads of a process as /proc has them now.
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

/* One buffer for many listings; zero but for the arena at first. */
struct mu_task_list {
	pid_t *tids; /* rising; the kernel may repeat one */
	size_t count, max;
	struct mu_arena *arena;
	bool no_memory;
};

/* List the threads of PID, over what was there. Zombies are among them. */
enum mu_status mu_task_list_read(
    struct mu_task_list *list, pid_t pid, struct mu_why *why);

/*
 * How many threads PID has, zombies among them, or -errno: what a listing
 * taken at the same moment would have.
 */
long mu_task_count(pid_t pid);

/* Orders pid_t, and structures that start with one. */
int mu_task_compare(const void *a, const void *b);

#endif
