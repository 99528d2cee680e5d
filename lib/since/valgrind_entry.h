/*
 * Entries of Valgrind's suppression files:
 *
 *	{
 *	   name
 *	   Memcheck:Leak
 *	   match-leak-kinds: definite
 *	   fun:malloc
 *	   fun:make_*
 *	   ...
 *	   obj:*libfoo.so*
 *	}
 *
 * Callers are those of the stack from the innermost one on, where "..." stands
 * for any number of them; * and ? are wildcards, and names of C++ are mangled.
 * That a function of malloc() was called says nothing here: such lines at the
 * begin are left out, as they are of our stacks.
 *
 * Runs in: the command.
 */
#ifndef LIB_SINCE_VALGRIND_ENTRY_H
#define LIB_SINCE_VALGRIND_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct mu_valgrind_entry {
	char *name;
	char *callers; /* lines; NULL: it is about no lost blocks */
};

/* A function that was called. */
struct mu_valgrind_frame {
	const char *function, *module; /* demangled; path; NULL: not known */
};

/*
 * Read what follows the brace from FILE, and count its lines in *NUMBER. False:
 * it is no entry, or there is no memory. Free name and callers in any case.
 */
bool mu_valgrind_entry_read(
    struct mu_valgrind_entry *entry, FILE *file, size_t *number);

/* True if CALLERS match COUNT FRAMES, the innermost one first. */
bool mu_valgrind_entry_matches(
    const char *callers, const struct mu_valgrind_frame *frames, size_t count);

#endif
