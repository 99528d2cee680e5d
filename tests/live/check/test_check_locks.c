/* Malloc's locks are looked at before the process is copied. */
#include "lib/helpers/keeper.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

static int *locks; /* shared with the child */
static pid_t child;
static struct mu_keeper keeper;

static void
setup(void)
{
	locks = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(locks, MAP_FAILED);
	child = fork();
	ck_assert_int_ge(child, 0);
	while (child == 0)
		pause();
}

static void
teardown(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(locks, 4096);
}

static enum mu_status
take(const uintptr_t *words, size_t count)
{
	keeper = (struct mu_keeper) {
		.target = child,
		.method = MU_KEEPER_AUTO,
		.deadline_ns = mu_sys_now_ns() + 10 * MU_NS_PER_SEC,
		.max_pause_ns = 10 * MU_NS_PER_SEC,
		.limit = SIZE_MAX / 2,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.locks = words,
		.num_locks = count,
	};
	return mu_keeper_take(&keeper);
}

/* It is not traced and has no child. */
static void
expect_let_go(void)
{
	char path[64], line[256];
	int tracer = -1;
	FILE *file;

	mu_keeper_end(&keeper);
	snprintf(path, sizeof(path), "/proc/%d/status", child);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "TracerPid: %d", &tracer);
	fclose(file);
	ck_assert_int_eq(tracer, 0);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", child, child);
	file = fopen(path, "r");
	if (file == NULL) /* CONFIG_PROC_CHILDREN */
		return;
	ck_assert_msg(fgets(line, sizeof(line), file) == NULL, "%s", line);
	fclose(file);
}

/* _i: which of them is locked, 3: none. */
TEST_LOOP(which_is_locked, 0, 4)
{
	uintptr_t words[] = { (uintptr_t)&locks[0], (uintptr_t)&locks[100],
		(uintptr_t)&locks[1000] };

	if (_i < 3)
		*(int *)words[_i] = 2;
	ck_assert_int_eq(
	    take(words, 3), _i < 3 ? MU_ERR_HEAP_INCONSISTENT : MU_OK);
	ck_assert_int_eq(keeper.result.locked, _i < 3);
	ck_assert_int_eq(
	    keeper.result.method_used, _i < 3 ? 0 : MU_KEEPER_FORK);
	ck_assert_uint_gt(keeper.result.pause_ns, 0);
	if (_i < 3)
		ck_assert_ptr_nonnull(
		    strstr(keeper.result.why.text, "inside malloc"));
	expect_let_go();
}

/* A process that has ended holds no lock. */
TEST(a_lock_that_is_gone)
{
	uintptr_t words[] = { 8, UINTPTR_MAX - 3, 0 };

	ck_assert_int_eq(take(words, 3), MU_OK);
	ck_assert(!keeper.result.locked);
	expect_let_go();
}

SUITE(.unfiltered = SUITE_INJECTS, .setup = setup, .teardown = teardown);
