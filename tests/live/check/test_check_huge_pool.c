/*
 * A program with private huge pages (MAP_HUGETLB). A copy would share these
 * pages; the next write would need another page of the pool, which is empty,
 * and the program would be killed.
 *
 * ALONE: it changes the machine's pool of huge pages.
 */
#include "lib/check/check.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/live.h"
#include "tests/support/suite.h"

#define POOL "/proc/sys/vm/nr_hugepages"
#define HUGE ((size_t)2 << 20)
#define PAGES 2
#define HELD 100
#define WRITES 1500 /* one in each millisecond */

#define NO_POOL 77

/* Pages that this test has added; 0: it cannot. */
static long pool_before = -1;
static bool has_pool;

static long
pool_size(void)
{
	FILE *file = fopen(POOL, "r");
	long size = -1;

	if (file != NULL && fscanf(file, "%ld", &size) != 1)
		size = -1;
	if (file != NULL)
		fclose(file);
	return size;
}

static bool
resize_pool(long size)
{
	FILE *file = fopen(POOL, "w");

	return file != NULL && fprintf(file, "%ld", size) > 0 &&
	    fclose(file) == 0;
}

/* Restore the pool when this process is gone, however it ends. */
static void
guard_pool(void)
{
	int ends[2];
	char byte;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	if (fork() == 0) {
		setsid();
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 0)
			resize_pool(pool_before);
		_exit(0);
	}
	close(ends[0]);
}

static void
setup(void)
{
	pool_before = pool_size();
	guard_pool();
	has_pool = pool_before >= 0 && resize_pool(pool_before + PAGES) &&
	    pool_size() >= pool_before + PAGES;
	if (!has_pool)
		printf("SKIPPED: no huge pages can be had here\n");
}

/* FLAGS: private or not, reserved or not. All that is allocated is held there
 * alone. */
static char *
fill_pool(int flags)
{
	char *memory = mmap(NULL, PAGES * HUGE, PROT_READ | PROT_WRITE,
	    MAP_ANONYMOUS | MAP_HUGETLB | flags, -1, 0);
	size_t i;

	if (memory == MAP_FAILED)
		_exit(NO_POOL);
	for (i = 0; i < PAGES * HELD; i++)
		((void **)(memory + i % PAGES * HUGE))[i / PAGES] = malloc(500);
	return memory;
}

static void
write_pool(char *memory)
{
	size_t i, page;

	for (i = 0; i < WRITES; i++) {
		for (page = 0; page < PAGES; page++)
			memory[page * HUGE + HUGE / 2 + i]++;
		usleep(1000);
	}
}

static const int kinds[] = { MAP_PRIVATE | MAP_NORESERVE, MAP_PRIVATE };

static void
expect_alive(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_POOL)
		printf("SKIPPED: the pool of huge pages is empty\n");
	else
		ck_assert_int_eq(status, 0);
}

/* The mappings of process PID, once it has started. */
static struct mu_check
check_of(pid_t pid)
{
	usleep(100 * 1000);
	return (struct mu_check) {
		.pid = pid,
		.timeout_ns = 30ull * 1000 * 1000 * 1000,
		.max_pause_ns = 5ull * 1000 * 1000 * 1000,
		.limit = 10,
	};
}

START_TEST(from_outside)
{
	struct mu_check check;
	struct mu_report answer;
	pid_t pid;
	int i;

	if (!has_pool)
		return;
	pid = fork();
	if (pid == 0) {
		write_pool(fill_pool(kinds[_i]));
		_exit(0);
	}
	check = check_of(pid);
	for (i = 0; i < 3; i++) {
		if (mu_check_process(&check, &answer) == MU_OK) {
			ck_assert_str_eq(answer.stop, "read");
			ck_assert_uint_lt(answer.info.num_leaks, HELD);
		}
		mu_check_release(&answer);
	}
	expect_alive(pid);
}
END_TEST

/* Shared: what the process does not touch any more is there all the same. */
START_TEST(shared_and_given_back)
{
	struct mu_check check;
	struct mu_report answer;
	enum mu_status status;
	pid_t pid;

	if (!has_pool)
		return;
	pid = fork();
	if (pid == 0) {
		madvise(fill_pool(MAP_SHARED), PAGES * HUGE, MADV_DONTNEED);
		usleep(WRITES * 1000);
		_exit(0);
	}
	check = check_of(pid);
	status = mu_check_process(&check, &answer);
	ck_assert_msg(status == MU_OK, "%s", answer.info.reason);
	ck_assert_str_eq(answer.stop, "fork");
	ck_assert_uint_lt(answer.info.num_leaks, HELD);
	mu_check_release(&answer);
	expect_alive(pid);
}
END_TEST

/* In process this is an error: the image is a fork. */
START_TEST(from_within)
{
	struct UnreachableMemoryInfo info = { 0 };
	char *memory;
	pid_t pid;

	if (!has_pool)
		return;
	pid = fork();
	if (pid == 0) {
		memory = fill_pool(kinds[_i]);
		if (GetUnreachableMemory(&info, 10) ||
		    strstr(info.reason, "MAP_HUGETLB") == NULL)
			_exit(1);
		write_pool(memory);
		_exit(0);
	}
	expect_alive(pid);
}
END_TEST

/* A root as any other; untouched pages, and those that a fork leaves out, too.
 */
START_TEST(root_within)
{
	char *memory;

	if (!has_pool)
		return;
	memory = mmap(NULL, PAGES * HUGE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	expect_root(memory + 4096);
	expect_root(memory + HUGE);
	ck_assert_int_eq(madvise(memory, PAGES * HUGE, MADV_DONTFORK), 0);
	expect_root(memory + 4096);
	munmap(memory, PAGES * HUGE);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("check_huge_pool");
	TCase *tcase = tcase_create("check_huge_pool");

	tcase_add_unchecked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 240);
	tcase_add_loop_test(tcase, from_outside, 0, 2);
	tcase_add_loop_test(tcase, from_within, 0, 2);
	tcase_add_test(tcase, shared_and_given_back);
	tcase_add_test(tcase, root_within);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
