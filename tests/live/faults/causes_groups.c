/*
 * Exhaust processes and memory of a cgroup, with both stop methods: the call
 * reports it, the program continues, and the next pass works. Needs root, and a
 * cgroup hierarchy of version 1 or 2 in which groups can be made.
 */
#include <poll.h>
#include <sys/stat.h>

#include "tests/support/faults/failing_pass.h"
#include "tests/support/suite.h"

static struct belongings own;

static bool
write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		/* A signal interrupts the change of a limit. */
		do
			n = write(fd, text, strlen(text));
		while (n < 0 && errno == EINTR);
		close(fd);
	}
	return n == (ssize_t)strlen(text);
}

/*
 * A group outlives its processes, also one that was killed in the middle:
 * another process, which no one here waits for, takes it away when this one
 * has ended.
 */
static void
outlive(const char *folder)
{
	struct pollfd end = { .events = POLLIN };
	pid_t own_pid = getpid(), child;
	int i;

	/*
	 * No SIGCHLD: these are counted. Not fork() in the child: another
	 * thread may have held a lock of malloc, which that takes, for ever.
	 */
	child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	ck_assert_int_ge(child, 0);
	if (child > 0) {
		ck_assert_int_eq(waitpid(child, NULL, __WALL), child);
		return;
	}
	end.fd = (int)syscall(SYS_pidfd_open, own_pid, 0);
	if (end.fd < 0 || syscall(SYS_clone, 0, NULL, NULL, NULL, NULL) != 0)
		_exit(0);
	setsid();
	poll(&end, 1, -1);
	for (i = 0; i < 100 && rmdir(folder) != 0 && errno == EBUSY; i++)
		usleep(50000);
	_exit(0);
}

/* A control group of version 1 or 2 with one of these files; we move in. */
static bool
enter_group(const char *controller, const char *file1, const char *file2,
    char *folder, size_t size, const char **file)
{
	char path[256];

	snprintf(
	    folder, size, "/sys/fs/cgroup/%s/mu-test-%d", controller, getpid());
	*file = file1;
	if (mkdir(folder, 0755) != 0) {
		snprintf(folder, size, "/sys/fs/cgroup/mu-test-%d", getpid());
		*file = file2;
		if (mkdir(folder, 0755) != 0)
			return false;
	}
	outlive(folder);
	snprintf(path, sizeof(path), "%s/%s", folder, *file);
	if (access(path, W_OK) == 0 && write_file(folder, "cgroup.procs", "0"))
		return true;
	rmdir(folder);
	return false;
}

static void
leave_group(const char *controller, const char *folder)
{
	char parent[256];

	snprintf(parent, sizeof(parent), "/sys/fs/cgroup/%s", controller);
	if (!write_file(parent, "cgroup.procs", "0"))
		write_file("/sys/fs/cgroup", "cgroup.procs", "0");
	rmdir(folder);
}

/* No room for a collector or sweeper, then for one of them, then for both. */
TEST_LOOP(group_of_processes, 0, NUM_STOPS)
{
	struct failing_pass pass;
	const char *file;
	char folder[200], most[16];
	unsigned more, failures = 0;

	choose_method(_i);
	belongings_begin(&own);
	if (!enter_group("pids", "pids.max", "pids.max", folder, sizeof(folder),
		&file)) {
		printf("SKIPPED: group_of_processes: no cgroup can be made\n");
		belongings_end(&own);
		return;
	}
	/* main, the workers and the pass's thread; not who sends signals */
	for (more = 0; more < 3; more++) {
		memset(&pass, 0, sizeof(pass));
		snprintf(most, sizeof(most), "%u", 2 + WORKERS + more);
		ck_assert(write_file(folder, file, most));
		ck_assert(failing_pass_run(&pass));
		ck_assert(write_file(folder, file, "max"));
		ck_assert_msg(pass.checked ||
			pass.info.status == MEMUNREACHABLE_NO_RESOURCES,
		    "status %d, %s", pass.info.status, pass.info.reason);
		failures += !pass.checked;
		belongings_check(&own, &pass);
	}
	leave_group("pids", folder);
	ck_assert_uint_eq(failures, _i == 0 ? 2 : 1);
	belongings_end(&own);
}

