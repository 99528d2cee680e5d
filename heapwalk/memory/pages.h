/*
 * Find the pages of our address space that can hold a pointer.
 *
 * In private memory these are the pages that were ever written: a page that is
 * neither present nor swapped reads as zeros, and an unmodified page of a file
 * was written by the linker. /proc/self/pagemap has this. For shared memory a
 * fork copies no page tables, so pagemap has nothing; mincore() works for files
 * in memory. (Reading a hole of such a file would allocate pages, also for the
 * program.) While swap is in use mincore() is not reliable, and all pages
 * count.
 *
 * Only for an image that does not change: answers are cached.
 *
 * Runs in: sweeper, keeper, the command.
 */
#ifndef HEAPWALK_MEMORY_PAGES_H
#define HEAPWALK_MEMORY_PAGES_H

#include "heapwalk/subject/snapshot.h"
#include "heapwalk/subject/tmpfs.h"

/* Answers are kept in groups of pages, aligned to their size. */
#define MU_PAGES_GROUP 64
#define MU_PAGES_GROUPS 16
#define MU_PAGES_WINDOW (MU_PAGES_GROUP * MU_PAGES_GROUPS)

/* From linux/fs.h since 6.7: struct page_region. */
struct mu_pages_region {
	uint64_t start, end, categories;
};

/* What one call tells: of small programs all. */
#define MU_PAGES_REGIONS 96

struct mu_pages {
	int pagemap; /* descriptor, or -1 */
	size_t page_size;
	bool no_scan; /* the kernel has no PAGEMAP_SCAN (before 6.7) */
	bool foreign; /* another process: mincore() cannot be used */

	/* Checked once, when needed. */
	bool asked_swap, swap_used; /* used, or not known */
	struct mu_tmpfs tmpfs;

	/*
	 * All regions below KNOWN_END with pages that are not those of a file,
	 * by address.
	 */
	struct mu_pages_region regions[MU_PAGES_REGIONS];
	size_t num_regions;
	uintptr_t known_end;

	/*
	 * Entries of pagemap: 1 + the number of each group, which has a fixed
	 * place in the window. Or made from an answer of mincore(): COUNT pages
	 * from FIRST, at its beginning.
	 */
	uintptr_t groups[MU_PAGES_GROUPS];
	uintptr_t first; /* page number */
	size_t count;
	uint64_t window[MU_PAGES_WINDOW];
};

/*
 * True if ENTRY of pagemap (Documentation/admin-guide/mm/pagemap.rst) is of a
 * page that its process can read: present or swapped, and not in a guard region
 * (MADV_GUARD_INSTALL, which counts as swapped; told since 6.15).
 */
static inline bool
mu_page_entry_there(uint64_t entry)
{
	return entry >> 62 != 0 && (entry >> 58 & 1) == 0;
}

/* Open pagemap; false if that fails. Close in any case. */
bool mu_pages_open(struct mu_pages *pages, size_t page_size);
void mu_pages_close(struct mu_pages *pages);

/*
 * The same for another process, whose PAGEMAP stays the caller's. Of shared
 * memory only what that process has touched counts.
 */
void mu_pages_of(struct mu_pages *pages, int pagemap, size_t page_size);

/*
 * Ask for all pages up to END that hold what no file has, from where what was
 * asked so ends, if the kernel can (PAGEMAP_SCAN): 20 us for 500 pages, where
 * each mapping takes 2 to 3. Without FILES there are only private mappings
 * without a file; a page takes a tenth of the time then, as the kernel need not
 * look whose it is. Returns false if not all are known.
 */
bool mu_pages_ask_up_to(struct mu_pages *pages, uintptr_t end, bool files);

/* True if the kernel can skip a hole of any size (PAGEMAP_SCAN). */
bool mu_pages_can_skip(struct mu_pages *pages);

/*
 * True if a page of RANGE, private memory without a file, was written, in this
 * process or before the fork. RANGE consists of whole pages. False also if the
 * kernel cannot tell.
 */
bool mu_pages_any_written(const struct mu_pages *pages, struct mu_range range);

/*
 * True if pages are swapped out, or if that is not known: then a page in no
 * page table and no page cache may still have data.
 */
bool mu_pages_swap_used(struct mu_pages *pages);

/*
 * The first run of pages in RANGE, which lies inside MAPPING, that can hold a
 * pointer; clipped to RANGE. Returns false if there is none.
 */
bool mu_pages_next(struct mu_pages *pages, const struct mu_mapping *mapping,
    struct mu_range range, struct mu_range *part);

#endif
