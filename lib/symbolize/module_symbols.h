/* The symbols and lines of one loaded file. */
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

/* The current step, to know what failed if it is aborted. */
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
	/*
	 * One per module: a subject may claim two files for the same address.
	 */
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl; /* NULL: only offsets are known */
	Dwfl_Module *module;
	struct mu_symbol_table table;
	struct mu_source_lines lines;
	struct mu_unit_functions functions;
	bool has_lines; /* whether there are any was checked */
	SLIST_HEAD(, mu_module_inlined) inlined; /* returned so far */
};

/*
 * Open LOADED's file and read its symbols; lines are read at the first
 * question. SYMBOLS is zero except for the limit, and must not move afterwards.
 */
void mu_module_symbols_open(struct mu_module_symbols *symbols,
    const struct mu_symbols_source *source,
    const struct mu_subject_files *subject, const struct mu_loaded *loaded,
    struct mu_debug_files *files);

/*
 * Find ADDRESS, which is in MAPPING or, if that is NULL, after what LOADED has
 * mapped. Returns false if it does not belong to LOADED.
 */
bool mu_module_symbols_find(struct mu_module_symbols *symbols,
    const struct mu_loaded *loaded, const struct mu_mapping *mapping,
    uintptr_t address, struct mu_symbol *symbol);

/*
 * Add to SYMBOL the functions inlined at ADDRESS, which has a line. The first
 * question about a compilation unit reads all of it. If they are not known, the
 * line is removed: it may belong to an inlined function.
 */
void mu_module_symbols_inlined(struct mu_module_symbols *symbols,
    uintptr_t address, struct mu_symbol *symbol);

/*
 * After a fault in one of these functions: stop using the source of the fault.
 * Names that were returned stay valid; memory is leaked.
 */
void mu_module_symbols_give_up(struct mu_module_symbols *symbols);

/* True if there is any line. */
bool mu_module_symbols_has_lines(struct mu_module_symbols *symbols);

/* Accepts one that is zero. */
void mu_module_symbols_close(struct mu_module_symbols *symbols);

#endif
