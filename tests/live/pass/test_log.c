/*
 * The log: the lines of a pass and their order, what is silent by default, and
 * messages about bad values.
 *
 * The scenarios are programs of their own: this one, run again.
 */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>

#include "mu/arch/cpu.h"
#include "tests/support/folder.h"
#include "tests/support/pass/log_scenarios.h"
#include "tests/support/scenario.h"
#include "tests/support/suite.h"

#define MAX_LINES 128

static struct child child;

struct lines {
	char *line[MAX_LINES];
	size_t count;
};

static void
split(struct lines *lines, char *text)
{
	char *end;

	lines->count = 0;
	for (; *text != '\0'; text = end + 1) {
		ck_assert_uint_lt(lines->count, MAX_LINES);
		lines->line[lines->count++] = text;
		end = strchr(text, '\n');
		ck_assert_msg(end != NULL, "no newline after \"%s\"", text);
		*end = '\0';
	}
}

/* The place of the one line that is PATTERN. */
static size_t
place(const struct lines *lines, const char *pattern)
{
	size_t i, found = MAX_LINES, count = 0;

	for (i = 0; i < lines->count; i++)
		if (line_is(lines->line[i], pattern)) {
			found = i;
			count++;
		}
	ck_assert_msg(count == 1, "%zu lines are \"%s\"", count, pattern);
	return found;
}

static const char *const step_lines[] = {
	PREFIX "collecting thread info for process #...",
	PREFIX "collection thread done",
	PREFIX "searching process # for allocations",
	PREFIX "searching done",
	PREFIX "sweeping process # for unreachable memory",
	PREFIX "sweeping done",
	PREFIX "folding related leaks",
	PREFIX "folding done",
	PREFIX "unreachable memory detection done",
};

/* Lines 1 to 9 where they belong: in the first nine places, in order. */
static void
assert_steps(const struct lines *lines)
{
	size_t at[9], i;

	for (i = 0; i < 9; i++) {
		at[i] = place(lines, step_lines[i]);
		ck_assert_uint_lt(at[i], 9);
	}
	/* 2 and what the sweeper says are written by two processes. */
	ck_assert_uint_eq(at[0], 0);
	for (i = 3; i < 9; i++)
		ck_assert_uint_lt(at[i - 1], at[i]);
}

static void
assert_line(const struct lines *lines, size_t i, const char *pattern)
{
	ck_assert_uint_lt(i, lines->count);
	ck_assert_msg(line_is(lines->line[i], pattern),
	    "line %zu is \"%s\", not \"%s\"", i, lines->line[i], pattern);
}

TEST(case_log)
{
	struct lines lines;
	unsigned long address;
	char expected[256];
	int pid, checked;

	child_run(&child, "log_one_leak", "verbosity=1");
	child_assert_exit(&child, 0);
	ck_assert_int_eq(
	    sscanf(child.out_text, "%d %lx %d", &pid, &address, &checked), 3);
	ck_assert_int_eq(checked, 1);
	split(&lines, child.err_text);
	assert_steps(&lines);
	snprintf(expected, sizeof(expected),
	    PREFIX "collecting thread info for process %d...", pid);
	ck_assert_str_eq(lines.line[0], expected);
	assert_line(&lines, 9,
	    PREFIX "24 bytes in 1 allocation unreachable out of "
		   "# bytes in # allocation*");
	snprintf(expected, sizeof(expected), "  24 bytes unreachable at %lx",
	    address);
	assert_line(&lines, 10, expected);
	assert_line(&lines, 11, "   contents:");
	snprintf(expected, sizeof(expected),
	    "   %lx: 74 77 65 6e 74 79 2d 66 6f 75 72 20 62 79 74 65 "
	    "twenty-four byte",
	    address);
	assert_line(&lines, 12, expected);
	snprintf(expected, sizeof(expected),
	    "   %lx: 73 20 68 65 72 65 21 00                         "
	    "s here!.",
	    address + 16);
	assert_line(&lines, 13, expected);
	/*
	 * Android has no such line: the sizes whose stacks should be recorded.
	 */
	assert_line(&lines, 14,
	    PREFIX "no stacks were recorded: "
		   "LIBC_DEBUG_MALLOC_OPTIONS='backtrace "
		   "backtrace_min_size=1 backtrace_max_size=24' *");
	ck_assert_uint_eq(lines.count, 15);
}

