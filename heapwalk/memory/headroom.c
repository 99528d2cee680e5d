#include "heapwalk/memory/headroom.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"

#define NAME_SIZE 40
#define TEXT_SIZE 8192 /* memory.stat of v2 has 2 KiB, of v1 less */

/*
 * "No limit" in version 1 is PAGE_COUNTER_MAX pages, more than any machine has.
 */
#define NO_LIMIT ((size_t)1 << 50)

#define NUM_KINDS 2 /* that limit one thing */

/* The files of a kind of hierarchy with a group's limits. */
struct kind {
	const char *limits[2][2]; /* files of limit and usage; or NULL */
	const char *prefix;       /* of keys in memory.stat */
	const char *dirty, *writeback, *mapped;
	const char *kills_all; /* file with 1: see headroom.h; or NULL */
};

/* From MU_CGROUP_MEMORY on. */
static const struct kind kinds[NUM_KINDS] = {
	{ { { "memory.limit_in_bytes", "memory.usage_in_bytes" },
	      { "memory.memsw.limit_in_bytes",
		  "memory.memsw.usage_in_bytes" } },
	    "total_", "dirty", "writeback", "mapped_file", NULL },
	{ { { "memory.max", "memory.current" },
	      { "memory.high", "memory.current" } },
	    "", "file_dirty", "file_writeback", "file_mapped",
	    "memory.oom.group" },
};

/* The same for threads and processes, from MU_CGROUP_UNIFIED on. */
static const struct kind task_kinds[NUM_KINDS] = {
	{ .limits = { { "pids.max", "pids.current" } } },
	{ .limits = { { "pids.max", "pids.current" } } },
};

static bool
read_digits(const char *at, const char *end, size_t *value)
{
	const char *begin;

	for (; at < end && *at == ' '; at++)
		;
	*value = 0;
	for (begin = at;
	     at < end && *at >= '0' && *at <= '9' && *value < SIZE_MAX / 16384;
	     at++)
		*value = *value * 10 + (size_t)(*at - '0');
	return at > begin;
}

/* The number after KEY at the start of a line; 0 if there is none. */
static size_t
find_number(
    const char *text, const char *end, const char *prefix, const char *name)
{
	size_t length, value;
	char key[NAME_SIZE];
	const char *at, *next;

	length = mu_text_format(key, sizeof(key), "%s%s", prefix, name);
	for (at = text; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (next == NULL)
			next = end;
		if ((size_t)(next - at) > length &&
		    memcmp(at, key, length) == 0 &&
		    (at[length] == ' ' || at[length] == ':') &&
		    read_digits(at + length + 1, next, &value))
			return value;
	}
	return 0;
}

/* Read the number in a file of the group; SIZE_MAX if there is none. */
static size_t
read_number(int fd)
{
	char text[64] = "";
	ssize_t n = mu_sys_pread(fd, text, sizeof(text), 0);
	size_t value;

	if (n <= 0 || !read_digits(text, text + n, &value))
		return SIZE_MAX;
	return value;
}

/* The place for a new limit: after the others, or over the widest one. */
static struct mu_headroom_limit *
room_for(struct mu_headroom *headroom, size_t bytes)
{
	struct mu_headroom_limit *widest = &headroom->limits[0];
	unsigned i;

	if (headroom->num_limits < MU_HEADROOM_LIMITS)
		return &headroom->limits[headroom->num_limits++];
	for (i = 1; i < headroom->num_limits; i++)
		if (headroom->limits[i].bytes > widest->bytes)
			widest = &headroom->limits[i];
	if (widest->bytes <= bytes)
		return NULL;
	mu_sys_close(&widest->usage);
	mu_sys_close(&widest->stat);
	return widest;
}

static void
add_limit(struct mu_headroom *headroom, const struct mu_cgroup *group,
    const char *const names[2])
{
	struct mu_headroom_limit *limit;
	int fd = names[0] != NULL ? mu_cgroup_open(group, names[0]) : -1, usage;
	size_t bytes;

	if (fd < 0)
		return;
	bytes = read_number(fd);
	mu_sys_close(&fd);
	if (bytes >= NO_LIMIT)
		return;
	usage = mu_cgroup_open(group, names[1]);
	if (usage < 0)
		return;
	limit = room_for(headroom, bytes);
	if (limit == NULL) {
		mu_sys_close(&usage);
		return;
	}
	*limit = (struct mu_headroom_limit) { bytes, usage,
		mu_cgroup_open(group, "memory.stat") };
}

static void
note_kills_all(struct mu_headroom *headroom, const struct mu_cgroup *group,
    const char *name)
{
	int fd = name != NULL ? mu_cgroup_open(group, name) : -1;

	if (fd >= 0 && read_number(fd) == 1)
		headroom->kills_all = true;
	mu_sys_close(&fd);
}

/* A limit applies to all groups below it: visit all folders upwards. */
static void
add_limits(struct mu_headroom *headroom, const struct kind *kind,
    struct mu_cgroup *group)
{
	do {
		add_limit(headroom, group, kind->limits[0]);
		add_limit(headroom, group, kind->limits[1]);
		note_kills_all(headroom, group, kind->kills_all);
	} while (mu_cgroup_go_up(group));
}

/* Add the limits of the process's groups of these kinds, from FIRST on. */
static void
add_groups(struct mu_headroom *headroom, const struct mu_headroom_files *files,
    unsigned first, const struct kind kinds_of[NUM_KINDS],
    struct mu_cgroups_known *known)
{
	struct mu_cgroup groups[MU_CGROUP_KINDS], *group;
	size_t i;

