/*
 * What another thread sees in /proc/self during passes: descriptors, mappings,
 * threads. Nothing of the program disappears; what is added has a known name,
 * and is gone afterwards.
 */
#include <dirent.h>

#include "tests/support/faults/transparency.h"
#include "tests/support/suite.h"

#define PASSES 40
#define LIST 256
#define TEXT 512
#define MAPS (1 << 17)

struct list {
	size_t count;
	char lines[LIST][TEXT];
};

struct watcher {
	void (*look)(struct list *list);
	pthread_t thread;
	int stop, ready;
	long looks, lost; /* something that was there is not */
	size_t most;      /* that came, in one look */
	struct list before, extra;
};

static bool
has(const struct list *list, const char *line)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (strcmp(list->lines[i], line) == 0)
			return true;
	return false;
}

static void
add(struct list *list, const char *line)
{
	if (list->count < LIST)
		snprintf(list->lines[list->count++], TEXT, "%s", line);
}

/* "5 pipe:[1234]" but for the watcher's own. */
static void
look_at_descriptors(struct list *list)
{
	char path[64], target[TEXT - 16], line[TEXT];
	ssize_t length;
	int fd;

	for (fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		snprintf(line, sizeof(line), "%d %s", fd, target);
		add(list, line);
	}
}

/* The names: "[heap]", "/usr/lib/...". */
static void
look_at_mappings(struct list *list)
{
	static char text[MAPS];
	char *line, *save, *name;

	transparency_read("/proc/self/maps", text, sizeof(text));
	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		name = strchr(line, '/');
		if (name == NULL)
			name = strchr(line, '[');
		if (name != NULL && !has(list, name))
			add(list, name);
	}
}

static void
look_at_tasks(struct list *list)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/task");

	while ((entry = readdir(dir)) != NULL)
		add(list, entry->d_name);
	closedir(dir);
}

static void
note(struct watcher *watcher, const struct list *now)
{
	size_t i, more = 0;

	for (i = 0; i < now->count; i++) {
		if (has(&watcher->before, now->lines[i]))
			continue;
		more++;
		if (!has(&watcher->extra, now->lines[i]))
			add(&watcher->extra, now->lines[i]);
	}
	if (watcher->most < more)
		watcher->most = more;
	for (i = 0; i < watcher->before.count; i++)
		watcher->lost += !has(now, watcher->before.lines[i]);
}

/* The first look is before all passes, the last one after them. */
static void *
watch(void *arg)
{
	struct watcher *watcher = arg;
	static struct list now;
	int stop;

	watcher->look(&watcher->before);
	transparency_set(&watcher->ready, 1);
	do {
		stop = transparency_get(&watcher->stop);
		now.count = 0;
		watcher->look(&now);
		note(watcher, &now);
		watcher->looks++;
	} while (!stop);
	ck_assert_uint_eq(now.count, watcher->before.count);
	return NULL;
}

static void
watch_passes(struct watcher *watcher, int method)
{
	transparency_pass(method);
	transparency_spawn(&watcher->thread, watch, watcher);
	transparency_await(&watcher->ready, 1);
	transparency_passes(method, PASSES);
	transparency_set(&watcher->stop, 1);
	pthread_join(watcher->thread, NULL);
	ck_assert_int_eq(watcher->lost, 0);
}

/* The pipe, and files of /proc for moments; one after the other. */
TEST_LOOP(descriptors, 0, TRANSPARENCY_METHODS)
{
	static struct watcher watcher = { .look = look_at_descriptors };
	const char *name;
	size_t i;

	watch_passes(&watcher, _i);
	for (i = 0; i < watcher.extra.count; i++) {
		name = strchr(watcher.extra.lines[i], ' ') + 1;
		ck_assert_msg(strncmp(name, "pipe:", 5) == 0 ||
			strncmp(name, "/proc/", 6) == 0 ||
			strncmp(name, "/sys/", 5) == 0,
		    "%s", watcher.extra.lines[i]);
	}
	/* Both ends, the memory group; a number may pass on in mid-look. */
	ck_assert_uint_le(watcher.most, 5);
}

/* Memory comes and goes, private and shared: no file, nothing with a name. */
TEST_LOOP(mappings, 0, TRANSPARENCY_METHODS)
{
	static struct watcher watcher = { .look = look_at_mappings };

	size_t i;

	watch_passes(&watcher, _i);
	for (i = 0; i < watcher.extra.count; i++)
		ck_assert_str_eq(watcher.extra.lines[i], "/dev/zero (deleted)");
}

TEST_LOOP(tasks, 0, TRANSPARENCY_METHODS)
{
	static struct watcher watcher = { .look = look_at_tasks };

	watch_passes(&watcher, _i);
	ck_assert_msg(watcher.extra.count == 0, "%s", watcher.extra.lines[0]);
}

static __attribute__((noreturn)) void *
sit_around(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

static _Noreturn void
pass_for_ever(int method)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, sit_around, NULL) != 0)
		_exit(1);
	for (;;)
		transparency_pass(method);
}

/* Processes whose parent PID is, by name. */
static size_t
look_at_children(pid_t pid, struct list *names)
{
	struct dirent *entry;
	char path[300], stat[TEXT], *end, *name;
	DIR *dir = opendir("/proc");
	size_t count = 0;

	while ((entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
		    transparency_read(path, stat, sizeof(stat)) == 0)
			continue;
		end = strrchr(stat, ')');
		name = strchr(stat, '(');
		if (end == NULL || name == NULL || atoi(end + 4) != pid)
			continue;
		*end = '\0';
		count++;
		if (!has(names, name + 1))
			add(names, name + 1);
	}
	closedir(dir);
	return count;
}

/* Seen from outside, as ps shows it. */
TEST_LOOP(children, 0, TRANSPARENCY_METHODS)
{
	static struct list names;
	char own[16];
	int looks;
	pid_t pid;
	size_t i;

	prctl(PR_GET_NAME, own);
	pid = fork();
	if (pid == 0)
		pass_for_ever(_i);
	for (looks = 0; looks < 200 || !has(&names, "mu-sweeper"); looks++)
		ck_assert_uint_le(look_at_children(pid, &names), 3);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (i = 0; i < names.count; i++)
		ck_assert_msg(strcmp(names.lines[i], "mu-collector") == 0 ||
			strcmp(names.lines[i], "mu-sweeper") == 0 ||
			strcmp(names.lines[i], own) == 0,
		    "%s", names.lines[i]);
	if (transparency_methods[_i].option == MU_STOP_SIGNAL)
		ck_assert(!has(&names, "mu-collector"));
}
