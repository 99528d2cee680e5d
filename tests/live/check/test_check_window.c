/*
 * How much memory of a copy the command holds: little, however large the
 * process is, with the same answer for every size of the window. A copy that is
 * killed during the search gives no answer.
 */
#include <sys/prctl.h>
#include <sys/resource.h>

#include "heapwalk/memory/remote_window.h"
#include "lib/check/check.h"
#include "mu/status.h"
#include "tests/support/folder.h"
#include "tests/support/hide.h"
#include "tests/support/suite.h"

#define SMALL ((size_t)1 << 20)
#define MIB ((size_t)1 << 20)
#define SEEDS 8
#define BLOCKS 60000
#define MANY 1000000 /* blocks of MANY_SIZE: 208 MB */
#define MANY_SIZE 200
#define LARGEST 3000
#define LEAKS 2000        /* entries that are compared */
#define LITTLE (12 * MIB) /* for tables */

static pid_t target;
static uint64_t seed;

static size_t
next_random(size_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed >> 11) % below;
}

/* Links go anywhere; every third block is freed, in no order. */
static void
make_random(uintptr_t *hidden, void **kept)
{
	size_t i, other, left, size;
	void **block;

	for (i = 0; i < BLOCKS; i++) {
		size = next_random(20) == 0 ? LARGEST : 200;
		size = 16 + next_random(size);
		block = calloc(1, size);
		hidden[i] = mu_hide(block);
	}
	for (left = BLOCKS / 3; left > 0; left--) {
		i = next_random(BLOCKS);
		free(mu_reveal(hidden[i]));
		hidden[i] = mu_hide(NULL);
	}
	for (i = 0; i < BLOCKS; i++) {
		block = mu_reveal(hidden[i]);
		other = next_random(BLOCKS);
		if (block != NULL && next_random(4) != 0)
			block[next_random(2)] = mu_reveal(hidden[other]);
	}
	for (i = 0; i < 8; i++)
		kept[i] = mu_reveal(hidden[next_random(BLOCKS)]);
}

static void
make_many(void **kept)
{
	size_t i;
	void **block;

	for (i = 0; i < MANY; i++) {
		block = malloc(MANY_SIZE);
		memset(block, 0, MANY_SIZE);
		block[0] = kept[0];
		kept[0] = block;
	}
}

static void
run_target(bool many, int ready)
{
	static uintptr_t hidden[BLOCKS];
	static void *kept[8];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (many)
		make_many(kept);
	else
		make_random(hidden, kept);
	if (write(ready, "r", 1) == 1)
		for (;;)
			pause();
	_exit(kept[0] == NULL);
}

