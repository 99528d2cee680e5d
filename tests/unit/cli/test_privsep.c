/*
 * The child that checks a process with the rights of that process, and the
 * report that it sends. Most of it needs root, which has rights to give up.
 */
#include <dirent.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#include "lib/check/privsep.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/rights.h"
#include "tests/support/stop/waiting_child.h"
#include "tests/support/suite.h"

#define NOBODY 65534
#define PATIENCE_NS (100 * MU_NS_PER_SEC)
#define ONE_CAPABILITY 10 /* CAP_NET_BIND_SERVICE */

static char said[1 << 14];
static struct mu_why why;

/* What becomes of a process before it is looked at. */
typedef void (*changing)(void);

static bool
become(const void *change)
{
	(*(const changing *)change)();
	return true;
}

static pid_t
start(changing change)
{
	return waiting_child(become, &change);
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static int
run(pid_t pid, mu_privsep_work *work)
{
	FILE *out = tmpfile();
	size_t length;
	int status;

	why.text[0] = '\0';
	status = mu_privsep_run(pid, PATIENCE_NS, work, NULL, out, NULL, &why);
	rewind(out);
	length = fread(said, 1, sizeof(said) - 1, out);
	said[length] = '\0';
	fclose(out);
	return status;
}

/* Its status file, its descriptors, and whether it may look at PID. */
static int
tell(void *ctx, FILE *out)
{
	char status[MU_RIGHTS_STATUS_SIZE], target[32];
	DIR *dir;
	int fd;

	(void)ctx;
	mu_sys_read_file(
	    AT_FDCWD, "/proc/thread-self/status", status, sizeof(status));
	fprintf(out, "%s\nsession %d\ndumpable %d\nstandard %d %d\n", status,
	    getsid(0) == getpid(), prctl(PR_GET_DUMPABLE),
	    lseek(0, 0, SEEK_CUR) == 0, lseek(1, 0, SEEK_CUR) == 0);
	for (fd = 3; fd < 100; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			fprintf(out, "open %d\n", fd);
	snprintf(target, sizeof(target), "/proc/%d/fd", getppid());
	dir = opendir(target);
	fprintf(out, "parent is %s\n", dir == NULL ? "closed" : "open");
	if (dir != NULL)
		closedir(dir);
	return 23;
}

static int64_t
number(const char *key, unsigned base)
{
	return mu_proc_status_number(said, key, 0, base);
}

static void
must_be(pid_t pid, int user, int64_t capabilities)
{
	ck_assert_int_eq(run(pid, tell), 23);
	ck_assert_int_ne(number("\nPid:", 10), getpid());
	ck_assert_int_eq(number("\nPPid:", 10), getpid());
	ck_assert_int_eq(number("\nUid:", 10), user);
	ck_assert_int_eq(mu_proc_status_number(said, "\nUid:", 2, 10), user);
	ck_assert_int_eq(number("\nCapPrm:", 16), capabilities);
	ck_assert_int_eq(number("\nCapEff:", 16), capabilities);
	ck_assert_int_eq(number("\nCapInh:", 16), 0);
	ck_assert_int_eq(number("\nCapAmb:", 16), 0);
	ck_assert_int_eq(number("\nNoNewPrivs:", 10), 1);
	ck_assert_ptr_nonnull(strstr(said, "session 1\ndumpable 0\n"));
	ck_assert_ptr_nonnull(strstr(said, "open 3\nparent is "));
}

/* The work was done here, with all that we have. */
static void
must_be_us(pid_t pid)
{
	ck_assert_int_eq(run(pid, tell), 23);
	ck_assert_int_eq(number("\nPid:", 10), getpid());
}

static void
change_ids(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) != 0)
		_exit(1);
}

static void
set_permitted(uint64_t capabilities)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };

	data[0].permitted = data[0].effective = (uint32_t)capabilities;
	data[1].permitted = data[1].effective = (uint32_t)(capabilities >> 32);
	if (syscall(SYS_capset, &header, data) != 0)
		_exit(1);
}

static void
be_same(void)
{
}

static void
be_nobody(void)
{
	const gid_t groups[] = { 4, 24 };

	if (setgroups(2, groups) != 0)
		_exit(1);
	change_ids();
	prctl(PR_SET_DUMPABLE, 1);
}

static void
be_closed(void)
{
	change_ids();
	prctl(PR_SET_DUMPABLE, 0);
}

static void
be_mixed(void)
{
	if (setresuid(0, NOBODY, 0) != 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
}

static void
be_capable(void)
{
	prctl(PR_SET_KEEPCAPS, 1);
	change_ids();
	set_permitted(1ul << ONE_CAPABILITY);
	prctl(PR_SET_DUMPABLE, 1);
}

static void
be_lesser_root(void)
{
	set_permitted(0);
}

static void
be_elsewhere(void)
{
	int fd;

	if (unshare(CLONE_NEWUSER) != 0)
		return;
	fd = open("/proc/self/setgroups", O_WRONLY);
	if (fd >= 0 && write(fd, "deny", 4) == 4)
		close(fd);
	fd = open("/proc/self/uid_map", O_WRONLY);
	if (write(fd, "1000 0 1", 8) != 8)
		_exit(1);
	close(fd);
	fd = open("/proc/self/gid_map", O_WRONLY);
	if (write(fd, "1000 0 1", 8) != 8)
		_exit(1);
	close(fd);
}

static bool
may_trace_all(void)
{
	return geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) == 1;
}

