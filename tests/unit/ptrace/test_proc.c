/*
 * /proc without libc: numbers, files, directories, states.
 */
#include <grp.h>
#include <sys/prctl.h>

#include "ptrace/live/proc.h"
#include "tests/support/suite.h"

#define NOBODY_PID 0x7ffffffe /* over PID_MAX_LIMIT */

static struct mu_arena arena;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)64 << 20);
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

/* How many characters a number takes; its value in VALUE. */
static size_t
number(const char *text, unsigned base, uint64_t *value)
{
	const char *at = text;

	if (!mu_proc_number(&at, text + strlen(text), base, value))
		ck_assert_ptr_eq(at, text);
	return (size_t)(at - text);
}

TEST(numbers)
{
	uint64_t value = 0;

	ck_assert_uint_eq(number("0", 10, &value), 1);
	ck_assert_uint_eq(value, 0);
	ck_assert_uint_eq(number("4711 x", 10, &value), 4);
	ck_assert_uint_eq(value, 4711);
	ck_assert_uint_eq(number("47a", 10, &value), 2);
	ck_assert_uint_eq(number("47ag", 16, &value), 3);
	ck_assert_uint_eq(value, 0x47a);
	ck_assert_uint_eq(number("18446744073709551615", 10, &value), 20);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_uint_eq(number("ffffffffffffffff", 16, &value), 16);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_uint_eq(number("000000000000000000000001", 16, &value), 24);
	ck_assert_uint_eq(value, 1);
}

TEST(no_numbers)
{
	uint64_t value = 42;

	ck_assert_uint_eq(number("", 10, &value), 0);
	ck_assert_uint_eq(number(" 1", 10, &value), 0);
	ck_assert_uint_eq(number("-1", 10, &value), 0);
	ck_assert_uint_eq(number("+1", 10, &value), 0);
	ck_assert_uint_eq(number("a", 10, &value), 0);
	ck_assert_uint_eq(number("FF", 16, &value), 0);
	ck_assert_uint_eq(number("18446744073709551616", 10, &value), 0);
	ck_assert_uint_eq(number("184467440737095516150", 10, &value), 0);
	ck_assert_uint_eq(number("10000000000000000", 16, &value), 0);
	ck_assert_uint_eq(value, 42);
}

TEST(whole_files)
{
	char name[] = "/tmp/test_proc.XXXXXX", *content;
	size_t sizes[] = { 0, 1, 16383, 16384, 16385, 1000000 }, i, k;
	struct mu_proc_text text = { .arena = &arena };
	int fd = mkstemp(name);

	ck_assert_int_ge(fd, 0);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		content = malloc(sizes[i] + 1);
		for (k = 0; k < sizes[i]; k++)
			content[k] = (char)(k * 7 >> 3);
		ck_assert_int_eq(
		    pwrite(fd, content, sizes[i], 0), (ssize_t)sizes[i]);
		ck_assert_int_eq(mu_proc_read(&text, name), 0);
		ck_assert_uint_eq(text.length, sizes[i]);
		ck_assert_int_eq(memcmp(text.text, content, sizes[i]), 0);
		free(content);
	}
	/* A short one again, over the long one. */
	ck_assert_int_eq(ftruncate(fd, 5), 0);
	ck_assert_int_eq(mu_proc_read(&text, name), 0);
	ck_assert_uint_eq(text.length, 5);
	close(fd);
	unlink(name);
	ck_assert_int_eq(mu_proc_read(&text, name), -ENOENT);
	ck_assert_uint_eq(text.length, 0);
}

TEST(file_too_large)
{
	struct mu_proc_text text = { .arena = &arena };

	arena.fail_at = 1;
	ck_assert_int_eq(mu_proc_read(&text, "/proc/self/maps"), -ENOMEM);
	ck_assert_int_eq(mu_proc_read(&text, "/dev/zero"), -ENOMEM);
}

static bool
sum_up(void *ctx, int value)
{
	*(long *)ctx += value;
	return value != 77;
}

/*
 * Only decimal numbers that fit count: no other name in /proc, no other
 * notation.
 */
TEST(numbers_of_a_directory)
{
	static const char *const names[] = { "1", "20", "2147483647", "007",
		"-1", "+1", "1x", "x1", "1.", "2147483648", " 3", "",
		"99999999999999999999", "0x10" };
	char dir[] = "/tmp/test_proc.XXXXXX", path[128];
	size_t i;
	long sum = 0;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	ck_assert_int_eq(mu_proc_numbers(dir, sum_up, &sum), 0);
	ck_assert_int_eq(sum, 1L + 20 + 2147483647 + 7);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_eq(mu_proc_numbers(dir, sum_up, &sum), -ENOENT);
}