/* Unless verbosity is 1: the totals, four lines of the entry, the hint. */
TEST(steps_are_not_logged)
{
	struct lines lines;

	child_run(&child, "log_one_leak", NULL);
	child_assert_exit(&child, 0);
	split(&lines, child.err_text);
	ck_assert_uint_eq(lines.count, 6);
	assert_line(
	    &lines, 0, PREFIX "24 bytes in 1 allocation unreachable out of *");
}

TEST(log_of_a_failure)
{
	child_run(&child, "log_failed", NULL);
	child_assert_exit(&child, 1);
	ck_assert_uint_eq(count_text(child.err_text,
			      PREFIX "unreachable memory detection failed: "
				     "out of descriptors or processes: "),
	    1);
	ck_assert_ptr_null(strstr(child.err_text, "detection done"));
}

TEST(failing_log)
{
	child_run(&child, "log_provider_failed", NULL);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, "root provider"), 1);
	ck_assert_uint_eq(
	    count_text(child.err_text, " unreachable out of "), 1);
}

TEST(get_is_silent)
{
	child_run(&child, "get_one_leak", NULL);
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.out_text, "1 1 24 1\n");
	ck_assert_str_eq(child.err_text, "");
	child_run(&child, "string_of_failure", NULL);
	ck_assert_str_eq(child.err_text, "");
}

TEST(verbosity)
{
	struct lines lines;
	const char *figures;

	child_run(&child, "get_one_leak", "verbosity=1");
	child_assert_exit(&child, 0);
	split(&lines, child.err_text);
	assert_steps(&lines);
	assert_line(&lines, 9,
	    PREFIX "24 bytes in 1 allocation unreachable out of "
		   "# bytes in # allocation*");
	/* Records are for those who ask for a log of them. */
	ck_assert_uint_eq(lines.count, 10);
	child_run(&child, "get_one_leak", "verbosity=2");
	child_assert_exit(&child, 0);
	ck_assert_uint_gt(count_text(child.err_text, "\n"), 10);
	split(&lines, child.err_text);
	assert_line(&lines, lines.count - 1, PREFIX "stopped by *");
	figures = strstr(lines.line[lines.count - 1], " for ");
	ck_assert_ptr_nonnull(figures);
	ck_assert_msg(line_is(figures,
			  " for # us of # us in all, threads: 1,"
			  " tries: #, blocks: #, bytes: #"),
	    "\"%s\"", figures);
}

TEST(no_leaks_is_silent)
{
	child_run(&child, "no_leaks_clean", NULL);
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.err_text, "");
}

TEST(no_leaks_explains_itself)
{
	struct lines lines;

	child_run(&child, "no_leaks_lost", NULL);
	child_assert_exit(&child, 1);
	split(&lines, child.err_text);
	assert_line(&lines, 0,
	    PREFIX "360 bytes in 15 allocations unreachable out of "
		   "# bytes in # allocation*");
	assert_line(&lines, 1, "  24 bytes unreachable at @");
	assert_line(&lines, 2, "   and 9 more like it");
	assert_line(
	    &lines, 3, "  ... and 5 more entries, 120 bytes in 5 allocations");
	ck_assert_uint_eq(lines.count, 4);
}

/* One line says which status it was; false, as nothing is known. */
TEST_LOOP(no_leaks_could_not_check, 0, 5)
{
	static const struct {
		const char *scenario, *options, *status;
	} rows[] = {
		{ "no_leaks_failed", NULL, "out of descriptors or processes" },
		{ "no_leaks_clean", "max_memory=4k", "out of memory" },
		{ "no_leaks_busy", NULL, "busy" },
		{ "no_leaks_not_dumpable", "stop=ptrace", "not dumpable" },
		{ "no_leaks_large", "timeout=1ms", "timed out" },
	};
	char words[128];

	if (_i >= 3 && getenv("TESTS_REFUSED") != NULL) {
		printf(
		    "SKIPPED: %s: ptrace is refused before\n", rows[_i].status);
		return;
	}
	child_run(&child, rows[_i].scenario, rows[_i].options);
	child_assert_exit(&child, 1);
	snprintf(words, sizeof(words),
	    PREFIX "unreachable memory detection failed: %s: ",
	    rows[_i].status);
	ck_assert_msg(count_text(child.err_text, words) == 1 &&
		count_text(child.err_text, "\n") == 1,
	    "\"%s\" is not \"%s\"", child.err_text, words);
}

