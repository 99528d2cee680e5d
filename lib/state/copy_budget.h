/*
 * Check that there is enough memory for a copy of a process. Pages that the
 * process writes while the copy exists are copied by the kernel and charged to
 * the process's own memory cgroup; if that is nearly full, the OOM killer runs.
 * So the headroom is compared with the need before a copy is made, and watched
 * while it exists.
 *
 * Runs in: original, keeper.
 */
#ifndef LIB_STATE_COPY_BUDGET_H
#define LIB_STATE_COPY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwalk/memory/headroom.h"
#include "mu/status.h"

struct mu_copy_budget {
	struct mu_headroom headroom;
	pid_t pid;
	size_t tables;       /* bytes of page tables; a copy needs its own */
	size_t private;      /* bytes that are copied if they are written */
	size_t files;        /* bytes of files, of which a fork may copy some */
	size_t shared;       /* bytes of shared memory, which are copied, too */
	size_t pooled;       /* bytes in MAP_HUGETLB pages */
	size_t own;          /* bytes that the search itself needs */
	size_t reader;       /* bytes that the reader of the copy may take */
	size_t reader_least; /* the least of these */
	bool apart;  /* OWN and READER are charged to no cgroup that limits the
			process */
	bool traced; /* if the copy is killed, it stops with its memory */
	unsigned active; /* how much the process runs; MU_COPY_ACTIVE: a thread
			    runs all the time, or that is not known */
	size_t left;     /* bytes, at the last look */
	size_t need;     /* bytes that would have been enough */
	size_t tasks;    /* that its cgroups still allow; with a reader only */
	bool tight; /* less is left than the copy may need in the worst case */
	uint64_t next_ns; /* when to look again */
};

#define MU_COPY_ACTIVE 256u

/*
 * Read the limits of process PID, which searches a copy of itself. Call
 * mu_copy_budget_close() in any case. A limit that cannot be read does not
 * count. KNOWN: where earlier calls found cgroups (heapwalk/memory/cgroups.h),
 * or NULL.
 */
void mu_copy_budget_open(
    struct mu_copy_budget *budget, pid_t pid, struct mu_cgroups_known *known);

/*
 * The same in two steps: what STATUS, that of PID or of one of its threads,
 * says, which opens nothing, and the limits.
 */
void mu_copy_budget_describe(
    struct mu_copy_budget *budget, pid_t pid, const char *status);
void mu_copy_budget_find_limits(
    struct mu_copy_budget *budget, struct mu_cgroups_known *known);

/*
 * Add the needs of the calling process, if it is not the one that is checked:
 * memory for what it reads (heapwalk/memory/remote_window.h) and for its
 * tables. They count if the same cgroup limits both.
 */
void mu_copy_budget_add_reader(
    struct mu_copy_budget *budget, struct mu_cgroups_known *known);

/*
 * Decide whether a copy may be made. PREFERRED: the OOM killer takes the copy
 * before the process (mu_copy_budget_prefer()). MU_OK, or MU_ERR_NO_MEMORY with
 * both numbers.
 *
 * As much memory must stay free as the process can write before the copy is
 * gone. If there is less, this takes 20 ms to find out how much the process
 * runs.
 *
 * No copy is made if a fork would share private MAP_HUGETLB pages. At the next
 * write the kernel would need another one, and usually has none: the process
 * gets SIGBUS or, if it has reserved the memory, the copy loses the page
 * (hugetlb_wp() in mm/hugetlb.c). Nor is one made of another process whose
 * cgroup is not visible or allows hardly any more tasks: MU_ERR_RESOURCES.
 */
enum mu_status mu_copy_budget_check(
    struct mu_copy_budget *budget, bool preferred, struct mu_why *why);

/*
 * True if the OOM killer can be made to prefer the copy of process PID. Not
 * possible if the process itself has the highest score, or may not change its
 * score because it is not dumpable.
 */
bool mu_copy_budget_can_prefer(pid_t pid);

/* Make the OOM killer choose process COPY before all others. */
void mu_copy_budget_prefer(pid_t copy);

/*
 * True if so little is left that the copy must be ended. Reads the limits only
 * at budget->next_ns, and more often if less is left.
 */
bool mu_copy_budget_is_short(struct mu_copy_budget *budget);

/*
 * Bytes that a check needs in the worst case: the program writes all of its
 * memory.
 */
size_t mu_copy_budget_need(const struct mu_copy_budget *budget);

/* "the container has 20 MiB left, a check needs about 150 MiB" */
enum mu_status mu_copy_budget_refuse(
    const struct mu_copy_budget *budget, struct mu_why *why);

/* Accepts a ROOM that was never opened, if headroom.meminfo is -1. */
void mu_copy_budget_close(struct mu_copy_budget *budget);

#endif
