/*
 * Roots of a process that is checked from outside: pointers in shared memory,
 * in generated code or in the kernel keep blocks reachable; only the block lost
 * on purpose is reported.
 */
#include <limits.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/check/check.h"
#include "tests/support/built.h"
#include "tests/support/folder.h"
#include "tests/support/graph/answer_array.h"
#include "tests/support/map_files.h"
#include "tests/support/stop/busy_victim.h"
#include "tests/support/suite.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

#define CHECKS 3

#define BY_OTHERS "another process, or write(2), "
#define MOVED BY_OTHERS "changed"

static const char *const places[] = { "moving", "moving_twice",
	"child_of_a_server", "given_back", "written_shared", "written_private",
	"behind_the_end", "generated_code", "generated_code_being_written",
#ifdef __x86_64__
	"generated_code_all_written",
#endif
	"generated_code_of_two", "code_in_blocks", "closed_shared",
	"moving_on_tmpfs", "written_on_tmpfs", "moving_without_leader",
	"given_back_without_leader", "written_without_leader" };
#define PLACES (int)(sizeof(places) / sizeof(places[0]))

static const enum mu_check_stop ways[] = { MU_CHECK_STOP_FORK,
	MU_CHECK_STOP_READ };

static pid_t started, watched;
static int input;

/* Returns false if the victim may not set up its place. */
static bool
start_program(const char *program, const char *place)
{
	char name[64];
	bool is_ready;
	int status;

	char path[PATH_MAX], line[64] = "";
	int in[2], out[2];
	FILE *output;

	snprintf(name, sizeof(name), "tests/live/victims/%s", program);
	built_path(name, path);
	ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	started = fork();
	if (started == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, place, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	input = in[1];
	output = fdopen(out[0], "r");
	is_ready = fgets(line, sizeof(line), output) != NULL;
	fclose(output);
	if (is_ready)
		ck_assert_int_eq(sscanf(line, "ready %d", &watched), 1);
	else
		ck_assert(waitpid(started, &status, 0) == started &&
		    WIFEXITED(status) && WEXITSTATUS(status) == 77);
	return is_ready;
}

static bool
start(const char *place)
{
	return start_program("victim_roots", place);
}

static void
expect_unharmed(void)
{
	int status;

	ck_assert_int_eq(kill(watched, 0), 0);
	close(input);
	ck_assert_int_eq(waitpid(started, &status, 0), started);
	ck_assert_int_eq(status, 0);
}

static void
expect_one_lost(enum mu_check_stop stop)
{
	struct mu_check check = {
		.pid = watched,
		.stop = stop,
		.timeout_ns = 150ull * 1000 * 1000 * 1000,
		.max_pause_ns = 10ull * 1000 * 1000 * 1000,
		.limit = 10,
	};
	struct mu_report answer;
	enum mu_status status = mu_check_process(&check, &answer);
	size_t i;

	answer_array(&answer);
	for (i = 0; i < answer.info.num_reported; i++)
		if (answer.info.leaks[i].size != 40)
			printf("%zu bytes at %lx\n", answer.info.leaks[i].size,
			    (unsigned long)answer.info.leaks[i].begin);
	ck_assert_msg(
	    status == MU_OK, "%d: %s", (int)status, answer.info.reason);
	ck_assert_uint_eq(answer.info.num_leaks, 1);
	ck_assert_uint_eq(answer.info.num_reported, 1);
	ck_assert_uint_ge(answer.info.leaks[0].size, 40);
	free(answer.info.leaks);
	mu_check_release(&answer);
}

TEST_LOOP(not_lost, 0, 2 * PLACES)
{
	int i;

	if (!start(places[_i % PLACES])) {
		close(input);
		printf(
		    "SKIPPED: %s: no rights to mount\n", places[_i % PLACES]);
		return;
	}
	for (i = 0; i < CHECKS; i++)
		expect_one_lost(ways[_i / PLACES]);
	expect_unharmed();
}

/* The kernel alone has their addresses. */
TEST_LOOP(alternate_stacks, 0, 4)
{
	int i;

	if (_i >= 2)
		start_program(
		    "victim_alternate", _i == 2 ? "dlsym" : "syscall");
	else
		start("alternate_stacks");
	for (i = 0; i < CHECKS; i++)
		expect_one_lost(ways[_i % 2]);
	expect_unharmed();
}

/* Those that open /proc/PID/map_files. The victim gets all of ours. */
static void
drop_rights_to_files(void)
{
	static const int rights[] = { CAP_SYS_ADMIN, CAP_CHECKPOINT_RESTORE };
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2];
	size_t i;

	ck_assert_int_eq(syscall(SYS_capget, &header, data), 0);
	for (i = 0; i < 2; i++) {
		prctl(PR_CAPBSET_DROP, rights[i]);
		data[CAP_TO_INDEX(rights[i])].effective &=
		    ~CAP_TO_MASK(rights[i]);
		data[CAP_TO_INDEX(rights[i])].permitted &=
		    ~CAP_TO_MASK(rights[i]);
	}
	ck_assert_int_eq(syscall(SYS_capset, &header, data), 0);
}

/*
 * By a child, or by write(2). Blocks that are in use may be missed, but the
 * answer says so. Without rights to the file the copy tells which pages have
 * got data; where there is none, holes were not searched.
 */
