/*
 * How much of a process a fork copies, and how much it leaves out.
 */
#ifndef HEAPWALK_MEMORY_FORKED_H
#define HEAPWALK_MEMORY_FORKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Bytes of anonymous memory, resident or swapped out. That of the pool
 * (MAP_HUGETLB, private) counts in none of them.
 */
struct mu_forked {
	uint64_t small;    /* in small pages: each costs the fork time */
	uint64_t huge;     /* in huge pages: these cost next to none */
	uint64_t left_out; /* under MADV_DONTFORK */
	bool pooled;       /* some is of the kernel's pool of huge pages */
	bool watched;      /* some is registered with a userfaultfd */

	uint64_t anonymous, swapped; /* of the mapping that is being parsed */
	uint64_t huge_here;
};

/* Add up TEXT, whole lines of smaps. Pure. */
void mu_forked_parse(struct mu_forked *forked, const char *text, size_t length);

/*
 * Of process PID. The kernel walks all page tables for that: 10 to 30 ms a
 * gigabyte, while the process runs. False, and
 * FORKED is as it was: smaps cannot be read.
 */
bool mu_forked_find(struct mu_forked *forked, pid_t pid);

#endif
