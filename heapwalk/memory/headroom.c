#include "heapwalk/memory/headroom.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "heapwalk/subject/lines.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"

#define PATH_SIZE 4096 /* of a cgroup's folder; longer ones are ignored */
#define NAME_SIZE 40
#define KNOWN_SIZE 256 /* of a path that is remembered */
#define TEXT_SIZE 8192 /* memory.stat of v2 has 2 KiB, of v1 less */

/*
 * "No limit" in version 1 is PAGE_COUNTER_MAX pages, more than any machine has.
 */
#define NO_LIMIT ((size_t)1 << 50)

/* A kind of hierarchy, and the files with a group's limits. */
struct kind {
	const char *fstype, *option; /* in mountinfo */
	const char *controller;      /* in /proc/PID/cgroup; "" for version 2 */
	const char *limits[2][2];    /* files of limit and usage; or NULL */
	const char *prefix;          /* of keys in memory.stat */
	const char *dirty, *writeback, *mapped;
	const char *kills_all; /* file with 1: see headroom.h; or NULL */
};

static const struct kind kinds[] = {
	{ "cgroup", "memory", "memory",
	    { { "memory.limit_in_bytes", "memory.usage_in_bytes" },
		{ "memory.memsw.limit_in_bytes",
		    "memory.memsw.usage_in_bytes" } },
	    "total_", "dirty", "writeback", "mapped_file", NULL },
	{ "cgroup2", "", "",
	    { { "memory.max", "memory.current" },
		{ "memory.high", "memory.current" } },
	    "", "file_dirty", "file_writeback", "file_mapped",
	    "memory.oom.group" },
};

#define NUM_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The same for limits of threads and processes. */
static const struct kind task_kinds[] = {
	{ .fstype = "cgroup",
	    .option = "pids",
	    .controller = "pids",
	    .limits = { { "pids.max", "pids.current" } } },
	{ .fstype = "cgroup2",
	    .option = "",
	    .controller = "",
	    .limits = { { "pids.max", "pids.current" } } },
};

_Static_assert(sizeof(task_kinds) == sizeof(kinds), "as many");

/* Text between two delimiters. */
struct part {
	const char *at;
	size_t length;
};

