/* --doctor: facts about a process, which is not touched. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/doctor/facts.h"
#include "lib/helpers/priority.h"
#include "lib/state/copy_budget.h"
#include "mu/sys.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/rights.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD, of the flags in stat */
#define STAT_FLAGS 6             /* fields between the state and the flags */
/* For older kernel headers; the numbers are the same on every CPU. */
#define EPOLL_PWAIT2 441
#define IO_URING_ENTER 426

/* A read from a disk ends within so many looks. */
#define LOOKS 4
#define LOOK_NS (20 * 1000 * 1000ull)

static void
read_of(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	if (mu_sys_read_file(AT_FDCWD, path, text, size) < 0)
		text[0] = '\0';
}

static void
read_line(pid_t pid, const char *file, char *line, size_t size)
{
	read_of(pid, file, line, size);
	line[strcspn(line, "\n")] = '\0';
}

/*
 * Parse "4711 (a name) S 1 4711 4711 0 -1 4194560 ...", see proc_pid_stat(5).
 */
static void
read_stat(struct mu_doctor_target *target)
{
	char text[512], *at;
	unsigned long flags;
	int field;

	read_of(target->living, "stat", text, sizeof(text));
	at = strrchr(text, ')');
	if (at == NULL || at[1] != ' ')
		return;
	at += 2;
	target->state = *at;
	for (field = 0; field < STAT_FLAGS && at != NULL; field++) {
		at = strchr(at, ' ');
		at = at == NULL ? NULL : at + 1;
	}
	flags = at == NULL ? 0 : strtoul(at, NULL, 10);
	target->is_kernel = (flags & KERNEL_THREAD) != 0;
}

static void
read_status(struct mu_doctor_target *target)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t threads;
	unsigned i;

	mu_proc_status_read(target->living, 0, status, sizeof(status));
	target->rights_kept = mu_rights_exceed(target->living, status);
	target->capable = mu_rights_own() != 0;
	for (i = 0; i < 4; i++) {
		target->ids[0][i] =
		    (int)mu_proc_status_number(status, "\nUid:", i, 10);
		target->ids[1][i] =
		    (int)mu_proc_status_number(status, "\nGid:", i, 10);
	}
	target->process =
	    (pid_t)mu_proc_status_number(status, "\nTgid:", 0, 10);
	target->seccomp =
	    (int)mu_proc_status_number(status, "\nSeccomp:", 0, 10);
	threads = mu_proc_status_number(status, "\nThreads:", 0, 10);
	target->threads = threads < 0 ? 0 : (size_t)threads;
	target->resident = mu_proc_status_bytes(status, "\nVmRSS:");
	target->data = mu_proc_status_bytes(status, "\nVmData:");
}

struct sleepers {
	pid_t pid;
	size_t count;
};

static bool
count_sleeper(void *ctx, int tid)
{
	struct sleepers *sleepers = ctx;

	sleepers->count += mu_proc_state(sleepers->pid, tid) == 'D';
	return true;
}

/* The least number of threads seen in uninterruptible sleep at once. */
static size_t
count_sleepers(pid_t pid)
{
	struct sleepers sleepers = { .pid = pid };
	size_t fewest = SIZE_MAX;
	char path[64];
	int look;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	for (look = 0; look < LOOKS && fewest > 0; look++) {
		if (look > 0)
			mu_sys_sleep_ns(LOOK_NS);
		sleepers.count = 0;
		mu_proc_numbers(path, count_sleeper, &sleepers);
		if (sleepers.count < fewest)
			fewest = sleepers.count;
	}
	return fewest;
}

/*
 * Calls that fail with EINTR after any stop of the thread: see signal(7), and
 * the table in tests/README.md. For calls on sockets the timeout is not
 * visible.
 */
static bool
count_ended_call(void *ctx, int tid)
{
	static const long calls[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
		SYS_epoll_pwait,
		EPOLL_PWAIT2,
		SYS_rt_sigtimedwait,
		SYS_semop,
		SYS_semtimedop,
		SYS_io_getevents,
		IO_URING_ENTER,
	};
	struct sleepers *ended = ctx;
	long call = mu_proc_call(ended->pid, tid);
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		ended->count += call == calls[i];
	return true;
}

static size_t
count_ended_calls(pid_t pid)
{
	struct sleepers ended = { .pid = pid };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	mu_proc_numbers(path, count_ended_call, &ended);
	return ended.count;
}

/* False also if that cannot be known. */
static bool
is_other_namespace(pid_t pid, const char *kind)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, kind);
	if (stat(path, &theirs) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	return stat(path, &ours) == 0 && ours.st_ino != theirs.st_ino;
}

/*
 * Opening /proc/PID/mem needs the same permission as ptrace, security modules
 * included.
 */
static int
try_memory(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = mu_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -fd;
	mu_sys_close(&fd);
	return 0;
}

static void
read_room(struct mu_doctor_target *target)
{
	struct mu_copy_budget budget;

	mu_copy_budget_open(&budget, target->pid, NULL);
	mu_copy_budget_add_reader(&budget, NULL);
	target->has_room = mu_copy_budget_check(
	    &budget, mu_copy_budget_can_prefer(target->pid), &target->room_why);
	target->tight = budget.tight;
	target->left = budget.left;
	target->need = mu_copy_budget_need(&budget);
	mu_copy_budget_close(&budget);
}

static size_t
count_mappings(pid_t pid)
{
	char path[64];
	size_t count = 0;
	FILE *file;
	int c;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file != NULL && (c = getc(file)) != EOF)
		count += c == '\n';
	if (file != NULL)
		fclose(file);
	return count;
}

void
mu_doctor_target_read(struct mu_doctor_target *target, pid_t pid)
{
	char path[64];

	*target = (struct mu_doctor_target) { .pid = pid, .living = pid };
	snprintf(path, sizeof(path), "/proc/%d", pid);
	target->is_there = access(path, F_OK) == 0;
	target->is_hidden = !target->is_there && mu_sys_kill(pid, 0) != -ESRCH;
	if (!target->is_there)
		return;
	target->living = mu_proc_living(pid);
	read_line(pid, "comm", target->name, sizeof(target->name));
	read_line(pid, "attr/current", target->label, sizeof(target->label));
	read_stat(target);
	read_status(target);
	mu_proc_program(
	    target->living, target->program, sizeof(target->program));
	target->our_gid = (int)getegid();
	target->other_pid_namespace = is_other_namespace(pid, "pid");
	target->other_user_namespace = is_other_namespace(pid, "user");
	target->mem_error = try_memory(target->living);
	target->refusal = (struct mu_refusal_facts) {
		.pid = pid,
		.tid = target->living,
		.error = target->mem_error,
	};
	mu_refusal_facts_read(&target->refusal);
	if (target->is_kernel || target->state == 'Z' || target->state == 'X')
		return;
	target->sleeping = count_sleepers(pid);
	target->is_frozen = mu_pause_is_frozen(target->living);
	target->ended_calls = count_ended_calls(pid);
	target->mappings = count_mappings(target->living);
	target->held = mu_pause_bytes(target->living);
	target->copy_ns = mu_copy_pause_of(target->living, target->threads,
	    target->mappings, mu_priority_may_be_above(), &target->forked);
	target->fork_waits =
	    target->forked.watched && mu_pause_fork_waits(target->living);
	read_room(target);
	if (target->tight)
		target->copy_ns *= MU_COPY_MARGIN;
	mu_doctor_files_read(target);
}
