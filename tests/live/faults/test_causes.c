/*
 * Make each condition under which a pass by ptrace fails, and compare status,
 * reason and remedy. The program continues unchanged; once the condition is
 * removed, the next pass is complete. Conditions that need a separate program
 * are tested elsewhere: another allocator (allocators.sh), an unknown glibc
 * (test_unknown_release.c), /proc (test_proc_hidden.c), Yama, which not every
 * kernel has, with made-up facts (unit/ptrace/test_refusal.c).
 */
#include <malloc.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "heapwalk/roots/roots.h"
#include "lib/pipe/answer.h"
#include "ptrace/live/threads.h"
#include "tests/support/faults/causes.h"
#include "tests/support/faults/failing_pass.h"
#include "tests/support/suite.h"

#define NOBODY 65534

/* CALL spoils a pass, which says STATUS, WORDS and CURE. */
static void
spoil(const struct watched_call *call, bool by_filter, int status,
    const char *words, const char *cure)
{
	struct failing_pass failing = { .call = call, .by_filter = by_filter };
	static struct belongings own;

	mu_library.options.stop = MU_STOP_PTRACE;
	belongings_begin(&own);
	if (call->act == ACT_STOP)
		mu_library.options.timeout = 1000;
	if (!failing_pass_run(&failing)) {
		printf("SKIPPED: no seccomp filters here (%d)\n",
		    failing.listener);
		belongings_end(&own);
		return;
	}
	mu_library.options.timeout = 30000;
	ck_assert_msg(failing.acted, "the pass did not make the call");
	ck_assert(!failing.checked);
	check_info(&failing.info, status, words, cure);
	if (call->act != ACT_STOP)
		assert_at_once(&failing);
	belongings_check(&own, &failing);
	belongings_end(&own);
}

TEST(complete)
{
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
}

/* More ranges under MADV_WIPEONFORK than are remembered, and a lost block. */
TEST(partial)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	char *pages = mmap(NULL, 600 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	for (i = 0; i < 600; i += 2)
		ck_assert_int_eq(
		    madvise(pages + i * page, page, MADV_WIPEONFORK), 0);
	memset(pages, 1, 600 * page);
	mu_hide(memset(malloc(LOST_SIZE), 'x', LOST_SIZE));
	scrub_stack();
	must_say(MEMUNREACHABLE_PARTIAL, "MADV_WIPEONFORK", "");
}

TEST(bad_argument)
{
	struct UnreachableMemoryInfo info = { .version = 1 };

	ck_assert(!GetUnreachableMemory(&info, 10));
	check_info(&info, MEMUNREACHABLE_BAD_ARGUMENT, "version", "");
}

static ptrdiff_t
ask_within(void *ctx, uintptr_t *words, size_t max)
{
	struct UnreachableMemoryInfo *info = ctx;

	(void)words;
	(void)max;
	ck_assert(!GetUnreachableMemory(info, 10));
	return 0;
}

TEST(busy_within_a_pass)
{
	static struct UnreachableMemoryInfo info;

	ck_assert(memunreachable_register_root_provider(ask_within, &info));
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
	check_info(&info, MEMUNREACHABLE_BUSY, "from within a pass",
	    "; ask again later");
}

TEST(no_memory)
{
	struct rlimit limit = { 1 << 20, RLIM_INFINITY };

	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	must_say(MEMUNREACHABLE_NO_MEMORY, "no memory", "; raise RLIMIT_AS");
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_AS, &limit);
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
}

TEST(no_resources)
{
	struct rlimit limit, none;

	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 3;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	must_say(MEMUNREACHABLE_NO_RESOURCES, "cannot make a pipe",
	    "; raise RLIMIT_NOFILE");
	setrlimit(RLIMIT_NOFILE, &limit);
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
}

TEST(not_dumpable)
{
	struct failing_pass failing = { .call = NULL };
	static struct belongings own;

	become_nobody();
	belongings_begin(&own);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	ck_assert(failing_pass_run(&failing));
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	ck_assert(!failing.checked);
	check_info(&failing.info, MEMUNREACHABLE_NOT_DUMPABLE,
	    "is not dumpable", "set it dumpable for the check");
	belongings_check(&own, &failing);
	belongings_end(&own);
}

/* The kernel's user ids are a thread's own; libc's calls change all. */
static void *
ask_as_another(void *unused)
{
	ck_assert_int_eq(syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY), 0);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	must_say(MEMUNREACHABLE_NO_PERMISSION, "of user 0, we are user 65534",
	    "run as that user");
	return unused;
}

TEST_LOOP(no_permission, 0, geteuid() == 0)
{
	pthread_t thread;

	pthread_create(&thread, NULL, ask_as_another, NULL);
	pthread_join(thread, NULL);
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
}

