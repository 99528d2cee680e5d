/*
 * The child is not dumpable: it belongs to the process's owner, who could
 * otherwise trace it or open its descriptors. It runs in a new session, so that
 * it cannot insert input into our terminal (TIOCSTI). The owner can still send
 * signals to it and its children; we continue them if they are stopped, for a
 * limited time, or kill them.
 */
#include "lib/check/privsep.h"

#include <bsd/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/check/process.h"
#include "lib/check/served_files.h"
#include "lib/helpers/oom_score.h"
#include "lib/helpers/priority.h"
#include "lib/symbolize/identity.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/rights.h"
#include "ptrace/remote/process_copy.h"

/* Exit statuses of the child; those of its work are lower. */
#define REFUSED 101 /* the rights could not be changed: nothing was done */
#define FAILED 102  /* the work returned -1 */
#define LIMITED 103 /* the same, because of RLIMIT_FSIZE */

/* The process's owner may stop the child; continue it, but not forever. */
#define MAX_STOPS 100

/* What a report may take, besides the check and its names. */
#define GRACE_NS (60 * MU_NS_PER_SEC)

/*
 * A child that has waited in the kernel for so many seconds, when the time for
 * the check is over, waits for a file (lib/check/served_files.h). It may not
 * even end if it is killed.
 */
#define STUCK_SECONDS 3
#define END_NS (2 * MU_NS_PER_SEC)

/* How long its children may run after it has ended. */
#define ORPHANS_NS (3 * MU_NS_PER_SEC)

/* Time for another child to reap copies that were left behind. */
#define MEND_NS (2 * MU_NS_PER_SEC)
#define MEND_TRIES 3

/* Of a status file with the longest list of groups. */
#define STATUS_SIZE ((size_t)NGROUPS_MAX * 11 + (16 << 10))

/* What is kept ends with a lower number. */
#define FAR 20

struct privsep {
	pid_t target;
	int fd;           /* its report */
	int *const *kept; /* what else it has, up to NULL; or NULL */
	bool exceeds;     /* we have a right that the target does not have */
	bool late;        /* it took too long, or was stopped too often */
	bool stuck;       /* it waits for a file, and perhaps has not ended */
};

struct rights {
	uid_t user;
	gid_t group;
	gid_t groups[NGROUPS_MAX];
	size_t num_groups;
	uint64_t capabilities;
};

/* Read the status file with its list of groups. */
static bool
read_status(pid_t target, char *status, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", target);
	n = mu_sys_read_file(AT_FDCWD, path, status, size);
	return n > 0 && (size_t)n + 1 < size;
}

/* The id, if all four are equal; -1 if they differ. */
static int64_t
only_id(const char *status, const char *key)
{
	int64_t id = mu_proc_status_number(status, key, 0, 10);
	unsigned i;

	for (i = 1; i < 4; i++)
		if (mu_proc_status_number(status, key, i, 10) != id)
			return -1;
	return id;
}

static bool
parse_rights(struct rights *rights, const char *status)
{
	int64_t user = only_id(status, "\nUid:");
	int64_t group = only_id(status, "\nGid:");
	int64_t permitted = mu_proc_status_number(status, "\nCapPrm:", 0, 16);

	if (user < 0 || group < 0 || permitted < 0)
		return false;
	rights->user = (uid_t)user;
	rights->group = (gid_t)group;
	rights->capabilities = (uint64_t)permitted;
	rights->num_groups =
	    mu_identity_groups(status, rights->groups, NGROUPS_MAX);
	return true;
}

