/*
 * The names that an answer's addresses have. All are asked for at once, before
 * the report is written, so that the report never waits for one.
 */
#ifndef LIB_CHECK_NAMING_H
#define LIB_CHECK_NAMING_H

#include "lib/symbolize/helper.h"
#include "lib/writers/report.h"

struct mu_recorder;
struct mu_unloaded;

/* To be closed. */
struct mu_naming {
	struct mu_symbol_helper helper;
	struct mu_mapping *mappings; /* a copy, with unloaded modules among */
	size_t num_mappings;
	struct mu_unloaded *unloaded; /* those */
	size_t num_unloaded;
	struct mu_symbol_question *questions; /* by address, each once */
	struct mu_symbol_answer *answers;
	size_t count;
};

/*
 * Note the addresses of ANSWER's entries that are in files of MAPPINGS, or in
 * modules that RECORDER (zero: there is none) saw go; both may go afterwards.
 * No memory: there are no names.
 */
void mu_naming_open(struct mu_report *answer, const struct mu_mapping *mappings,
    size_t num_mappings, const struct mu_recorder *recorder);

/*
 * Ask for them by SOURCE, whose mappings are not looked at, with RIGHTS, for
 * half of the time until DEADLINE_NS, but a second. answer->names_note says
 * what is missing.
 */
void mu_naming_ask(struct mu_report *answer,
    const struct mu_symbols_source *source, const struct mu_rights *rights,
    uint64_t deadline_ns);

/* Accepts an answer without names. */
void mu_naming_close(struct mu_report *answer);

#endif