TEST(already_traced)
{
	struct failing_pass failing = { .call = NULL };
	static struct belongings own;
	pid_t debugger;
	char words[64];
	int end;

	belongings_begin(&own);
	debugger = start_debugger(&end);
	if (debugger > 0)
		ck_assert(failing_pass_run(&failing));
	else
		printf("SKIPPED: already_traced: a child may not trace us\n");
	close(end);
	ck_assert_int_gt(waitpid(abs(debugger), NULL, 0), 0);
	unharmed_expect_sigchld();
	if (debugger > 0) {
		ck_assert(!failing.checked);
		snprintf(words, sizeof(words),
		    "is already traced by %d (a-debugger)", debugger);
		check_info(&failing.info, MEMUNREACHABLE_ALREADY_TRACED, words,
		    "detach that");
		belongings_check(&own, &failing);
	}
	belongings_end(&own);
}

/* A block's owner wrote past its end, into the size of the next. */
TEST(heap_inconsistent)
{
	char *block = malloc(40);
	volatile size_t *next;
	size_t kept;

	ck_assert_ptr_nonnull(block);
	next = (volatile size_t *)(void *)(block + malloc_usable_size(block));
	kept = *next;
	*next = 0x4141414141414141;
	must_say(MEMUNREACHABLE_HEAP_INCONSISTENT, "size leads out of the heap",
	    "; ask again");
	*next = kept;
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
	free(block);
}

#if defined(__x86_64__)
/* Like a debugger that has ended: an int3 without a tracer. */
static void
put_breakpoint(void *function, unsigned char *old, unsigned char new)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)function & ~(page - 1);

	ck_assert_int_eq(
	    mprotect((void *)at, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC),
	    0);
	*old = *(unsigned char *)function;
	*(volatile unsigned char *)function = new;
	mprotect((void *)at, 2 * page, PROT_READ | PROT_EXEC);
}

TEST_LOOP(breakpoint, 0, 2)
{
	void *function = _i == 0 ? (void *)(uintptr_t)mu_threads_stop_listed
				 : (void *)(uintptr_t)mu_roots_find;
	unsigned char old, int3;

	put_breakpoint(function, &old, 0xcc);
	must_say(MEMUNREACHABLE_HELPER_DIED,
	    _i == 0 ? "the collector was killed by signal 5 (SIGTRAP)"
		    : "the sweeper was killed by signal 5 (SIGTRAP)",
	    "a breakpoint?");
	put_breakpoint(function, &int3, old);
	ck_assert_int_eq(int3, 0xcc);
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
}
#endif

/*
 * Every step of a pass that can fail, made to fail.
 */

CASE(steps, NULL, NULL);

/* 0: a filter that only pretends. */
TEST_LOOP(seccomp_answers, 0, 5)
{
	static const uint32_t errors[] = { EPERM, EACCES, ENOSYS, ESRCH, 0 };
	const struct watched_call call = { .nr = SYS_ptrace,
		.argument = -1,
		.verdict = SECCOMP_RET_ERRNO | errors[_i] };

	spoil(&call, true, MEMUNREACHABLE_PTRACE_SECCOMP,
	    "a seccomp filter or sandbox refuses ptrace", "--cap-add");
}