static bool
is_same_file(const char *path, const char *other)
{
	struct stat one, two;

	return stat(path, &one) == 0 && stat(other, &two) == 0 &&
	    one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/*
 * A change of credentials makes it dumpable for a moment (commit_creds), which
 * is too long.
 */
static bool
becomes_dumpable(void)
{
	char text[8];

	return mu_sys_read_file(AT_FDCWD, "/proc/sys/fs/suid_dumpable", text,
		   sizeof(text)) <= 0 ||
	    text[0] == '1';
}

/*
 * The ids of /proc/PID/status are valid in the user namespace of the process.
 */
static bool
enter_namespace(pid_t target)
{
	char path[64];
	bool entered;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", target);
	if (is_same_file(path, "/proc/self/ns/user"))
		return true;
	/*
	 * Root of that namespace has all the capabilities that we have in it.
	 */
	if (becomes_dumpable())
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	entered = fd >= 0 && setns(fd, CLONE_NEWUSER) == 0;
	mu_sys_close(&fd);
	return entered;
}

/*
 * Drop what a later execve() could restore; needs CAP_SETPCAP if there is any.
 */
static void
limit_capabilities(uint64_t capabilities)
{
	int i;

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if ((capabilities >> i & 1) == 0)
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
}

static bool
hide(void)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

static bool
set_rights(const struct rights *rights)
{
	uint64_t capabilities = rights->capabilities & mu_rights_own();

	limit_capabilities(capabilities);
	return mu_identity_take(rights->user, rights->group, rights->groups,
		   rights->num_groups) &&
	    mu_identity_limit(capabilities);
}

/* The folders of another user are not for what we keep, nor to be trusted. */
static void
leave_home(void)
{
	unsetenv("HOME");
	unsetenv("XDG_CACHE_HOME");
}

/*
 * Static they would be a megabyte of .bss: execve() kills a program whose .bss
 * exceeds RLIMIT_DATA by SIGSEGV, without a message.
 */
static bool
take_rights(pid_t target)
{
	struct rights *rights = malloc(sizeof(*rights));
	char *status = malloc(STATUS_SIZE);
	bool taken = rights != NULL && status != NULL &&
	    read_status(target, status, STATUS_SIZE) &&
	    parse_rights(rights, status) && set_rights(rights);

	free(status);
	free(rights);
	return taken;
}

static bool
end_with(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
	    getppid() == parent;
}

static bool
become(pid_t target, pid_t parent)
{
	const uid_t own = geteuid();
	char path[64];
	int fd;

	if (!hide() || !enter_namespace(target) || !hide() ||
	    !take_rights(target) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return false;
	if (geteuid() != own)
		leave_home();
	/* A change of user clears it. */
	if (!end_with(parent))
		return false;
	/*
	 * Let the kernel decide: this call needs the same permission as an
	 * attach.
	 */
	snprintf(path, sizeof(path), "/proc/%d/mem", target);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Make *FD the descriptor NUMBER, which another one may be now. */
static bool
renumber(int *fd, int number)
{
	if (dup2(*fd, number) != number)
		return false;
	*fd = number;
	return true;
}

/* Close all descriptors except standard error, *FD, and those in KEPT. */
static bool
leave_descriptors(int *fd, int *const *kept)
{
	int null = open("/dev/null", O_RDWR), number = 3;
	int *const *one;
	bool ok;

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0)
		return false;
	/* First out of each other's way. */
	*fd = fcntl(*fd, F_DUPFD, FAR);
	for (one = kept; one != NULL && *one != NULL; one++)
		**one = fcntl(**one, F_DUPFD, FAR);
	ok = renumber(fd, number++);
	for (one = kept; ok && one != NULL && *one != NULL; one++)
		ok = renumber(*one, number++);
	closefrom(number);
	return ok;
}

/* The limit applies to files in memory as well (generic_write_checks()). */
static int
failure(void)
{
	struct rlimit size;

	return getrlimit(RLIMIT_FSIZE, &size) == 0 &&
		size.rlim_cur != RLIM_INFINITY
	    ? LIMITED
	    : FAILED;
}

/*
 * Raise the limit as far as permitted; above the hard limit that needs
 * CAP_SYS_RESOURCE.
 */
static void
lift(__rlimit_resource_t resource)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	if (setrlimit(resource, &limit) == 0 ||
	    getrlimit(resource, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

static _Noreturn void
run_child(const struct privsep *privsep, pid_t parent, mu_privsep_work *work,
    void *ctx)
{
	int status, fd = privsep->fd;
	FILE *out;

	setsid();
	/*
	 * The child's report goes to memory; the limit is meant for output
	 * files.
	 */
	lift(RLIMIT_FSIZE);
	/*
	 * The limit is for processes of our user, not for those of the
	 * target's.
	 */
	lift(RLIMIT_NPROC);
	/* Child processes inherit it and can no longer change it. */
	mu_oom_score_set(MU_OOM_FIRST);
	mu_priority_allow();
	if ((privsep->target != 0 && !leave_descriptors(&fd, privsep->kept)) ||
	    !(privsep->exceeds ? become(privsep->target, parent)
			       : end_with(parent)))
		_exit(REFUSED);
	out = fdopen(fd, "w");
	if (out == NULL)
		_exit(FAILED);
	status = work(ctx, out);
	/* A failure to write to stderr is a failure of the report, too. */
	if (fclose(out) != 0 || (ferror(stderr) && failure() == LIMITED))
		status = -1;
	_exit(status < 0 ? failure() : status);
}

/* True if CHILD waits for a file and has not run since *RAN_NS. */
static bool
waits(pid_t child, uint64_t *ran_ns)
{
	uint64_t before_ns = *ran_ns;

	*ran_ns = mu_process_cpu_ns(child);
	return *ran_ns == before_ns && mu_waits_for_file(child);
}

/*
 * Returns the wait status of the child after its end; if it is stuck, that of a
 * killed one.
 */
static int
await_child(pid_t child, uint64_t timeout_ns, const sigset_t *awaited,
    struct privsep *privsep)
{
	const struct timespec nap = mu_sys_timespec(MU_NS_PER_SEC);
	uint64_t now = mu_sys_now_ns(), checked_ns = now + timeout_ns;
	uint64_t end_ns = checked_ns + timeout_ns + GRACE_NS, ran_ns = 0;
	int status = SIGKILL, stops = 0, waited = 0;
	pid_t got;

	privsep->late = privsep->stuck = false;
	for (;;) {
		got = waitpid(child, &status, WNOHANG | WUNTRACED);
		if (got == child && !WIFSTOPPED(status))
			return status;
		now = mu_sys_now_ns();
		if (privsep->stuck && now >= end_ns)
			return SIGKILL;
		waited = waits(child, &ran_ns) ? waited + 1 : 0;
		if (!privsep->stuck && waited >= STUCK_SECONDS &&
		    now >= checked_ns) {
			privsep->stuck = privsep->late = true;
			end_ns = now + END_NS;
		}
		privsep->late |= now >= end_ns || stops > MAX_STOPS;
		if (privsep->late)
			kill(child, SIGKILL);
		else if (got == child && ++stops > 0)
			kill(child, SIGCONT);
		sigtimedwait(awaited, NULL, &nap);
	}
}

static bool
copy_report(int fd, FILE *out)
{
	char bytes[1 << 14];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		if (fwrite(bytes, 1, (size_t)n, out) != (size_t)n)
			return false;
		at += n;
	}
	return n == 0;
}

/* Returns REFUSED, or the result of the work. */
static int
conclude(
    const struct privsep *privsep, int status, FILE *out, struct mu_why *why)
{
	if (privsep->stuck && privsep->target == 0)
		mu_why(why, MU_ERR_TIMEOUT,
		    "the core, or a file that it names, was not read in time" MU_CURE
		    "see whether its file system answers");
	else if (privsep->stuck)
		mu_why(why, MU_ERR_TIMEOUT,
		    "process %d was not read in time" MU_CURE
		    "see whether the file systems of its files answer",
		    (int)privsep->target);
	else if (privsep->late)
		mu_why(why, MU_ERR_TIMEOUT,
		    "the child that does the check took too long, or was"
		    " stopped again and again");
	else if (WIFSIGNALED(status))
		mu_why(why, MU_ERR_HELPER_DIED,
		    "the child that does the check was killed by signal"
		    " %d",
		    WTERMSIG(status));
	else if (WEXITSTATUS(status) == REFUSED)
		return REFUSED;
	else if (WEXITSTATUS(status) == LIMITED)
		mu_why(why, MU_ERR_RESOURCES,
		    "the report could not be written" MU_CURE
		    "raise RLIMIT_FSIZE");
	else if (WEXITSTATUS(status) != FAILED && copy_report(privsep->fd, out))
		return WEXITSTATUS(status);
	return -1;
}

/*
 * True if we were started with children. They cannot be distinguished from
 * those that the child leaves behind.
 */
static bool
has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info,
		   WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/*
 * What the child has started restores the process when the child ends,
 * which takes little time unless it is stopped. When it is finally killed, it
 * no longer has control of the process (ptrace/remote/remote_return.h).
 */
static void
await_orphans(const sigset_t *awaited)
{
	const struct timespec nap = mu_sys_timespec(MU_NS_PER_SEC / 10);
	uint64_t end_ns = mu_sys_now_ns() + ORPHANS_NS;
	int status, stops = 0;
	pid_t got;

	for (;;) {
		got = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL);
		if (got < 0 || (got == 0 && mu_sys_now_ns() >= end_ns))
			return;
		if (got == 0)
			sigtimedwait(awaited, NULL, &nap);
		else if (WIFSTOPPED(status))
			kill(got, ++stops > MAX_STOPS ? SIGKILL : SIGCONT);
	}
}

/*
 * Do WORK in a child; false if it cannot be started. *STATUS is that of
 * waitpid().
 */
static bool
start_and_await(struct privsep *privsep, uint64_t timeout_ns,
    mu_privsep_work *work, void *ctx, int *status)
{
	bool adopts = !has_children() && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
	pid_t parent = getpid(), child;
	sigset_t awaited, before;

	/* If SIGCHLD is ignored, children cannot be waited for. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, &before);
	child = fork();
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		run_child(privsep, parent, work, ctx);
	}
	if (child > 0)
		*status = await_child(child, timeout_ns, &awaited, privsep);
	if (child > 0 && adopts && !privsep->stuck)
		await_orphans(&awaited);
	if (adopts)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return child > 0;
}

static int
mend(void *ctx, FILE *out)
{
	const struct privsep *privsep = ctx;

	(void)out;
	mu_process_copy_drop_left(
	    privsep->target, 0, mu_sys_now_ns() + MEND_NS / 2);
	return 0;
}

/* The child and all its children may have been killed at once. */
static void
mend_after(const struct privsep *privsep)
{
	struct privsep mender = *privsep;
	int tries, status;

	for (tries = 0; tries < MEND_TRIES; tries++)
		if (!mu_process_copy_any_left(privsep->target) ||
		    !start_and_await(&mender, MEND_NS, mend, &mender, &status))
			return;
}

static int
run_privsep(struct privsep privsep, uint64_t timeout_ns, mu_privsep_work *work,
    void *ctx, FILE *out, struct mu_why *why)
{
	int status, result = REFUSED;

	privsep.fd = memfd_create("memunreachable", MFD_CLOEXEC);
	if (privsep.fd < 0)
		return REFUSED;
	if (start_and_await(&privsep, timeout_ns, work, ctx, &status)) {
		if (!privsep.stuck && privsep.target != 0)
			mend_after(&privsep);
		result = conclude(&privsep, status, out, why);
	}
	close(privsep.fd);
	return result;
}

int
mu_privsep_run(pid_t target, uint64_t timeout_ns, mu_privsep_work *work,
    void *ctx, FILE *out, int *const *kept, struct mu_why *why)
{
	char text[MU_RIGHTS_STATUS_SIZE];
	struct privsep privsep = { .target = target, .kept = kept };
	int status = REFUSED;

	privsep.exceeds = target != 0 &&
	    (!read_status(target, text, sizeof(text)) ||
		mu_rights_exceed(target, text));
	if (privsep.exceeds || target == 0 || mu_maps_served_files(target))
		status = run_privsep(privsep, timeout_ns, work, ctx, out, why);
	return status == REFUSED ? work(ctx, out) : status;
}