/* The sweeper needs some 20 MiB for them, the program next to nothing. */
#define BLOCKS 1000000

static void
keep_many(void ***blocks)
{
	size_t i;

	*blocks = malloc(BLOCKS * sizeof(**blocks));
	ck_assert_ptr_nonnull(*blocks);
	for (i = 0; i < BLOCKS; i++)
		(*blocks)[i] = malloc(24);
}

static unsigned long
group_bytes(const char *folder, const char *file)
{
	unsigned long bytes = 0;
	char path[256];
	FILE *usage;

	snprintf(path, sizeof(path), "%s/%s", folder,
	    file[7] == 'l' ? "memory.usage_in_bytes" : "memory.current");
	usage = fopen(path, "re");
	ck_assert_ptr_nonnull(usage);
	ck_assert_int_eq(fscanf(usage, "%lu", &bytes), 1);
	fclose(usage);
	return bytes;
}

/*
 * The OOM killer takes the sweeper, or that one does without. What the program
 * needs itself in the meantime must be there: until the sweeper has offered
 * itself, right after the fork, no process is preferred.
 */
TEST_LOOP(group_of_memory, 0, NUM_STOPS)
{
	static void **blocks;
	struct failing_pass pass = { .call = NULL };
	const char *file;
	char folder[200], most[32];
	unsigned more, failures = 0;

	choose_method(_i);
	if (!enter_group("memory", "memory.limit_in_bytes", "memory.max",
		folder, sizeof(folder), &file)) {
		printf("SKIPPED: group_of_memory: no cgroup can be made\n");
		return;
	}
	keep_many(&blocks);
	belongings_begin(&own);
	for (more = 4; more <= 256 && !pass.checked; more *= 4) {
		memset(&pass, 0, sizeof(pass));
		snprintf(most, sizeof(most), "%lu",
		    group_bytes(folder, file) + ((unsigned long)more << 20));
		ck_assert(write_file(folder, file, most));
		ck_assert(failing_pass_run(&pass));
		ck_assert(
		    write_file(folder, file, file[7] == 'l' ? "-1" : "max"));
		ck_assert_msg(pass.checked ||
			pass.info.status == MEMUNREACHABLE_HELPER_DIED ||
			pass.info.status == MEMUNREACHABLE_NO_MEMORY,
		    "status %d, %s", pass.info.status, pass.info.reason);
		failures += !pass.checked;
		belongings_check(&own, &pass);
	}
	leave_group("memory", folder);
	printf("memory group: %u failures, then status %d\n", failures,
	    pass.info.status);
	belongings_end(&own);
}

#define SMALL_BLOCKS 400000

/* Each refers to one before it, so that the graph has many edges. */
static void
lose_many(void)
{
	static void **volatile newest;
	void **block;
	size_t i;

	for (i = 0; i < SMALL_BLOCKS; i++) {
		block = malloc(24);
		ck_assert_ptr_nonnull(block);
		*block = newest;
		newest = block;
	}
	newest = NULL;
}

/*
 * A program of one thread is searched in its own memory: the OOM killer has
 * nothing else to take if there is no room for the tables.
 */
TEST(group_without_room_for_tables)
{
	struct UnreachableMemoryInfo info = { 0 };
	const char *file;
	char folder[200], most[32];
	bool checked;

	if (!enter_group("memory", "memory.limit_in_bytes", "memory.max",
		folder, sizeof(folder), &file)) {
		printf("SKIPPED: group_without_room_for_tables: no cgroup can"
		       " be made\n");
		return;
	}
	lose_many();
	/* The group has no page cache left that could be reclaimed. */
	if (!write_file(folder, "memory.force_empty", "0"))
		write_file(folder, "memory.reclaim", "64M");
	snprintf(
	    most, sizeof(most), "%lu", group_bytes(folder, file) + (1ul << 19));
	ck_assert(write_file(folder, file, most));
	checked = GetUnreachableMemory(&info, 10);
	ck_assert(write_file(folder, file, file[7] == 'l' ? "-1" : "max"));
	leave_group("memory", folder);
	ck_assert(!checked);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_NO_MEMORY);
	FreeUnreachableMemoryInfo(&info);
}
