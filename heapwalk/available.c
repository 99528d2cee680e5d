/*
 * Memory that is still to be had: see heapwalk/available.h.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/available.h"

#include <stdint.h>
#include <string.h>

#include "heapwalk/lines.h"
#include "mu/procfs.h"
#include "mu/text.h"

#define PATH_SIZE 4096 /* of a cgroup's folder; a longer one tells nothing */
#define NAME_SIZE 32

/* A number behind KEY at the start of a line. */
struct number {
	const char *key;
	size_t value;
};

struct cgroup {
	char folder[PATH_SIZE]; /* CGROUPS and our path below it */
	size_t length, root;    /* of the folder; of CGROUPS alone */
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

static bool
find_number(void *ctx, const char *lines, size_t length)
{
	const char *at, *end = lines + length;
	struct number *number = ctx;
	size_t key = strlen(number->key);

	for (at = lines; at < end; at++) {
		if ((at == lines || at[-1] == '\n') &&
		    (size_t)(end - at) > key &&
		    memcmp(at, number->key, key) == 0)
			return read_digits(at + key, end, &number->value);
	}
	return false;
}

/* "MemAvailable:   23975168 kB" */
static bool
machine_has(const char *meminfo, size_t *bytes)
{
	struct number available = { .key = "MemAvailable:" };

	if (!mu_lines_search(meminfo, find_number, &available))
		return false;
	*bytes = available.value * 1024;
	return true;
}

/* "0::/system.slice/a.service": the line of v2, which has no controllers. */
static bool
find_path(void *ctx, const char *lines, size_t length)
{
	static const char key[] = "0::/";
	const char *at, *end = lines + length, *newline;
	struct cgroup *cgroup = ctx;
	size_t path;

	for (at = lines; at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		if (newline == NULL)
			return false;
		if ((size_t)(newline - at) < sizeof(key) - 1 ||
		    memcmp(at, key, sizeof(key) - 1) != 0)
			continue;
		at += sizeof(key) - 2;
		path = (size_t)(newline - at);
		if (path + cgroup->root >= sizeof(cgroup->folder))
			return false;
		memcpy(cgroup->folder + cgroup->root, at, path);
		cgroup->length = cgroup->root + path;
		return true;
	}
	return false;
}

/* A file of the folder that holds one line. */
static bool
read_number(
    struct cgroup *cgroup, const char *name, const char *key, size_t *value)
{
	struct number number = { .key = key };
	char path[PATH_SIZE + NAME_SIZE];

	mu_text_format(path, sizeof(path), "%s/%s", cgroup->folder, name);
	if (!mu_lines_search(path, find_number, &number))
		return false;
	*value = number.value;
	return true;
}

/*
 * The cache of files counts as taken in memory.current, although it is given
 * back as soon as anybody wants it: in a container it soon fills the limit.
 */
static bool
folder_leaves(struct cgroup *cgroup, size_t *bytes)
{
	size_t max, used, cache[2] = { 0, 0 };

	if (!read_number(cgroup, "memory.max", "", &max) ||
	    !read_number(cgroup, "memory.current", "", &used))
		return false;
	read_number(cgroup, "memory.stat", "inactive_file ", &cache[0]);
	read_number(cgroup, "memory.stat", "active_file ", &cache[1]);
	cache[0] += cache[1];
	used -= cache[0] < used ? cache[0] : used;
	*bytes = used < max ? max - used : 0;
	return true;
}

/* A limit holds for all that is below it: look at every folder on the way. */
static bool
cgroup_leaves(const struct mu_available_files *files, size_t *bytes)
{
	struct cgroup cgroup = { .root = strlen(files->cgroups) };
	bool any = false;
	size_t left;

	if (cgroup.root >= sizeof(cgroup.folder))
		return false;
	memcpy(cgroup.folder, files->cgroups, cgroup.root);
	if (!mu_lines_search(files->own_cgroup, find_path, &cgroup))
		return false;
	for (;;) {
		cgroup.folder[cgroup.length] = '\0';
		if (folder_leaves(&cgroup, &left) && (!any || left < *bytes)) {
			*bytes = left;
			any = true;
		}
		if (cgroup.length <= cgroup.root)
			return any;
		while (cgroup.folder[--cgroup.length] != '/')
			;
	}
}

bool
mu_available_in(const struct mu_available_files *files, size_t *bytes)
{
	size_t left;
	bool any = machine_has(files->meminfo, bytes);

	if (cgroup_leaves(files, &left) && (!any || left < *bytes)) {
		*bytes = left;
		any = true;
	}
	return any;
}

bool
mu_available(size_t *bytes)
{
	static const struct mu_available_files files = { "/proc/meminfo",
		"/proc/self/cgroup", "/sys/fs/cgroup" };

	return mu_available_in(&files, bytes);
}
