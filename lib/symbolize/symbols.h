/*
 * Names for addresses of a subject: module, build-id, function, file, line.
 *
 * A subject is a process or a core; its mappings say which file is where. A
 * file that is missing, another one by now, or damaged gives less names and is
 * no error. ELF and DWARF are read by elfutils.
 *
 * One thread at a time.
 */
#ifndef SYMBOLIZE_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "heapwalk/recorded/scripts.h"
#include "lib/symbolize/loaded.h"

struct mu_cgroups_known;

struct mu_cache; /* lib/symbolize/cache.h */
struct mu_debug_id;
struct mu_kept_names; /* lib/symbolize/kept_names.h */
struct mu_unloaded;   /* heapwalk/recorded/recorded.h */
struct Dwfl_Module;   /* elfutils/libdwfl.h */

/* Of the one who asks. */
struct mu_patience {
	uint64_t until_ns; /* when the current question is given up */
	bool ended;        /* set if something was left out therefore */
};

/* Sources of names. What it points to must stay valid until the close. */
struct mu_symbols_source {
	const struct mu_mapping *mappings; /* by address, no overlaps */
	size_t num_mappings;
	pid_t pid;           /* its files are below /proc/PID; 0: a core */
	const char *exe;     /* file of the main program; NULL: as mapped */
	const char *sysroot; /* before every path of the subject; NULL: none */
	const char *debug;   /* a folder with debug files; NULL: none */
	uintptr_t program; /* any address in the main program, such as AT_ENTRY;
			      0: it is the first file */

	/*
	 * Read SIZE bytes of the subject at ADDRESS, all or none, without
	 * faults. NULL: use /proc/PID/mem, or nothing; without it, the inode
	 * decides whether a file is unchanged.
	 */
	bool (*read)(void *ctx, uintptr_t address, void *buffer, size_t size);
	void *ctx;

	bool local; /* never use debuginfod */
	bool bare;  /* no source lines are wanted, which take long to read */

	struct mu_patience *patience;     /* or NULL */
	struct mu_cache *cache;           /* or NULL: there is none */
	struct mu_cgroups_known *cgroups; /* heapwalk/memory/available.h */

	/* Records all answers, or gives them instead of the files; or NULL. */
	struct mu_kept_names *kept;

	/* Which of the mappings are of unloaded modules, by address. */
	const struct mu_unloaded *unloaded;
	size_t num_unloaded;
};

/* A function that was inlined into its caller, and the place of the call. */
struct mu_inlined {
	const char *function; /* demangled; NULL */
	const char *file;     /* of the call; NULL */
	unsigned line;        /* 0 = not known */
};

/* What is known of an address. The strings are valid until the close. */
struct mu_symbol {
	const char *module;   /* path in the subject's maps; "[vdso]" */
	const char *build_id; /* in hex; NULL */
	const char *function; /* or variable, demangled; NULL */
	const char *file;     /* of the source; NULL */
	uintptr_t offset; /* address minus load bias, as addr2line takes it; in
			     a file that is not ELF, the file offset */
	struct mu_range range; /* of FUNCTION in the subject; empty: not known
				*/
	unsigned line;         /* 0 = not known */

	/* Of an interpreter: it has no module, FILE and LINE are its code's. */
	bool script;

	/* In the program itself: FUNCTION is the nearest exported name. */
	bool exported;
	size_t into; /* offset from its start */

	/*
	 * Set by mu_symbols_find_call(): functions inlined at the address. FILE
	 * and LINE belong to the first, and the last one was inlined into
	 * FUNCTION.
	 */
	const struct mu_inlined *inlined;
	size_t num_inlined;
};

/*
 * The function LEVEL calls outwards from the innermost one that is inlined at
 * SYMBOL's address; NULL if not known.
 */
static inline const char *
mu_symbol_function(const struct mu_symbol *symbol, size_t level)
{
	return level < symbol->num_inlined ? symbol->inlined[level].function
					   : symbol->function;
}

/* What is known of SCRIPT, whose strings must stay. */
static inline struct mu_symbol
mu_symbol_of_script(const struct mu_script *script)
{
	return (struct mu_symbol) {
		.module = script->file,
		.function = script->function,
		.file = script->file,
		.line = script->line,
		.script = true,
	};
}

