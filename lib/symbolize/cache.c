#include "lib/symbolize/cache.h"

#include <bsd/string.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mu/regular_file.h"
#include "mu/sys.h"

#define FOLDER "memunreachable"
#define MAGIC "mu cache 7\n" /* another number: another form, or meaning */
#define KEPT 64              /* files, */
#define KEPT_BYTES ((uint64_t)512 << 20) /* and of all */
#define NAME_SIZE (MU_CACHE_NAME + 16)

/* Of a name, by kind, and what it begins with in all releases. */
static const char *const suffixes[MU_CACHE_KINDS] = { ".types-2",
	".inflated-1" };
static const char *const kinds[MU_CACHE_KINDS] = { ".types-", ".inflated-" };

static bool
is_ours(const struct stat *about)
{
	return about->st_uid == geteuid() &&
	    (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Open PATH below DIR, if it is a folder of ours. */
static int
open_folder(int dir, const char *path)
{
	struct stat about;
	int fd;

	fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &about) != 0 || !is_ours(&about))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int
make_folder(int dir, const char *path)
{
	int made = mkdirat(dir, path, 0700);

	(void)made; /* it is mostly there */
	return open_folder(dir, path);
}

/* The folder for the caches of all programs; -1: it is not ours. */
static int
open_caches(void)
{
	const char *caches = secure_getenv("XDG_CACHE_HOME");
	const char *home = secure_getenv("HOME");
	int fd, at;

	/* The XDG Base Directory Specification: a relative path is ignored. */
	if (caches != NULL && caches[0] == '/')
		return make_folder(AT_FDCWD, caches);
	if (home == NULL || home[0] != '/')
		return -1;
	at = open_folder(AT_FDCWD, home);
	if (at < 0)
		return -1;
	fd = make_folder(at, ".cache");
	close(at);
	return fd;
}

void
mu_cache_open(struct mu_cache *cache)
{
	int fd, caches = open_caches();

	*cache = (struct mu_cache) { .open = false };
	if (caches < 0)
		return;
	cache->folder = make_folder(caches, FOLDER);
	close(caches);
	cache->open = cache->folder >= 0 &&
	    getrandom(cache->token, sizeof(cache->token), 0) ==
		(ssize_t)sizeof(cache->token);
	if (cache->folder >= 0 && !cache->open)
		close(cache->folder);
	while (cache->open && cache->num_files < MU_CACHE_FILES) {
		fd = openat(
		    cache->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		cache->files[cache->num_files++] = fd;
	}
}

static uint64_t
nanoseconds(const struct timespec *at)
{
	return (uint64_t)at->tv_sec * MU_NS_PER_SEC + (uint64_t)at->tv_nsec;
}

/* True if BUILD_ID may be a part of a file's name. */
static bool
is_build_id(const char *build_id)
{
	size_t length = strnlen(build_id, MU_CACHE_NAME + 1);

	return length > 0 && length <= MU_CACHE_NAME &&
	    strspn(build_id, "0123456789abcdef") == length;
}

bool
mu_debug_id_make(
    struct mu_debug_id *id, const char *build_id, const struct stat *about)
{
	memset(id, 0, sizeof(*id));
	if (!is_build_id(build_id) || about->st_ino == 0)
		return false;
	strlcpy(id->build_id, build_id, sizeof(id->build_id));
	id->device = about->st_dev;
	id->inode = about->st_ino;
	id->size = (uint64_t)about->st_size;
	id->modified_ns = nanoseconds(&about->st_mtim);
	id->changed_ns = nanoseconds(&about->st_ctim);
	return true;
}

/* "BUILD-ID.types-2"; false if there is no such name. */
static bool
file_name(char *name, const char *build_id, uint64_t kind)
{
	if (kind >= MU_CACHE_KINDS || !is_build_id(build_id))
		return false;
	snprintf(name, NAME_SIZE, "%s%s", build_id, suffixes[kind]);
	return true;
}

static bool
read_tail(int fd, struct mu_cache_tail *tail)
{
	const struct mu_cache_tail expected = { .magic = MAGIC };
	struct stat about;

	return fstat(fd, &about) == 0 && is_ours(&about) &&
	    about.st_size >= (off_t)sizeof(*tail) &&
	    pread(fd, tail, sizeof(*tail),
		about.st_size - (off_t)sizeof(*tail)) ==
	    (ssize_t)sizeof(*tail) &&
	    memcmp(tail->magic, expected.magic, sizeof(expected.magic)) == 0 &&
	    tail->size == (uint64_t)about.st_size - sizeof(*tail);
}

static bool
is_kept(const char *name)
{
	size_t i;

	for (i = 0; i < MU_CACHE_KINDS; i++)
		if (strstr(name, kinds[i]) != NULL)
			return true;
	return false;
}

/* Remove the oldest file in DIR, if there is too much. False: there is not. */
static bool
remove_oldest(DIR *dir)
{
	struct stat about;
	struct dirent *entry;
	char oldest[256] = "";
	time_t since = 0;
	uint64_t count = 0, bytes = 0;

	rewinddir(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (!is_kept(entry->d_name) ||
		    fstatat(dirfd(dir), entry->d_name, &about,
			AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(about.st_mode))
			continue;
		bytes += (uint64_t)about.st_size;
		if (count++ > 0 && about.st_mtime >= since)
			continue;
		since = about.st_mtime;
		snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
	}
	return (count > KEPT || bytes > KEPT_BYTES) && count > 1 &&
	    unlinkat(dirfd(dir), oldest, 0) == 0;
}

static void
tidy(const struct mu_cache *cache)
{
	int i,
	    fd = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (i = 0; i < KEPT && remove_oldest(dir); i++)
		;
	closedir(dir);
}

/*
 * True if the end of FD was written by us: what a hostile file of debug
 * information holds may be the end of one that is not complete. A file with a
 * name has no token.
 */
static bool
take_token(
    const struct mu_cache *cache, int fd, const struct mu_cache_tail *tail)
{
	static const char none[sizeof(tail->token)];

	return memcmp(tail->token, cache->token, sizeof(none)) == 0 &&
	    pwrite(fd, none, sizeof(none),
		(off_t)(tail->size + offsetof(struct mu_cache_tail, token))) ==
	    (ssize_t)sizeof(none);
}

static void
name_file(const struct mu_cache *cache, int fd)
{
	struct mu_cache_tail tail;
	char name[NAME_SIZE], path[64];

	if (!read_tail(fd, &tail) || !take_token(cache, fd, &tail) ||
	    !file_name(name, tail.id.build_id, tail.kind))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	unlinkat(cache->folder, name, 0);
	if (linkat(AT_FDCWD, path, cache->folder, name, AT_SYMLINK_FOLLOW) == 0)
		tidy(cache);
}

void
mu_cache_close(struct mu_cache *cache)
{
	size_t i;

	for (i = 0; i < cache->num_files; i++) {
		name_file(cache, cache->files[i]);
		close(cache->files[i]);
	}
	if (cache->open)
		close(cache->folder);
	*cache = (struct mu_cache) { .open = false };
}

int
mu_cache_find(const struct mu_cache *cache, enum mu_cache_kind kind,
    const struct mu_debug_id *id, struct mu_cache_tail *tail)
{
	static const char none[sizeof(tail->token)];
	char name[NAME_SIZE];
	int fd;

	if (!cache->open || !file_name(name, id->build_id, kind))
		return -1;
	fd = mu_regular_file_open(cache->folder, name, NULL);
	if (fd >= 0 && read_tail(fd, tail) && tail->size <= MU_CACHE_SIZE &&
	    memcmp(tail->token, none, sizeof(none)) == 0 &&
	    tail->kind == kind && memcmp(&tail->id, id, sizeof(*id)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int
mu_cache_begin(struct mu_cache *cache)
{
	return cache->num_used == cache->num_files
	    ? -1
	    : cache->files[cache->num_used++];
}

bool
mu_cache_write(int fd, const void *bytes, size_t size)
{
	ssize_t n = 1;
	size_t done;

	for (done = 0; done < size && n > 0; done += (size_t)n)
		n = write(fd, (const char *)bytes + done, size - done);
	return done == size && n > 0;
}

bool
mu_cache_finish(const struct mu_cache *cache, int fd, enum mu_cache_kind kind,
    const struct mu_debug_id *id, uint64_t sum)
{
	struct mu_cache_tail tail = {
		.magic = MAGIC, .kind = kind, .id = *id, .sum = sum
	};
	off_t end = lseek(fd, 0, SEEK_END);

	memcpy(tail.token, cache->token, sizeof(tail.token));
	tail.size = (uint64_t)end;
	return end >= 0 && mu_cache_write(fd, &tail, sizeof(tail));
}

static inline uint64_t
add(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
	return sum ^ sum >> 32;
}

/* Four sums at once: a multiplication takes as long as four that overlap. */
uint64_t
mu_cache_sum(uint64_t sum, const void *bytes, size_t size)
{
	uint64_t sums[4] = { 0, 1, 2, 3 }, words[4] = { 0 };
	const char *at = bytes;
	size_t i;

	for (; size >= sizeof(words);
	     size -= sizeof(words), at += sizeof(words)) {
		memcpy(words, at, sizeof(words));
		for (i = 0; i < 4; i++)
			sums[i] = add(sums[i], words[i]);
	}
	memset(words, 0, sizeof(words));
	if (size > 0) /* AT may be NULL */
		memcpy(words, at, size);
	for (i = 0; i < 4; i++)
		sum = add(add(sum, sums[i]), words[i]);
	return sum;
}
