#include "ptrace/live/task_list.h"

#include <sys/stat.h>

#include "mu/procfs.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"

#define FIRST_MAX 64
#define LIST_TRIES 4

static bool
visit_tid(void *ctx, int tid)
{
	struct mu_task_list *list = ctx;

	if (tid == 0)
		return true;
	list->no_memory = !mu_arena_room(
	    list->arena, list->tids, list->count, list->max, FIRST_MAX);
	if (list->no_memory)
		return false;
	list->tids[list->count++] = tid;
	return true;
}

int
mu_task_compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static enum mu_status
list_failed(pid_t pid, long error, struct mu_why *why)
{
	if (mu_proc_is_over(pid))
		return mu_why(
		    why, MU_ERR_TARGET_GONE, "process %d has ended", pid);
	if (error == -EMFILE || error == -ENFILE)
		return mu_why(why, MU_ERR_RESOURCES,
		    "no descriptor for /proc/%d/task", pid);
	/*
	 * under hidepid /proc lists only what ptrace may read:
	 * has_pid_permissions()
	 */
	if ((error == -ENOENT || error == -EPERM || error == -EACCES) &&
	    mu_procfs_shows_us())
		return mu_refusal(pid, pid, EPERM, why);
	return mu_why(why, MU_ERR_NO_PROC,
	    "cannot list /proc/%d/task (error %ld)" MU_CURE
	    "mount -t proc proc /proc",
	    pid, -error);
}

/*
 * While an execve() by a thread replaces the leader, /proc may show no thread.
 */
static bool
is_missing(const struct mu_task_list *list, long error)
{
	return error == -ENOENT || error == -ESRCH ||
	    (error == 0 && list->count == 0);
}

enum mu_status
mu_task_list_read(struct mu_task_list *list, pid_t pid, struct mu_why *why)
{
	char path[32];
	int tries = 0;
	long error;

	mu_text_format(path, sizeof(path), "/proc/%d/task", pid);
	do {
		list->count = 0;
		error = mu_proc_numbers(path, visit_tid, list);
		if (list->no_memory)
			return mu_why(why, MU_ERR_NO_MEMORY,
			    "no memory for a list of %zu threads",
			    list->count + 1);
	} while (is_missing(list, error) && ++tries < LIST_TRIES &&
	    !mu_proc_is_over(pid));
	if (error < 0 || list->count == 0)
		return list_failed(pid, error, why);
	mu_sort(list->tids, list->count, sizeof(pid_t), mu_task_compare);
	return MU_OK;
}

/*
 * fs/proc/base.c, proc_task_getattr(): the link count is the number of threads
 * plus 2.
 */
long
mu_task_count(pid_t pid)
{
	char path[32];
	struct stat task = { .st_nlink = 0 };
	const char *at = path;
	long error;
	int dir;

	mu_text_format(path, sizeof(path), "/proc/%d/task", pid);
	dir = mu_procfs_at(&at);
	error = mu_sys4(SYS_newfstatat, dir, (long)at, (long)&task, 0);
	return error < 0 ? error : (long)task.st_nlink - 2;
}
