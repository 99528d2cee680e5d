/*
 * Check a busy process that does not use the library: every answer is exact or
 * missing, and the process is unchanged.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "lib/check/check.h"
#include "tests/support/built.h"
#include "tests/support/clock.h"
#include "tests/support/graph/answer_array.h"
#include "tests/support/stop/busy_victim.h"
#include "tests/support/suite.h"

/*
 * Checks of a program that uses every CPU until they are over; or TESTS_CHECKS.
 */
#define CHECKS 12

static struct busy_victim victim;

static const struct {
	const char *name;
	enum mu_check_stop stop;
} ways[] = {
	{ "fork", MU_CHECK_STOP_AUTO },
	{ "read", MU_CHECK_STOP_READ },
};

static struct mu_check
check_of(pid_t pid, enum mu_check_stop stop)
{
	return (struct mu_check) {
		.pid = pid,
		.stop = stop,
		.timeout_ns = 60ull * 1000 * 1000 * 1000,
		.max_pause_ns = 10ull * 1000 * 1000 * 1000,
		.limit = 1000,
	};
}

static int
by_begin(const void *a, const void *b)
{
	const struct Leak *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Address by address. */
static void
expect_exact(const struct mu_report *answer)
{
	const struct UnreachableMemoryInfo *info = &answer->info;
	size_t i;

	ck_assert_uint_eq(info->num_leaks, victim.num_lost);
	ck_assert_uint_eq(info->leak_bytes, victim.bytes_lost);
	ck_assert_uint_eq(info->num_reported, victim.num_entries);
	qsort(info->leaks, info->num_reported, sizeof(*info->leaks), by_begin);
	for (i = 0; i < victim.num_entries; i++) {
		ck_assert_uint_eq(
		    info->leaks[i].begin, victim.entries[i].address);
		ck_assert_uint_eq(
		    info->leaks[i].referenced_count, victim.entries[i].below);
	}
}

static bool
is_planted(const struct Leak *leak)
{
	const struct busy_entry *entry = victim.entries;
	const struct busy_entry *end = entry + victim.num_entries;

	while (entry < end && entry->address != leak->begin)
		entry++;
	return entry < end && leak->referenced_count <= entry->below;
}

/*
 * A thread was stopped inside malloc, where it has addresses of the block
 * behind a lost one, which are some inside that, too: it may be missing, with
 * what it leads to.
 */
static bool
expect_no_other(const struct mu_report *answer)
{
	const struct UnreachableMemoryInfo *info = &answer->info;
	size_t i;

	ck_assert_uint_le(info->num_leaks, victim.num_lost);
	for (i = 0; i < info->num_reported; i++)
		ck_assert(is_planted(&info->leaks[i]));
	return info->num_leaks == victim.num_lost;
}

static void
check_once(enum mu_check_stop stop, const char *name, size_t *unchecked)
{
	struct mu_check check = check_of(victim.pid, stop);
	struct mu_report answer;
	enum mu_status status;

	status = mu_check_process(&check, &answer);
	answer_array(&answer);
	if (status == MU_OK) {
		ck_assert_str_eq(answer.stop, name);
		if (expect_no_other(&answer))
			expect_exact(&answer);
		else
			(*unchecked)++;
	} else {
		printf("%s: %s\n", mu_status_name(status), answer.info.reason);
		ck_assert_int_ne(status, MU_PARTIAL);
		(*unchecked)++;
	}
	free(answer.info.leaks);
	mu_check_release(&answer);
}

/* _i: the way. */
TEST_LOOP(exact_at_full_load, 0, 2)
{
	size_t i, unchecked = 0, checks = suite_rounds("TESTS_CHECKS", CHECKS);
	const char *blocks = getenv("TESTS_BLOCKS");

	busy_start(
	    &victim, VICTIM_BUSY, blocks != NULL ? blocks : "20000", "4");
	for (i = 0; i < checks; i++)
		check_once(ways[_i].stop, ways[_i].name, &unchecked);
	busy_expect_unharmed(&victim);
	ck_assert_uint_le(unchecked, checks / 6);
}

/* A single-threaded process takes no malloc lock. */
TEST_LOOP(right_without_threads, 0, 2)
{
	size_t i, exact = 0, checks = suite_rounds("TESTS_CHECKS", CHECKS);
	struct mu_report answer;
	struct mu_check check;
	enum mu_status status;

	busy_start(&victim, VICTIM_BUSY, "1000", "alone");
	check = check_of(victim.pid, ways[_i].stop);
	for (i = 0; i < checks; i++) {
		status = mu_check_process(&check, &answer);
		answer_array(&answer);
		ck_assert_int_ne(status, MU_PARTIAL);
		if (status == MU_OK)
			exact += expect_no_other(&answer);
		free(answer.info.leaks);
		mu_check_release(&answer);
	}
	busy_expect_unharmed(&victim);
	ck_assert_uint_ge(exact, checks * 3 / 4);
}

/* Which glibc it is, a static program does not tell. */
TEST_LOOP(exact_of_a_static_program, 0, 2)
{
	char path[PATH_MAX];
	size_t i, unchecked = 0;

	built_path(VICTIM_BUSY "_static", path);
	if (access(path, X_OK) != 0) {
		printf("SKIPPED: no static program could be built\n");
		return;
	}
	busy_start(&victim, VICTIM_BUSY "_static", "10000", "4");
	for (i = 0; i < CHECKS / 3; i++)
		check_once(ways[_i].stop, ways[_i].name, &unchecked);
	busy_expect_unharmed(&victim);
	ck_assert_uint_le(unchecked, CHECKS / 3 / 2);
}

static void
expect_refused(pid_t pid, enum mu_status expected, const char *words)
{
	struct mu_check check = check_of(pid, MU_CHECK_STOP_AUTO);
	struct mu_report answer;

	ck_assert_int_eq(mu_check_process(&check, &answer), expected);
	ck_assert_int_eq(answer.info.status, (int)expected);
	ck_assert_msg(strstr(answer.info.reason, words) != NULL, "%s",
	    answer.info.reason);
	ck_assert_uint_eq(answer.info.num_leaks, 0);
	mu_check_release(&answer);
}

/* No stop finds its arenas free; the answer is partial, but there is one. */
TEST(inside_malloc_all_of_the_time)
{
	char path[PATH_MAX], line[16];
	struct mu_check check;
	struct mu_report answer;
	size_t i, found = 0;
	int out[2];
	pid_t pid;

	built_path("tests/live/victims/victim_large_churn", path);
	ck_assert(pipe2(out, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 1);
		execl(path, path, NULL);
		_exit(127);
	}
	ck_assert_int_gt(read(out[0], line, sizeof(line)), 0);
	check = check_of(pid, MU_CHECK_STOP_AUTO);
	ck_assert_msg(mu_status_usable(mu_check_process(&check, &answer)), "%s",
	    answer.info.reason);
	answer_array(&answer);
	for (i = 0; i < answer.info.num_reported; i++)
		found += answer.info.leaks[i].size == 104;
	ck_assert_uint_eq(found, 1);
	free(answer.info.leaks);
	mu_check_release(&answer);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(out[0]);
	close(out[1]);
}

TEST(no_process)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	nap_us(100000);
	expect_refused(pid, MU_ERR_ARGUMENT, "has ended");
	waitpid(pid, NULL, 0);
	expect_refused(pid, MU_ERR_TARGET_GONE, "no process");
}

/* A process of this name traces the victim from now on, for a time or until it
 * is killed. */
static pid_t
trace(const char *name, unsigned for_us)
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		if (ptrace(PTRACE_SEIZE, victim.pid, NULL, NULL) != 0 ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		while (for_us == 0)
			pause();
		nap_us(for_us);
		_exit(0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/*
 * The keeper of a check may need seconds to go on a busy machine. It is waited
 * for; any other tracer is refused at once.
 */
TEST(waits_for_another_check)
{
	size_t unchecked = 0;
	int ended;
	pid_t pid;

	busy_start(&victim, VICTIM_BUSY, "1000", "2");
	pid = trace("mu-keeper", 500000);
	check_once(MU_CHECK_STOP_AUTO, "fork", &unchecked);
	ck_assert_uint_eq(unchecked, 0);
	ck_assert_int_eq(waitpid(pid, &ended, 0), pid);
	ck_assert_int_eq(ended, 0);
	pid = trace("a-debugger", 0);
	expect_refused(victim.pid, MU_ERR_ALREADY_TRACED, "(a-debugger)");
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	busy_expect_unharmed(&victim);
}

SUITE(.unfiltered = SUITE_INJECTS, .timeout = 1200);
