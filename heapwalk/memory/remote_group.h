/*
 * One stretch of remote memory (heapwalk/memory/remote_memory.h): a run of
 * adjacent mappings.
 */
#ifndef HEAPWALK_MEMORY_REMOTE_GROUP_H
#define HEAPWALK_MEMORY_REMOTE_GROUP_H

#include "heapwalk/memory/remote_memory.h"
#include "mu/bits.h"

#define MU_REMOTE_HUGE ((uintptr_t)2 << 20)
#define MU_REMOTE_UNIT ((size_t)64 << 10) /* least bytes per read */

/*
 * Two kinds of pages, read separately: those with data of the process, and
 * unmodified pages of private files, which can be read later.
 */
enum mu_remote_pages {
	MU_REMOTE_UNCHANGED,
	MU_REMOTE_WRITTEN,
	MU_REMOTE_KINDS,
};

struct mu_remote_group {
	struct mu_range range; /* of the subject; units count from here */
	char *base;            /* in our memory, at range.begin */
	void *reserved;        /* the reservation that contains base */
	size_t reserved_size;
	uint64_t *written; /* a bit per page: it has data */
	uint64_t *unread;  /* a bit per page: it could not be read */

	/* Without a window, a bit per unit: it was read. */
	uint64_t *filled[MU_REMOTE_KINDS];

	/*
	 * With a window, a bit per page: it is in our memory; it is being read.
	 */
	uint64_t *there, *taken;
};

/* The group that holds ADDRESS, or the next one, or NULL. */
struct mu_remote_group *mu_remote_group(
    const struct mu_remote_memory *remote, uintptr_t address);

/* The mapping that holds ADDRESS, or the next one, or NULL. */
const struct mu_mapping *mu_remote_mapping(
    const struct mu_remote_memory *remote, uintptr_t address);

/* The part that holds ADDRESS, or the next one, or the end of the parts. */
const struct mu_remote_part *mu_remote_part(
    const struct mu_remote_source *source, uintptr_t address);

/* The file that holds ADDRESS, or the next one, or NULL. */
const struct mu_remote_file *mu_remote_file(
    const struct mu_remote_memory *remote, uintptr_t address);

/*
 * The first run of pages in RANGE, which lies in GROUP, that are (or are not)
 * written. Returns false if there is none.
 */
bool mu_remote_run(const struct mu_remote_memory *remote,
    const struct mu_remote_group *group, enum mu_remote_pages kind,
    struct mu_range range, struct mu_range *part);

/*
 * Reserve GROUP's memory and tables. CLOSED: inaccessible, for a window, which
 * opens it piece by piece. Returns false if memory is exhausted.
 */
bool mu_remote_group_open(struct mu_remote_group *group, struct mu_range range,
    size_t page_size, bool closed, struct mu_arena *arena);
void mu_remote_group_close(struct mu_remote_group *group);

/*
 * Read the pages of KIND in the units of RANGE that were not read yet. Returns
 * false if some cannot be read any more.
 */
bool mu_remote_fill(struct mu_remote_memory *remote,
    struct mu_remote_group *group, struct mu_range range,
    enum mu_remote_pages kind);

/*
 * Read RANGE, whole pages of GROUP, to TO. Pages without data, or that cannot
 * be read, are zeros. Several threads may call it.
 */
void mu_remote_read(struct mu_remote_memory *remote,
    struct mu_remote_group *group, struct mu_range range, char *to);

/*
 * The same for any bytes. Returns false, and reads nothing, if not all pages
 * are known to have data or it is too late.
 */
bool mu_remote_read_some(struct mu_remote_memory *remote,
    struct mu_remote_group *group, struct mu_range range, char *to);

#endif
