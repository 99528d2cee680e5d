/*
 * Shortages and refusals of the system: memory, descriptors, processes, /proc,
 * permission. The call says so, and the program goes on as if nothing had been;
 * the next pass works.
 */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/failing_pass.h"
#include "tests/support/suite.h"

/* A block whose memory the sweeper does not have is skipped and counted. */
TEST(allocation_not_mapped)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t size = (size_t)1 << 20;
	char *p = malloc(size), *page;

	ck_assert_ptr_nonnull(p);
	memset(p, 1, size);
	page = (char *)(((uintptr_t)p + 0xffff) & ~(uintptr_t)0xffff);
	ck_assert_int_eq(madvise(page, 0x10000, MADV_DONTFORK), 0);
	ck_assert(GetUnreachableMemory(&info, 10));
	if (info.status == MEMUNREACHABLE_PARTIAL)
		ck_assert_str_ne(info.reason, "");
	FreeUnreachableMemoryInfo(&info);
	ck_assert_int_eq(mprotect(page, 0x10000, PROT_NONE), 0);
	ck_assert(GetUnreachableMemory(&info, 10));
	FreeUnreachableMemoryInfo(&info);
	mprotect(page, 0x10000, PROT_READ | PROT_WRITE);
	madvise(page, 0x10000, MADV_DOFORK);
	ck_assert(GetUnreachableMemory(&info, 10));
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	FreeUnreachableMemoryInfo(&info);
	free(p);
}

static ptrdiff_t
provide(void *ctx, uintptr_t *words, size_t max)
{
	(void)words;
	(void)max;
	return *(ptrdiff_t *)ctx;
}

TEST_LOOP(provider_fails, 0, 2)
{
	struct failing_pass pass = { .call = NULL };
	static struct belongings own;
	static ptrdiff_t answer;

	answer = _i == 0 ? -1 : PTRDIFF_MAX;
	ck_assert(memunreachable_register_root_provider(provide, &answer));
	belongings_begin(&own);
	ck_assert(failing_pass_run(&pass));
	ck_assert(pass.judged);
	ck_assert_int_eq(pass.info.status, MEMUNREACHABLE_COMPLETE);
	belongings_check(&own, &pass);
	belongings_end(&own);
	ck_assert(memunreachable_unregister_root_provider(provide, &answer));
}

static rlim_t
set_soft_limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit;
	rlim_t old;

	ck_assert_int_eq(getrlimit(resource, &limit), 0);
	old = limit.rlim_cur;
	limit.rlim_cur = value;
	ck_assert_int_eq(setrlimit(resource, &limit), 0);
	return old;
}

static rlim_t
mapped_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	ck_assert_int_eq(fscanf(statm, "%lu", &pages), 1);
	fclose(statm);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Memory runs out at every point there is, in steps of 32 KiB. */
TEST(no_memory)
{
	static struct belongings own;
	unsigned step, failures = 0;
	bool judged = false;
	rlim_t old;

	belongings_begin(&own);
	for (step = 0; step < 1000 && !judged; step++) {
		struct failing_pass pass = { .call = NULL };

		old = set_soft_limit(
		    RLIMIT_AS, mapped_bytes() + step * (rlim_t)32768);
		ck_assert(failing_pass_run(&pass));
		set_soft_limit(RLIMIT_AS, old);
		judged = pass.judged;
		failures += !judged;
		ck_assert_msg(
		    judged || pass.info.status == MEMUNREACHABLE_NO_MEMORY,
		    "status %d, %s", pass.info.status, pass.info.reason);
		assert_at_once(&pass);
		belongings_check(&own, &pass);
	}
	ck_assert_uint_gt(failures, 0);
	ck_assert(judged);
	belongings_end(&own);
}

/* Descriptors run out: none for maps, none for the pipe, one for it. */
TEST(no_descriptor)
{
	static struct belongings own;
	unsigned limit, failures = 0;
	bool judged = false;
	rlim_t old;

	belongings_begin(&own);
	for (limit = 0; limit < 64 && !judged; limit++) {
		struct failing_pass pass = { .call = NULL };

		old = set_soft_limit(RLIMIT_NOFILE, limit);
		ck_assert(failing_pass_run(&pass));
		set_soft_limit(RLIMIT_NOFILE, old);
		judged = pass.judged;
		failures += !judged;
		ck_assert_msg(
		    judged || pass.info.status == MEMUNREACHABLE_NO_RESOURCES,
		    "status %d, %s", pass.info.status, pass.info.reason);
		assert_at_once(&pass);
		belongings_check(&own, &pass);
	}
	ck_assert_uint_gt(failures, 2);
	ck_assert(judged);
	belongings_end(&own);
}

/*
 * As a user without privileges, dumpable again. It must have no processes, not
 * even another run of this test.
 */
static bool
become_nobody(void)
{
	uid_t nobody = 20000 + (uid_t)getpid() % 40000;

	if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0)
		return false;
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

/* The first limit leaves no room for the collector, the second one for it
   alone. */
