#include "lib/symbolize/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mu/regular_file.h"

#define FOLDER "memunreachable"
#define MAGIC "mu types 4\n" /* another number: another form, or meaning */
#define SUFFIX ".types-1"    /* so that releases do not replace the other's */
#define KEPT 64              /* files */

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
	cache->open = cache->folder >= 0;
	while (cache->open && cache->num_files < MU_CACHE_FILES) {
		fd = openat(
		    cache->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		cache->files[cache->num_files++] = fd;
	}
}

/* "BUILD-ID.types-1"; false if NAME is none. */
static bool
file_name(const char *name, char *file, size_t size)
{
	size_t length = strnlen(name, MU_CACHE_NAME + 1);

	if (length == 0 || length > MU_CACHE_NAME ||
	    strspn(name, "0123456789abcdef") != length)
		return false;
	snprintf(file, size, "%s" SUFFIX, name);
	return true;
}

static bool
read_head(int fd, struct mu_cache_head *head)
{
	struct stat about;

	return fstat(fd, &about) == 0 && is_ours(&about) &&
	    pread(fd, head, sizeof(*head), 0) == (ssize_t)sizeof(*head) &&
	    memcmp(head->magic, MAGIC, sizeof(MAGIC)) == 0 &&
	    head->size == (uint64_t)about.st_size;
}

/* The oldest file of more than KEPT is removed. */
static void
tidy(const struct mu_cache *cache)
{
	int fd = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct stat about;
	struct dirent *entry;
	char oldest[256] = "";
	time_t since = 0;
	size_t count = 0;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (strstr(entry->d_name, SUFFIX) == NULL ||
		    fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) !=
			0)
			continue;
		if (count++ > 0 && about.st_mtime >= since)
			continue;
		since = about.st_mtime;
		snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
	}
	if (count > KEPT)
		unlinkat(fd, oldest, 0);
	closedir(dir);
}

static void
name_file(const struct mu_cache *cache, int fd)
{
	struct mu_cache_head head;
	char name[MU_CACHE_NAME + sizeof(SUFFIX)], path[64];

	if (!read_head(fd, &head) || !file_name(head.name, name, sizeof(name)))
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
mu_cache_find(const struct mu_cache *cache, const char *name)
{
	char file[MU_CACHE_NAME + sizeof(SUFFIX)];
	struct mu_cache_head head;
	int fd;

	if (!cache->open || !file_name(name, file, sizeof(file)))
		return -1;
	fd = mu_regular_file_open(cache->folder, file, NULL);
	if (fd >= 0 && read_head(fd, &head) && head.size <= MU_CACHE_SIZE &&
	    strncmp(head.name, name, sizeof(head.name)) == 0 &&
	    lseek(fd, sizeof(head), SEEK_SET) >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int
mu_cache_begin(struct mu_cache *cache, const char *name)
{
	struct mu_cache_head head = { .size = 0 };
	char file[MU_CACHE_NAME + sizeof(SUFFIX)];
	int fd;

	if (cache->num_used == cache->num_files ||
	    !file_name(name, file, sizeof(file)))
		return -1;
	fd = cache->files[cache->num_used++];
	return write(fd, &head, sizeof(head)) == (ssize_t)sizeof(head) ? fd
								       : -1;
}

void
mu_cache_finish(int fd, const char *name)
{
	struct mu_cache_head head = { .magic = MAGIC };
	off_t end = lseek(fd, 0, SEEK_END);

	snprintf(head.name, sizeof(head.name), "%s", name);
	head.size = (uint64_t)end;
	if (end > 0 && lseek(fd, 0, SEEK_SET) == 0 &&
	    write(fd, &head, sizeof(head)) == (ssize_t)sizeof(head))
		lseek(fd, 0, SEEK_END);
}