TEST(case_string)
{
	const char *at;
	char expected[1024];
	unsigned long address;

	child_run(&child, "string_of_one_leak", NULL);
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.err_text, "");
	at = strstr(child.out_text, "\nat ");
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(sscanf(at, "\nat %lx", &address), 1);
	snprintf(expected, sizeof(expected),
	    "  24 bytes in 1 unreachable allocation\n"
	    "  ABI: '%s'\n"
	    "\n"
	    "  24 bytes unreachable at %lx\n"
	    "   contents:\n"
	    "   %lx: 74 77 65 6e 74 79 2d 66 6f 75 72 20 62 79 74 65 "
	    "twenty-four byte\n"
	    "   %lx: 73 20 68 65 72 65 21 00                         "
	    "s here!.\n"
	    "\n"
	    "at %lx\n",
	    MU_ABI, address, address, address + 16, address);
	ck_assert_str_eq(child.out_text, expected);
}

TEST(string_says_why)
{
	child_run(&child, "string_of_failure", NULL);
	child_assert_exit(&child, 0);
	ck_assert_int_eq(strncmp(child.out_text,
			     "Failed to get unreachable memory\n"
			     "Not checked: out of descriptors or processes: ",
			     79),
	    0);
}

TEST(bad_arguments)
{
	child_run(&child, "bad_info", NULL);
	child_assert_exit(&child, 0);
	ck_assert_int_eq(strncmp(child.out_text, "0 2 1 0 ", 8), 0);
	ck_assert_ptr_nonnull(strstr(child.out_text, "version 1"));
	ck_assert_str_eq(child.err_text,
	    PREFIX "GetUnreachableMemory was called without info\n" PREFIX
		   "unsupported UnreachableMemoryInfo.version 1 in "
		   "GetUnreachableMemory\n");
}

/* Warned about once, in two lines, never fatal. */
TEST_LOOP(bad_options, 0, 7)
{
	static const struct {
		const char *options, *words;
	} rows[] = {
		{ "colour=red", "colour" },
		{ "timeout=soon", "timeout" },
		{ "signal=KILL", "signal" },
		{ "at_exit=perhaps", "at_exit" },
		{ "verbosity", "verbosity" },
		{ "log_path='x", "log_path" },
		{ "exitcode=1000", "exitcode" },
	};

	child_run(&child, "two_passes", rows[_i].options);
	child_assert_exit(&child, 0);
	ck_assert_msg(count_text(child.err_text, "\n") == 2 &&
		count_text(child.err_text, "ignored: ") == 1 &&
		strstr(child.err_text, rows[_i].words) != NULL,
	    "\"%s\": \"%s\"", rows[_i].options, child.err_text);
}

TEST(help)
{
	child_run(&child, "nothing", "help=1");
	child_assert_exit(&child, 0);
	ck_assert_ptr_nonnull(strstr(child.err_text, "log_path"));
	ck_assert_ptr_nonnull(strstr(child.err_text, "at_exit"));
}

/*
 * Where the log goes: stderr, stdout, FILE.<pid>, syslog; and whose orders are
 * not taken.
 */

static char folder[FOLDER_SIZE];

static void
make_folder(void)
{
	folder_make(folder);
}

static void
drop_folder(void)
{
	folder_remove(folder);
}

CASE(log_sinks, make_folder, drop_folder);

static void
assert_logged(int pid)
{
	char name[128], text[8192];
	struct stat stat_of;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%s/log.%d", folder, pid);
	fd = open(name, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &stat_of), 0);
	ck_assert_uint_eq(stat_of.st_mode & 07777, 0600);
	n = read(fd, text, sizeof(text) - 1);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	close(fd);
	ck_assert_int_eq(strncmp(text, PREFIX "24 bytes in 1 allo", 37), 0);
	ck_assert_uint_eq(count_text(text, "\n"), 6);
	ck_assert_uint_eq(count_text(text, "  24 bytes unreachable at "), 1);
}

TEST(log_path)
{
	char options[128];
	int pid, left;

	snprintf(options, sizeof(options), "log_path=%s/log", folder);
	child_run(&child, "log_one_leak", options);
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.err_text, "");
	ck_assert_int_eq(sscanf(child.out_text, "%d", &pid), 1);
	assert_logged(pid);

	child_run(&child, "log_without_streams", options);
	child_assert_exit(&child, 0);
	ck_assert_int_eq(sscanf(child.out_text, "%d %d", &pid, &left), 2);
	ck_assert_int_eq(left, 0);
	assert_logged(pid);
}

TEST(log_path_unwritable)
{
	char options[128], words[160];

	snprintf(options, sizeof(options), "log_path=%s/no/log", folder);
	snprintf(words, sizeof(words), "cannot write %s/no/log.", folder);
	child_run(&child, "log_one_leak", options);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, words), 1);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable out of"), 1);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable at "), 1);
}

