/*
 * The kernel does not say how many processes use an address space; kcmp() only
 * compares those of two.
 */
#include "ptrace/live/sharer.h"

#include <linux/kcmp.h>
#include <sched.h>
#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/task_list.h"

/*
 * A child of vfork() or posix_spawn() executes its program within about 1 ms.
 */
#define LASTS_NS (20 * 1000 * 1000ull)

/*
 * MMF_DUMP_DAX_SHARED, Linux 4.4: whether a core has the pages of shared files
 * on DAX devices.
 */
#define DAX_SHARED 0x100

#define COUNT_TRIES 3

struct sharing {
	pid_t pid, except, self, found;
	pid_t tid; /* one of PID's threads that has not ended */
	bool by_files;
	uint64_t start_stack; /* of PID */
	bool unsure;          /* FOUND may be a fork */
};

static int64_t
read_filter(pid_t pid)
{
	char path[48];
	uint64_t value;

	mu_text_format(path, sizeof(path), "/proc/%d/coredump_filter", pid);
	if (!mu_proc_read_number(path, 16, &value))
		return -1;
	return (int64_t)(value & INT32_MAX);
}

static void
write_filter(pid_t pid, int64_t value)
{
	char path[48], text[32];
	int fd;

	mu_text_format(path, sizeof(path), "/proc/%d/coredump_filter", pid);
	mu_text_format(text, sizeof(text), "0x%x", (unsigned)value);
	fd = mu_procfs_open(path, O_WRONLY);
	if (fd < 0)
		return;
	mu_sys_write(fd, text, strlen(text));
	mu_sys_close(&fd);
}

/*
 * How many pages are mapped, in memory, of files and so on. Any process may
 * read it; a thread of the kernel has none.
 */
struct counts {
	char text[128];
};

static bool
read_counts(pid_t pid, struct counts *counts)
{
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/statm", pid);
	return mu_sys_read_file(
		   AT_FDCWD, path, counts->text, sizeof(counts->text)) > 0 &&
	    counts->text[0] != '0';
}

/*
 * A fork has other counts mostly, as it has not read the same files: false if
 * they differ while those of ONE stand still. If they never do nothing is
 * known.
 */
static bool
may_have_same_counts(pid_t one, pid_t other)
{
	struct counts before, theirs, after;
	unsigned tries;

	if (!read_counts(one, &after))
		return false;
	for (tries = 0; tries < COUNT_TRIES; tries++) {
		before = after;
		if (!read_counts(other, &theirs) || !read_counts(one, &after))
			return false;
		if (strcmp(before.text, after.text) == 0)
			return strcmp(theirs.text, after.text) == 0;
	}
	return true;
}

/* The kernel does not show where the stack of another user's process began. */
static bool
may_share(const struct sharing *sharing, pid_t other)
{
	uint64_t start = mu_proc_start_stack(other);

	return (start == 0 || start == sharing->start_stack) &&
	    may_have_same_counts(sharing->tid, other);
}

static bool
shares_by_files(struct sharing *sharing, pid_t other)
{
	int64_t was, mine, theirs;

	if (!may_share(sharing, other))
		return false;
	was = read_filter(sharing->tid);
	if (was >= 0)
		write_filter(sharing->tid, was ^ DAX_SHARED);
	mine = read_filter(sharing->tid);
	theirs = read_filter(other);
	if (was >= 0)
		write_filter(sharing->tid, was);
	sharing->unsure = theirs < 0 || mine != (was ^ DAX_SHARED);
	return sharing->unsure || (theirs == mine && read_filter(other) == was);
}

/* NUMBER may name a main thread that has ended, and its address space is 0. */
static bool
shares(struct sharing *sharing, pid_t number)
{
	pid_t other =
	    mu_task_count(number) > 1 ? mu_proc_living(number) : number;
	long order = -EPERM; /* also for a process of another user */

	if (!sharing->by_files)
		order = mu_syscall6(
		    SYS_kcmp, sharing->tid, other, KCMP_VM, 0, 0, 0);
	return order == 0 ||
	    (order == -EPERM && shares_by_files(sharing, other));
}

static bool
visit(void *ctx, int number)
{
	struct sharing *sharing = ctx;

	if (number != sharing->pid && number != sharing->except &&
	    number != sharing->self && shares(sharing, number))
		sharing->found = number;
	return sharing->found == 0;
}

static bool
may_ask(pid_t self)
{
	char status[MU_PROC_STATUS_SIZE];

	return mu_proc_own_status(status, sizeof(status)) > 0 &&
	    !mu_proc_status_filtered(status) &&
	    mu_syscall6(SYS_kcmp, self, self, KCMP_VM, 0, 0, 0) == 0;
}

bool
mu_sharer_none(void)
{
	return mu_sys1(SYS_unshare, CLONE_VM) == 0;
}

static bool
still_shares(struct sharing *sharing)
{
	mu_sys_sleep_ns(LASTS_NS);
	return shares(sharing, sharing->found) &&
	    !mu_proc_ended(mu_proc_state(sharing->pid, sharing->tid));
}

/*
 * A thread that has ended has no address space and compares as equal to kernel
 * threads. The main thread may end long before the others.
 */
enum mu_status
mu_sharer_note(pid_t pid, pid_t except, struct mu_why *why)
{
	struct sharing sharing = {
		.pid = pid,
		.except = except,
		.self = mu_sys_getpid(),
		.tid = mu_proc_living(pid),
	};

	sharing.by_files = !may_ask(sharing.self);
	sharing.start_stack = mu_proc_start_stack(sharing.tid);
	mu_proc_numbers("/proc/", visit, &sharing);
	if (sharing.found == 0 || !still_shares(&sharing))
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "process %d %s the memory (CLONE_VM), and its registers and stack"
	    " were not searched: what only they refer to may be among these",
	    sharing.found, sharing.unsure ? "may share" : "shares");
}
