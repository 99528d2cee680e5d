/*
 * What the soak's threads do with processes and libraries: children that end,
 * children that make a pass, programs by vfork() and posix_spawn(), threads
 * that start and end, a library that is loaded and unloaded.
 */
#ifndef TESTS_SOAK_PROCESSES_H
#define TESTS_SOAK_PROCESSES_H

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tests/soak/model.h"

#define CHILD_SECONDS 100 /* then it hangs, and is killed */
#define CHILD_WRONG 3
#define CHILD_NOT_CHECKED 4
#define CHILD_HELD 5
#define ALL_ENTRIES ((size_t)1 << 20)

static struct {
	unsigned long forks, passes, partial, held, not_checked;
	unsigned long vforks, spawns, loads, threads;
} done;

/* Reap exactly that one; its exit status, -1 if it has none. */
LIVE int
reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid) {
		wrong("child %d is gone", (int)pid);
		return -1;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	wrong("child %d: wait status %#x", (int)pid, (unsigned)status);
	return -1;
}

/* In a child, where only the thread that forked lives. */
LIVE int
pass_of_child(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool checked, right;

	alarm(CHILD_SECONDS);
	scrub();
	checked = GetUnreachableMemory(&info, ALL_ENTRIES);
	right = !checked || model_agrees(&info, true);
	if (!right)
		fprintf(stderr, "in a child: status %d, %s\n", info.status,
		    info.reason);
	if (!right)
		return CHILD_WRONG;
	if (!checked)
		fprintf(stderr, "a child's pass: %s: %s\n",
		    memunreachable_status_name(info.status), info.reason);
	if (checked && model.held > 0)
		return CHILD_HELD;
	return checked ? info.status : CHILD_NOT_CHECKED;
}

LIVE void
count_child(int status)
{
	count_one(&done.passes);
	if (status == MEMUNREACHABLE_PARTIAL)
		count_one(&done.partial);
	else if (status == CHILD_HELD)
		count_one(&done.held);
	else if (status == CHILD_NOT_CHECKED)
		count_one(&done.not_checked);
	else if (status != 0)
		wrong("a child's pass: exit status %d", status);
}

static void
round_fork(struct soaker *soaker)
{
	bool asks = roll(soaker, 16) == 0;
	void *volatile block;
	pid_t pid;
	int status;

	/* A child is checked whether its one thread has allocated or not. */
	if (soaker->number % 2 == 0) {
		block = malloc(roll(soaker, 500));
		free(block);
	}
	/* The child must not find a model that is being changed. */
	pthread_mutex_lock(&model.lock);
	pid = fork();
	if (pid == 0)
		_exit(asks ? pass_of_child() : 0);
	pthread_mutex_unlock(&model.lock);
	if (pid < 0) {
		wrong("no fork");
		return;
	}
	count_one(&done.forks);
	status = reap(pid);
	if (asks)
		count_child(status);
	else if (status > 0)
		wrong("a child's exit status %d", status);
}

LIVE pid_t
vfork_program(char *const *argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

extern char **environ;

static void
round_exec(struct soaker *soaker)
{
	static char path[] = "/bin/true";
	char *argv[] = { path, NULL };
	pid_t pid = -1;

	if (roll(soaker, 2) == 0) {
		pid = vfork_program(argv);
		count_one(&done.vforks);
	} else {
		if (posix_spawn(&pid, path, NULL, NULL, argv, environ) != 0)
			pid = -1;
		count_one(&done.spawns);
	}
	if (pid < 0)
		wrong("no program can be started");
	else if (reap(pid) > 0)
		wrong("/bin/true said no");
}

/* build/tests/soak/soak finds build/tests/soak/plugin.so. */
LIVE void
find_plugin(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 16);

	if (length <= 0)
		abort();
	path[length] = '\0';
	memcpy(strrchr(path, '/') + 1, "plugin.so", sizeof("plugin.so"));
}

static void
round_load(struct soaker *soaker)
{
	char path[PATH_MAX];
	int (*visit)(size_t size);
	void *plugin;

	find_plugin(path);
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (plugin == NULL) {
		wrong("%s", dlerror());
		return;
	}
	*(void **)&visit = dlsym(plugin, "plugin_visit");
	if (visit == NULL || visit(roll(soaker, 5000)) != 0)
		wrong("the library has lost its blocks");
	if (dlclose(plugin) != 0)
		wrong("%s", dlerror());
	count_one(&done.loads);
}

static unsigned long detached_ended;

/* Only the new thread has its argument, and only its joiner its result. */
static void *
short_life(void *arg)
{
	char *block = arg, *other = malloc(600);

	if (other == NULL || block[0] != 's' || block[599] != 's')
		abort();
	memset(other, 's', 600);
	free(block);
	return other;
}

static void *
short_life_detached(void *arg)
{
	free(short_life(arg));
	__atomic_fetch_add(&detached_ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

LIVE pthread_t
start_short_life(void *(*body)(void *), size_t stack_size, bool detached)
{
	char *block = malloc(600);
	pthread_attr_t attr;
	pthread_t thread;

	if (block == NULL)
		abort();
	memset(block, 's', 600);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack_size);
	if (detached)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, body, block) != 0)
		abort();
	pthread_attr_destroy(&attr);
	count_one(&done.threads);
	return thread;
}

static void
round_threads(struct soaker *soaker)
{
	unsigned long ended = count_of(&detached_ended);
	size_t size = (size_t)64 << 10 << roll(soaker, 5);
	pthread_t joined[3];
	void *block;
	int i;

	for (i = 0; i < 3; i++)
		joined[i] = start_short_life(short_life, size, false);
	start_short_life(short_life_detached, size, true);
	for (i = 0; i < 3; i++) {
		if (pthread_join(joined[i], &block) != 0)
			abort();
		if (((char *)block)[599] != 's')
			wrong("a thread's result is lost");
		free(block);
	}
	if (!await_count(&detached_ended, ended + 1))
		wrong("a thread does not end");
}

#endif