static void
start_target(bool many)
{
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	target = fork();
	ck_assert_int_ge(target, 0);
	if (target == 0)
		run_target(many, ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
}

static void
teardown(void)
{
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

static struct mu_check
check_with(size_t window, size_t workers)
{
	return (struct mu_check) {
		.pid = target,
		.stop = MU_CHECK_STOP_FORK,
		.timeout_ns = 100ull * 1000 * 1000 * 1000,
		.max_pause_ns = 20ull * 1000 * 1000 * 1000,
		.limit = LEAKS,
		.contents = true,
		.window = window,
		.workers = workers,
	};
}

static void
look(struct mu_report *answer, size_t window, size_t workers)
{
	struct mu_check check = check_with(window, workers);

	ck_assert_msg(mu_check_process(&check, answer) == MU_OK, "%s",
	    answer->info.reason);
	ck_assert_str_eq(answer->stop, "fork");
}

/* All of it is in our memory before it is searched. */
static void
look_at_whole(struct mu_report *answer)
{
	struct mu_check check = check_with(0, 2);

	check.stop = MU_CHECK_STOP_READ;
	ck_assert_msg(mu_check_process(&check, answer) == MU_OK, "%s",
	    answer->info.reason);
	ck_assert_str_eq(answer->stop, "read");
}

static void
expect_same(const struct mu_report *a, const struct mu_report *b)
{
	ck_assert_uint_eq(a->info.num_leaks, b->info.num_leaks);
	ck_assert_uint_eq(a->info.leak_bytes, b->info.leak_bytes);
	ck_assert_uint_eq(a->info.num_entries, b->info.num_entries);
	ck_assert_uint_eq(a->info.num_allocations, b->info.num_allocations);
	ck_assert_uint_eq(a->entries.size, b->entries.size);
	ck_assert(
	    memcmp(a->entries.packed, b->entries.packed, b->entries.size) == 0);
	ck_assert_uint_eq(a->usage.live_reachable, b->usage.live_reachable);
	ck_assert_uint_eq(a->usage.free_held, b->usage.free_held);
}

/* _i: the seed. */
TEST_LOOP(the_answer_is_the_same, 0, SEEDS)
{
	struct mu_report whole, small;
	size_t workers;

	seed = 0x9e3779b97f4a7c15u * (uint64_t)(_i + 1);
	start_target(false);
	look_at_whole(&whole);
	ck_assert_uint_gt(whole.info.num_leaks, 1000);
	ck_assert_uint_gt(whole.entries.count, 100);
	for (workers = 1; workers <= 4; workers *= 2) {
		look(&small, SMALL, workers);
		expect_same(&small, &whole);
		mu_check_release(&small);
	}
	mu_check_release(&whole);
}

/*
 * Check the target, or its CORE, in a separate process; returns the memory of
 * that process, in bytes.
 */
static size_t
check_alone(size_t max_memory, const char *core)
{
	struct mu_check check = check_with(0, 0);
	struct mu_report answer;
	struct rusage usage;
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		check.max_memory = max_memory;
		check.core = core;
		status = core == NULL ? mu_check_process(&check, &answer)
				      : mu_check_core(&check, &answer);
		_exit(status == MU_OK && answer.info.num_leaks == 0 ? 0 : 1);
	}
	ck_assert_int_eq(wait4(pid, &status, 0, &usage), pid);
	ck_assert_int_eq(status, 0);
	return (size_t)usage.ru_maxrss * 1024;
}

/* A list, whose graph takes less than 12 % of its span. */
TEST(memory_does_not_grow_with_the_target)
{
	size_t span = (size_t)MANY * (MANY_SIZE + 8), bytes;

	start_target(true);
	bytes = check_alone(0, NULL);
	ck_assert_msg(bytes < span / 100 * 12 + 2 * MU_REMOTE_WINDOW + 16 * MIB,
	    "%zu bytes", bytes);
}

/* The front of the file's name; false: there is no gcore. */
static bool
take_core(char folder[FOLDER_SIZE])
{
	if (system("command -v gcore >/dev/null") != 0)
		return false;
	folder_make(folder);
	folder_core(folder, target);
	return true;
}

/* Pages of a core do not stay in memory once they were read. */
TEST(memory_does_not_grow_with_the_core)
{
	size_t span = (size_t)MANY * (MANY_SIZE + 8), bytes;
	char folder[FOLDER_SIZE], core[96];

	start_target(true);
	if (!take_core(folder)) {
		printf("SKIPPED: no gcore\n");
		return;
	}
	snprintf(core, sizeof(core), "%s/core.%d", folder, target);
	bytes = check_alone(0, core);
	folder_remove(folder);
	ck_assert_msg(bytes < span / 100 * 12 + 32 * MIB, "%zu bytes", bytes);
}

/* The window counts twice. */
TEST(a_window_fits_into_little_memory)
{
	size_t bytes;

	start_target(true);
	bytes = check_alone(LITTLE, NULL);
	ck_assert_msg(
	    bytes < LITTLE + 2 * LITTLE / 3 + 12 * MIB, "%zu bytes", bytes);
}

/* Memory that does not fit is read through a window. */
TEST(a_small_process_needs_little_memory)
{
	struct mu_check check;
	struct mu_report answer;

	seed = 17;
	start_target(false);
	check = check_with(0, 0);
	check.max_memory = 4 * MIB;
	ck_assert_msg(mu_check_process(&check, &answer) == MU_OK, "%s",
	    answer.info.reason);
	mu_check_release(&answer);
}

/* Wait until PID, which was killed, has no memory that could be read. */
static void
await_end(pid_t pid)
{
	char path[64];
	unsigned long pages = 1;
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	for (i = 0; i < 5000 && pages > 0; i++) {
		usleep(1000);
		file = fopen(path, "r");
		if (file == NULL || fscanf(file, "%lu", &pages) != 1)
			pages = 0;
		if (file != NULL)
			fclose(file);
	}
	ck_assert_uint_eq(pages, 0);
}

/* The copy is the only child of the target. */
static void
kill_copy(void *ctx, enum mu_check_step step)
{
	enum mu_check_step when = *(enum mu_check_step *)ctx;
	char path[64];
	pid_t copy = 0;
	FILE *file;

	if (step != when)
		return;
	snprintf(
	    path, sizeof(path), "/proc/%d/task/%d/children", target, target);
	file = fopen(path, "r");
	if (file == NULL)
		return;
	if (fscanf(file, "%d", &copy) == 1) {
		kill(copy, SIGKILL);
		await_end(copy);
	}
	fclose(file);
}

/* When the walk begins, and when the blocks are about to be read. */
TEST_LOOP(a_killed_copy_is_not_checked, 0, 2)
{
	enum mu_check_step steps[] = { MU_CHECK_STEP_WALK, MU_CHECK_STEP_MARK };
	struct mu_check check;
	struct mu_report answer;

	seed = 17;
	start_target(false);
	check = check_with(SMALL, 2);
	check.progress = kill_copy;
	check.progress_ctx = &steps[_i];
	ck_assert_int_eq(mu_check_process(&check, &answer), MU_ERR_HELPER_DIED);
	ck_assert_msg(strstr(answer.info.reason, "killed") != NULL, "%s",
	    answer.info.reason);
	mu_check_release(&answer);
	/* A target that is read while it is stopped has no copy. */
	check.stop = MU_CHECK_STOP_AUTO;
	ck_assert_msg(mu_check_process(&check, &answer) == MU_OK, "%s",
	    answer.info.reason);
	ck_assert_str_eq(answer.stop, "read");
	mu_check_release(&answer);
}

SUITE(.unfiltered = SUITE_INJECTS, .teardown = teardown);
