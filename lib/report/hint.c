#include "lib/report/hint.h"

#include "lib/pipe/entries.h"

/* glibc's M_MMAP_THRESHOLD is 128 KiB or more, unless it is set. */
#define MMAPPED ((size_t)64 << 10)
#define PAGE ((size_t)4096)
#define GRAIN ((size_t)16)
#define HEADER ((size_t)16)
#define HEADER_2_43 ((size_t)24) /* and what mmapped ones have at the end */
#define SMALLEST ((size_t)24)    /* usable size of the smallest chunk */

/*
 * The least size for which malloc returns SIZE usable bytes: chunks are
 * multiples of 16 bytes, and mmapped ones are whole pages.
 */
static size_t
least_for(size_t size)
{
	if (size >= MMAPPED &&
	    ((size + HEADER) % PAGE == 0 || (size + HEADER_2_43) % PAGE == 0))
		return size - PAGE + 1;
	return size <= SMALLEST ? 1 : size - GRAIN + 1;
}

bool
mu_hint_sizes(const struct UnreachableMemoryInfo *info,
    const struct mu_entries *entries, size_t *least, size_t *most)
{
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_entries_open(&at, entries);
	while ((leak = mu_entries_next(&at)) != NULL)
		if (leak->backtrace.num_frames > 0)
			return false;
	*least = least_for(info->unrecorded_min);
	*most = info->unrecorded_max;
	return info->unrecorded_max > 0;
}

void
mu_hint_environment(struct mu_text *out, size_t least, size_t most)
{
	mu_text_add(out,
	    MU_HINT_BEGIN "LIBC_DEBUG_MALLOC_OPTIONS='backtrace "
			  "backtrace_min_size=%zu backtrace_max_size=%zu' "
			  "LD_PRELOAD=libmemunreachable-malloc-debug.so "
			  "tells who allocated these",
	    least, most);
}

void
mu_hint_command(struct mu_text *out, size_t least, size_t most)
{
	mu_text_add(out,
	    MU_HINT_BEGIN "memunreachable --backtrace "
			  "--backtrace-size=%zu-%zu -- COMMAND tells who "
			  "allocated these",
	    least, most);
}
