/*
 * Read a saved look (memunreachable-look(5)). Every byte of it is hostile until
 * checked.
 *
 * Runs in: the command.
 */
#ifndef LIB_LOOK_READ_H
#define LIB_LOOK_READ_H

#include "heapwalk/heaps/heap.h"
#include "heapwalk/recorded/recorded.h"
#include "heapwalk/refer/locate.h"
#include "heapwalk/roots/roots.h"
#include "heapwalk/subject/saved.h"
#include "lib/look/image.h"
#include "lib/symbolize/kept_names.h"
#include "mu/status.h"

/* How the check ended that the look is of. */
struct mu_look_outcome {
	pid_t pid;
	char program[256];
	char stop[16];    /* as in a report */
	uint64_t real_ns; /* CLOCK_REALTIME at its end */
	int status;       /* MEMUNREACHABLE_COMPLETE or ..._PARTIAL */
	char reason[256];
	size_t cure; /* index of the remedy in REASON; 0: none */
	uint64_t pause_ns;
	unsigned tries;
	char names_note[192];
};

struct mu_look_file {
	struct mu_arena arena;
	struct mu_snapshot snap; /* with SAVED */
	struct mu_saved saved;
	struct mu_look_image image;
	struct mu_blocks blocks;
	struct mu_heap_usage usage;
	struct mu_roots roots;
	struct mu_owners owners;
	struct mu_recorder recorder;
	struct mu_range *lost; /* by address */
	uint16_t *marks;       /* of each: mu_known_mark() */
	size_t num_lost;
	struct mu_kept_names names;
	struct mu_look_outcome outcome;
};

/*
 * Read the SIZE BYTES of a file; LIMIT bytes of memory may be used.
 * MU_ERR_ARGUMENT with WHY: it is no look, or damaged; MU_ERR_NO_MEMORY. Close
 * in any case.
 */
enum mu_status mu_look_file_read(struct mu_look_file *look, const void *bytes,
    size_t size, size_t limit, struct mu_why *why);

/* The same of the file at PATH. LOOK is zero. */
enum mu_status mu_look_file_open(struct mu_look_file *look, const char *path,
    size_t limit, struct mu_why *why);

/* True if the file at PATH begins like a saved look. */
bool mu_look_file_is(const char *path);

/* Accepts the zero value. */
void mu_look_file_close(struct mu_look_file *look);

#endif
