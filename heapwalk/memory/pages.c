#include "heapwalk/memory/pages.h"

#include <linux/sysinfo.h>
#include <stddef.h>
#include <string.h>

#include "heapwalk/subject/classify.h"
#include "mu/procfs.h"
#include "mu/sys.h"

/* An entry of pagemap: Documentation/admin-guide/mm/pagemap.rst */
#define ENTRY_PRESENT (1ull << 63)
#define ENTRY_FILE (1ull << 61) /* file page, unmodified, or shared memory */

#define GROUP MU_PAGES_GROUP
#define NUM_GROUPS MU_PAGES_GROUPS

/* From this many pages on, let the kernel skip holes. */
#define HOLE_PAGES ((size_t)16 * MU_PAGES_WINDOW)

/* From linux/fs.h since 6.7; a hole of terabytes takes one call. */
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
	if (!mu_page_entry_there(entry))
		return false;
	return policy != POLICY_MODIFIED || (entry & ENTRY_FILE) == 0;
}

/*
 * Read the group of PAGE, and those that follow before END. A query takes 2 us,
 * and 10 ns per page.
 */
static void
ask_pagemap(struct mu_pages *pages, uintptr_t page, uintptr_t end)
{
	uintptr_t first = page / GROUP;
	size_t slot = first % NUM_GROUPS, i, got;
	size_t count = (end - 1) / GROUP + 1 - first;
	uint64_t *entries = &pages->window[slot * GROUP];
	ssize_t n;

	if (count > NUM_GROUPS - slot)
		count = NUM_GROUPS - slot;
	do {
		n = mu_sys_pread(pages->pagemap, entries,
		    count * GROUP * sizeof(*entries),
		    first * GROUP * sizeof(*entries));
	} while (n == -EINTR);
	got = n > 0 ? (size_t)n / sizeof(*entries) : 0;
	for (i = got; i < count * GROUP; i++)
		entries[i] = ENTRY_PRESENT;
	for (i = 0; i < count; i++)
		pages->groups[slot + i] = first + i + 1;
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

static uint64_t
resident_entry(struct mu_pages *pages, uintptr_t page, uintptr_t end)
{
	if (page < pages->first || page - pages->first >= pages->count) {
		memset(pages->groups, 0, sizeof(pages->groups));
		pages->first = page;
		ask_mincore(pages, end);
	}
	return pages->window[page - pages->first];
}

/* The entry of PAGE; END limits the query. */
static uint64_t
entry_of(
    struct mu_pages *pages, uintptr_t page, uintptr_t end, enum policy policy)
{
	if (policy == POLICY_RESIDENT)
		return resident_entry(pages, page, end);
	if (pages->groups[page / GROUP % NUM_GROUPS] != page / GROUP + 1) {
		pages->count = 0;
		ask_pagemap(pages, page, end);
	}
	return pages->window[page % MU_PAGES_WINDOW];
}

/* Ask for the first REGION from PAGE up to END that the masks of ARG select. */
static long
scan_region(struct mu_pages *pages, uintptr_t page, uintptr_t end,
    struct scan_arg *arg, struct mu_pages_region *region)
{
	arg->size = sizeof(*arg);
	arg->start = page * pages->page_size;
	arg->end = end * pages->page_size;
	arg->vec = (uintptr_t)region;
	arg->vec_len = 1;
	return mu_sys3(SYS_ioctl, pages->pagemap, SCAN_REQUEST, (long)arg);
}

/* The first page from PAGE up to END that may be present or swapped. */
static uintptr_t
skip_hole(struct mu_pages *pages, uintptr_t page, uintptr_t end)
{
	struct mu_pages_region region = { 0, 0, 0 };
	struct scan_arg arg = {
		.max_pages = 1,
		.any_of = SCAN_PRESENT | SCAN_SWAPPED,
		.return_mask = SCAN_PRESENT | SCAN_SWAPPED,
	};
	uintptr_t found;
	long count;

	count = scan_region(pages, page, end, &arg, &region);
	pages->no_scan = count < 0 && count != -EINTR;
	if (count < 0)
		return page;
	found = (count == 0 ? arg.walk_end : region.start) / pages->page_size;
	return found < page ? page : found > end ? end : found;
}

/*
 * The end of a run of present pages from PAGE on, up to END; at least the next
 * page. Of shared pages the kernel looks up each for an entry of pagemap: 200
 * ns; here it takes 10.
 */
static uintptr_t
skip_present(struct mu_pages *pages, uintptr_t page, uintptr_t end)
{
	struct mu_pages_region region = { 0, 0, 0 };
	struct scan_arg arg = {
		.mask = SCAN_PRESENT,
		.return_mask = SCAN_PRESENT,
	};
	uintptr_t stop = page + 1, found;

	if (pages->no_scan ||
	    scan_region(pages, page, end, &arg, &region) <= 0 ||
	    region.start != arg.start)
		return stop;
	found = region.end / pages->page_size;
	return found < stop ? stop : found > end ? end : found;
}

/* Pages that are asked for at once: 10 to 20 ns each. */
#define AT_ONCE 4096

bool
mu_pages_ask_up_to(struct mu_pages *pages, uintptr_t end, bool files)
{
	uint64_t not = files ? SCAN_FILE : 0;
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = pages->known_end,
		.end = end,
		.vec = (uintptr_t)(pages->regions + pages->num_regions),
		.vec_len = MU_PAGES_REGIONS - pages->num_regions,
		.max_pages = AT_ONCE,
		.inverted = not,
		.mask = not,
		.any_of = SCAN_PRESENT | SCAN_SWAPPED,
		.return_mask = SCAN_PRESENT | SCAN_SWAPPED,
	};
	long count;

	count = mu_sys3(SYS_ioctl, pages->pagemap, SCAN_REQUEST, (long)&arg);
	if (count < 0)
		return false;
	pages->num_regions += (size_t)count;
	pages->known_end = arg.walk_end;
	return arg.walk_end == end;
}

