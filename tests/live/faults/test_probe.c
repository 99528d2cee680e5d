/*
 * What the original finds out before it starts a collector: its tracer, and
 * whether a seccomp filter kills the caller of ptrace. The probe is forced, as
 * only kernels before 5.16 need it.
 */
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "mu/sys.h"
#include "ptrace/live/probe.h"
#include "ptrace/live/refusal.h"
#include "ptrace/live/sharer.h"
#include "tests/support/faults/watched_call.h"
#include "tests/support/suite.h"

#define SOON (mu_sys_now_ns() + 60 * MU_NS_PER_SEC)

static volatile sig_atomic_t signals;

static void
count_signal(int signo)
{
	(void)signo;
	signals++;
}

static bool
core_was_written(void)
{
	char dir[] = "/tmp/probe.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert(mu_probe_kills(true, SOON));
	ck_assert_int_eq(chdir("/"), 0);
	return rmdir(dir) != 0;
}

static void
nothing_is_left(void)
{
	ck_assert_int_eq(signals, 0);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

TEST(no_filter)
{
	ck_assert(!mu_probe_kills(false, SOON));
	ck_assert(!mu_probe_kills(true, SOON));
	nothing_is_left();
}

static const struct {
	uint32_t verdict;
	bool deadly;
} filters[] = {
	{ SECCOMP_RET_ERRNO | EPERM, false },
	{ SECCOMP_RET_ERRNO | ENOSYS, false },
	{ SECCOMP_RET_ERRNO | ESRCH, false },
	{ SECCOMP_RET_ERRNO, false },
	{ SECCOMP_RET_KILL_PROCESS, true },
	{ WATCHED_KILL_THREAD, true },
	/* No handler runs: the signal is blocked, so that it kills. */
	{ SECCOMP_RET_TRAP, true },
};

static void
filter_call(int nr, uint32_t verdict)
{
	const struct watched_call call = {
		.nr = nr, .argument = -1, .verdict = verdict
	};

	ck_assert_int_eq(watched_call_filter(&call, true), 0);
}

static void
filter(uint32_t verdict)
{
	filter_call(SYS_ptrace, verdict);
}

TEST_LOOP(filtered, 0, (int)(sizeof(filters) / sizeof(filters[0])))
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	signal(SIGCHLD, count_signal);
	signal(SIGSYS, count_signal);
	setrlimit(RLIMIT_CORE, &unlimited);
	filter(filters[_i].verdict);
	ck_assert_int_eq(mu_probe_kills(true, SOON), filters[_i].deadly);
	nothing_is_left();
	if (filters[_i].deadly)
		ck_assert(!core_was_written());
}

/*
 * The calls that a stop by signal needs are refused, or kill, and so does
 * ptrace.
 */
static const struct {
	int nr;
	uint32_t verdict;
	bool deadly;
} signal_stop_filters[] = {
	{ SYS_ptrace, SECCOMP_RET_ERRNO | EPERM, false },
	{ SYS_rt_tgsigqueueinfo, SECCOMP_RET_ERRNO | EPERM, false },
	{ SYS_rt_tgsigqueueinfo, SECCOMP_RET_KILL_PROCESS, true },
#ifdef SYS_arch_prctl /* x86-64 only */
	{ SYS_arch_prctl, SECCOMP_RET_KILL_PROCESS, true },
#endif
	{ SYS_rt_sigreturn, SECCOMP_RET_KILL_PROCESS, true },
};

static void *
reap(void *over)
{
	while (!__atomic_load_n((bool *)over, __ATOMIC_ACQUIRE))
		waitpid(-1, NULL, __WALL);
	return NULL;
}

