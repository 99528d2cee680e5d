/*
 * What the library keeps between passes: the lock, held answers, registrations;
 * and the emptied descriptor table of the collector.
 */
#include <sys/resource.h>

#include "lib/helpers/descriptors.h"
#include "lib/state/library.h"
#include "lib/state/lock.h"
#include "lib/state/log_sink.h"
#include "lib/state/registry.h"
#include "lib/state/results.h"
#include "mu/sys.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/faults/watched_call.h"
#include "tests/support/suite.h"

static uint64_t
in_ms(uint64_t ms)
{
	return mu_sys_now_ns() + ms * 1000000;
}

TEST(lock_tells_reentry_apart)
{
	struct mu_lock lock = { 0 };

	ck_assert_int_eq(mu_lock_take(&lock, in_ms(1000)), MU_OK);
	ck_assert_int_eq(mu_lock_take(&lock, in_ms(1000)), MU_ERR_BUSY);
	mu_lock_release(&lock);
	ck_assert_int_eq(mu_lock_take(&lock, in_ms(1000)), MU_OK);
	mu_lock_release(&lock);
}

static void *
try_lock(void *arg)
{
	return (void *)(uintptr_t)mu_lock_take(arg, in_ms(50));
}

TEST(lock_has_a_deadline)
{
	struct mu_lock lock = { 0 };
	pthread_t thread;
	void *status;

	mu_lock_take(&lock, in_ms(1000));
	pthread_create(&thread, NULL, try_lock, &lock);
	pthread_join(thread, &status);
	ck_assert_int_eq((int)(uintptr_t)status, MU_ERR_TIMEOUT);
}

TEST(lock_heals_in_a_child)
{
	struct mu_lock lock = { 0 };
	int status;
	pid_t pid;

	mu_lock_take(&lock, in_ms(1000));
	pid = fork();
	if (pid == 0)
		_exit(mu_lock_take(&lock, in_ms(5000)) == MU_OK ? 0 : 1);
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
}

static struct mu_lock shared_lock;
static long shared_count;

static void *
count_up(void *arg)
{
	int i;

	for (i = 0; i < 20000; i++) {
		ck_assert_int_eq(
		    mu_lock_take(&shared_lock, in_ms(60000)), MU_OK);
		shared_count++;
		mu_lock_release(&shared_lock);
	}
	return arg;
}

TEST(lock_excludes)
{
	pthread_t threads[4];
	size_t i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, count_up, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(shared_count, 80000);
}

static void
count_range(void *ctx, struct mu_range range)
{
	*(size_t *)ctx += mu_range_size(range) > 0;
}

