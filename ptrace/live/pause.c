#include "ptrace/live/pause.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

/*
 * A thread that works with a disk, or waits for the lock of its address space,
 * sleeps for some milliseconds at a time. One that has slept for so many of our
 * own naps is not expected to wake up soon. Where the CPUs are busy these take
 * longer, and so does what a thread waits for: the child of vfork() needs a
 * CPU. Naps of raised priority are not longer, so the time alone limits a wait
 * for another thread of the process.
 */
#define CALM_NAP_NS (2 * 1000 * 1000ull)
#define CALM_NAPS 150
#define CALM_MOST_NS (3 * MU_NS_PER_SEC) /* for one thread */
#define CALM_ALL_NS (15 * MU_NS_PER_SEC) /* for all, which take turns */

#define USERFAULT_LINK "anon_inode:[userfaultfd]"
#define EVENT_FORK 2u /* UFFD_FEATURE_EVENT_FORK */

struct calm {
	pid_t pid, sleeper;
	struct mu_asleep *asleep;
	uint64_t until_ns;
	bool filtered;
	int64_t first; /* mu_pause_first_filters(), or -1 */
};

int64_t
mu_pause_first_filters(pid_t pid)
{
	char status[MU_PROC_STATUS_SIZE];
	pid_t parent = mu_proc_parent(pid);
	int64_t count = 0;

	if (mu_proc_inner_pid(pid) == 1)
		return 1;
	if (parent != 0 &&
	    mu_proc_status_read(parent, 0, status, sizeof(status)) > 0)
		count =
		    mu_proc_status_number(status, "\nSeccomp_filters:", 0, 10);
	return count > 0 ? count : 0;
}

bool
mu_pause_has_added_filter(const char *status, int64_t first)
{
	int64_t count =
	    mu_proc_status_number(status, "\nSeccomp_filters:", 0, 10);

	return mu_proc_status_filtered(status) && (count < 0 || count > first);
}

/* mu_asleep_switches(); the same file tells of filters. */
static int64_t
look_at(struct calm *calm, int tid)
{
	char status[MU_PROC_STATUS_SIZE];

	if (mu_proc_status_read(calm->pid, tid, status, sizeof(status)) <= 0)
		return -1;
	if (calm->first < 0 && mu_proc_status_filtered(status))
		calm->first = mu_pause_first_filters(calm->pid);
	calm->filtered |= mu_pause_has_added_filter(status, calm->first);
	return mu_asleep_switches(status);
}

/* After one that sleeps on others have less time, as it passed for them too. */
static unsigned
naps_left(const struct calm *calm)
{
	return CALM_NAPS >> (calm->asleep == NULL ? 0 : calm->asleep->count);
}

static bool
visit_thread(void *ctx, int tid)
{
	struct calm *calm = ctx;
	uint64_t until_ns = mu_sys_now_ns() + CALM_MOST_NS;
	int64_t switches = look_at(calm, tid), before;
	unsigned naps = 0;

	while (switches >= 0) {
		if (naps >= naps_left(calm) || mu_sys_now_ns() >= until_ns ||
		    mu_sys_now_ns() >= calm->until_ns) {
			if (calm->asleep != NULL &&
			    mu_asleep_add(calm->asleep, tid, switches))
				return true;
			calm->sleeper = tid;
			return false;
		}
		naps += !mu_proc_changes_space(calm->pid, tid);
		mu_sys_sleep_ns(CALM_NAP_NS);
		before = switches;
		switches = look_at(calm, tid);
		/* It sleeps again, but has woken up since. */
		if (switches != before)
			return true;
	}
	return true;
}

/*
 * do_freezer_trap() in kernel/signal.c, which is mostly inlined in
 * get_signal(), and __refrigerator() in kernel/freezer.c.
 */
bool
mu_pause_is_frozen(pid_t tid)
{
	return mu_proc_sleeps_in(tid, "get_signal") ||
	    mu_proc_sleeps_in(tid, "do_freezer_trap") ||
	    mu_proc_sleeps_in(tid, "__refrigerator");
}

enum mu_status
mu_pause_sleeps(pid_t pid, pid_t tid, struct mu_why *why)
{
	if (mu_pause_is_frozen(tid))
		return mu_why(why, MU_ERR_TIMEOUT,
		    "process %d is frozen by its cgroup, as by docker pause,"
		    " and cannot be stopped" MU_CURE "let it run",
		    pid);
	return mu_why(why, MU_ERR_TIMEOUT,
	    "thread %d of process %d is in uninterruptible sleep (state D), for"
	    " a disk or in vfork(): all others would stay stopped until that is"
	    " over" MU_CURE "ask again later",
	    tid, pid);
}