/*
 * The same as first_counting() and the run behind it, as *PART, from what is
 * known. Returns 1; 0 if no page counts, -1 if that is not known: a page that
 * is swapped may be a guard.
 */
static int
known_part(
    const struct mu_pages *pages, struct mu_range range, struct mu_range *part)
{
	const struct mu_pages_region *region = pages->regions;
	const struct mu_pages_region *end = region + pages->num_regions;
	bool found = false;

	if (range.end > pages->known_end)
		return -1;
	for (; region < end && region->start < range.end; region++) {
		if (region->end <= range.begin)
			continue;
		if ((region->categories & SCAN_SWAPPED) != 0)
			return -1;
		if (found && region->start != part->end)
			break;
		if (!found)
			part->begin = region->start;
		part->end = region->end;
		found = true;
	}
	*part = mu_range_common(*part, range);
	return found;
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
	/* The other members take three pages, and are mostly not used. */
	memset(pages, 0, offsetof(struct mu_pages, regions));
	memset(&pages->num_regions, 0,
	    offsetof(struct mu_pages, window) -
		offsetof(struct mu_pages, num_regions));
	pages->page_size = page_size;
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
	struct mu_pages_region region = { 0, 0, 0 };
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
	int known;

	*part = range;
	if (mu_range_size(range) == 0)
		return false;
	if (policy == POLICY_ALL)
		return true;
	known = policy == POLICY_RESIDENT ? -1 : known_part(pages, range, part);
	if (known >= 0)
		return known > 0;
	*part = range;
	page = range.begin / size;
	end = (range.end - 1) / size + 1;
	page = first_counting(pages, page, end, policy);
	if (page == end)
		return false;
	stop = page + 1;
	if (pages->foreign && policy == POLICY_TOUCHED &&
	    end - page > MU_PAGES_WINDOW)
		stop = skip_present(pages, page, end);
	for (; stop < end; stop++) {
		if (!entry_counts(entry_of(pages, stop, end, policy), policy))
			break;
	}
	if (page * size > part->begin)
		part->begin = page * size;
	if (stop * size < part->end)
		part->end = stop * size;
	return true;
}