TEST(log_path_special)
{
	child_run(&child, "log_one_leak", "log_path=stdout");
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.err_text, "");
	ck_assert_uint_eq(count_text(child.out_text, "unreachable at "), 1);
	child_run(&child, "log_one_leak", "log_path=stderr");
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable at "), 1);
	ck_assert_uint_eq(count_text(child.out_text, "unreachable at "), 0);
}

/* A /dev/log of our own, in a mount namespace of our own; or -1. */
static int
fake_syslog(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
		.sun_path = "/dev/log" };
	int fd;

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/dev", "tmpfs", 0, NULL) != 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
	    bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* A queue of /dev/log is short: a thread must read. */
struct reader {
	int fd;
	char text[32768];
	size_t length, datagrams;
};

static void *
read_datagrams(void *arg)
{
	struct reader *reader = arg;
	ssize_t n;

	for (;;) {
		n = recv(reader->fd, reader->text + reader->length,
		    sizeof(reader->text) - reader->length - 2, 0);
		if (n <= 3) /* "end" */
			return NULL;
		reader->length += (size_t)n;
		reader->text[reader->length++] = '\n';
		reader->datagrams++;
	}
}

static void
end_reader(pthread_t thread)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
		.sun_path = "/dev/log" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(sendto(fd, "end", 3, 0, (struct sockaddr *)&address,
			     sizeof(address)),
	    3);
	pthread_join(thread, NULL);
	close(fd);
}

TEST(log_to_syslog)
{
	static struct reader reader;
	const char *leak;
	pthread_t thread;

	reader.fd = fake_syslog();
	if (reader.fd < 0) {
		printf("SKIPPED: log_to_syslog needs a mount namespace\n");
		return;
	}
	pthread_create(&thread, NULL, read_datagrams, &reader);
	child_run(&child, "log_one_leak", "log_to_syslog=1");
	end_reader(thread);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable at "), 1);
	/* A line a datagram, with priority and name, in its own words. */
	ck_assert_uint_eq(reader.datagrams, 6);
	ck_assert_uint_eq(count_text(reader.text, "\n"), 6);
	ck_assert_uint_eq(count_text(reader.text, ">" PREFIX), 6);
	ck_assert_uint_eq(count_text(reader.text, PREFIX), 6);
	ck_assert_uint_eq(count_text(reader.text, "<14>" PREFIX), 1);
	ck_assert_uint_eq(count_text(reader.text, "<11>" PREFIX), 5);
	leak = strstr(reader.text, "  24 bytes unreachable at ");
	ck_assert_ptr_nonnull(leak);
	ck_assert_int_eq(
	    strncmp(reader.text, "<11>" PREFIX "24 bytes in ", 35), 0);
	close(reader.fd);
}

TEST(log_to_no_syslog)
{
	if (access("/dev/log", F_OK) == 0) {
		printf("SKIPPED: log_to_no_syslog: there is a syslog\n");
		return;
	}
	child_run(&child, "log_one_leak", "log_to_syslog=1");
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, "no syslog"), 1);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable at "), 1);
}

TEST(log_to_full_pipe)
{
	child_run(&child, "log_blocked", "timeout=300ms");
	child_assert_exit(&child, 0);
}

/* A set-uid program takes no orders from the user who runs it. */
TEST(at_secure)
{
	char command[4600], self[4096];
	char *argv[] = { "/bin/sh", "-c", command, NULL };
	struct statvfs place_of;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (geteuid() != 0 || statvfs(folder, &place_of) != 0 ||
	    (place_of.f_flag & ST_NOSUID) != 0) {
		printf("SKIPPED: at_secure needs root, and a /tmp that is not "
		       "mounted nosuid\n");
		return;
	}
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) {
		printf("SKIPPED: at_secure: set-uid is without effect here\n");
		return;
	}
	self[n] = '\0';
	for (n = 0; n < 2; n++) {
		snprintf(command, sizeof(command),
		    "cp '%s' %s/victim && chmod 755 %s && "
		    "chmod %s %s/victim && exec setpriv --reuid=54321 "
		    "--clear-groups %s/victim nothing",
		    self, folder, folder, n == 0 ? "755" : "4755", folder,
		    folder);
		child_start_program(&child, argv, "help=1:at_exit=1");
		child_finish(&child);
		child_assert_exit(&child, 0);
		ck_assert_int_eq(
		    strstr(child.err_text, "log_path") != NULL, n == 0);
	}
	ck_assert_str_eq(child.err_text, "");
}

SCENARIO_SUITE(scenarios, .timeout = 0);