	mu_cgroups_find(groups, first, files->cgroup, files->mountinfo, known);
	/* Version 1 comes last: where that limits memory, 2 does not. */
	for (i = NUM_KINDS; i-- > 0;) {
		group = &groups[first + i];
		if (group->mounted)
			add_limits(headroom, &kinds_of[i], group);
		if (group->found)
			headroom->unseen = group->elsewhere && !group->mounted;
	}
}

void
mu_headroom_open_files(struct mu_headroom *headroom,
    const struct mu_headroom_files *files, struct mu_cgroups_known *known)
{
	*headroom = (struct mu_headroom) {
		.meminfo = mu_procfs_open(files->meminfo, O_RDONLY),
	};
	add_groups(headroom, files, MU_CGROUP_MEMORY, kinds, known);
}

void
mu_headroom_open(
    struct mu_headroom *headroom, pid_t pid, struct mu_cgroups_known *known)
{
	char cgroup[64];
	const struct mu_headroom_files files = {
		.meminfo = "/proc/meminfo",
		.mountinfo = "/proc/self/mountinfo",
		.cgroup = cgroup,
	};

	mu_text_format(cgroup, sizeof(cgroup), "/proc/%d/cgroup", pid);
	mu_headroom_open_files(headroom, &files, known);
}

static size_t
less(size_t a, size_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Clean page cache that no process has mapped. The lists of files include
 * neither shared memory nor locked pages; mapped_file includes shared memory.
 */
static size_t
cache_of(const char *text, const char *end, const struct kind *kind)
{
	const char *prefix = kind->prefix;
	size_t cache, mapped;

	cache = find_number(text, end, prefix, "inactive_file") +
	    find_number(text, end, prefix, "active_file");
	mapped = less(find_number(text, end, prefix, kind->mapped),
	    find_number(text, end, prefix, "shmem"));
	cache = less(cache, mapped);
	cache = less(cache, find_number(text, end, prefix, kind->dirty));
	return less(cache, find_number(text, end, prefix, kind->writeback));
}

static size_t
reclaimable(int stat)
{
	char text[TEXT_SIZE] = "";
	ssize_t n = stat < 0 ? -1 : mu_sys_pread(stat, text, sizeof(text), 0);
	size_t i, cache = 0;

	/*
	 * Only version 1 has keys with the prefix, and only version 2 those
	 * without.
	 */
	for (i = 0; n > 0 && i < NUM_KINDS && cache == 0; i++)
		cache = cache_of(text, text + n, &kinds[i]);
	return cache;
}

size_t
mu_headroom_left_in_groups(const struct mu_headroom *headroom, size_t enough)
{
	const struct mu_headroom_limit *limit;
	size_t least = SIZE_MAX, used, left;
	unsigned i;

	for (i = 0; i < headroom->num_limits; i++) {
		limit = &headroom->limits[i];
		used = read_number(limit->usage);
		if (used == SIZE_MAX)
			continue; /* the group is gone */
		left = less(limit->bytes, used);
		if (left < enough)
			left = less(
			    limit->bytes, less(used, reclaimable(limit->stat)));
		if (left < least)
			least = left;
	}
	return least;
}

size_t
mu_headroom_tasks(
    const struct mu_headroom_files *files, struct mu_cgroups_known *known)
{
	struct mu_headroom headroom = { .meminfo = -1 };
	size_t left;

	add_groups(&headroom, files, MU_CGROUP_UNIFIED, task_kinds, known);
	left = mu_headroom_left_in_groups(&headroom, 0);
	mu_headroom_close(&headroom);
	return left;
}

size_t
mu_headroom_tasks_of(pid_t pid, struct mu_cgroups_known *known)
{
	char cgroup[64];
	const struct mu_headroom_files files = {
		.mountinfo = "/proc/self/mountinfo",
		.cgroup = cgroup,
	};

	mu_text_format(cgroup, sizeof(cgroup), "/proc/%d/cgroup", pid);
	return mu_headroom_tasks(&files, known);
}

size_t
mu_headroom_left_of_machine(const struct mu_headroom *headroom)
{
	size_t available;
	char text[1024] = "";
	ssize_t n;

	n = headroom->meminfo < 0
	    ? -1
	    : mu_sys_pread(headroom->meminfo, text, sizeof(text), 0);
	/* "MemAvailable:   23975168 kB" */
	available = n > 0 ? find_number(text, text + n, "", "MemAvailable") : 0;
	return available == 0 ? SIZE_MAX : available * 1024;
}

size_t
mu_headroom_left(const struct mu_headroom *headroom, size_t enough)
{
	size_t in_groups = mu_headroom_left_in_groups(headroom, enough);
	size_t of_machine = mu_headroom_left_of_machine(headroom);

	return of_machine < in_groups ? of_machine : in_groups;
}

static bool
is_same_file(int a, int b)
{
	struct stat one = { 0 }, two = { 0 };

	return mu_sys2(SYS_fstat, a, (long)&one) == 0 &&
	    mu_sys2(SYS_fstat, b, (long)&two) == 0 &&
	    one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

bool
mu_headroom_shares(
    const struct mu_headroom *headroom, const struct mu_headroom *other)
{
	unsigned i, k;

	for (i = 0; i < headroom->num_limits; i++)
		for (k = 0; k < other->num_limits; k++)
			if (is_same_file(headroom->limits[i].usage,
				other->limits[k].usage))
				return true;
	return false;
}

void
mu_headroom_close(struct mu_headroom *headroom)
{
	unsigned i;

	for (i = 0; i < headroom->num_limits; i++) {
		mu_sys_close(&headroom->limits[i].usage);
		mu_sys_close(&headroom->limits[i].stat);
	}
	headroom->num_limits = 0;
	mu_sys_close(&headroom->meminfo);
}
