#include "ptrace/core/unpack.h"

#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mu/sys.h"
#include "mu/text.h"

#define CHUNK ((size_t)256 << 10)
#define HOLE ((size_t)4096) /* runs of zeros of this size become holes */

extern char **environ;

struct packing {
	const char *tool; /* its -d -c writes to standard output */
	size_t length;
	unsigned char magic[6];
};

static const struct packing packings[] = {
	{ "zstd", 4, { 0x28, 0xb5, 0x2f, 0xfd } },
	{ "xz", 6, { 0xfd, '7', 'z', 'X', 'Z', 0 } },
	{ "lz4", 4, { 0x04, 0x22, 0x4d, 0x18 } },
	{ "gzip", 2, { 0x1f, 0x8b } },
	{ "bzip2", 3, { 'B', 'Z', 'h' } },
};

static const struct packing *
packing_of(int fd)
{
	unsigned char begin[6];
	ssize_t size = pread(fd, begin, sizeof(begin), 0);
	size_t i;

	for (i = 0; i < sizeof(packings) / sizeof(*packings); i++)
		if (size >= (ssize_t)packings[i].length &&
		    memcmp(begin, packings[i].magic, packings[i].length) == 0)
			return &packings[i];
	return NULL;
}

static int
open_nameless(const char *folder)
{
	char path[4096];
	int fd;

	fd = mu_sys_open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* overlayfs has no O_TMPFILE before Linux 6.3. */
	if (mu_text_format(path, sizeof(path), "%s/core.XXXXXX", folder) >=
	    sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/*
 * A core can be larger than memory, and /tmp may be in memory: prefer /var/tmp.
 */
static int
open_temporary(const char **folder)
{
	const char *folders[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	size_t i;
	int fd;

	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (folders[i] == NULL || folders[i][0] != '/')
			continue;
		*folder = folders[i];
		fd = open_nameless(folders[i]);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* Start TOOL with FD as its input. *FROM is a pipe with its output. */
static int
start(const char *tool, int fd, int *from, pid_t *pid)
{
	char *const args[] = { (char *)tool, (char *)"-dc", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	error = posix_spawn_file_actions_init(&actions);
	if (error == 0) {
		posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
		posix_spawn_file_actions_adddup2(
		    &actions, ends[1], STDOUT_FILENO);
		posix_spawn_file_actions_addopen(
		    &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		error = posix_spawnp(pid, tool, &actions, NULL, args, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	*from = ends[0];
	if (error != 0)
		mu_sys_close(from);
	return error;
}

static bool
is_zero(const char *bytes, size_t size)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/*
 * The number of bytes from AT on that are pages of zeros, or that are not, as
 * ZEROS says.
 */
static size_t
run_of(const char *bytes, size_t size, size_t at, bool zeros)
{
	size_t end = at, one;

	while (end < size) {
		one = size - end < HOLE ? size - end : HOLE;
		if (is_zero(bytes + end, one) != zeros)
			break;
		end += one;
	}
	return end - at;
}

/* Write BYTES, but leave holes for pages of zeros. */
static bool
write_sparse(int fd, const char *bytes, size_t size, uint64_t offset)
{
	size_t at = 0, run;

	while (at < size) {
		at += run_of(bytes, size, at, true);
		run = run_of(bytes, size, at, false);
		if (run > 0 &&
		    pwrite(fd, bytes + at, run, (off_t)(offset + at)) !=
			(ssize_t)run)
			return false;
		at += run;
	}
	return true;
}

/* Fill a whole chunk: short reads from the pipe would split runs of zeros. */
static size_t
read_chunk(int from, char *chunk)
{
	size_t used = 0;
	ssize_t n;

	while (used < CHUNK) {
		n = mu_sys_read(from, chunk + used, CHUNK - used);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	return used;
}

/* *SIZE is the number of bytes received. Returns false if writing fails. */
static bool
copy(int from, int to, uint64_t *size)
{
	char *chunk = calloc(1, CHUNK);
	bool good = chunk != NULL;
	size_t n;

	*size = 0;
	while (good && (n = read_chunk(from, chunk)) > 0) {
		good = write_sparse(to, chunk, n, *size);
		*size += n;
	}
	free(chunk);
	return good && ftruncate(to, (off_t)*size) == 0;
}

static enum mu_status
unpack(const struct packing *packing, int *fd, int to, const char *folder,
    const char *path, struct mu_why *why)
{
	int from = -1, error, ended = 0;
	uint64_t size = 0;
	pid_t pid = -1;
	bool room;

	error = start(packing->tool, *fd, &from, &pid);
	if (error != 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is compressed, and %s cannot be run (errno %d)" MU_CURE
		    "install %s, or unpack the core elsewhere",
		    path, packing->tool, error, packing->tool);
	room = copy(from, to, &size);
	mu_sys_close(&from);
	while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
		continue;
	if (!room)
		return mu_why(why, MU_ERR_RESOURCES,
		    "no room in %s to unpack %s" MU_CURE
		    "set TMPDIR to a folder that "
		    "has some",
		    folder, path);
	if (size == 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is compressed, and %s finds nothing in it", path,
		    packing->tool);
	if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "%s is cut short or damaged, says %s: not all of the core is there",
	    path, packing->tool);
}

enum mu_status
mu_core_unpack(int *fd, const char *path, struct mu_why *why)
{
	const struct packing *packing = packing_of(*fd);
	const char *folder = "";
	enum mu_status status;
	int to;

	if (packing == NULL)
		return MU_OK;
	to = open_temporary(&folder);
	if (to < 0)
		return mu_why(why, MU_ERR_RESOURCES,
		    "no file can be made to unpack %s" MU_CURE
		    "set TMPDIR to a folder "
		    "where it can",
		    path);
	status = unpack(packing, fd, to, folder, path, why);
	if (mu_status_usable(status)) {
		mu_sys_close(fd);
		*fd = to;
	} else {
		close(to);
	}
	return status;
}
