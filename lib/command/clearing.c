#include "lib/command/clearing.h"

#include <dlfcn.h>

#include "heapwalk/subject/classify.h"
#include "mu/arena.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

#define ARENA_LIMIT ((size_t)64 << 20)

/*
 * memset() is chosen by the CPU, so it has no symbol with a size. Its code has
 * parts in front of and behind its entry; around it there are other functions
 * for strings, which do not call malloc.
 */
#define BEFORE 0x400
#define BEHIND 0x800

struct mu_range
mu_clearing_in(const struct mu_mapping *libc)
{
	uintptr_t at = (uintptr_t)dlsym(RTLD_DEFAULT, "memset"), there;
	struct mu_range range = { 0, 0 };
	struct mu_mapping *mappings;
	struct mu_arena arena;
	size_t count, i;

	mu_arena_open(&arena, ARENA_LIMIT);
	if (mu_mappings_read(
		mu_sys_getpid(), &mappings, &count, &arena, NULL) != MU_OK)
		count = 0;
	for (i = 0; i < count; i++) {
		if (!mu_range_has(mappings[i].range, at) ||
		    !mu_mapping_same_file(&mappings[i], libc))
			continue;
		there = at - mappings[i].range.begin +
		    (uintptr_t)mappings[i].offset - (uintptr_t)libc->offset +
		    libc->range.begin;
		if (mu_range_has(libc->range, there))
			range = (struct mu_range) { there - BEFORE,
				there + BEHIND };
	}
	mu_arena_close(&arena);
	return range;
}