TEST(same_rights)
{
	pid_t pid = start(be_same);

	must_be_us(pid);
	end(pid);
}

TEST_LOOP(another_user, 0, may_trace_all())
{
	pid_t pid = start(be_nobody);

	must_be(pid, NOBODY, 0);
	ck_assert_int_eq(number("\nGid:", 10), NOBODY);
	ck_assert_int_eq(number("\nGroups:", 10), 4);
	ck_assert_int_eq(mu_proc_status_number(said, "\nGroups:", 1, 10), 24);
	ck_assert_int_eq(number("\nCapBnd:", 16), 0);
	ck_assert_ptr_nonnull(strstr(said, "parent is closed"));
	end(pid);
}

TEST_LOOP(capable, 0, may_trace_all())
{
	pid_t pid = start(be_capable);

	must_be(pid, NOBODY, 1 << ONE_CAPABILITY);
	ck_assert_int_eq(number("\nCapBnd:", 16), 1 << ONE_CAPABILITY);
	end(pid);
}

TEST_LOOP(lesser_root, 0, may_trace_all())
{
	pid_t pid = start(be_lesser_root);

	must_be(pid, 0, 0);
	end(pid);
}

/* A process in another user namespace, where ids have other numbers. */
TEST_LOOP(another_namespace, 0, may_trace_all())
{
	pid_t pid = start(be_elsewhere);
	char ours[64], theirs[64], path[64];

	ours[readlink("/proc/self/ns/user", ours, 63)] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	theirs[readlink(path, theirs, 63)] = '\0';
	if (strncmp(ours, theirs, 20) == 0)
		puts("SKIPPED: no user namespaces here");
	else
		ck_assert_int_eq(run(pid, tell), 23);
	if (strncmp(ours, theirs, 20) != 0)
		ck_assert_int_ne(number("\nPid:", 10), getpid());
	end(pid);
}

/* The kernel would refuse the attach: what we have is kept, and it exceeds. */
static void
must_be_kept(changing change)
{
	char status[MU_RIGHTS_STATUS_SIZE], path[64];
	pid_t pid = start(change);

	must_be_us(pid);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	ck_assert_int_gt(
	    mu_sys_read_file(AT_FDCWD, path, status, sizeof(status)), 0);
	ck_assert(mu_rights_exceed(pid, status));
	end(pid);
}

TEST_LOOP(not_dumpable, 0, may_trace_all())
{
	must_be_kept(be_closed);
}

TEST_LOOP(several_users, 0, may_trace_all())
{
	must_be_kept(be_mixed);
}

TEST_LOOP(gone, 0, may_trace_all())
{
	pid_t pid = start(be_nobody);

	end(pid);
	must_be_us(pid);
}

static int
give_up(void *ctx, FILE *out)
{
	(void)ctx;
	fputs("half a report", out);
	return -1;
}

static int
die(void *ctx, FILE *out)
{
	(void)ctx, (void)out;
	raise(SIGKILL);
	return 0;
}

static int
stop(void *ctx, FILE *out)
{
	(void)ctx;
	raise(SIGSTOP);
	raise(SIGSTOP);
	fputs("all the same", out);
	return 4;
}

static int
stop_always(void *ctx, FILE *out)
{
	(void)ctx, (void)out;
	while (raise(SIGSTOP) == 0)
		continue;
	return 0;
}

static int
write_much(void *ctx, FILE *out)
{
	int i;

	(void)ctx;
	for (i = 0; i < 1000; i++)
		fprintf(out, "%d\n", i);
	return 0;
}

TEST_LOOP(ends, 0, may_trace_all())
{
	pid_t pid = start(be_nobody);

	signal(SIGCHLD, SIG_IGN);
	ck_assert_int_eq(run(pid, give_up), -1);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(run(pid, die), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "killed by signal 9"));
	ck_assert_int_eq(run(pid, stop), 4);
	ck_assert_str_eq(said, "all the same");
	ck_assert_int_eq(run(pid, stop_always), -1);
	ck_assert_msg(
	    strstr(why.text, "again and again") != NULL, "%s", why.text);
	ck_assert_int_eq(run(pid, write_much), 0);
	ck_assert_uint_eq(strlen(said), 3890);
	end(pid);
}

static void
begin(void)
{
	if (!may_trace_all())
		puts("SKIPPED: taking on rights: needs root's CAP_SYS_PTRACE");
}

SUITE(.begin = begin);
