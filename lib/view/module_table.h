/*
 * Which file was where when a recorder wrote its report, and which build of it.
 *
 * A heap dump has the lines of /proc/PID/maps, and ours build-ids in lines of
 * their own; in leaks.out one line has both, and the load bias:
 *	# build-id 8c9a1a2f... /usr/lib/libc.so.6
 *	# module 7f1c2a5d5000-7f1c2a72a000 26000 7f1c2a5af000 8c9a1a2f...
 * /usr/lib/libc.so.6
 *
 * Pure.
 */
#ifndef LIB_VIEW_MODULE_TABLE_H
#define LIB_VIEW_MODULE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwalk/subject/snapshot.h"
#include "lib/view/line.h"
#include "lib/view/notes.h"
#include "mu/arena.h"

struct mu_build_id {
	const char *path, *hex;
	bool told; /* another build was reported */
};

struct mu_module {
	struct mu_build_id *id; /* NULL: not known */
	uintptr_t bias;         /* load bias */
	bool has_bias;
};

#define MU_REMARKS_MAX 8 /* that are kept */

/* Initialise to zero, except the arena. */
struct mu_module_table {
	struct mu_mapping *mappings; /* by address, no overlaps once sealed */
	struct mu_module *modules;   /* one per mapping */
	size_t count, max, max_modules;
	struct mu_build_id *ids; /* by path, once sealed */
	size_t num_ids, max_ids;
	struct mu_arena arena; /* for names of mappings */
	size_t num_overlaps;   /* mappings left out because they overlap */
	/*
	 * Other statements of the recorder, such as "sampled: one stack in ..."
	 */
	const char *remarks[MU_REMARKS_MAX];
	size_t num_remarks;
	bool incomplete; /* a remark begins with that word */
	bool no_memory;
};

/* Make an empty table. Close in any case. */
void mu_module_table_open(struct mu_module_table *table);

/*
 * Returns NULL without memory. The caller keeps the name; the module may be
 * filled in before the next call.
 */
struct mu_module *mu_module_table_add(
    struct mu_module_table *table, const struct mu_mapping *mapping);

/*
 * Parse a line of a maps file, which is modified. Returns false if it is not
 * valid, or without memory, as no_memory says.
 */
bool mu_module_table_maps_line(
    struct mu_module_table *table, struct mu_line line);

/*
 * Parse a line that begins with '#'; if it is not about a module it is a
 * remark. MAPPINGS: a module is added as a mapping as well, if there is no
 * other list of mappings.
 */
bool mu_module_table_remark(
    struct mu_module_table *table, struct mu_line line, bool mappings);

/* Call when everything is added. */
void mu_module_table_seal(struct mu_module_table *table);

/* Index of the mapping that contains ADDRESS; COUNT if there is none. */
size_t mu_module_table_find(
    const struct mu_module_table *table, uintptr_t address);

/* Add the remarks to the notes. */
void mu_module_table_note(
    const struct mu_module_table *table, struct mu_notes *notes);

/* Release the memory. Accepts the zero value; may be called twice. */
void mu_module_table_close(struct mu_module_table *table);

#endif
