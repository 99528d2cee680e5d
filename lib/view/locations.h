/*
 * Names for the addresses of a process that has ended, by the module table of
 * its report: from files below a folder, or else at their original paths. Files
 * of another build are not used.
 */
#ifndef LIB_VIEW_LOCATIONS_H
#define LIB_VIEW_LOCATIONS_H

#include "lib/symbolize/helper.h"
#include "lib/view/frame_info.h"
#include "lib/view/module_table.h"
#include "lib/view/notes.h"

/* Sources of names. They must stay valid until the close. */
struct mu_location_source {
	struct mu_module_table *modules;
	const struct mu_frame_info *infos; /* what the report itself says */
	size_t num_infos;
	const char *report; /* its file, whose owner's rights are taken; NULL */
	const char *folder; /* which mirrors the paths; NULL: none */
	const char *exe;    /* file of the main program; NULL: its path */
};

/* A source of names, and the questions to it. */
struct mu_location_asked {
	struct mu_symbols_source source;
	struct mu_symbol_helper helper;
	struct mu_symbol_question *questions; /* by address */
	struct mu_symbol_answer *answers;
	size_t count;
};

struct mu_locations {
	struct mu_location_source source;
	struct mu_location_asked below, here; /* in the folder; by the path */
	struct mu_notes *notes;               /* that say: another build */
	size_t num_unproved; /* names by files of which no build-id is known */
};

/*
 * What is known of an address. The strings live as long as struct mu_locations.
 */
struct mu_location {
	const char *module, *function, *file; /* NULL: not known */
	unsigned line;
	uintptr_t offset; /* in the module, as addr2line takes it if the bias is
			     known; without a module the address */
};

/* For one address: inlined functions, and the one that contains them. */
#define MU_LOCATIONS_MAX (MU_WIRE_INLINED_MAX + 1)

/*
 * Look up names in SOURCE, whose arrays must outlive NAMES; what is missing is
 * added to NOTES. Close in any case.
 */
void mu_locations_open(struct mu_locations *names,
    const struct mu_location_source *source, struct mu_notes *notes);

/*
 * Announce COUNT addresses PCS, sorted, before they are looked up. False: no
 * memory.
 */
bool mu_locations_ask(
    struct mu_locations *names, const uintptr_t *pcs, size_t count);

/* The locations of PC, innermost first. Returns their number, at least 1. */
size_t mu_locations_find(struct mu_locations *names, uintptr_t pc,
    struct mu_location locations[MU_LOCATIONS_MAX]);

/*
 * End the helpers and release the memory. Locations and their strings are
 * invalid then.
 */
void mu_locations_close(struct mu_locations *names);

#endif