/* A thread of the program gets the child of the probe, and its status. */
TEST(signal_stop_reaped)
{
	bool over = false;
	struct mu_why why;
	pthread_t thread;
	int i;

	filter(SECCOMP_RET_ERRNO | EPERM);
	ck_assert_int_eq(pthread_create(&thread, NULL, reap, &over), 0);
	for (i = 0; i < 50; i++)
		ck_assert_msg(
		    mu_probe_signal_stop(SOON, &why) == MU_OK, "%s", why.text);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

TEST_LOOP(signal_stop_filtered, 0,
    (int)(sizeof(signal_stop_filters) / sizeof(signal_stop_filters[0])))
{
	struct UnreachableMemoryInfo info = { 0 };
	struct mu_why why = { .text = "" };

	/* The next stop method is used, unless signals are all that may be
	 * used. */
	if (mu_library.options.stop == MU_STOP_PTRACE)
		mu_library.options.stop = MU_STOP_AUTO;
	ck_assert_int_eq(mu_probe_signal_stop(SOON, &why), MU_OK);
	filter(SECCOMP_RET_ERRNO | EPERM);
	if (signal_stop_filters[_i].nr != SYS_ptrace)
		filter_call(signal_stop_filters[_i].nr,
		    signal_stop_filters[_i].verdict);
	ck_assert_int_eq(mu_probe_signal_stop(SOON, &why),
	    signal_stop_filters[_i].deadly ? MU_ERR_NO_PERMISSION : MU_OK);
	nothing_is_left();
	/*
	 * Without other threads nothing is stopped; ptrace is probed
	 * nevertheless.
	 */
	ck_assert_int_ne(
	    GetUnreachableMemory(&info, 1), signal_stop_filters[_i].deadly);
	if (signal_stop_filters[_i].deadly)
		ck_assert(info.status == MEMUNREACHABLE_PTRACE_SECCOMP ||
		    info.status == MEMUNREACHABLE_NO_PERMISSION);
	ck_assert_int_eq(strstr(info.reason, "rt_sigreturn") != NULL,
	    signal_stop_filters[_i].deadly);
	FreeUnreachableMemoryInfo(&info);
	nothing_is_left();
}

/* Without force only kernels that need the probe get it. */
TEST(not_forced)
{
	filter(SECCOMP_RET_KILL_PROCESS);
	if (!mu_probe_kills(false, SOON))
		return;
	ck_assert_int_eq(system("uname -r | grep -qE '^([0-4]|5\\.[0-9]\\.|"
				"5\\.1[0-5])[.-]'"),
	    0);
}

/* A supervisor that never answers: the deadline ends that. */
TEST(no_answer)
{
	const struct watched_call call = { .nr = SYS_ptrace, .argument = -1 };
	int listener = watched_call_filter(&call, false);

	if (listener < 0) {
		printf("SKIPPED: no_answer: no supervised filters here (%d)\n",
		    listener);
		return;
	}
	ck_assert(mu_probe_kills(true, mu_sys_now_ns() + MU_NS_PER_SEC / 10));
	nothing_is_left();
	close(listener);
}

/* The call itself is looked at before anything is seized. */
TEST_LOOP(call_refused, 0, 5)
{
	static const uint32_t errors[] = { EPERM, EACCES, ENOSYS, ESRCH, 0 };
	struct mu_why why = { .text = "" };
	char words[32];

	ck_assert_int_eq(mu_refusal_of_call(&why), MU_OK);
	ck_assert_str_eq(why.text, "");
	filter(SECCOMP_RET_ERRNO | errors[_i]);
	ck_assert_int_eq(mu_refusal_of_call(&why), MU_ERR_PTRACE_SECCOMP);
	snprintf(words, sizeof(words), "(error %u)", errors[_i]);
	ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
}

TEST(tracer)
{
	pid_t target = getpid(), pid;
	struct mu_why why = { .text = "" };
	char byte, words[64];
	int told[2], end[2];

	if (mu_refusal_by_tracer(&why) != MU_OK) {
		printf("SKIPPED: tracer: %s\n", why.text);
		return;
	}
	ck_assert(pipe(told) == 0 && pipe(end) == 0);
	prctl(PR_SET_PTRACER, -1L, 0, 0, 0);
	pid = fork();
	if (pid == 0) {
		close(end[1]);
		byte = ptrace(PTRACE_SEIZE, target, 0, 0) == 0 ? 'y' : 'n';
		ck_assert_int_eq(write(told[1], &byte, 1), 1);
		_exit((int)read(end[0], &byte, 1));
	}
	ck_assert_int_eq(read(told[0], &byte, 1), 1);
	if (byte != 'y')
		printf("SKIPPED: tracer: a child may not trace us\n");
	else
		ck_assert_int_eq(
		    mu_refusal_by_tracer(&why), MU_ERR_ALREADY_TRACED);
	snprintf(words, sizeof(words), "already traced by %d (", pid);
	ck_assert(byte != 'y' || strstr(why.text, words) != NULL);
	close(end[0]);
	close(end[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(mu_refusal_by_tracer(&why), MU_OK);
}

static int
await_end(void *end)
{
	char byte;

	return (int)read(*(int *)end, &byte, 1);
}

static void *
await_end_in_thread(void *end)
{
	await_end(end);
	return NULL;
}

/*
 * Neither threads nor processes that share our memory; a process with a copy
 * does not count.
 */
TEST(alone)
{
	size_t size = (size_t)64 << 10;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	int end[2], i;
	pid_t pid;

	ck_assert_ptr_ne(stack, MAP_FAILED);
	ck_assert(pipe(end) == 0);
	if (unshare(0) != 0) {
		printf("SKIPPED: probe: unshare() is refused\n");
		return;
	}
	ck_assert(mu_sharer_none());
	pid = fork();
	if (pid == 0)
		_exit(await_end(&end[0]));
	ck_assert(mu_sharer_none());
	ck_assert(write(end[1], "x", 1) == 1 && waitpid(pid, NULL, 0) == pid);
	pid = clone(await_end, stack + size, CLONE_VM | SIGCHLD, &end[0]);
	ck_assert_int_gt(pid, 0);
	ck_assert(!mu_sharer_none());
	ck_assert(write(end[1], "x", 1) == 1 && waitpid(pid, NULL, 0) == pid);
	ck_assert(mu_sharer_none());
	ck_assert_int_eq(
	    pthread_create(&thread, NULL, await_end_in_thread, &end[0]), 0);
	ck_assert(!mu_sharer_none());
	ck_assert(write(end[1], "x", 1) == 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	/* The kernel releases a thread some time after it can be joined. */
	for (i = 0; i < 10000 && !mu_sharer_none(); i++)
		usleep(1000);
	ck_assert(mu_sharer_none());
}
