#include "heapwalk/memory/cgroups.h"

#include <string.h>
#include <sys/stat.h>

#include "heapwalk/subject/lines.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"

#define NAME_SIZE 40

/* In mountinfo, and both there and in /proc/PID/cgroup; "" for version 2. */
struct kind {
	const char *fstype, *controller;
};

static const struct kind kinds[MU_CGROUP_KINDS] = {
	[MU_CGROUP_MEMORY] = { "cgroup", "memory" },
	[MU_CGROUP_UNIFIED] = { "cgroup2", "" },
	[MU_CGROUP_PIDS] = { "cgroup", "pids" },
};

/* Text between two delimiters. */
struct part {
	const char *at;
	size_t length;
};

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
consider_group(
    struct mu_cgroup *group, const struct kind *kind, struct part line)
{
	struct part id = next_part(&line, ':');
	struct part controllers = next_part(&line, ':');

	if (kind->controller[0] == '\0'
		? !part_is(id, "0") || controllers.length > 0
		: !list_has(controllers, kind->controller))
		return;
	if (group->found || line.length == 0 || line.at[0] != '/' ||
	    line.length >= sizeof(group->path))
		return;
	memcpy(group->path, line.at, line.length);
	group->path[line.length] = '\0';
	group->found = true;
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
consider_mount(
    struct mu_cgroup *group, const struct kind *kind, struct part line)
{
	struct part field, root, point;
	const char *rest;
	size_t length;
	int i;

	if (!group->found)
		return;
	for (i = 0; i < 3; i++)
		next_part(&line, ' ');
	root = next_part(&line, ' ');
	point = next_part(&line, ' ');
	do
		field = next_part(&line, ' ');
	while (line.length > 0 && !part_is(field, "-"));
	if (!part_is(next_part(&line, ' '), kind->fstype))
		return;
	next_part(&line, ' ');
	if (kind->controller[0] != '\0' && !list_has(line, kind->controller))
		return;
	rest = below(group->path, root);
	group->elsewhere |= rest == NULL;
	if (rest == NULL)
		return;
	length = strlen(rest);
	if (length == 1) /* "/" */
		length = 0;
	if (point.length + length + 1 > sizeof(group->folder) ||
	    (group->mounted && length <= group->length - group->top))
		return;
	memcpy(group->folder, point.at, point.length);
	memcpy(group->folder + point.length, rest, length);
	group->top = point.length;
	group->length = point.length + length;
	group->folder[group->length] = '\0';
	group->mounted = true;
}

/* A file that is read once for the groups of all kinds. */
struct reading {
	struct mu_cgroup *groups;
	void (*consider)(
	    struct mu_cgroup *group, const struct kind *kind, struct part line);
};

static bool
read_lines(void *ctx, const char *lines, size_t length)
{
	struct part rest = { lines, length }, line;
	const struct reading *reading = ctx;
	size_t i;

	while (rest.length > 0) {
		line = next_part(&rest, '\n');
		for (i = 0; i < MU_CGROUP_KINDS; i++)
			reading->consider(&reading->groups[i], &kinds[i], line);
	}
	return false; /* continue to the end of the file */
}

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
recall(struct mu_cgroup *group, const struct mu_cgroup_known *known)
{
	if (known->mount == 0 || strcmp(group->path, known->path) != 0 ||
	    mount_of(known->folder) != known->mount)
		return false;
	group->length = strlen(known->folder);
	memcpy(group->folder, known->folder, group->length + 1);
	group->top = known->top;
	group->mounted = true;
	return true;
}

static void
remember(const struct mu_cgroup *group, struct mu_cgroup_known *known)
{
	*known = (struct mu_cgroup_known) { .mount = 0 };
	if (!group->mounted || strlen(group->path) >= MU_CGROUP_KNOWN ||
	    group->length >= MU_CGROUP_KNOWN)
		return;
	memcpy(known->path, group->path, strlen(group->path) + 1);
	memcpy(known->folder, group->folder, group->length + 1);
	known->top = group->top;
	known->mount = mount_of(known->folder);
}

/* GROUPS, whose paths are known, get their folders. */
static void
find_folders(struct mu_cgroup *groups, unsigned first, const char *mountinfo,
    struct mu_cgroups_known *known)
{
	bool all = known != NULL;
	unsigned i;

	for (i = first; i <= first + 1 && all; i++)
		all = !groups[i].found || recall(&groups[i], &known->of[i]);
	if (all)
		return;
	for (i = 0; i < MU_CGROUP_KINDS; i++)
		groups[i].mounted = false;
	mu_lines_search(mountinfo, read_lines,
	    &(struct reading) { groups, consider_mount });
	for (i = 0; i < MU_CGROUP_KINDS && known != NULL; i++)
		remember(&groups[i], &known->of[i]);
}

/* Its paths are long, and stay as they are. */
static void
clear(struct mu_cgroup *group)
{
	group->path[0] = group->folder[0] = '\0';
	group->length = group->top = 0;
	group->found = group->mounted = group->elsewhere = false;
}

void
mu_cgroups_find(struct mu_cgroup groups[MU_CGROUP_KINDS], unsigned first,
    const char *cgroup, const char *mountinfo, struct mu_cgroups_known *known)
{
	size_t i;

	for (i = 0; i < MU_CGROUP_KINDS; i++)
		clear(&groups[i]);
	mu_lines_search(
	    cgroup, read_lines, &(struct reading) { groups, consider_group });
	find_folders(groups, first, mountinfo, known);
}

int
mu_cgroup_open(const struct mu_cgroup *group, const char *name)
{
	char path[MU_CGROUP_PATH + NAME_SIZE];

	mu_text_format(path, sizeof(path), "%s/%s", group->folder, name);
	return mu_procfs_open(path, O_RDONLY);
}

bool
mu_cgroup_go_up(struct mu_cgroup *group)
{
	if (group->length <= group->top)
		return false;
	while (
	    group->length > group->top && group->folder[--group->length] != '/')
		;
	group->folder[group->length] = '\0';
	return true;
}
