/*
 * Refusals by a real kernel: each names its cause, and leaves the victim as it
 * was. Needs root, to become another user.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "mu/sys.h"
#include "ptrace/live/threads.h"
#include "tests/support/suite.h"
#include "tests/support/threaded_child.h"

#define NOBODY 65534

static struct mu_arena arena;
static struct mu_threads threads;
static struct mu_why why;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)64 << 20);
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

static void
must_be_refused(pid_t pid, enum mu_status expected, const char *words)
{
	enum mu_status status = mu_threads_stop(&threads, pid, 0, &arena,
	    mu_sys_now_ns() + 60 * MU_NS_PER_SEC, &why);

	ck_assert_msg(
	    status == expected, "%s: %s", mu_status_name(status), why.words);
	ck_assert_msg(strstr(why.words, words) != NULL, "%s", why.words);
	ck_assert_uint_eq(threads.count, 0);
}

static void
become_nobody(struct threaded_shared *unused)
{
	(void)unused;
	if (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) != 0)
		_exit(9);
	/* The change of user has made us undumpable. */
	prctl(PR_SET_DUMPABLE, 1);
}

static void
become_undumpable(struct threaded_shared *unused)
{
	(void)unused;
	prctl(PR_SET_DUMPABLE, 0);
}

TEST_LOOP(not_dumpable, 0, getuid() == 0)
{
	struct threaded_child threaded;

	become_nobody(NULL);
	threaded = threaded_start(3, become_undumpable);
	must_be_refused(threaded.pid, MU_ERR_NOT_DUMPABLE, "not dumpable");
	threaded_end(&threaded);
}

/* The collector asks about its parent, whose memory and flag it shares. */
static int
ask_about_parent(void *arg)
{
	mu_sys_exit(mu_threads_stop(&threads, *(pid_t *)arg, 0, &arena,
	    mu_sys_now_ns() + 60 * MU_NS_PER_SEC, &why));
}

TEST_LOOP(notdumpable_parent, 0, getuid() == 0)
{
	static char stack[128 << 10] __attribute__((aligned(16)));
	pid_t parent = getpid(), pid;
	int status;

	become_nobody(NULL);
	prctl(PR_SET_DUMPABLE, 0);
	pid = clone(ask_about_parent, stack + sizeof(stack),
	    CLONE_VM | CLONE_FS | CLONE_UNTRACED, &parent);
	ck_assert_int_gt(pid, 0);
	while (mu_sys_wait(pid, &status, MU_WALL) == -EINTR)
		;
	ck_assert_msg(status == MU_ERR_NOT_DUMPABLE << 8, "%#x: %s",
	    (unsigned)status, why.words);
}

/* Root's process, and later us as nobody. */
TEST_LOOP(other_user, 0, getuid() == 0)
{
	struct threaded_child threaded = threaded_start(3, NULL);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		become_nobody(NULL);
		must_be_refused(threaded.pid, MU_ERR_NO_PERMISSION,
		    "of user 0, we are user 65534");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	threaded_end(&threaded);
}

static void
forbid_ptrace(unsigned answer)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST_LOOP(seccomp, 0, 5)
{
	/* ESRCH as if it had ended, 0 as if it were ours. */
	static const unsigned answers[] = { EPERM, EACCES, ENOSYS, ESRCH, 0 };
	struct threaded_child threaded = threaded_start(3, NULL);

	forbid_ptrace(answers[_i]);
	must_be_refused(threaded.pid, MU_ERR_PTRACE_SECCOMP, "seccomp");
	threaded_end(&threaded);
}

TEST(no_descriptor)
{
	struct threaded_child threaded = threaded_start(1, NULL);
	enum mu_status status;
	int fd, first = dup(0), last;

	do
		fd = dup(0);
	while (fd >= 0);
	last = (int)sysconf(_SC_OPEN_MAX);
	status = mu_threads_stop(&threads, threaded.pid, 0, &arena,
	    mu_sys_now_ns() + 60 * MU_NS_PER_SEC, &why);
	for (fd = first; fd < last; fd++)
		close(fd);
	ck_assert_msg(status == MU_ERR_RESOURCES, "%s", why.words);
	threaded_end(&threaded);
}

static void
begin(void)
{
	if (getuid() != 0)
		printf("SKIPPED: not_dumpable, other_user: need root\n");
}

SUITE(.begin = begin, .setup = setup, .teardown = teardown);