enum mu_status
mu_pause_await_interruptible(
    pid_t pid, bool *filtered, struct mu_asleep *asleep, struct mu_why *why)
{
	struct calm calm = {
		.pid = pid,
		.until_ns = mu_sys_now_ns() + CALM_ALL_NS,
		.first = -1,
		.asleep = asleep,
	};
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/task", pid);
	mu_proc_numbers(path, visit_thread, &calm);
	if (filtered != NULL)
		*filtered = calm.filtered;
	return calm.sleeper == 0 ? MU_OK
				 : mu_pause_sleeps(pid, calm.sleeper, why);
}

uint64_t
mu_pause_bytes(pid_t pid)
{
	char status[MU_PROC_STATUS_SIZE];
	uint64_t resident;

	if (mu_proc_status_read(pid, 0, status, sizeof(status)) <= 0)
		return 0;
	resident = mu_proc_status_bytes(status, "\nRssAnon:") +
	    mu_proc_status_bytes(status, "\nRssShmem:");
	if (resident == 0)
		resident = mu_proc_status_bytes(status, "\nVmRSS:");
	return resident + mu_proc_status_bytes(status, "\nVmSwap:") +
	    mu_proc_status_bytes(status, "\nHugetlbPages:");
}

/* Format NS as "0.3 s" or "70 ms". */
static void
report_span(char *text, size_t size, uint64_t ns)
{
	unsigned ms = (unsigned)(ns / 1000000) + 1;

	if (ms < 1000)
		mu_text_format(text, size, "%u ms", ms);
	else
		mu_text_format(
		    text, size, "%u.%u s", ms / 1000, ms % 1000 / 100);
}

enum mu_status
mu_pause_too_long(pid_t pid, uint64_t bytes, uint64_t ns, struct mu_why *why)
{
	char span[32], what[64];

	report_span(span, sizeof(span), ns);
	mu_text_format(what, sizeof(what), "copy");
	if (bytes > 0)
		mu_text_format(what, sizeof(what), "read %zu MiB of",
		    (size_t)(bytes >> 20));
	return mu_why(why, MU_ERR_TIMEOUT,
	    "to %s process %d would stop it for about %s" MU_CURE
	    "--max-pause=%us"
	    " allows it",
	    what, pid, span, mu_pause_advice(ns));
}

enum mu_status
mu_pause_was_long(pid_t pid, uint64_t ns, struct mu_why *why)
{
	char span[32];

	report_span(span, sizeof(span), ns);
	return mu_why(why, MU_ERR_TIMEOUT,
	    "the kernel was slow to copy process %d: one of its threads stood"
	    " still for %s, the others for no longer than --max-pause" MU_CURE
	    "--max-pause=%us allows it",
	    pid, span, mu_pause_advice(ns));
}

struct monitor {
	pid_t pid;
	int folder;
	bool any, tells; /* there is a userfaultfd; one with fork events */
};

/* fs/userfaultfd.c, userfaultfd_show_fdinfo(): "API:\taa:2:1ff" */
static bool
tells_forks(pid_t pid, int fd)
{
	char path[64], text[512];
	const char *at, *end;
	ssize_t length;
	uint64_t features;

	mu_text_format(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	length = mu_procfs_read(path, text, sizeof(text));
	at = length > 0 ? strstr(text, "\nAPI:\t") : NULL;
	at = at != NULL ? strchr(at + 6, ':') : NULL;
	end = text + length;
	return at != NULL && (++at, mu_proc_number(&at, end, 16, &features)) &&
	    (features & EVENT_FORK) != 0;
}

static bool
visit_descriptor(void *ctx, int fd)
{
	struct monitor *monitor = ctx;
	char name[16], link[sizeof(USERFAULT_LINK)];
	long n;

	mu_text_format(name, sizeof(name), "%d", fd);
	n = mu_sys4(SYS_readlinkat, monitor->folder, (long)name, (long)link,
	    sizeof(link));
	if (n != sizeof(USERFAULT_LINK) - 1 ||
	    memcmp(link, USERFAULT_LINK, (size_t)n) != 0)
		return true;
	monitor->any = true;
	monitor->tells = tells_forks(monitor->pid, fd);
	return !monitor->tells;
}

static struct monitor
find_monitor(pid_t pid)
{
	struct monitor monitor = { .pid = pid };
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/fd", pid);
	monitor.folder = mu_procfs_open(path, O_RDONLY | O_DIRECTORY);
	if (monitor.folder < 0)
		return monitor;
	mu_proc_numbers_in(monitor.folder, visit_descriptor, &monitor);
	mu_sys_close(&monitor.folder);
	return monitor;
}

bool
mu_pause_fork_waits(pid_t pid)
{
	struct monitor monitor = find_monitor(pid);

	return monitor.tells || !monitor.any;
}

bool
mu_pause_has_fork_events(pid_t pid)
{
	return find_monitor(pid).tells;
}