struct mu_symbols;

/*
 * Open the files and the memory of a process: needs the right to trace it,
 * which the caller may give up afterwards. Reads nothing yet. Returns NULL
 * without memory.
 */
struct mu_symbols *mu_symbols_open(const struct mu_symbols_source *source);

/* Accepts NULL. */
void mu_symbols_close(struct mu_symbols *symbols);

/*
 * Find ADDRESS; false if it is in no file. A return address is the start of the
 * next statement: ask for the byte before it. Strings and arrays are valid
 * until the close.
 */
bool mu_symbols_find(
    struct mu_symbols *symbols, uintptr_t address, struct mu_symbol *symbol);

/* The same, with the functions that are inlined there. */
bool mu_symbols_find_call(
    struct mu_symbols *symbols, uintptr_t address, struct mu_symbol *symbol);

/*
 * Read SIZE bytes of the subject, all or none, without faults. Returns false
 * also if the source's memory cannot be read.
 */
bool mu_symbols_read(const struct mu_symbols *symbols, uintptr_t address,
    void *buffer, size_t size);

/*
 * True if ADDRESS is in a loaded file; MAPPING is its part, or NULL if ADDRESS
 * may be in its .bss.
 */
bool mu_symbols_in_file(const struct mu_symbols *symbols, uintptr_t address,
    const struct mu_mapping **mapping);

/* The loaded files, by address; *COUNT is their number. */
const struct mu_loaded *mu_symbols_loaded(
    const struct mu_symbols *symbols, size_t *count);

/* True if the name of a loaded file contains PART. */
bool mu_symbols_has_file(const struct mu_symbols *symbols, const char *part);

/*
 * Identify the file that read_debug() of mu_symbols_debug() gets of LOADED, in
 * READ. Returns false if it is no file, or has no build-id.
 */
bool mu_symbols_debug_id(const struct mu_symbols *symbols,
    const struct mu_loaded *loaded, struct mu_debug_id *id);

/* The user's cache; NULL: there is none. */
struct mu_cache *mu_symbols_cache(const struct mu_symbols *symbols);

/*
 * Until when to read what an answer needs: it must be there before the question
 * is given up.
 */
uint64_t mu_symbols_until(const struct mu_symbols *symbols);

/* Note that this was too short. */
void mu_symbols_late(const struct mu_symbols *symbols);

struct mu_frame_rules; /* lib/symbolize/frame_rules.h */

/* How to find the caller of a frame at ADDRESS; false: not known. */
bool mu_symbols_frame_rules(struct mu_symbols *symbols, uintptr_t address,
    struct mu_frame_rules *rules);

/*
 * Call READ with LOADED, an element of that list, as libdwfl sees it; not at
 * all if there is no file. Returns false if READ faulted and was abandoned: its
 * data may be damaged.
 */
bool mu_symbols_debug(struct mu_symbols *symbols,
    const struct mu_loaded *loaded,
    void (*read)(void *ctx, struct Dwfl_Module *module), void *ctx);

/* What must not be used of a module, after it caused a failure. */
enum mu_symbols_limit {
	MU_SYMBOLS_ALL,
	MU_SYMBOLS_NO_DEBUG, /* debug information, if the module has any */
	MU_SYMBOLS_NO_FILES, /* only what is in the subject's memory */
	MU_SYMBOLS_NO_NAMES, /* module, build-id and offset only */
};

/*
 * Set the limit for the module of ADDRESS, before the first question about it.
 */
void mu_symbols_limit(
    struct mu_symbols *symbols, uintptr_t address, enum mu_symbols_limit limit);

/* How much the module of an address has to say. */
enum mu_symbols_detail {
	MU_SYMBOLS_NONE,  /* module and offset */
	MU_SYMBOLS_NAMES, /* functions */
	MU_SYMBOLS_LINES, /* functions, files and lines */
};

enum mu_symbols_detail mu_symbols_detail(
    struct mu_symbols *symbols, uintptr_t address);

#endif
