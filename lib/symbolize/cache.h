/*
 * The user's cache: what was read from debug information, by build-id, in
 * $XDG_CACHE_HOME/memunreachable or ~/.cache/memunreachable.
 *
 * The folder is used only if it and the one around it belong to us, and only
 * for subjects of our own user: what root reads of another user's process is
 * neither written there nor taken from that user's folder. Files are written
 * without a name by a helper that may open none, and get their names, complete,
 * from the command.
 */
#ifndef SYMBOLIZE_CACHE_H
#define SYMBOLIZE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_CACHE_FILES 4 /* that one helper can write */
#define MU_CACHE_SIZE ((size_t)256 << 20)
#define MU_CACHE_NAME 128 /* hex digits */

/* A file begins with this. */
struct mu_cache_head {
	char magic[16];
	char name[MU_CACHE_NAME + 8]; /* the build-id */
	uint64_t size;                /* of the file; written last */
};

/* All zero: there is none. */
struct mu_cache {
	bool open;
	int folder;
	int files[MU_CACHE_FILES]; /* without names, to be written */
	size_t num_files, num_used;
};

/*
 * Open the folder, which is made if there is none. Without it CACHE is zero.
 *
 * Runs in: the command.
 */
void mu_cache_open(struct mu_cache *cache);

/*
 * Give the files that are complete their names, and close. Accepts one that is
 * zero.
 *
 * Runs in: the command.
 */
void mu_cache_close(struct mu_cache *cache);

/*
 * Open the file of the build-id NAME. Returns a descriptor behind its head, or
 * -1.
 *
 * Runs in: the helper that finds names.
 */
int mu_cache_find(const struct mu_cache *cache, const char *name);

/*
 * Begin a file for the build-id NAME. Returns its descriptor, which stays
 * CACHE's, or -1.
 *
 * Runs in: the helper that finds names.
 */
int mu_cache_begin(struct mu_cache *cache, const char *name);

/* FD has all it is to have. */
void mu_cache_finish(int fd, const char *name);

#endif
