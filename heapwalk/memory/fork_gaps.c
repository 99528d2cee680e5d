/*
 * The sweeper reads this memory, not the collector, so that the copies are
 * charged to the sweeper: if memory is short, the OOM killer should choose it.
 */
#include "heapwalk/memory/fork_gaps.h"

#include "heapwalk/memory/self.h"
#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

/* Limit for copies, during which the program is stopped. */
#define MAX_BYTES ((size_t)1 << 30)
#define MAX_BYTES_BLINDLY ((size_t)64 << 20) /* pages not known */

/* Bytes per read: less than a millisecond. */
#define SLICE_BYTES ((size_t)1 << 20)

/*
 * From this size on ask for huge pages, which take a sixth of the time of
 * faults.
 */
#define HUGE_BYTES ((size_t)2 << 20)

struct filler {
	struct mu_fork_gaps *gaps;
	const struct mu_memory_self *self;
	size_t page_size;
	size_t budget; /* bytes that may still be copied */
	size_t read;   /* bytes copied so far */
	struct mu_pages theirs, ours;
};

size_t
mu_fork_gaps_limit(size_t available)
{
	if (available == SIZE_MAX)
		return MAX_BYTES_BLINDLY;
	return available / 4 < MAX_BYTES ? available / 4 : MAX_BYTES;
}

/*
 * True if nothing is mapped at MAPPING. msync() walks the mappings and fails
 * with ENOMEM at a hole; since 2.6.19 MS_ASYNC does nothing else.
 */
static bool
is_missing(const struct mu_mapping *mapping)
{
	return mu_sys3(SYS_msync, (long)mapping->range.begin,
		   (long)mu_range_size(mapping->range), MS_ASYNC) == -ENOMEM;
}

/*
 * Copy RANGE from the original. A page that cannot be read is lost, and so is
 * anything read after the original continued.
 */
static void
copy(struct filler *filler, struct mu_range range)
{
	struct mu_fork_gaps *gaps = filler->gaps;
	size_t size;
	ssize_t n;

	while (range.begin < range.end) {
		size = mu_range_size(range);
		n = mu_sys_pread(gaps->memory, (void *)range.begin,
		    size < SLICE_BYTES ? size : SLICE_BYTES, range.begin);
		if (n == -EINTR)
			continue;
		filler->read += n > 0 ? (size_t)n : 0;
		if (mu_standstill_must_end(&gaps->still, filler->read)) {
			gaps->lost += (size - 1) / filler->page_size + 1;
			return;
		}
		if (n <= 0) {
			gaps->lost++;
			n = (ssize_t)(filler->page_size -
			    range.begin % filler->page_size);
		}
		if ((size_t)n >= mu_range_size(range))
			return;
		range.begin += (size_t)n;
	}
}

/*
 * Split off the next part of REST in which the original has data. Its pagemap
 * covers private memory; of shared memory, for which the image would ask
 * mincore(), only what the program itself has touched.
 */
static bool
next_part(struct filler *filler, const struct mu_mapping *mapping,
    struct mu_range *rest, struct mu_range *part)
{
	struct mu_mapping looked_at = *mapping;

	if (mapping->shared)
		looked_at.inode = 0;
	looked_at.shared = false;
	*part = *rest;
	if (mu_range_size(*rest) == 0 ||
	    (filler->theirs.pagemap >= 0 &&
		!mu_pages_next(&filler->theirs, &looked_at, *rest, part)))
		return false;
	rest->begin = part->end;
	return true;
}

/*
 * Copy all of RANGE, inside MAPPING, or nothing if that is too much or there is
 * no PLACE for it.
 */
static void
bring(struct filler *filler, const struct mu_mapping *mapping,
    struct mu_range range, bool place)
{
	struct mu_range rest = range, part;
	size_t bytes = 0;

	while (next_part(filler, mapping, &rest, &part))
		bytes += mu_range_size(part);
	/*
	 * Page tables do not show which pages of shared memory are swapped out.
	 */
	if (mapping->shared && mu_pages_swap_used(&filler->theirs))
		filler->gaps->lost++;
	if (!place || filler->gaps->memory < 0 || bytes > filler->budget) {
		filler->gaps->lost += bytes / filler->page_size;
		return;
	}
	filler->budget -= bytes;
	if (bytes >= HUGE_BYTES && bytes >= mu_range_size(range) / 2)
		mu_sys3(SYS_madvise, (long)range.begin,
		    (long)mu_range_size(range), MADV_HUGEPAGE);
	rest = range;
	while (next_part(filler, mapping, &rest, &part))
		copy(filler, part);
}

/* Map memory where the original has MAPPING and this image has nothing. */
static void
fill_missing(struct filler *filler, const struct mu_mapping *mapping)
{
	size_t size = mu_range_size(mapping->range);
	long at;

	filler->gaps->missing++;
	/* Without MAP_FIXED, so that it never replaces a mapping. */
	at = mu_sys_mmap((void *)mapping->range.begin, size,
	    PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (!mu_sys_failed(at) && (uintptr_t)at != mapping->range.begin)
		mu_sys_munmap((void *)at, size);
	bring(filler, mapping, mapping->range,
	    (uintptr_t)at == mapping->range.begin);
}

/*
 * A range that was wiped in an earlier image may be something else now, even
 * our own stack. Only pages that are absent here can have been wiped, and
 * copying those from the original is right in any case.
 */
static void
fill_wiped(struct filler *filler, const struct mu_mapping *mapping,
    struct mu_range range)
{
	struct mu_range part;
	long at;

	if (range.begin < mapping->range.begin)
		range.begin = mapping->range.begin;
	if (range.end > mapping->range.end)
		range.end = mapping->range.end;
	if (mu_range_size(range) == 0 || !mu_mapping_is_anonymous(mapping) ||
	    !mu_mapping_is_memory(mapping) ||
	    mu_pages_next(&filler->ours, mapping, range, &part))
		return;
	at = mu_sys_mmap((void *)range.begin, mu_range_size(range),
	    PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
	bring(filler, mapping, range, !mu_sys_failed(at));
}

static void
fill_all_wiped(struct filler *filler)
{
	const struct mu_memory_self *self = filler->self;
	const struct mu_mapping *mapping, *end;
	struct mu_range range;
	size_t i;

	if (filler->gaps->num_wiped == 0 || filler->gaps->memory < 0 ||
	    !mu_pages_open(&filler->ours, filler->page_size))
		return;
	end = self->mappings + self->num_mappings;
	for (i = 0; i < filler->gaps->num_wiped; i++) {
		range = filler->gaps->wiped[i];
		mapping = mu_memory_self_mapping(self, range.begin);
		for (; mapping != NULL && mapping < end &&
		     mapping->range.begin < range.end;
		     mapping++)
			fill_wiped(filler, mapping, range);
	}
	mu_pages_close(&filler->ours);
}

void
mu_fork_gaps_fill(struct mu_fork_gaps *gaps, const struct mu_memory_self *self,
    size_t page_size)
{
	struct filler filler = {
		.gaps = gaps,
		.self = self,
		.page_size = page_size,
		.theirs = { .pagemap = gaps->pagemap, .page_size = page_size },
		.ours = { .pagemap = -1 },
	};
	size_t i;

	gaps->missing = gaps->lost = 0;
	if (gaps->memory >= 0)
		filler.budget = gaps->limit;
	for (i = 0; i < self->num_mappings && !gaps->complete; i++) {
		if (mu_mapping_is_memory(&self->mappings[i]) &&
		    is_missing(&self->mappings[i]))
			fill_missing(&filler, &self->mappings[i]);
	}
	fill_all_wiped(&filler);
}