TEST_LOOP(seccomp_kills, 0, 3)
{
	static const uint32_t verdicts[] = { SECCOMP_RET_KILL_PROCESS,
		WATCHED_KILL_THREAD, SECCOMP_RET_TRAP };
	const struct watched_call call = {
		.nr = SYS_ptrace, .argument = -1, .verdict = verdicts[_i]
	};
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	char dir[] = "/tmp/causes.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	setrlimit(RLIMIT_CORE, &unlimited);
	spoil(&call, true, MEMUNREACHABLE_PTRACE_SECCOMP,
	    "a seccomp filter kills a process that calls ptrace", "allow");
	/* A core file of the program is not in the folder. */
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

TEST_LOOP(no_collector, 0, 2)
{
	const struct watched_call call = { .nr = SYS_clone,
		.argument = 0,
		.mask = CLONE_VM | CLONE_THREAD,
		.value = CLONE_VM,
		.error = _i == 0 ? EAGAIN : EPERM };

	spoil(&call, true,
	    _i == 0 ? MEMUNREACHABLE_NO_RESOURCES
		    : MEMUNREACHABLE_NO_PERMISSION,
	    "", "");
}

TEST_LOOP(ptrace_denied, 0, 2)
{
	const struct watched_call call = { .nr = SYS_ptrace,
		.argument = -1,
		.error = _i == 0 ? EPERM : ENOSYS };

	spoil(&call, true, MEMUNREACHABLE_PTRACE_SECCOMP,
	    "a seccomp filter or sandbox refuses ptrace", "--cap-add");
}

/* The next stop method works. */
TEST_LOOP(ptrace_denied_by_signal, 0, 2)
{
	const struct watched_call call = { .nr = SYS_ptrace,
		.argument = -1,
		.error = _i == 0 ? EPERM : ENOSYS };
	struct failing_pass failing = { .call = &call, .by_filter = true };
	static struct belongings own;

	mu_library.options.stop = MU_STOP_AUTO;
	belongings_begin(&own);
	if (failing_pass_run(&failing)) {
		ck_assert_msg(failing.checked, "%s", failing.info.reason);
		ck_assert_int_eq(failing.info.status, MEMUNREACHABLE_COMPLETE);
		ck_assert_int_eq(failing.info.stop, MEMUNREACHABLE_STOP_SIGNAL);
		belongings_check(&own, &failing);
	} else
		printf("SKIPPED: ptrace_denied_by_signal: no seccomp "
		       "filters here (%d)\n",
		    failing.listener);
	belongings_end(&own);
}

TEST_LOOP(collector_killed, 0, 8)
{
	static const uint32_t requests[] = { PTRACE_SEIZE, PTRACE_INTERRUPT,
		PTRACE_GETREGSET, PTRACE_DETACH };
	const struct watched_call call = { .comm = "mu-collector",
		.nr = SYS_ptrace,
		.argument = 0,
		.mask = ~0u,
		.value = requests[_i % 4],
		.act = ACT_KILL,
		.nth = _i < 4 ? 1 : 3 };

	spoil(&call, false, MEMUNREACHABLE_HELPER_DIED,
	    "the collector was killed by signal 9 (SIGKILL)", "memory");
}

/* An expired deadline has its own status. */
TEST_LOOP(collector_stopped, 0, 2)
{
	const struct watched_call call = { .comm = "mu-collector",
		.nr = SYS_ptrace,
		.argument = 0,
		.mask = ~0u,
		.value = PTRACE_SEIZE,
		.act = ACT_STOP,
		.nth = 2 - _i };

	spoil(&call, false, MEMUNREACHABLE_TIMEOUT,
	    "the collector did not finish in time", "; give it more time");
}

/* While threads are stopped it is killed after max_pause, for another one. */
TEST_LOOP(collector_stopped_in_the_stop, 0, 2)
{
	const struct watched_call call = { .comm = "mu-collector",
		.nr = SYS_ptrace,
		.argument = 0,
		.mask = ~0u,
		.value = _i == 0 ? PTRACE_GETREGSET : PTRACE_DETACH,
		.act = ACT_STOP,
		.nth = 2 };
	struct failing_pass failing = { .call = &call };
	static struct belongings own;

	mu_library.options.stop = MU_STOP_PTRACE;
	belongings_begin(&own);
	if (failing_pass_run(&failing)) {
		ck_assert_msg(failing.acted, "the pass did not make the call");
		ck_assert(failing.checked);
		check_info(&failing.info, MEMUNREACHABLE_COMPLETE, "", "");
		belongings_check(&own, &failing);
	}
	belongings_end(&own);
}

TEST_LOOP(no_sweeper, 0, 2)
{
	const struct watched_call call = { .nr = SYS_clone,
		.argument = 0,
		.mask = CLONE_PARENT,
		.value = CLONE_PARENT,
		.error = _i == 0 ? EAGAIN : ENOMEM };

	spoil(&call, true,
	    _i == 0 ? MEMUNREACHABLE_NO_RESOURCES : MEMUNREACHABLE_NO_MEMORY,
	    "cannot fork the sweeper", "");
}

TEST(sweeper_dies_at_once)
{
	const struct watched_call call = { .comm = "mu-sweeper",
		.nr = SYS_openat,
		.argument = -1,
		.act = ACT_KILL,
		.nth = 1 };

	spoil(&call, false, MEMUNREACHABLE_HELPER_DIED,
	    "the sweeper was killed by signal 9 (SIGKILL)", "memory");
}

/* Before the header, and between it and the entries. */
TEST_LOOP(sweeper_dies_while_sending, 0, 2)
{
	const struct watched_call call = { .comm = "mu-sweeper",
		.nr = SYS_write,
		.argument = _i == 0 ? 2 : -1,
		.mask = ~0u,
		.value = sizeof(struct mu_pipe_header),
		.act = ACT_KILL,
		.nth = _i == 0 ? 1 : 2 };

	spoil(&call, false, MEMUNREACHABLE_HELPER_DIED,
	    "the sweeper was killed by signal 9 (SIGKILL)", "memory");
}

TEST_LOOP(sweeper_stopped, 0, 2)
{
	const struct watched_call call = { .comm = "mu-sweeper",
		.nr = _i == 0 ? SYS_openat : SYS_write,
		.argument = _i == 0 ? -1 : 2,
		.mask = ~0u,
		.value = _i == 0 ? 0 : sizeof(struct mu_pipe_header),
		.act = ACT_STOP,
		.nth = 1 };

	spoil(&call, false, MEMUNREACHABLE_TIMEOUT,
	    "the sweeper did not finish in time", "; give it more time");
}

static void
begin(void)
{
	if (geteuid() != 0)
		printf("SKIPPED: no_permission needs root, to become another "
		       "user\n");
}

SUITE(.begin = begin, .setup = causes_setup);