static const struct {
	const char *mover;
	bool rights;
	const char *reason[2]; /* for each way */
} elsewhere[] = {
	{ "moved_by_a_child", true, { MOVED, MOVED } },
	{ "moved_by_writes", true, { MOVED, MOVED } },
	{ "moved_to_new_pages", true, { MOVED, MOVED } },
	{ "moved_to_new_pages", false, { BY_OTHERS, "were not searched" } },
	{ "moved_to_new_pages_by_a_child", false,
	    { BY_OTHERS, "were not searched" } },
	{ "moved_on", true, { BY_OTHERS, BY_OTHERS } },
	{ "moved_on", false, { BY_OTHERS, "were not searched" } },
	{ "moved_on_tagged", true, { BY_OTHERS, BY_OTHERS } },
};

TEST_LOOP(moved_elsewhere, 0, 16)
{
	struct mu_check check = {
		.stop = ways[_i % 2],
		.timeout_ns = 60ull * 1000 * 1000 * 1000,
		.max_pause_ns = 10ull * 1000 * 1000 * 1000,
		.reach.words.tags = (uintptr_t)0xff << 56,
	};
	const char *reason = elsewhere[_i / 2].reason[_i % 2];
	size_t i, checks = suite_rounds("TESTS_CHECKS", CHECKS);
	struct mu_report answer;

	/* Moved to new pages: without rights there is another case. */
	if (elsewhere[_i / 2].rights && !has_map_files() &&
	    (_i / 2 == 2 || (_i / 2 > 2 && _i % 2 == 1))) {
		printf("SKIPPED: /proc/PID/map_files cannot be opened\n");
		return;
	}
	if (!elsewhere[_i / 2].rights)
		drop_rights_to_files();
	if (!has_map_files() && strcmp(reason, MOVED) == 0)
		reason = BY_OTHERS; /* changed it, or it is not known */
	start(elsewhere[_i / 2].mover);
	check.pid = watched;
	for (i = 0; i < checks; i++) {
		if (mu_check_process(&check, &answer) == MU_OK)
			ck_assert_uint_eq(answer.info.num_leaks, 1);
		else
			ck_assert_msg(
			    strstr(answer.info.reason, reason) != NULL, "%s",
			    answer.info.reason);
		mu_check_release(&answer);
	}
	expect_unharmed();
}

/* Under seccomp no thread is made to call, and the answer says so. */
TEST(alternate_stacks_unasked)
{
	struct mu_check check = {
		.timeout_ns = 60ull * 1000 * 1000 * 1000,
		.limit = 100,
	};
	struct mu_report answer;

	start("alternate_stacks_seccomp");
	check.pid = watched;
	ck_assert_int_eq(mu_check_process(&check, &answer), MU_PARTIAL);
	ck_assert_ptr_nonnull(
	    strstr(answer.info.reason, "alternate signal stacks"));
	mu_check_release(&answer);
	expect_unharmed();
}

TEST_LOOP(secret_memory, 0, 2)
{
	struct mu_check check = {
		.stop = ways[_i],
		.timeout_ns = 60ull * 1000 * 1000 * 1000,
		.limit = 100,
	};
	struct mu_report answer;
	int fd = (int)syscall(SYS_memfd_secret, 0);

	if (fd < 0) {
		printf("SKIPPED: no memfd_secret here\n");
		return;
	}
	close(fd);
	start("secret");
	check.pid = watched;
	ck_assert_int_eq(mu_check_process(&check, &answer), MU_PARTIAL);
	ck_assert_msg(strstr(answer.info.reason, "could not be read") != NULL,
	    "%s", answer.info.reason);
	mu_check_release(&answer);
	expect_unharmed();
}

/* Let gcore write a core, and check that. */
static enum mu_status
check_core(struct mu_report *answer)
{
	static char folder[FOLDER_SIZE], path[PATH_MAX];
	struct mu_check check = {
		.core = path,
		.timeout_ns = 60ull * 1000 * 1000 * 1000,
		.limit = 100,
	};
	enum mu_status status;

	folder_make(folder);
	snprintf(path, sizeof(path), "%s/core.%d", folder, (int)watched);
	folder_core(folder, watched);
	status = mu_check_core(&check, answer);
	folder_remove(folder);
	return status;
}

/*
 * A core does not tell where they are: that is said, if a block that is lost
 * is large enough.
 */
TEST_LOOP(alternate_stacks_in_a_core, 0, 2)
{
	struct mu_report answer;
	enum mu_status status;

	if (system("command -v gcore >/dev/null") != 0) {
		printf("SKIPPED: no gcore\n");
		return;
	}
	start(_i == 0 ? "alternate_stacks" : "given_back");
	status = check_core(&answer);
	printf("%s\n", answer.info.reason);
	if (_i == 0) {
		ck_assert_int_eq(status, MU_PARTIAL);
		ck_assert_ptr_nonnull(strstr(answer.info.reason,
		    "of them can be alternate signal stacks"));
	} else {
		ck_assert_int_eq(status, MU_OK);
		ck_assert_uint_eq(answer.info.num_leaks, 1);
	}
	mu_check_release(&answer);
	expect_unharmed();
}

/*
 * A page that the process does not touch any more is found, and nothing is
 * made of the holes beside it. By reading, the file tells which is which.
 */
TEST_LOOP(holes_stay, 0, 2)
{
	if (ways[_i] == MU_CHECK_STOP_READ && !has_map_files()) {
		printf("SKIPPED: /proc/PID/map_files cannot be opened\n");
		return;
	}
	start("sparse");
	expect_one_lost(ways[_i]);
	expect_unharmed();
}

SUITE(.unfiltered = SUITE_INJECTS, .timeout = 300);
