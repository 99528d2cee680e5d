#include "tests/support/scenario.h"
#define SCENARIO_TAIL ((size_t)2000) /* bytes that a failure shows */
#define SCENARIO_SECONDS 60 /* a child that says nothing for so long hangs */

int
scenario_run(const struct scenario *scenarios, int argc, char **argv)
{
	if (argc < 2)
		return -1;
	for (; scenarios->name != NULL; scenarios++)
		if (strcmp(scenarios->name, argv[1]) == 0)
			return scenarios->run();
	fprintf(stderr, "no scenario %s\n", argv[1]);
	return 99;
}

/* In the environment: behind those that the whole suite is run with. */
static void
options_add(const char *options)
{
	const char *given = getenv("MEMUNREACHABLE_OPTIONS");
	char all[16384];

	if (options == NULL)
		return;
	if (given == NULL)
		given = "";
	snprintf(all, sizeof(all), "%s%s%s", given,
	    given[0] != '\0' && options[0] != '\0' ? ":" : "", options);
	setenv("MEMUNREACHABLE_OPTIONS", all, 1);
}

static void
child_exec(char *const *argv, const char *options, const int *in,
    const int *out, const int *err)
{
	int fd;

	dup2(in[0], 0);
	dup2(out[1], 1);
	dup2(err[1], 2);
	for (fd = 3; fd < 256; fd++)
		close(fd);
	options_add(options);
	execv(argv[0], argv);
	_exit(127);
}

void
child_start_program(struct child *child, char *const *argv, const char *options)
{
	int in[2], out[2], err[2];

	memset(child, 0, sizeof(*child));
	ck_assert(pipe(in) == 0 && pipe(out) == 0 && pipe(err) == 0);
	child->pid = fork();
	ck_assert_int_ge(child->pid, 0);
	if (child->pid == 0)
		child_exec(argv, options, in, out, err);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	child->in = in[1];
	child->out = out[0];
	child->err = err[0];
}

void
child_start(struct child *child, const char *scenario, const char *options)
{
	char self[4096], name[64];
	char *argv[] = { self, name, NULL };
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	snprintf(name, sizeof(name), "%s", scenario);
	child_start_program(child, argv, options);
}

void
child_take(int *fd, char *text, size_t *length)
{
	ssize_t n;

	do
		n = read(*fd, text + *length, SCENARIO_TEXT - 1 - *length);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		close(*fd);
		*fd = -1;
		return;
	}
	*length += (size_t)n;
	text[*length] = '\0';
}

/* Read what comes; false when both ends are closed or nothing comes. */
static bool
child_read(struct child *child)
{
	struct pollfd fds[] = { { child->out, POLLIN, 0 },
		{ child->err, POLLIN, 0 } };
	int n;

	if (child->out < 0 && child->err < 0)
		return false;
	do
		n = poll(fds, 2, SCENARIO_SECONDS * 1000);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	if (fds[0].revents != 0)
		child_take(&child->out, child->out_text, &child->out_length);
	if (fds[1].revents != 0)
		child_take(&child->err, child->err_text, &child->err_length);
	return true;
}

size_t
count_text(const char *text, const char *needle)
{
	size_t count = 0;

	while ((text = strstr(text, needle)) != NULL) {
		count++;
		text += strlen(needle);
	}
	return count;
}

const char *
tail_of(const char *text)
{
	size_t length = strlen(text);

	return length > SCENARIO_TAIL ? text + length - SCENARIO_TAIL : text;
}

void
child_await(
    struct child *child, const char *text, const char *needle, size_t count)
{
	while (count_text(text, needle) < count)
		if (!child_read(child)) {
			kill(child->pid, SIGKILL);
			waitpid(child->pid, &child->status, 0);
			ck_abort_msg("no \"%s\" from the child, status 0x%x; "
				     "stdout \"%s\", stderr \"%s\"",
			    needle, (unsigned)child->status,
			    tail_of(child->out_text), tail_of(child->err_text));
		}
}

void
child_say(struct child *child, const char *text)
{
	ck_assert_int_eq(
	    write(child->in, text, strlen(text)), (int)strlen(text));
}

void
child_finish(struct child *child)
{
	if (child->in >= 0)
		close(child->in);
	while (child_read(child))
		continue;
	if (child->out >= 0 || child->err >= 0)
		kill(child->pid, SIGKILL);
	ck_assert_int_eq(waitpid(child->pid, &child->status, 0), child->pid);
}

void
child_run(struct child *child, const char *scenario, const char *options)
{
	child_start(child, scenario, options);
	child_finish(child);
}

void
child_assert_exit(const struct child *child, int expected)
{
	ck_assert_msg(
	    WIFEXITED(child->status) && WEXITSTATUS(child->status) == expected,
	    "status 0x%x, expected exit %d; stdout \"%s\", stderr \"%s\"",
	    (unsigned)child->status, expected, tail_of(child->out_text),
	    tail_of(child->err_text));
}

bool
line_is(const char *line, const char *pattern)
{
	size_t n;

	for (; *pattern != '\0' && *pattern != '*'; pattern++) {
		if (*pattern == '#' || *pattern == '@') {
			n = strspn(line,
			    *pattern == '#' ? "0123456789"
					    : "0123456789abcdef");
			if (n == 0)
				return false;
			line += n;
		} else if (*line++ != *pattern)
			return false;
	}
	return *pattern == '*' || *line == '\0';
}
