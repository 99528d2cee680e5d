#include "heapwalk/memory/pages.h"

#include <linux/sysinfo.h>
#include <string.h>

#include "heapwalk/subject/classify.h"
#include "mu/procfs.h"
#include "mu/sys.h"

/* An entry of pagemap: Documentation/admin-guide/mm/pagemap.rst */
#define ENTRY_PRESENT (1ull << 63)
#define ENTRY_SWAPPED (1ull << 62)
#define ENTRY_FILE (1ull << 61)  /* file page, unmodified, or shared memory */
#define ENTRY_GUARD (1ull << 58) /* since 6.15: MADV_GUARD_INSTALL */

/* Least number of pages per query; the next query is often nearby. */
#define LEAST_PAGES ((size_t)128)

/* From this many pages on, let the kernel skip holes. */
#define HOLE_PAGES ((size_t)16 * MU_PAGES_WINDOW)

/* From linux/fs.h since 6.7; a hole of terabytes takes one call. */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, mask, any_of, return_mask;
};

#define SCAN_REQUEST 0xc0606610l /* _IOWR('f', 16, struct scan_arg) */
#define SCAN_FILE (1u << 2)
#define SCAN_PRESENT (1u << 3)
#define SCAN_SWAPPED (1u << 4)
#define SCAN_ZERO (1u << 5) /* the zero page: read, never written */

/* Which pages of a mapping count. */
enum policy {
	POLICY_ALL,      /* all: nothing is known about them */
	POLICY_TOUCHED,  /* anonymous: present or swapped */
	POLICY_MODIFIED, /* private file: also not the file's own page */
	POLICY_RESIDENT, /* mincore(): in memory */
};

/*
 * True if a page of this file that is not in the page cache is a hole. Not true
 * of a file on a disk. On hugetlbfs mincore() reads our page tables, which a
 * fork left empty.
 */
static bool
is_memory_only(struct mu_pages *pages, const struct mu_mapping *mapping)
{
	return mapping->inode != 0 &&
	    mu_tmpfs_holds(
		&pages->tmpfs, mapping->dev_major, mapping->dev_minor);
}

/*
 * Without pagemap mincore() is used for private memory too: it counts the
 * file's own pages as modified, which is safe.
 */
static enum policy
policy_for(struct mu_pages *pages, const struct mu_mapping *mapping)
{
	if (!mapping->shared && pages->pagemap >= 0 &&
	    (pages->foreign || !mu_mapping_is_view(mapping) ||
		!is_memory_only(pages, mapping)))
		return mapping->inode != 0 ? POLICY_MODIFIED : POLICY_TOUCHED;
	if (pages->foreign)
		return pages->pagemap >= 0 ? POLICY_TOUCHED : POLICY_ALL;
	/* mincore() cannot distinguish swapped pages from holes. */
	if (mu_pages_swap_used(pages) ||
	    (mapping->shared && !is_memory_only(pages, mapping)))
		return POLICY_ALL;
	return POLICY_RESIDENT;
}

static bool
entry_counts(uint64_t entry, enum policy policy)
{
	if ((entry & (ENTRY_PRESENT | ENTRY_SWAPPED)) == 0 ||
	    (entry & ENTRY_GUARD) != 0)
		return false;
	return policy != POLICY_MODIFIED || (entry & ENTRY_FILE) == 0;
}

/* The kernel takes 10 ns per page: ask for few if END is near. */
static void
ask_pagemap(struct mu_pages *pages, uintptr_t end)
{
	size_t want = end - pages->first;
	ssize_t n;

	if (want < LEAST_PAGES)
		want = LEAST_PAGES;
	if (want > MU_PAGES_WINDOW)
		want = MU_PAGES_WINDOW;
	do {
		n = mu_sys_pread(pages->pagemap, pages->window,
		    want * sizeof(*pages->window),
		    pages->first * sizeof(uint64_t));
	} while (n == -EINTR);
	pages->count = n > 0 ? (size_t)n / sizeof(uint64_t) : 0;
	/* Supply an answer for the first page in any case. */
	if (pages->count == 0) {
		pages->window[0] = ENTRY_PRESENT;
		pages->count = 1;
	}
}

static void
ask_mincore(struct mu_pages *pages, uintptr_t end)
{
	unsigned char resident[MU_PAGES_WINDOW];
	size_t i, count = end - pages->first;
	long error;

	if (count > MU_PAGES_WINDOW)
		count = MU_PAGES_WINDOW;
	memset(resident, 0, sizeof(resident));
	error = mu_sys3(SYS_mincore, (long)(pages->first * pages->page_size),
	    (long)(count * pages->page_size), (long)resident);
	for (i = 0; i < count; i++)
		pages->window[i] =
		    error != 0 || (resident[i] & 1) != 0 ? ENTRY_PRESENT : 0;
	pages->count = count;
}

