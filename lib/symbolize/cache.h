/*
 * The user's cache: what was read from debug information, by build-id, in
 * $XDG_CACHE_HOME/memunreachable or ~/.cache/memunreachable: indexes of its
 * types, and files of it whose compressed sections are inflated.
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
#include <sys/stat.h>

#define MU_CACHE_FILES 8 /* that one helper can write */
#define MU_CACHE_SIZE ((size_t)256 << 20)
#define MU_CACHE_NAME 128 /* hex digits */

enum mu_cache_kind {
	MU_CACHE_TYPES,    /* lib/types/index_file.h */
	MU_CACHE_INFLATED, /* lib/symbolize/inflated.h */
	MU_CACHE_KINDS
};

/* What identifies a file of debug information. */
struct mu_debug_id {
	char build_id[MU_CACHE_NAME + 8]; /* in hex */
	uint64_t device, inode, size, modified_ns, changed_ns;
};

/* A file ends with this, written last: an ELF file must begin with its own. */
struct mu_cache_tail {
	char magic[16];
	char token[16]; /* struct mu_cache's; 0 once the file has a name */
	uint64_t kind;  /* enum mu_cache_kind */
	struct mu_debug_id id;
	uint64_t sum;  /* of what is before, in its writer's way */
	uint64_t size; /* of that */
};

/* All zero: there is none. */
struct mu_cache {
	bool open;
	int folder;
	int files[MU_CACHE_FILES]; /* without names, to be written */
	size_t num_files, num_used;

	char token[16]; /* random; at the end of files that are complete */
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

/* ID of the file with BUILD_ID that ABOUT describes. False: it has none. */
bool mu_debug_id_make(
    struct mu_debug_id *id, const char *build_id, const struct stat *about);

/*
 * Open the file of KIND for ID. Returns a descriptor at its begin, with TAIL,
 * or -1. Whether what it has has the sum in TAIL is not tested.
 *
 * Runs in: the helper that finds names.
 */
int mu_cache_find(const struct mu_cache *cache, enum mu_cache_kind kind,
    const struct mu_debug_id *id, struct mu_cache_tail *tail);

/*
 * Begin a file. Returns its descriptor, which stays CACHE's, or -1.
 *
 * Runs in: the helper that finds names.
 */
int mu_cache_begin(struct mu_cache *cache);

/* FD has all it is to have of KIND for ID. False: it could not be written. */
bool mu_cache_finish(const struct mu_cache *cache, int fd,
    enum mu_cache_kind kind, const struct mu_debug_id *id, uint64_t sum);

/* The sum of SIZE bytes, after SUM: any change of a word changes it. */
uint64_t mu_cache_sum(uint64_t sum, const void *bytes, size_t size);

/* write(2) all SIZE bytes. */
bool mu_cache_write(int fd, const void *bytes, size_t size);

#endif