TEST_LOOP(no_process, 0, 2)
{
	struct failing_pass pass = { .call = NULL };
	static struct belongings own;
	rlim_t old;

	if (_i == 1 && getenv("TESTS_STOP") != NULL &&
	    atoi(getenv("TESTS_STOP")) == MEMUNREACHABLE_STOP_SIGNAL) {
		printf("SKIPPED: no_process: by signal the sweeper "
		       "is the only one\n");
		return;
	}
	if (geteuid() != 0) {
		printf("SKIPPED: no_process needs root: it counts "
		       "the processes of another user\n");
		return;
	}
	ck_assert(become_nobody());
	belongings_begin(&own);
	/* main, the workers, the pass's thread */
	old = set_soft_limit(RLIMIT_NPROC, 2 + UNHARMED_TASKS + (rlim_t)_i);
	ck_assert(failing_pass_run(&pass));
	set_soft_limit(RLIMIT_NPROC, old);
	ck_assert(!pass.judged);
	ck_assert_int_eq(pass.info.status, MEMUNREACHABLE_NO_RESOURCES);
	assert_at_once(&pass);
	belongings_check(&own, &pass);
	belongings_end(&own);
}

/* With a stand-in for it, and where that is refused. */
TEST_LOOP(no_proc, 0, 2)
{
	const struct watched_call fsopen = {
		.nr = 430, .argument = -1, .error = EPERM
	};
	struct failing_pass pass = { .call = _i == 0 ? NULL : &fsopen,
		.by_filter = true };
	static struct belongings own;

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
		printf("SKIPPED: no_proc needs a mount namespace\n");
		return;
	}
	belongings_begin(&own);
	ck_assert_int_eq(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	ck_assert(failing_pass_run(&pass));
	ck_assert_int_eq(umount("/proc"), 0);
	ck_assert(!pass.judged || _i == 0);
	ck_assert(pass.judged || pass.info.status == MEMUNREACHABLE_NO_PROC);
	belongings_check(&own, &pass);
	belongings_end(&own);
}

TEST(not_dumpable)
{
	struct failing_pass pass = { .call = NULL };
	static struct belongings own;

	ck_assert(become_nobody());
	mu_library.options.stop = MU_STOP_PTRACE;
	belongings_begin(&own);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	ck_assert(failing_pass_run(&pass));
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	ck_assert(!pass.judged);
	ck_assert_msg(pass.info.status == MEMUNREACHABLE_NOT_DUMPABLE,
	    "status %d, %s", pass.info.status, pass.info.reason);
	belongings_check(&own, &pass);
	belongings_end(&own);
}

/* Until END is closed: every signal that TARGET gets stops it for us. */
static _Noreturn void
debug(pid_t target, int end)
{
	struct pollfd closed = { end, POLLIN, 0 };
	int status;

	while (poll(&closed, 1, 1) == 0)
		if (waitpid(target, &status, __WALL | WNOHANG) == target &&
		    WIFSTOPPED(status))
			ptrace(PTRACE_CONT, target, 0, WSTOPSIG(status));
	ptrace(PTRACE_INTERRUPT, target, 0, 0);
	waitpid(target, &status, __WALL);
	ptrace(
	    PTRACE_DETACH, target, 0, status >> 16 == 0 ? WSTOPSIG(status) : 0);
	_exit(0);
}

/* A debugger that has this thread; tells by a byte how that went. */
static pid_t
start_debugger(int *end)
{
	pid_t pid, target = getpid();
	int ends[2][2];
	char byte;

	ck_assert(pipe(ends[0]) == 0 && pipe(ends[1]) == 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1][1]);
		prctl(PR_SET_NAME, "a-debugger");
		byte = ptrace(PTRACE_SEIZE, target, 0, 0) == 0 ? 'y' : 'n';
		if (write(ends[0][1], &byte, 1) == 1 && byte == 'y')
			debug(target, ends[1][0]);
		_exit(1);
	}
	ck_assert_int_eq(read(ends[0][0], &byte, 1), 1);
	close(ends[0][0]);
	close(ends[0][1]);
	close(ends[1][0]);
	*end = ends[1][1];
	return byte == 'y' ? pid : -pid;
}

TEST(already_traced)
{
	struct failing_pass pass = { .call = NULL };
	static struct belongings own;
	pid_t debugger;
	int end;

	mu_library.options.stop = MU_STOP_PTRACE;
	belongings_begin(&own);
	debugger = start_debugger(&end);
	if (debugger < 0)
		printf("SKIPPED: already_traced: a child may not trace us\n");
	else
		ck_assert(failing_pass_run(&pass));
	close(end);
	ck_assert_int_gt(waitpid(abs(debugger), NULL, 0), 0);
	unharmed_expect_sigchld();
	if (debugger > 0) {
		ck_assert(!pass.judged);
		ck_assert_int_eq(
		    pass.info.status, MEMUNREACHABLE_ALREADY_TRACED);
		ck_assert_ptr_nonnull(strstr(pass.info.reason, "a-debugger"));
		belongings_check(&own, &pass);
	}
	belongings_end(&own);
}
