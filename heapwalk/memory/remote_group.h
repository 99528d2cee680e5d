/*
 * One stretch of remote memory (heapwalk/memory/remote_memory.h): mappings that
 * touch.
 */
#ifndef HEAPWALK_MEMORY_REMOTE_GROUP_H
#define HEAPWALK_MEMORY_REMOTE_GROUP_H

#include "heapwalk/memory/remote_memory.h"
#include "mu/bits.h"

#define MU_REMOTE_HUGE ((uintptr_t)2 << 20)
#define MU_REMOTE_UNIT ((size_t)64 << 10) /* bytes read at once, at least */

/*
 * What is read apart: pages that hold something of the process's own, and pages
 * of private files that are as the file has them, which can be read later.
 */
enum mu_remote_pages {
	MU_REMOTE_UNCHANGED,
	MU_REMOTE_WRITTEN,
	MU_REMOTE_KINDS,
};

struct mu_remote_group {
	struct mu_range range; /* of the subject; units count from here */
	char *base;            /* in our memory, at range.begin */
	void *reserved;        /* what base lies in */
	size_t reserved_size;
	uint64_t *written; /* a bit a page: it holds something */
	uint64_t *unread;  /* a bit a page: it could not be read */

	/* If all is read at once, a bit a unit: it was read. */
	uint64_t *filled[MU_REMOTE_KINDS];

	/* If there is a window, a bit a page: it is in our memory; it is being
	 * read. */
	uint64_t *there, *taken;
};

/* The group that holds ADDRESS, or else the first one behind, or NULL. */
struct mu_remote_group *mu_remote_group(
    const struct mu_remote_memory *remote, uintptr_t address);

/* The mapping that holds ADDRESS, or else the first one behind, or NULL. */
const struct mu_mapping *mu_remote_mapping(
    const struct mu_remote_memory *remote, uintptr_t address);

/* The part that holds ADDRESS, or else the first one behind, or their end. */
const struct mu_remote_part *mu_remote_part(
    const struct mu_remote_source *source, uintptr_t address);

/* The file that holds ADDRESS, or else the first one behind, or NULL. */
const struct mu_remote_file *mu_remote_file(
    const struct mu_remote_memory *remote, uintptr_t address);

/*
 * The first run of pages in RANGE, which lies in GROUP, that are written or are
 * not; false: none.
 */
bool mu_remote_run(const struct mu_remote_memory *remote,
    const struct mu_remote_group *group, enum mu_remote_pages kind,
    struct mu_range range, struct mu_range *part);

/*
 * Reserve GROUP's memory and tables; CLOSED: for a window, which opens it piece
 * by piece. False: no memory.
 */
bool mu_remote_group_open(struct mu_remote_group *group, struct mu_range range,
    size_t page_size, bool closed, struct mu_arena *arena);
void mu_remote_group_close(struct mu_remote_group *group);

/*
 * Read the pages of KIND in the units of RANGE, unless they were. False: some
 * were not, and cannot be any more.
 */
bool mu_remote_fill(struct mu_remote_memory *remote,
    struct mu_remote_group *group, struct mu_range range,
    enum mu_remote_pages kind);

/*
 * Read RANGE, whole pages of GROUP, to TO; what holds nothing, or cannot be
 * read, is zeros. Several threads may.
 */
void mu_remote_read(struct mu_remote_memory *remote,
    struct mu_remote_group *group, struct mu_range range, char *to);

/*
 * The same of any bytes. False: nothing was read, as not all of them are known
 * to hold anything, or it is too late.
 */
bool mu_remote_read_some(struct mu_remote_memory *remote,
    struct mu_remote_group *group, struct mu_range range, char *to);

#endif
