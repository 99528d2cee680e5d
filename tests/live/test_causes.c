/*
 * Each way in which a pass by ptrace does not come about, with its real cause:
 * the status, the words, and the cure in them. Once the cause is gone, the next
 * pass is complete. Causes that need a separate program are tested elsewhere:
 * another allocator (allocators.sh), an unknown glibc (test_unknown_release.c),
 * /proc (test_proc_hidden.c), Yama, which is not built into every kernel, with
 * made-up facts (unit/test_refusal.c).
 */
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "heapwalk/roots/roots.h"
#include "lib/pipe/leak_pipe.h"
#include "ptrace/live/threads.h"
#include "tests/support/causes.h"
#include "tests/support/failing_pass.h"
#include "tests/support/suite.h"

/* A pass in a separate thread, in which CALL is watched. */
static void
spoiled_must_say(const struct watched_call *call, bool by_filter, int status,
    const char *words, const char *cure)
{
	struct failing_pass failing = { .call = call, .by_filter = by_filter };

	if (!failing_pass_run(&failing)) {
		printf("SKIPPED: causes: no such filters here (%d)\n",
		    failing.listener);
		return;
	}
	ck_assert(failing.acted);
	check_info(&failing.info, status, words, cure);
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
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

TEST_LOOP(timeout, 0, 2)
{
	const struct watched_call call = {
		.comm = _i == 0 ? "mu-collector" : "mu-sweeper",
		.nr = _i == 0 ? SYS_ptrace : SYS_openat,
		.argument = -1,
		.act = ACT_STOP,
		.nth = 1,
	};

	mu_library.options.timeout = 500;
	spoiled_must_say(&call, false, MEMUNREACHABLE_TIMEOUT,
	    _i == 0 ? "the collector did not finish in time"
		    : "the sweeper did not finish in time",
	    "; give it more time");
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

/* 0: a filter that only pretends. */
TEST_LOOP(seccomp_answers, 0, 5)
{
	static const uint32_t errors[] = { EPERM, EACCES, ENOSYS, ESRCH, 0 };
	const struct watched_call call = { .nr = SYS_ptrace,
		.argument = -1,
		.verdict = SECCOMP_RET_ERRNO | errors[_i] };

	spoiled_must_say(&call, true, MEMUNREACHABLE_PTRACE_SECCOMP,
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
	spoiled_must_say(&call, true, MEMUNREACHABLE_PTRACE_SECCOMP,
	    "a seccomp filter kills who calls ptrace", "allow");
	/* There is no core file of the program in it. */
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

TEST_LOOP(not_dumpable, 0, geteuid() == 0)
{
	become_nobody();
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	must_say(MEMUNREACHABLE_NOT_DUMPABLE, "is not dumpable",
	    "set it dumpable for the check");
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
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
	pid_t pid, target = getpid();
	char words[64], byte;
	int told[2], end[2];

	ck_assert(pipe(told) == 0 && pipe(end) == 0);
	pid = fork();
	if (pid == 0) {
		close(end[1]);
		prctl(PR_SET_NAME, "a-debugger");
		byte = ptrace(PTRACE_SEIZE, target, 0, 0) == 0 ? 'y' : 'n';
		_exit(
		    write(told[1], &byte, 1) == 1 && read(end[0], &byte, 1) == 0
			? 0
			: 1);
	}
	ck_assert_int_eq(read(told[0], &byte, 1), 1);
	if (byte == 'y') {
		struct failing_pass failing = { .call = NULL };

		snprintf(words, sizeof(words),
		    "is already traced by %d (a-debugger)", pid);
		failing_pass_run(&failing);
		check_info(&failing.info, MEMUNREACHABLE_ALREADY_TRACED, words,
		    "detach that");
	} else {
		printf("SKIPPED: already_traced: a child may not trace us\n");
	}
	close(end[0]);
	close(end[1]);
	waitpid(pid, NULL, 0);
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
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

TEST(collector_killed)
{
	const struct watched_call call = { .comm = "mu-collector",
		.nr = SYS_ptrace,
		.argument = -1,
		.act = ACT_KILL,
		.nth = 4 };

	spoiled_must_say(&call, false, MEMUNREACHABLE_HELPER_DIED,
	    "the collector was killed by signal 9 (SIGKILL)", "memory");
}

TEST(sweeper_killed)
{
	const struct watched_call call = { .comm = "mu-sweeper",
		.nr = SYS_write,
		.argument = 2,
		.mask = ~0u,
		.value = sizeof(struct mu_pipe_header),
		.act = ACT_KILL,
		.nth = 1 };

	spoiled_must_say(&call, false, MEMUNREACHABLE_HELPER_DIED,
	    "the sweeper was killed by signal 9 (SIGKILL)", "memory");
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

static void
begin(void)
{
	if (geteuid() != 0)
		printf("SKIPPED: not_dumpable, no_permission: need root, to "
		       "become another user\n");
}

SUITE(.begin = begin, .setup = causes_setup);
