/*
 * What one loaded file has to say about its addresses.
 */
#ifndef SYMBOLIZE_MODULE_SYMBOLS_H
#define SYMBOLIZE_MODULE_SYMBOLS_H

#include <bsd/sys/queue.h>

#include "lib/symbolize/debug_files.h"
#include "lib/symbolize/elf_file.h"
#include "lib/symbolize/source_lines.h"
#include "lib/symbolize/symbol_table.h"
#include "lib/symbolize/unit_functions.h"

struct mu_module_inlined {
	SLIST_ENTRY(mu_module_inlined) link;
	struct mu_inlined *list;
	size_t count;
};

/* What is being done, for who finds it broken off. */
enum mu_module_stage {
	MU_MODULE_FILE,
	MU_MODULE_NAMES,
	MU_MODULE_LINES,
};

struct mu_module_symbols {
	bool opened;
	enum mu_symbols_limit limit; /* set before the open */
	enum mu_module_stage stage;
	struct mu_elf_file file;
	struct mu_debug_search search;
	/* A subject may claim two files for one place: each has its own. */
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl; /* NULL: nothing but offsets */
	Dwfl_Module *module;
	struct mu_symbol_table table;
	struct mu_source_lines lines;
	struct mu_unit_functions functions;
	bool has_lines;                          /* they were looked for */
	SLIST_HEAD(, mu_module_inlined) inlined; /* that were given out */
};

/*
 * Open LOADED's file and read its symbols; lines at the first question. SYMBOLS
 * is zero but for the limit, and must not move afterwards.
 */
void mu_module_symbols_open(struct mu_module_symbols *symbols,
    const struct mu_symbols_source *source,
    const struct mu_subject_files *subject, const struct mu_loaded *loaded,
    struct mu_debug_files *files);

/*
 * Fill in what is known of ADDRESS, in MAPPING or, if that is NULL, behind what
 * LOADED has mapped; false if it is not LOADED's after all.
 */
bool mu_module_symbols_find(struct mu_module_symbols *symbols,
    const struct mu_loaded *loaded, const struct mu_mapping *mapping,
    uintptr_t address, struct mu_symbol *symbol);

/*
 * Add what was inlined at ADDRESS, which has a line, to SYMBOL. The first
 * question about a compilation unit goes through all of it. Where that is not
 * known, the line goes: it may be of a function that was inlined.
 */
void mu_module_symbols_inlined(struct mu_module_symbols *symbols,
    uintptr_t address, struct mu_symbol *symbol);

/*
 * After a fault in one of these: do without what it was about. Names that were
 * given stay; memory is lost.
 */
void mu_module_symbols_give_up(struct mu_module_symbols *symbols);

/* Is there any line? */
bool mu_module_symbols_has_lines(struct mu_module_symbols *symbols);

/* Accepts one that is zero. */
void mu_module_symbols_close(struct mu_module_symbols *symbols);

#endif
