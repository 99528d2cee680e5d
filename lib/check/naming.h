/*
 * The names of an answer's addresses, and the types of its blocks. All are
 * asked for at once, before the report is written, so that writing the report
 * never waits.
 */
#ifndef LIB_CHECK_NAMING_H
#define LIB_CHECK_NAMING_H

#include "lib/check/block_types.h"
#include "lib/check/hold_types.h"
#include "lib/check/scripts.h"
#include "lib/writers/report.h"

struct mu_recorder;
struct mu_unloaded;

/* Close in any case. */
struct mu_naming {
	struct mu_symbol_helper helper;
	struct mu_mapping *mappings; /* a copy that includes unloaded modules */
	size_t num_mappings;
	struct mu_unloaded *unloaded; /* those */
	size_t num_unloaded;
	struct mu_symbol_question *questions; /* by address, each once */
	struct mu_symbol_answer *answers;
	size_t count;
	struct mu_scripts scripts;
	struct mu_block_types types; /* of the first block of each entry */
	struct mu_hold_types holds;  /* of what hangs on groups' examples */
};

/*
 * Note the addresses in ANSWER's entries that are in files of MAPPINGS, or in
 * unloaded modules or interpreted functions that RECORDER (zero: none) knows.
 * Neither is needed
 * afterwards. If memory is exhausted there are no names. More blocks whose
 * types are wanted may be added to answer->naming->types afterwards.
 */
void mu_naming_open(struct mu_report *answer, const struct mu_mapping *mappings,
    size_t num_mappings, const struct mu_recorder *recorder);

/*
 * Ask for the names and types from SOURCE, whose mappings are not used, with
 * RIGHTS, for half of the time until DEADLINE_NS, minus a second.
 * answer->names_note says what is missing.
 */
void mu_naming_ask(struct mu_report *answer,
    const struct mu_symbols_source *source, const struct mu_rights *rights,
    uint64_t deadline_ns);

/* Accepts an answer without names. */
void mu_naming_close(struct mu_report *answer);

#endif
