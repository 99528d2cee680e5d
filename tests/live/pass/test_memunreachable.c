/*
 * The public calls: Android's end-to-end tests under their names. The contents
 * of answers are tested in test_answer.c.
 */
#include <sys/prctl.h>

#include "lib/state/library.h"
#include "tests/support/pass/live_answer.h"
#include "tests/support/suite.h"

#define NOBODY 65534

static void *global;

/* The pointer is in PLACE, then nowhere, then the block is freed. */
static void
expect_life(void *place)
{
	uintptr_t block = block_new(256);

	put(place, block);
	EXPECT_LEAKS(0);
	drop(place);
	EXPECT_LEAKS(1);
	block_free(block);
	EXPECT_LEAKS(0);
}

TEST(clean)
{
	ck_assert(LogUnreachableMemory(true, 100));
	EXPECT_LEAKS(0);
	ck_assert(NoLeaks());
}

TEST(stack)
{
	void *volatile local = NULL;

	expect_life((void *)&local);
}

TEST(global_variable)
{
	expect_life(&global);
}

static __attribute__((noinline)) void
set_specific(pthread_key_t key, uintptr_t hidden)
{
	ck_assert_int_eq(pthread_setspecific(key, mu_reveal(hidden)), 0);
}

TEST(tls)
{
	uintptr_t block = block_new(256);
	pthread_key_t key;

	ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
	set_specific(key, block);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(pthread_setspecific(key, NULL), 0);
	EXPECT_LEAKS(1);
	block_free(block);
	EXPECT_LEAKS(0);
	pthread_key_delete(key);
}

TEST(twice)
{
	struct UnreachableMemoryInfo info;
	uintptr_t block;

	EXPECT_LEAKS(0);
	block = block_new(256);
	get(&info, 100);
	ck_assert_uint_eq(info.num_leaks, 1);
	ck_assert_ptr_nonnull(entry_of(&info, block));
	FreeUnreachableMemoryInfo(&info);
	get(&info, 100);
	ck_assert_uint_eq(info.num_leaks, 1);
	ck_assert_ptr_nonnull(entry_of(&info, block));
	FreeUnreachableMemoryInfo(&info);
	block_free(block);
	EXPECT_LEAKS(0);
}

TEST(log_call)
{
	uintptr_t block = block_new(256);

	ck_assert(LogUnreachableMemory(true, 100));
	ck_assert(!NoLeaks());
	EXPECT_LEAKS(1);
	block_free(block);
	ck_assert(LogUnreachableMemory(true, 100));
	ck_assert(NoLeaks());
}

static void
stand_still(struct worker *worker)
{
	worker_park(worker);
}

/*
 * Ask as NOBODY, dumpable or not. With a second thread there is a thread to
 * be traced. Returns 1 if the one lost block was found, 0 if not and all is
 * as it should be.
 */
static int
ask_as_nobody(int dumpable, bool threaded)
{
	static struct worker worker = { .body = stand_still };
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t block = block_new(256);
	bool checked, logged;

	if ((getuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) ||
	    prctl(PR_SET_DUMPABLE, dumpable) != 0)
		return 100;
	if (threaded)
		worker_start(&worker);
	scrub();
	logged = LogUnreachableMemory(true, 100);
	checked = GetUnreachableMemory(&info, 100);
	if (checked != logged || info.num_leaks != checked)
		return 101;
	if (checked && info.status != MEMUNREACHABLE_COMPLETE)
		return 102;
	if (!checked && info.status != MEMUNREACHABLE_NOT_DUMPABLE)
		return 103;
	FreeUnreachableMemoryInfo(&info);
	/* Malloc and the other thread go on, and no process is left. */
	block_free(block);
	block_free(block_new(100000));
	if (threaded)
		worker_finish(&worker);
	if (waitpid(-1, NULL, __WALL | WNOHANG) != -1)
		return 104;
	return checked;
}

static int
run_as_nobody(int dumpable, bool threaded)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(ask_as_nobody(dumpable, threaded));
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(
	    WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* Where nothing but ptrace may be used. */
TEST_LOOP(notdumpable, 0, 2)
{
	mu_library.options.stop = MU_STOP_AUTO;
	ck_assert_int_eq(run_as_nobody(0, _i), 1);
	if (getenv("TESTS_REFUSED") != NULL) {
		printf("SKIPPED: notdumpable: ptrace is refused before\n");
		return;
	}
	mu_library.options.stop = MU_STOP_PTRACE;
	ck_assert_int_eq(run_as_nobody(0, _i), 0);
}

TEST_LOOP(no_privilege_is_needed, 0, 2)
{
	ck_assert_int_eq(run_as_nobody(1, _i), 1);
}

TEST(leak_lots)
{
	struct UnreachableMemoryInfo info;

	lose_lots(size_constant);
	ck_assert(LogUnreachableMemory(true, 100));
	get(&info, 100);
	ck_assert_uint_eq(info.num_leaks, LOTS);
	ck_assert_uint_eq(info.num_reported, 100);
	FreeUnreachableMemoryInfo(&info);
	free_lots();
	EXPECT_LEAKS(0);
}

/* Nothing happens, and nothing is returned. */
TEST(version)
{
	struct UnreachableMemoryInfo info = { .version = 1 };
	uintptr_t block = block_new(256);

	ck_assert(!GetUnreachableMemory(&info, 100));
	ck_assert_ptr_null(info.leaks);
	ck_assert_uint_eq(info.num_reported, 0);
	ck_assert_uint_eq(info.num_leaks, 0);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_BAD_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(info.reason, "version"));
	ck_assert(!GetUnreachableMemory(NULL, 100));
	EXPECT_LEAKS(1);
	block_free(block);
}