/* Location of a hierarchy, and of the process in it. */
struct place {
	const struct kind *kind;
	char path[PATH_SIZE];    /* of the process, from /proc/PID/cgroup */
	char folder[PATH_SIZE];  /* where the best mount so far shows it */
	size_t length, top;      /* of the folder; of its mount point */
	bool found;              /* the process is in this hierarchy */
	bool mounted, elsewhere; /* or mounts show other groups only */
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

/* Split off the part of *LINE up to DELIMITER. */
static struct part
next_part(struct part *line, char delimiter)
{
	const char *found = memchr(line->at, delimiter, line->length);
	struct part part = { line->at,
		found != NULL ? (size_t)(found - line->at) : line->length };
	size_t used = part.length + (found != NULL);

	line->at += used;
	line->length -= used;
	return part;
}

static bool
part_is(struct part part, const char *text)
{
	return part.length == strlen(text) &&
	    memcmp(part.at, text, part.length) == 0;
}

/* True if WORD is one of LIST, separated by commas. */
static bool
list_has(struct part list, const char *word)
{
	while (list.length > 0)
		if (part_is(next_part(&list, ','), word))
			return true;
	return false;
}

/* Parse "4:cpu,memory:/a/b", or for version 2 "0::/a/b". */
static void
consider_group(struct place *place, struct part line)
{
	struct part id = next_part(&line, ':');
	struct part controllers = next_part(&line, ':');

	if (place->kind->controller[0] == '\0'
		? !part_is(id, "0") || controllers.length > 0
		: !list_has(controllers, place->kind->controller))
		return;
	if (place->found || line.length == 0 || line.at[0] != '/' ||
	    line.length >= sizeof(place->path))
		return;
	memcpy(place->path, line.at, line.length);
	place->path[line.length] = '\0';
	place->found = true;
}

/* CTX is the places of all kinds, as the file is read once for them. */
static bool
find_paths(void *ctx, const char *lines, size_t length)
{
	struct part rest = { lines, length }, line;
	struct place *places = ctx;
	size_t i;

	while (rest.length > 0) {
		line = next_part(&rest, '\n');
		for (i = 0; i < NUM_KINDS; i++)
			consider_group(&places[i], line);
	}
	return false;
}

/*
 * The part of PATH below ROOT, the folder of the hierarchy that a mount shows;
 * NULL if PATH is outside. In a cgroup namespace both are relative to the
 * namespace's group, and a path outside of it begins with "/..".
 */
static const char *
below(const char *path, struct part root)
{
	if (part_is(root, "/"))
		return strncmp(path, "/..", 3) == 0 ? NULL : path;
	if (strncmp(path, root.at, root.length) != 0 ||
	    (path[root.length] != '/' && path[root.length] != '\0'))
		return NULL;
	return path + root.length;
}

/*
 * Parse "35 31 0:32 ROOT MOUNTPOINT rw,relatime shared:9 - cgroup cgroup
 * rw,memory". Of several mounts, the one that shows the most groups above the
 * process is used.
 */
static void
consider_mount(struct place *place, struct part line)
{
	struct part field, root, point;
	const char *rest;
	size_t length;
	int i;

	for (i = 0; i < 3; i++)
		next_part(&line, ' ');
	root = next_part(&line, ' ');
	point = next_part(&line, ' ');
	do
		field = next_part(&line, ' ');
	while (line.length > 0 && !part_is(field, "-"));
	if (!part_is(next_part(&line, ' '), place->kind->fstype))
		return;
	next_part(&line, ' ');
	if (place->kind->option[0] != '\0' &&
	    !list_has(line, place->kind->option))
		return;
	rest = below(place->path, root);
	place->elsewhere |= rest == NULL;
	if (rest == NULL)
		return;
	length = strlen(rest);
	if (length == 1) /* "/" */
		length = 0;
	if (point.length + length + 1 > sizeof(place->folder) ||
	    (place->mounted && length <= place->length - place->top))
		return;
	memcpy(place->folder, point.at, point.length);
	memcpy(place->folder + point.length, rest, length);
	place->top = point.length;
	place->length = point.length + length;
	place->mounted = true;
}

static bool
find_mounts(void *ctx, const char *lines, size_t length)
{
	struct part rest = { lines, length }, line;
	struct place *places = ctx;
	size_t i;

	while (rest.length > 0) {
		line = next_part(&rest, '\n');
		for (i = 0; i < NUM_KINDS; i++)
			if (places[i].found)
				consider_mount(&places[i], line);
	}
	return false; /* continue to the end of the file */
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

static int
open_in(const struct place *place, const char *name)
{
	char path[PATH_SIZE + NAME_SIZE];

	mu_text_format(path, sizeof(path), "%s/%s", place->folder, name);
	return mu_procfs_open(path, O_RDONLY);
}

/* Where to store a new limit: after the others, or over the widest one. */
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
add_limit(struct mu_headroom *headroom, const struct place *place,
    const char *const names[2])
{
	struct mu_headroom_limit *limit;
	int fd = names[0] != NULL ? open_in(place, names[0]) : -1, usage;
	size_t bytes;

	if (fd < 0)
		return;
	bytes = read_number(fd);
	mu_sys_close(&fd);
	if (bytes >= NO_LIMIT)
		return;
	usage = open_in(place, names[1]);
	if (usage < 0)
		return;
	limit = room_for(headroom, bytes);
	if (limit == NULL) {
		mu_sys_close(&usage);
		return;
	}
	*limit = (struct mu_headroom_limit) { bytes, usage,
		open_in(place, "memory.stat") };
}

static void
note_kills_all(struct mu_headroom *headroom, const struct place *place)
{
	const char *name = place->kind->kills_all;
	int fd = name != NULL ? open_in(place, name) : -1;

	if (fd >= 0 && read_number(fd) == 1)
		headroom->kills_all = true;
	mu_sys_close(&fd);
}

/* A limit applies to all groups below it: visit all folders upwards. */
static void
add_limits(struct mu_headroom *headroom, struct place *place)
{
	for (;;) {
		place->folder[place->length] = '\0';
		add_limit(headroom, place, place->kind->limits[0]);
		add_limit(headroom, place, place->kind->limits[1]);
		note_kills_all(headroom, place);
		if (place->length <= place->top)
			return;
		while (place->length > place->top &&
		    place->folder[--place->length] != '/')
			;
	}
}

/*
 * Where a group was seen last. To look through mountinfo takes longer than all
 * else, and a test asks for a check after each case.
 */
struct known {
	char path[KNOWN_SIZE], folder[KNOWN_SIZE];
	size_t top;
	uint64_t mount; /* that shows the folder; 0: nothing is known */
};

/* The number of the mount at FOLDER, since Linux 5.8; 0: it is not known. */
static uint64_t
mount_of(const char *folder)
{
	struct statx about = { .stx_mask = 0 };
	const char *at = folder;
	int dir = mu_procfs_at(&at);

	if (mu_syscall6(SYS_statx, dir, (long)at, AT_STATX_DONT_SYNC,
		STATX_MNT_ID, (long)&about, 0) != 0 ||
	    (about.stx_mask & STATX_MNT_ID) == 0)
		return 0;
	return about.stx_mnt_id;
}

static bool
recall(struct place *place, const struct known *known)
{
	if (known->mount == 0 || strcmp(place->path, known->path) != 0 ||
	    mount_of(known->folder) != known->mount)
		return false;
	place->length = strlen(known->folder);
	memcpy(place->folder, known->folder, place->length);
	place->top = known->top;
	place->mounted = true;
	return true;
}

static void
remember(const struct place *place, struct known *known)
{
	*known = (struct known) { .mount = 0 };
	if (!place->mounted || strlen(place->path) >= KNOWN_SIZE ||
	    place->length >= KNOWN_SIZE)
		return;
	memcpy(known->path, place->path, strlen(place->path) + 1);
	memcpy(known->folder, place->folder, place->length);
	known->top = place->top;
	known->mount = mount_of(known->folder);
}

/* PLACES, whose paths are known, get their folders. */
static void
find_folders(struct place *places, const char *mountinfo, struct known *known)
{
	bool all = known != NULL;
	size_t i;

	for (i = 0; i < NUM_KINDS && all; i++)
		all = !places[i].found || recall(&places[i], &known[i]);
	if (all)
		return;
	for (i = 0; i < NUM_KINDS; i++)
		places[i].mounted = false;
	mu_lines_search(mountinfo, find_mounts, places);
	for (i = 0; i < NUM_KINDS && known != NULL; i++)
		remember(&places[i], &known[i]);
}

/* Add the limits of the process's groups of these kinds. */
static void
add_groups(struct mu_headroom *headroom, const struct mu_headroom_files *files,
    const struct kind kinds_of[NUM_KINDS], struct known *known)
{
	struct place places[NUM_KINDS], *place;
	size_t i;

	for (i = 0; i < NUM_KINDS; i++)
		places[i] = (struct place) { .kind = &kinds_of[i] };
	mu_lines_search(files->cgroup, find_paths, places);
	find_folders(places, files->mountinfo, known);
	/* Version 1 comes last: where that limits memory, 2 does not. */
	for (i = NUM_KINDS; i-- > 0;) {
		place = &places[i];
		if (place->mounted)
			add_limits(headroom, place);
		if (place->found)
			headroom->unseen = place->elsewhere && !place->mounted;
	}
}

static void
open_files(struct mu_headroom *headroom, const struct mu_headroom_files *files,
    struct known *known)
{
	*headroom = (struct mu_headroom) {
		.meminfo = mu_procfs_open(files->meminfo, O_RDONLY),
	};
	add_groups(headroom, files, kinds, known);
}

void
mu_headroom_open_files(
    struct mu_headroom *headroom, const struct mu_headroom_files *files)
{
	open_files(headroom, files, NULL);
}

void
mu_headroom_open(struct mu_headroom *headroom, pid_t pid)
{
	static struct known known[NUM_KINDS];
	char cgroup[64];
	const struct mu_headroom_files files = {
		.meminfo = "/proc/meminfo",
		.mountinfo = "/proc/self/mountinfo",
		.cgroup = cgroup,
	};

	mu_text_format(cgroup, sizeof(cgroup), "/proc/%d/cgroup", pid);
	open_files(headroom, &files, known);
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
mu_headroom_tasks(const struct mu_headroom_files *files)
{
	struct mu_headroom headroom = { .meminfo = -1 };
	size_t left;

	add_groups(&headroom, files, task_kinds, NULL);
	left = mu_headroom_left_in_groups(&headroom, 0);
	mu_headroom_close(&headroom);
	return left;
}

size_t
mu_headroom_tasks_of(pid_t pid)
{
	char cgroup[64];

	mu_text_format(cgroup, sizeof(cgroup), "/proc/%d/cgroup", pid);
	return mu_headroom_tasks(&(struct mu_headroom_files) {
	    .mountinfo = "/proc/self/mountinfo",
	    .cgroup = cgroup,
	});
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
