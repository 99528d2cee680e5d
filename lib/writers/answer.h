/*
 * What a check of another process, or of a core file, found: the library's
 * answer, and what the report says about its subject.
 */
#ifndef LIB_WRITERS_ANSWER_H
#define LIB_WRITERS_ANSWER_H

#include <sys/types.h>

#include "heapwalk/heaps/usage.h"
#include "lib/pipe/entries.h"
#include "memunreachable/memunreachable.h"

struct mu_naming;

/*
 * Strings come from the subject: nothing is known of them but that they end.
 * What it points to is released by mu_check_release().
 */
struct mu_answer {
	struct UnreachableMemoryInfo info;
	struct mu_entries entries;  /* of INFO, which has none itself */
	pid_t pid;                  /* 0: not known */
	char program[256];          /* path of the executable, or its name */
	char allocator[64];         /* "glibc 2.36", "jemalloc", "": unknown */
	const char *stop;           /* "fork", "read", "core", "ptrace",
				       "signal", "" */
	struct mu_heap_usage usage; /* all zero: not known */
	struct mu_naming *naming;   /* names of addresses; NULL: none */
	char names_note[192];       /* what is missing of them; "": nothing */
};

#endif
