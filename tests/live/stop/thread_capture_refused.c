/*
 * Threads that cannot be stopped: one has a debugger, one waits in vfork(). The
 * others are released.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "mu/sys.h"
#include "tests/support/stop/captured.h"
#include "tests/support/stop/waiting_child.h"
#include "tests/support/suite.h"

static bool
trace_as_debugger(const void *tid)
{
	prctl(PR_SET_NAME, "a debugger");
	return ptrace(PTRACE_SEIZE, *(const pid_t *)tid, NULL, NULL) == 0;
}

TEST_LOOP(already_traced, 0, 2)
{
	struct threaded_child threaded = threaded_start(10, NULL);
	pid_t *tids, tracer;
	char words[64];
	size_t n;

	ck_assert_int_eq(mu_threads_list(threaded.pid, &tids, &n,
			     &captured_arena, &captured_why),
	    MU_OK);
	/*
	 * The leader, or one thread in the middle, is refused: the others are
	 * released.
	 */
	tracer = waiting_child(trace_as_debugger, &tids[_i == 0 ? 0 : 5]);
	must_not_stop(threaded.pid, MU_ERR_ALREADY_TRACED, NULL);
	snprintf(words, sizeof(words), "traced by %d (a debugger)", tracer);
	ck_assert_msg(
	    strstr(captured_why.text, words) != NULL, "%s", captured_why.text);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	threaded_end(&threaded);
}

/*
 * A parent in vfork() cannot be stopped; the end of the tracer releases it
 * nevertheless.
 */
static void *
vfork_until_quit(void *arg)
{
	(void)arg;
	if (vfork() == 0) {
		threaded_set(&threaded_shared->created, (int)getpid());
		while (!threaded_get(&threaded_shared->sent[0]))
			usleep(1000);
		_exit(0);
	}
	threaded_set(&threaded_shared->sent[1], 1);
	return NULL;
}

static void
have_a_vfork(struct threaded_shared *shared)
{
	(void)shared;
	threaded_spawn(vfork_until_quit, NULL);
}

TEST(deadline)
{
	struct threaded_child threaded = threaded_start(3, have_a_vfork);
	pid_t tracer;
	int status;

	threaded_await(&threaded.shared->created, 1);
	tracer = fork();
	if (tracer == 0) {
		status = stop_threads(&captured_threads, threaded.pid, 0,
		    &captured_arena, mu_sys_now_ns() + MU_NS_PER_SEC / 10, NULL,
		    &captured_why);
		_exit(status == MU_ERR_TIMEOUT && captured_threads.count == 0
			? 0
			: 1);
	}
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	ck_assert_int_eq(status, 0);
	threaded_is_unharmed(&threaded);
	threaded_set(&threaded.shared->sent[0], 1);
	threaded_await(&threaded.shared->sent[1], 1);
	must_stop(threaded.pid);
	mu_threads_release(&captured_threads);
	threaded_end(&threaded);
}

#define STOP_NS (MU_NS_PER_SEC / 10)
#define HELD_NS (MU_NS_PER_SEC / 4) /* the release waits for 200 ms */

struct ticking {
	_Atomic uint64_t longest_ns; /* between two ticks */
	_Atomic bool ticks;
};

static struct ticking *ticking;

static void *
tick(void *arg)
{
	uint64_t last = mu_sys_now_ns(), now;

	for (;; last = now) {
		usleep(1000);
		now = mu_sys_now_ns();
		if (now - last > ticking->longest_ns)
			ticking->longest_ns = now - last;
		ticking->ticks = true;
	}
	return arg;
}

/* Its first thread is in vfork(), the other one ticks. */
static _Noreturn void
tick_behind_a_vfork(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, tick, NULL);
	if (vfork() == 0)
		for (;;)
			usleep(1000);
	_exit(1);
}

static bool
times_out(pid_t pid)
{
	int status;
	pid_t tracer = fork();

	if (tracer == 0) {
		status =
		    stop_threads(&captured_threads, pid, 0, &captured_arena,
			mu_sys_now_ns() + STOP_NS, NULL, &captured_why);
		_exit(status == MU_ERR_TIMEOUT ? 0 : 1);
	}
	return waitpid(tracer, &status, 0) == tracer && status == 0;
}

/* A thread that has stopped is not held up by one that has not. */
TEST(let_go_in_any_order)
{
	uint64_t least_ns = UINT64_MAX;
	char path[64], child[32] = "";
	pid_t pid;
	int i, fd;

	ticking = mmap(NULL, sizeof(*ticking), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0)
		tick_behind_a_vfork();
	while (!ticking->ticks || threaded_state(pid, pid) != 'D')
		usleep(1000);
	for (i = 0; i < 10; i++) {
		ticking->longest_ns = 0;
		ck_assert(times_out(pid));
		if (ticking->longest_ns < least_ns)
			least_ns = ticking->longest_ns;
	}
	ck_assert_uint_lt(least_ns, HELD_NS);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY);
	ck_assert_int_gt(read(fd, child, sizeof(child) - 1), 0);
	close(fd);
	kill(pid, SIGKILL);
	kill(atoi(child), SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(ticking, sizeof(*ticking));
}

/*
 * Refusals by the kernel: each reason names its cause, and the victim is
 * unchanged. Needs root, to become another user.
 */

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
	enum mu_status status = stop_threads(&threads, pid, 0, &arena,
	    mu_sys_now_ns() + 60 * MU_NS_PER_SEC, NULL, &why);

	ck_assert_msg(
	    status == expected, "%s: %s", mu_status_name(status), why.text);
	ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
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

CASE(refusal, setup, teardown);

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
	mu_sys_exit(stop_threads(&threads, *(pid_t *)arg, 0, &arena,
	    mu_sys_now_ns() + 60 * MU_NS_PER_SEC, NULL, &why));
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
	    (unsigned)status, why.text);
}

/*
 * A process of root, which we may not trace after becoming an unprivileged
 * user.
 */
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
	/* ESRCH pretends that the thread has ended, 0 that it is traced. */
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
	status = stop_threads(&threads, threaded.pid, 0, &arena,
	    mu_sys_now_ns() + 60 * MU_NS_PER_SEC, NULL, &why);
	for (fd = first; fd < last; fd++)
		close(fd);
	ck_assert_msg(status == MU_ERR_RESOURCES, "%s", why.text);
	threaded_end(&threaded);
}

static void
begin(void)
{
	if (getuid() != 0)
		printf("SKIPPED: not_dumpable, other_user: need root\n");
}

SUITE(.setup = captured_setup, .teardown = captured_teardown, .begin = begin);
