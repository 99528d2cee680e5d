/*
 * A program that is put into an environment, by its parent or by itself, and
 * runs passes there: see tests/support/environments/environment.h for what it
 * prints.
 *
 * Usage: victim_environment DEED[=WORD]... ; the deeds are done in that order.
 */
#include <grp.h>
#include <sys/resource.h>

#include "tests/support/environments/environment.h"
#include "tests/support/environments/environment_filters.h"

#define NOBODY 65534
#define MOST_LINE 64

static void
threads(const char *word)
{
	int count = atoi(word), i;

	for (i = 0; i < count; i++)
		environment_start(
		    (enum environment_kind)(i % ENVIRONMENT_KINDS), 0);
}

static void
threads_idle(const char *word)
{
	int count = atoi(word), i;

	for (i = 0; i < count; i++)
		environment_start(ENVIRONMENT_IDLE, PTHREAD_STACK_MIN);
}

static void
threads_napping(const char *word)
{
	int count = atoi(word), i;

	for (i = 0; i < count; i++)
		environment_start(ENVIRONMENT_NAPS, PTHREAD_STACK_MIN);
}

static void
thread_deaf(const char *word)
{
	(void)word;
	environment_start(ENVIRONMENT_DEAF, 0);
}

static void
undumpable(const char *word)
{
	(void)word;
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		abort();
}

static void
seccomp(const char *word)
{
	if (!filter_deny(word, false))
		abort();
}

static void
container(const char *word)
{
	if (!filter_deny(word, true))
		abort();
}

static void
no_new_privs(const char *word)
{
	(void)word;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		abort();
}

/* How a daemon does it. */
static void
become(const char *word)
{
	(void)word;
	if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 ||
	    setuid(NOBODY) != 0)
		abort();
}

static void
become_effective(const char *word)
{
	(void)word;
	if (setegid(NOBODY) != 0 || seteuid(NOBODY) != 0)
		abort();
}

static void
become_at_once(const char *word)
{
	(void)word;
	if (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) != 0)
		abort();
}

/* The calling thread alone: the system call knows nothing of the others. */
static void
become_alone(const char *word)
{
	(void)word;
	if (syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) != 0)
		abort();
}

static void
descriptors(const char *word)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)atoi(word);
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		abort();
}

/* The current folder has been removed. */
static void
removed_cwd(const char *word)
{
	if (mkdir(word, 0700) != 0 || chdir(word) != 0 || rmdir(word) != 0)
		abort();
}

/* Until there is a line on stdin, or its end. */
static void
wait_for_line(const char *word)
{
	char line[MOST_LINE];

	environment_say("%s\n", word);
	while (read(0, line, sizeof(line)) < 0 && errno == EINTR)
		;
}

static bool
stdin_is_at_end(void)
{
	struct timeval none = { 0, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(0, &set);
	return select(1, &set, NULL, NULL, &none) == 1;
}

/*
 * Passes back to back until stdin says something: every one is exact, or not
 * checked for the reason WORD; how many of these there were is not told, as
 * that is chance.
 */
static void
passes(const char *word)
{
	char words[sizeof(environment_words)];
	unsigned exact = 0, refused = 0, others = 0;

	/* Each holds what it is to hold once it has answered. */
	if (environment_num_threads > 0)
		environment_ask_threads(environment_asked + 1);
	environment_say("ready\n");
	while (!stdin_is_at_end()) {
		if (environment_pass(words, sizeof(words)))
			exact++;
		else if (word[0] != '\0' && strstr(words, word) == words)
			refused++;
		else if (others++ < 3)
			environment_say("%s\n", words);
	}
	fprintf(stderr, "%u exact, %u \"%s\"\n", exact, refused, word);
	environment_say("%u other answers, ", others);
}

static const struct {
	const char *name;
	void (*act)(const char *word);
} deeds[] = {
	{ "threads", threads },
	{ "threads_idle", threads_idle },
	{ "threads_napping", threads_napping },
	{ "thread_deaf", thread_deaf },
	{ "undumpable", undumpable },
	{ "seccomp", seccomp },
	{ "container", container },
	{ "no_new_privs", no_new_privs },
	{ "become", become },
	{ "become_effective", become_effective },
	{ "become_at_once", become_at_once },
	{ "become_alone", become_alone },
	{ "descriptors", descriptors },
	{ "removed_cwd", removed_cwd },
	{ "wait", wait_for_line },
	{ "passes", passes },
};

static void
do_deed(const char *deed)
{
	size_t length = strcspn(deed, "="), i;

	for (i = 0; i < sizeof(deeds) / sizeof(*deeds); i++) {
		if (strlen(deeds[i].name) == length &&
		    strncmp(deeds[i].name, deed, length) == 0) {
			deeds[i].act(deed + length + (deed[length] == '='));
			return;
		}
	}
	environment_say("no deed %s\n", deed);
	_exit(96);
}

int
main(int argc, char **argv)
{
	const char *output = getenv("PLACE_OUTPUT"); /* a descriptor */
	int i, status;

	if (output != NULL)
		environment_output = atoi(output);
	environment_plant();
	environment_start_some();
	for (i = 1; i < argc; i++)
		do_deed(argv[i]);
	status = environment_play();
	environment_end_threads();
	return status;
}