/* More entries than one call hands out; and an early end. */
TEST(many_numbers)
{
	char dir[] = "/tmp/test_proc.XXXXXX", path[128];
	long sum = 0, wanted = 0;
	int i;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (i = 100; i < 1100; i++) {
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		close(open(path, O_CREAT | O_WRONLY, 0600));
		wanted += i;
	}
	ck_assert_int_eq(mu_proc_numbers(dir, sum_up, &sum), 0);
	ck_assert_int_eq(sum, wanted);
	for (i = 100; i < 1100; i++) {
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/77", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	sum = 0;
	ck_assert_int_eq(mu_proc_numbers(dir, sum_up, &sum), 0);
	ck_assert_int_eq(sum, 77);
	unlink(path);
	rmdir(dir);
}

TEST(states)
{
	pid_t pid;

	ck_assert_int_eq(mu_proc_state(getpid(), getpid()), 'R');
	prctl(PR_SET_NAME, ") Z (x) Z 1");
	ck_assert_int_eq(mu_proc_state(getpid(), getpid()), 'R');
	ck_assert(!mu_proc_is_over(getpid()));
	ck_assert(mu_proc_ended(mu_proc_state(NOBODY_PID, NOBODY_PID)));
	ck_assert(mu_proc_is_over(NOBODY_PID));
	pid = fork();
	if (pid == 0)
		_exit(0);
	while (!mu_proc_is_over(pid))
		usleep(1000);
	ck_assert_int_eq(mu_proc_state(pid, pid), 'Z');
	ck_assert(mu_proc_ended('Z') && mu_proc_ended('X'));
	ck_assert(!mu_proc_ended('t') && !mu_proc_ended(-EMFILE));
	waitpid(pid, NULL, 0);
	ck_assert(mu_proc_is_over(pid));
}

/* The unit is kB; what does not fit is as unknown as what is not told. */
TEST(status_amounts)
{
	static const char text[] = "\nVmRSS:\t    1234 kB\nVmSwap:\t 0 kB\n"
				   "VmPeak:\t9007199254740991 kB\n"
				   "VmSize:\t9007199254740992 kB\nVmData:\tx";

	ck_assert_uint_eq(mu_proc_status_bytes(text, "\nVmRSS:"), 1234 * 1024);
	ck_assert_uint_eq(mu_proc_status_bytes(text, "\nVmSwap:"), 0);
	ck_assert_uint_eq(mu_proc_status_bytes(text, "\nVmPeak:"),
	    (uint64_t)INT64_MAX / 1024 * 1024);
	ck_assert_uint_eq(mu_proc_status_bytes(text, "\nVmSize:"), 0);
	ck_assert_uint_eq(mu_proc_status_bytes(text, "\nVmData:"), 0);
	ck_assert_uint_eq(mu_proc_status_bytes(text, "\nRssAnon:"), 0);
}

TEST(status_files)
{
	char text[MU_PROC_STATUS_SIZE], end[] = "old";

	ck_assert_int_gt(
	    mu_proc_status_read(getpid(), 0, text, sizeof(text)), 0);
	ck_assert_int_eq(
	    mu_proc_status_number(text, "\nTgid:", 0, 10), getpid());
	ck_assert_int_gt(
	    mu_proc_status_read(getpid(), getpid(), text, sizeof(text)), 0);
	ck_assert_int_gt(mu_proc_status_bytes(text, "\nVmRSS:"), 0);
	ck_assert_int_gt(mu_proc_own_status(text, sizeof(text)), 0);
	ck_assert_int_eq(
	    mu_proc_status_number(text, "\nPPid:", 0, 10), getppid());
	ck_assert_int_eq(
	    mu_proc_status_read(NOBODY_PID, 0, end, sizeof(end)), -ENOENT);
	ck_assert_str_eq(end, "");
	strcpy(end, "old");
	ck_assert_int_eq(
	    mu_proc_status_read(getpid(), NOBODY_PID, end, sizeof(end)),
	    -ENOENT);
	ck_assert_str_eq(end, "");
}

/* The line of the groups precedes most others and may be long. */
TEST(status_of_a_member_of_many_groups)
{
	static gid_t groups[60000];
	char text[MU_PROC_STATUS_SIZE];
	unsigned count;

	for (count = 0; count < sizeof(groups) / sizeof(*groups); count++)
		groups[count] = 4000000000u + count;
	for (count = 1; count <= sizeof(groups) / sizeof(*groups);
	     count = count * 3 / 2 + 1) {
		if (setgroups(count, groups) != 0) {
			puts("SKIPPED: only root can join groups");
			return;
		}
		ck_assert_int_gt(mu_proc_own_status(text, sizeof(text)), 0);
		ck_assert_int_eq(
		    mu_proc_status_number(text, "\nUid:", 1, 10), geteuid());
		ck_assert_ptr_null(strstr(text, "Groups"));
		ck_assert_uint_gt(mu_proc_status_bytes(text, "\nVmRSS:"), 0);
		ck_assert_int_ge(mu_proc_status_number(
				     text, "\nvoluntary_ctxt_switches:", 0, 10),
		    0);
	}
}

TEST(line_ends)
{
	static const char text[] = "ab\n\nc";

	ck_assert_ptr_eq(mu_proc_line_end(text, text + 5), text + 2);
	ck_assert_ptr_eq(mu_proc_line_end(text + 3, text + 5), text + 3);
	ck_assert_ptr_eq(mu_proc_line_end(text + 4, text + 5), text + 5);
	ck_assert_ptr_eq(mu_proc_line_end(text, text + 2), text + 2);
}

SUITE(.setup = setup, .teardown = teardown);