TEST(results_are_known_until_freed)
{
	struct mu_results results = { 0 };
	struct Leak *a = mu_results_new(&results, 1, 0);
	struct Leak *b = mu_results_new(&results, 1000, 0);
	struct Leak *c = mu_results_new(&results, 3, 0);
	size_t count = 0;

	ck_assert_ptr_nonnull(a);
	memset(b, 0x55, 1000 * sizeof(*b));
	mu_results_each(&results, count_range, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert(mu_results_free(&results, b));
	ck_assert(!mu_results_free(&results, b));
	ck_assert(!mu_results_free(&results, a + 1));
	count = 0;
	mu_results_each(&results, count_range, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert(mu_results_free(&results, c));
	ck_assert(mu_results_free(&results, a));
	ck_assert_ptr_null(results.first);
	ck_assert_ptr_null(mu_results_new(&results, 0, 0));
	ck_assert_ptr_null(mu_results_new(&results, SIZE_MAX / 4, 0));
	ck_assert_ptr_null(mu_results_new(&results, 1, SIZE_MAX / 8));
}

static int calls;

static ptrdiff_t
give_words(void *ctx, uintptr_t *words, size_t max)
{
	size_t wanted = *(size_t *)ctx, i;

	calls++;
	for (i = 0; i < wanted && i < max; i++)
		words[i] = i + 1;
	return (ptrdiff_t)wanted;
}

static ptrdiff_t
refuse(void *ctx, uintptr_t *words, size_t max)
{
	(void)ctx;
	(void)words;
	(void)max;
	return -1;
}

TEST(providers_are_called_until_all_fits)
{
	struct mu_registry registry = { 0 };
	struct mu_log log = { .fd = -1, .syslog_fd = -1, .silent = true };
	struct mu_snapshot snap = { 0 };
	struct mu_arena arena;
	struct mu_why why;
	size_t wanted = 1000, i;

	mu_arena_open(&arena, (size_t)1 << 30);
	ck_assert(mu_registry_ignore(&registry, 77));
	ck_assert(mu_registry_add_provider(
	    &registry, (struct mu_provider) { refuse, NULL }));
	ck_assert(mu_registry_add_provider(
	    &registry, (struct mu_provider) { give_words, &wanted }));
	ck_assert_int_eq(
	    mu_registry_collect(&registry, &snap, &arena, &log, &why), MU_OK);
	ck_assert_int_eq(calls, 2);
	ck_assert_uint_eq(snap.num_root_values, 1001);
	ck_assert_uint_eq(snap.root_values[0], 77);
	for (i = 0; i < 1000; i++)
		ck_assert_uint_eq(snap.root_values[1 + i], i + 1);
	ck_assert(mu_registry_drop_provider(
	    &registry, (struct mu_provider) { refuse, NULL }));
	ck_assert(!mu_registry_drop_provider(
	    &registry, (struct mu_provider) { refuse, NULL }));
	mu_arena_close(&arena);
	mu_arena_close(&registry.arena);
}

/* Two threads begin their passes; the lines of the first are lost. */
TEST(log_that_loses_lines)
{
	struct captured_stderr captured;
	struct mu_log first, second;
	struct rlimit limit;
	char name[MU_PATH_MAX + 16];
	const char *said;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	snprintf(mu_library.options.log_path, MU_PATH_MAX, "/tmp/mu-lost");
	captured_stderr_begin(&captured);
	mu_log_sink_open(&first, &mu_library.options, false);
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &limit);
	mu_log(&first, MU_LOG_ERROR, "lost");
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
	mu_log_sink_open(&second, &mu_library.options, false);
	mu_log_sink_close(&first);
	mu_log_sink_close(&second);
	said =
	    strstr(captured_stderr_end(&captured), "the log is not complete");
	snprintf(name, sizeof(name), "/tmp/mu-lost.%d", (int)getpid());
	unlink(name);
	ck_assert_ptr_nonnull(said);
	ck_assert_ptr_null(strstr(said + 1, "the log is not complete"));
	ck_assert_int_eq(mu_library.log_error, EFBIG);
}

TEST(registrations_count)
{
	struct mu_registry registry = { 0 };
	struct mu_range range = { 4096, 8192 }, other = { 4096, 8193 };
	struct mu_range empty = { 4096, 4096 };
	size_t i;

	for (i = 0; i < 100; i++)
		ck_assert(mu_registry_add_region(&registry, range));
	ck_assert(!mu_registry_add_region(&registry, empty));
	ck_assert(!mu_registry_ignore(&registry, 0));
	ck_assert(!mu_registry_unignore(&registry, 1));
	ck_assert(!mu_registry_drop_region(&registry, other));
	for (i = 0; i < 100; i++)
		ck_assert(mu_registry_drop_region(&registry, range));
	ck_assert(!mu_registry_drop_region(&registry, range));
	mu_arena_close(&registry.arena);
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Also on a kernel before 5.9, which has no close_range(). */
TEST_LOOP(table_is_emptied, 0, 2)
{
	const struct watched_call call = {
		.nr = SYS_close_range, .argument = -1, .error = ENOSYS
	};
	int status, fd;
	pid_t pid = fork();

	if (pid == 0) {
		int keep[] = { 40, -1, 2, 20 };

		for (fd = 3; fd < 60; fd++)
			dup2(0, fd);
		if (_i == 1 && watched_call_filter(&call, true) < 0)
			_exit(2);
		mu_descriptors_close_but(keep, 4);
		for (fd = 0; fd < 100; fd++)
			if (is_open(fd) != (fd == 2 || fd == 20 || fd == 40))
				_exit(1);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		printf("SKIPPED: no seccomp filters here\n");
	else
		ck_assert_int_eq(status, 0);
}
