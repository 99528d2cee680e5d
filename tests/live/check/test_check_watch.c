/*
 * memunreachable watch gives the right verdict on each program of the corpus
 * (tests/live/victims/victim_watched.c): each look follows a step of the
 * program, by SIGUSR1, and never a time.
 */
#include "tests/support/built.h"
#include "tests/support/suite.h"

#define STEPS 10

static const struct {
	const char *program, *verdict;
	int status;
	const char *name; /* of what grows most, or NULL */
} corpus[] = {
	{ "leak_one", "leak", 23, "blocks of 40 bytes" },
	{ "leak_amid_caching", "leak", 23, "blocks of 72 bytes" },
	{ "leak_typed", "leak", 23, NULL },
	{ "leak_and_warm_up", "leak", 23, "blocks of 200 bytes" },
	{ "leak_every_third", "leak", 23, "blocks of 104 bytes" },
	{ "leak_large", "leak", 23, NULL },
	{ "leak_beside_sawtooth", "leak", 23, "blocks of 56 bytes" },
	{ "leak_of_many_sizes", "leak", 23, NULL },
	{ "grow_list", "growth", 0, NULL },
	{ "grow_table_of_bytes", "growth", 0, NULL },
	{ "grow_amid_noise", "growth", 0, NULL },
	{ "grow_beside_sawtooth", "growth", 0, NULL },
	{ "grow_mappings", "growth", 0, NULL },
	{ "fragment", "fragmentation", 0, NULL },
	{ "idle", "steady", 0, NULL },
	{ "lost_at_the_beginning", "steady", 0, NULL },
	{ "lost_once", "steady", 0, NULL },
	{ "cache_with_eviction", "steady", 0, NULL },
	{ "cache_that_fills", "steady", 0, NULL },
	{ "warm_up", "steady", 0, NULL },
	{ "sawtooth", "steady", 0, NULL },
	{ "slow_sawtooth", "steady", 0, NULL },
	{ "noise", "steady", 0, NULL },
	{ "shrink", "steady", 0, NULL },
	{ "one_for_another", "steady", 0, NULL },
	{ "peak", "steady", 0, NULL },
};

/* A program with a pipe to its input, and from its output. */
struct child {
	pid_t pid;
	FILE *to, *from;
};

static void
start(struct child *child, char **argv)
{
	int in[2], out[2];

	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	child->pid = fork();
	ck_assert_int_ge(child->pid, 0);
	if (child->pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	child->to = fdopen(in[1], "w");
	child->from = fdopen(out[0], "r");
}

static int
end(struct child *child)
{
	int status;

	fclose(child->to);
	ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
	fclose(child->from);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
hear(struct child *child, char *line, int size)
{
	ck_assert_msg(fgets(line, size, child->from) != NULL, "%d says no more",
	    (int)child->pid);
}

static void
step(struct child *program)
{
	char line[32];

	fputs("step\n", program->to);
	fflush(program->to);
	hear(program, line, sizeof(line));
	ck_assert_str_eq(line, "done\n");
}

TEST_LOOP(verdict_on, 0, sizeof(corpus) / sizeof(*corpus))
{
	char victim[PATH_MAX], command[PATH_MAX], pid[16], line[8192];
	char expected[64];
	struct child program, watch;
	int i, status;

	built_path("tests/live/victims/victim_watched", victim);
	built_path("memunreachable", command);
	start(
	    &program, (char *[]) { victim, (char *)corpus[_i].program, NULL });
	hear(&program, line, sizeof(line));
	step(&program);
	snprintf(pid, sizeof(pid), "%d", (int)program.pid);
	start(&watch,
	    (char *[]) { command, "watch", "-q", "-p", pid, "--every=1d",
		"--format=json", NULL });
	hear(&watch, line, sizeof(line));
	for (i = 1; i < STEPS; i++) {
		step(&program);
		ck_assert_int_eq(kill(watch.pid, SIGUSR1), 0);
		hear(&watch, line, sizeof(line));
	}
	ck_assert_int_eq(kill(watch.pid, SIGINT), 0);
	hear(&watch, line, sizeof(line));
	status = end(&watch);
	ck_assert_int_eq(end(&program), 0);
	snprintf(expected, sizeof(expected), "\"verdict\": \"%s\"",
	    corpus[_i].verdict);
	ck_assert_msg(
	    strstr(line, expected) != NULL, "%s: %s", corpus[_i].program, line);
	ck_assert_int_eq(status, corpus[_i].status);
	ck_assert_msg(
	    corpus[_i].name == NULL || strstr(line, corpus[_i].name) != NULL,
	    "%s: %s", corpus[_i].program, line);
}
