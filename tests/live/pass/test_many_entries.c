/*
 * A report of many entries takes little memory for each: in the command, and in
 * a program that logs its leaks. Before entries were packed each took 368
 * bytes.
 */
#include <limits.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/built.h"
#include "tests/support/suite.h"

#define ENTRIES 200000
#define BYTES_EACH 80 /* contents are 32; 68 to 70 are seen */

static int said;

static void
lose_many(void)
{
	void *volatile lost;
	size_t i;

	for (i = 0; i < ENTRIES; i++) {
		lost = malloc(32 + i % 3 * 16);
		memset(lost, (int)(i % 100) + 1, 32);
	}
	lost = NULL;
	(void)lost;
}

static size_t
own_peak(void)
{
	char line[256];
	size_t kib = 0;
	FILE *status = fopen("/proc/self/status", "r");

	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		if (sscanf(line, "VmHWM: %zu", &kib) == 1)
			break;
	if (status != NULL)
		fclose(status);
	return kib * 1024;
}

/* ACT in a process that has lost many blocks; what it says is read from SAID.
 */
static pid_t
start(void (*act)(void))
{
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		said = ends[1];
		lose_many();
		act();
		_exit(0);
	}
	close(ends[1]);
	said = ends[0];
	return pid;
}

static void
say(size_t number)
{
	if (write(said, &number, sizeof(number)) != sizeof(number))
		_exit(1);
}

static size_t
hear(void)
{
	size_t number = 0;

	ck_assert_int_eq(read(said, &number, sizeof(number)), sizeof(number));
	return number;
}

static void
stand_by(void)
{
	say(0);
	for (;;)
		pause();
}

static void
run_command(const char *format, const char *contents, size_t limit, pid_t pid)
{
	char path[PATH_MAX], limit_word[64], pid_word[32];
	int null = open("/dev/null", O_WRONLY);

	built_path("memunreachable", path);
	snprintf(limit_word, sizeof(limit_word), "--limit=%zu", limit);
	snprintf(pid_word, sizeof(pid_word), "%d", (int)pid);
	dup2(null, STDOUT_FILENO);
	execl(path, path, format, contents, limit_word, "-p", pid_word,
	    (char *)NULL);
	_exit(127);
}

static size_t
command_peak(const char *format, const char *contents, size_t limit, pid_t pid)
{
	struct rusage usage;
	pid_t command = fork();
	int status;

	ck_assert_int_ge(command, 0);
	if (command == 0)
		run_command(format, contents, limit, pid);
	ck_assert_int_eq(wait4(command, &status, 0, &usage), command);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 23,
	    "status %x", (unsigned)status);
	return (size_t)usage.ru_maxrss * 1024;
}

static const struct {
	const char *format, *contents;
} forms[] = {
	{ "--format=text", "--color=never" },
	{ "--format=text", "--contents" },
	{ "--format=json", "--color=never" },
	{ "--format=json", "--contents" },
};

TEST_LOOP(of_the_command, 0, sizeof(forms) / sizeof(*forms))
{
	const char *format = forms[_i].format, *contents = forms[_i].contents;
	pid_t pid = start(stand_by);
	size_t few, many;

	hear();
	few = command_peak(format, contents, 1000, pid);
	many = command_peak(format, contents, ENTRIES + 1000, pid);
	printf("%s %s: %zu and %zu KiB, %.1f bytes an entry\n", format,
	    contents, few / 1024, many / 1024,
	    ((double)many - (double)few) / ENTRIES);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(said);
	ck_assert_uint_le(many, few + (size_t)ENTRIES * BYTES_EACH);
}

static void
log_own(void)
{
	int null = open("/dev/null", O_WRONLY);

	say(own_peak());
	dup2(null, STDERR_FILENO);
	say(LogUnreachableMemory(true, ENTRIES + 1000));
	say(own_peak());
}

TEST(of_the_program)
{
	pid_t pid = start(log_own);
	size_t before = hear(), checked = hear(), after = hear();

	waitpid(pid, NULL, 0);
	close(said);
	printf("program: %zu and %zu KiB, %.1f bytes an entry\n", before / 1024,
	    after / 1024, (double)(after - before) / ENTRIES);
	ck_assert_uint_eq(checked, 1);
	ck_assert_uint_le(after, before + (size_t)ENTRIES * BYTES_EACH);
}
