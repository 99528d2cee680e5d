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

#include "heapwalk/subject/snapshot.h"

struct mu_unloaded; /* heapwalk/recorded/recorded.h */

/* Where names may come from. What it points to is borrowed until the close. */
struct mu_symbols_source {
	const struct mu_mapping *mappings; /* by address, no overlaps */
	size_t num_mappings;
	pid_t pid;           /* its files are below /proc/PID; 0: a core */
	const char *exe;     /* the file of the main program; NULL: as mapped */
	const char *sysroot; /* before every path of the subject; NULL: none */
	uintptr_t program;   /* any address in the main program, as AT_ENTRY;
				0: that is the first file */

	/*
	 * SIZE bytes of the subject at ADDRESS, all or false; without faults.
	 * NULL: by /proc/PID/mem, or not at all; then an inode has to tell
	 * whether a file is still the same.
	 */
	bool (*read)(void *ctx, uintptr_t address, void *buffer, size_t size);
	void *ctx;

	bool local; /* never ask debuginfod */

	/* Those mappings that are of modules which are not there any more, by
	 * address. */
	const struct mu_unloaded *unloaded;
	size_t num_unloaded;
};

/* A function that was put into its caller, and where that would call it. */
struct mu_inlined {
	const char *function; /* demangled; NULL */
	const char *file;     /* of the call; NULL */
	unsigned line;        /* 0 = not known */
};

/* What is known of an address. The strings are valid until the close. */
struct mu_symbol {
	const char *module;   /* the path that the subject mapped; "[vdso]" */
	const char *build_id; /* in hex; NULL */
	const char *function; /* or variable, demangled; NULL */
	const char *file;     /* of the source; NULL */
	uintptr_t offset; /* the address less the load bias, as addr2line takes
			     it; in a file that is no ELF: bytes into it */
	unsigned line;    /* 0 = not known */

	/* In the program itself: FUNCTION is the nearest exported one. */
	bool exported;
	size_t into; /* bytes behind its beginning */

	/*
	 * By mu_symbols_find_call() only: FILE and LINE are of the first of
	 * these, if there are any; the last one was put into FUNCTION.
	 */
	const struct mu_inlined *inlined;
	size_t num_inlined;
};

/*
 * The function that SYMBOL's address is in, LEVEL calls outwards from the
 * innermost, of those that the compiler has put into each other; NULL: not
 * known.
 */
static inline const char *
mu_symbol_function(const struct mu_symbol *symbol, size_t level)
{
	return level < symbol->num_inlined ? symbol->inlined[level].function
					   : symbol->function;
}

struct mu_symbols;

/*
 * Opens what leads to the files and to the memory of a process: that takes the
 * right to trace it, which the caller may give up afterwards. Reads nothing
 * yet. NULL: no memory.
 */
struct mu_symbols *mu_symbols_open(const struct mu_symbols_source *source);

/* Accepts NULL. */
void mu_symbols_close(struct mu_symbols *symbols);

/*
 * What ADDRESS is; false if it is in no file. A return address is the start of
 * the next statement: ask for the byte before it. Strings and arrays are valid
 * until the close.
 */
bool mu_symbols_find(
    struct mu_symbols *symbols, uintptr_t address, struct mu_symbol *symbol);

/* The same, and what the compiler has put into that function there. */
bool mu_symbols_find_call(
    struct mu_symbols *symbols, uintptr_t address, struct mu_symbol *symbol);

/* What is not to be used of a module, after that did harm. */
enum mu_symbols_limit {
	MU_SYMBOLS_ALL,
	MU_SYMBOLS_NO_DEBUG, /* debug information, where there is any */
	MU_SYMBOLS_NO_FILES, /* only what is in the subject's memory */
	MU_SYMBOLS_NO_NAMES, /* module, build-id and offset only */
};

/* For the module of ADDRESS, before the first question about it. */
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