/* The entry of PAGE; END limits the query. */
static uint64_t
entry_of(
    struct mu_pages *pages, uintptr_t page, uintptr_t end, enum policy policy)
{
	bool resident = policy == POLICY_RESIDENT;

	if (resident != pages->window_resident || page < pages->first ||
	    page - pages->first >= pages->count) {
		pages->window_resident = resident;
		pages->first = page;
		if (resident)
			ask_mincore(pages, end);
		else
			ask_pagemap(pages, end);
	}
	return pages->window[page - pages->first];
}

/* The first page from PAGE up to END that may be present or swapped. */
static uintptr_t
skip_hole(struct mu_pages *pages, uintptr_t page, uintptr_t end)
{
	struct scan_region region = { 0, 0, 0 };
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = page * pages->page_size,
		.end = end * pages->page_size,
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.max_pages = 1,
		.any_of = SCAN_PRESENT | SCAN_SWAPPED,
		.return_mask = SCAN_PRESENT | SCAN_SWAPPED,
	};
	uintptr_t found;
	long count;

	count = mu_sys3(SYS_ioctl, pages->pagemap, SCAN_REQUEST, (long)&arg);
	pages->no_scan = count < 0 && count != -EINTR;
	if (count < 0)
		return page;
	found = (count == 0 ? arg.walk_end : region.start) / pages->page_size;
	return found < page ? page : found > end ? end : found;
}

/* The first page from PAGE up to END that counts; END if none does. */
static uintptr_t
first_counting(
    struct mu_pages *pages, uintptr_t page, uintptr_t end, enum policy policy)
{
	bool may_skip = policy != POLICY_RESIDENT;
	uintptr_t limit = page + MU_PAGES_WINDOW;

	for (; page < end; page++) {
		if (entry_counts(entry_of(pages, page, end, policy), policy))
			return page;
		if (page < limit || !may_skip || pages->no_scan ||
		    end - page < HOLE_PAGES)
			continue;
		page = skip_hole(pages, page, end);
		if (page == end)
			return end;
		if (entry_counts(entry_of(pages, page, end, policy), policy))
			return page;
		limit = page + MU_PAGES_WINDOW;
	}
	return end;
}

bool
mu_pages_open(struct mu_pages *pages, size_t page_size)
{
	*pages = (struct mu_pages) { .page_size = page_size };
	pages->pagemap = mu_procfs_open("/proc/self/pagemap", O_RDONLY);
	return pages->pagemap >= 0;
}

void
mu_pages_of(struct mu_pages *pages, int pagemap, size_t page_size)
{
	*pages = (struct mu_pages) {
		.pagemap = pagemap, .page_size = page_size, .foreign = true
	};
}

void
mu_pages_close(struct mu_pages *pages)
{
	mu_sys_close(&pages->pagemap);
}

bool
mu_pages_can_skip(struct mu_pages *pages)
{
	if (!pages->no_scan)
		skip_hole(pages, 0, 1);
	return !pages->no_scan;
}

bool
mu_pages_any_written(const struct mu_pages *pages, struct mu_range range)
{
	struct scan_region region = { 0, 0, 0 };
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = range.begin,
		.end = range.end,
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.max_pages = 1,
		.inverted = SCAN_FILE | SCAN_ZERO,
		.mask = SCAN_FILE | SCAN_ZERO,
		.any_of = SCAN_PRESENT | SCAN_SWAPPED,
		.return_mask = SCAN_PRESENT | SCAN_SWAPPED,
	};

	return pages->pagemap >= 0 && !pages->no_scan &&
	    mu_sys3(SYS_ioctl, pages->pagemap, SCAN_REQUEST, (long)&arg) > 0;
}

bool
mu_pages_swap_used(struct mu_pages *pages)
{
	struct sysinfo info;

	if (!pages->asked_swap) {
		memset(&info, 0, sizeof(info));
		pages->swap_used = mu_sys1(SYS_sysinfo, (long)&info) != 0 ||
		    info.freeswap != info.totalswap;
		pages->asked_swap = true;
	}
	return pages->swap_used;
}

bool
mu_pages_next(struct mu_pages *pages, const struct mu_mapping *mapping,
    struct mu_range range, struct mu_range *part)
{
	enum policy policy = policy_for(pages, mapping);
	uintptr_t size = pages->page_size, page, end, stop;

	*part = range;
	if (mu_range_size(range) == 0)
		return false;
	if (policy == POLICY_ALL)
		return true;
	page = range.begin / size;
	end = (range.end - 1) / size + 1;
	page = first_counting(pages, page, end, policy);
	if (page == end)
		return false;
	for (stop = page + 1; stop < end; stop++) {
		if (!entry_counts(entry_of(pages, stop, end, policy), policy))
			break;
	}
	if (page * size > part->begin)
		part->begin = page * size;
	if (stop * size < part->end)
		part->end = stop * size;
	return true;
}
