/*
 * Find pages that have data although the process has never touched them: see
 * shared_pages.h.
 */
#include "heapwalk/memory/map_file.h"
#include "heapwalk/subject/classify.h"
#include "lib/helpers/shared_parts.h"
#include "mu/range.h"
#include "mu/sort.h"
#include "mu/sys.h"

/* Pages per query to the copy, with a byte of its memory each. */
#define ASKED 65536

/*
 * If the copy does not answer, read this many bytes anyway: in a hole of the
 * file the kernel allocates pages, for the process, too.
 */
#define BLINDLY ((size_t)4 << 20)

/* A query to the copy. */
struct asking {
	struct mu_shared_pages *pages;
	const struct mu_process_copy *copy;
	int memory;
	uint64_t deadline_ns;
	struct mu_tmpfs tmpfs;
	size_t blindly;
	unsigned char resident[4096];
};

static bool
was_listed(
    const struct mu_shared_pages *pages, const struct mu_mapping *mapping)
{
	const struct mu_mapping *listed = mu_mapping_from(
	    pages->mappings, pages->num_mappings, mapping->range.begin);

	return pages->max_parts > 0 && listed != NULL &&
	    listed->range.begin <= mapping->range.begin &&
	    listed->range.end >= mapping->range.end &&
	    mu_mapping_same_file(listed, mapping);
}

/* Map room for the answers in the copy. */
static void
open_asking(struct asking *asking)
{
	struct mu_remote_call call = {
		.nr = SYS_mmap,
		.args = { 0, ASKED, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, (uintptr_t)-1, 0 },
	};

	if (mu_process_copy_call(
		asking->copy, &call, asking->deadline_ns, NULL) == MU_OK &&
	    !mu_sys_failed(call.result))
		asking->pages->answers = (uintptr_t)call.result;
}

/*
 * mincore() reports on the file only for tmpfs and the like. For MAP_HUGETLB it
 * reports what this process has touched (mincore_hugetlb() in mm/mincore.c).
 */
static bool
can_tell(struct asking *asking, const struct mu_mapping *mapping)
{
	return mapping->inode == 0 ||
	    mu_tmpfs_holds(
		&asking->tmpfs, mapping->dev_major, mapping->dev_minor);
}

/* Ask which pages of RANGE are in memory; false if that fails. */
static bool
ask(struct asking *asking, struct mu_range range)
{
	struct mu_remote_call call = {
		.nr = SYS_mincore,
		.args = { range.begin, mu_range_size(range),
		    asking->pages->answers },
	};

	return asking->pages->answers != 0 &&
	    mu_process_copy_call(
		asking->copy, &call, asking->deadline_ns, NULL) == MU_OK &&
	    call.result == 0;
}

/* Add a page that was not known before. */
static void
add_untouched(struct mu_shared_pages *pages, uintptr_t address)
{
	size_t size = pages->page_size;
	struct mu_remote_part *last;

	if (pages->num_parts > pages->first_new) {
		last = &pages->parts[pages->num_parts - 1];
		if (last->bytes == NULL && last->range.end == address) {
			last->range.end += size;
			return;
		}
	}
	mu_shared_parts_add(pages,
	    (struct mu_range) { address, address + size }, NULL,
	    mu_shared_page_missing(pages, address));
}

static void
take_page(struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    uintptr_t address)
{
	if (!mu_shared_page_known(pages, mapping, address))
		add_untouched(pages, address);
}

/* Add the pages of RANGE that have data. */
static void
take_answers(struct asking *asking, const struct mu_mapping *mapping,
    struct mu_range range)
{
	size_t count = mu_range_size(range) / asking->pages->page_size;
	size_t i, at, some;
	ssize_t n;

	for (at = 0; at < count; at += some) {
		some = count - at < sizeof(asking->resident)
		    ? count - at
		    : sizeof(asking->resident);
		n = mu_sys_pread(asking->memory, asking->resident, some,
		    asking->pages->answers + at);
		if (n != (ssize_t)some) {
			asking->pages->unasked +=
			    some * asking->pages->page_size;
			continue;
		}
		for (i = 0; i < some; i++)
			if ((asking->resident[i] & 1) != 0)
				take_page(asking->pages, mapping,
				    range.begin +
					(at + i) * asking->pages->page_size);
	}
}

static void
take_blindly(struct asking *asking, const struct mu_mapping *mapping,
    struct mu_range range)
{
	struct mu_shared_pages *pages = asking->pages;
	size_t size = pages->page_size;

	for (; range.begin < range.end; range.begin += size) {
		if (mu_shared_page_known(pages, mapping, range.begin))
			continue;
		if (asking->blindly >= BLINDLY) {
			pages->unasked += size;
			continue;
		}
		add_untouched(pages, range.begin);
		asking->blindly += size;
	}
}

/* Use the file of MAPPING itself, if it can be opened. */
static bool
take_data(struct asking *asking, const struct mu_mapping *mapping)
{
	size_t size = asking->pages->page_size;
	struct mu_range rest = mapping->range, part;
	int file = mu_map_file_open(mapping, &asking->tmpfs);

	if (file < 0)
		return false;
	for (; mu_range_size(rest) > 0 &&
	     mu_map_file_next(file, mapping, size, rest, &part);
	     rest.begin = part.end)
		for (; part.begin < part.end; part.begin += size)
			take_page(asking->pages, mapping, part.begin);
	mu_sys_close(&file);
	return true;
}

static void
find_untouched(struct asking *asking, const struct mu_mapping *mapping)
{
	size_t step = ASKED * asking->pages->page_size;
	struct mu_range rest = mapping->range, range;

	if (take_data(asking, mapping))
		return;
	if (!can_tell(asking, mapping)) {
		take_blindly(asking, mapping, rest);
		return;
	}
	if (asking->pages->answers == 0)
		open_asking(asking);
	for (; rest.begin < rest.end; rest.begin = range.end) {
		range = rest;
		if (mu_range_size(range) > step)
			range.end = range.begin + step;
		if (ask(asking, range))
			take_answers(asking, mapping, range);
		else
			take_blindly(asking, mapping, range);
	}
}

static void
find_all(struct asking *asking, const struct mu_mapping *mappings,
    size_t num_mappings)
{
	size_t i;

	for (i = 0; asking->pages->max_parts > 0 && i < num_mappings; i++)
		if (mu_mapping_is_changing(&mappings[i], &asking->tmpfs))
			find_untouched(asking, &mappings[i]);
}

static struct asking
begin(struct mu_shared_pages *pages, const struct mu_process_copy *copy,
    int copy_memory, uint64_t deadline_ns)
{
	return (struct asking) {
		.pages = pages,
		.copy = copy,
		.memory = copy_memory,
		.deadline_ns = deadline_ns,
		.tmpfs = { .pid = copy->pid },
	};
}

void
mu_shared_pages_complete(struct mu_shared_pages *pages,
    const struct mu_mapping *mappings, size_t num_mappings,
    const struct mu_process_copy *copy, int copy_memory, uint64_t deadline_ns)
{
	struct asking asking = begin(pages, copy, copy_memory, deadline_ns);
	size_t i;

	for (i = 0; i < num_mappings; i++)
		if (mu_mapping_is_changing(&mappings[i], &asking.tmpfs) &&
		    !was_listed(pages, &mappings[i]))
			pages->changing += mu_range_size(mappings[i].range);
	find_all(&asking, mappings, num_mappings);
	mu_sort(pages->parts, pages->num_parts, sizeof(*pages->parts),
	    mu_range_compare);
	pages->first_new = pages->num_parts;
}

void
mu_shared_pages_again(struct mu_shared_pages *pages,
    const struct mu_mapping *mappings, size_t num_mappings,
    const struct mu_process_copy *copy, int copy_memory, uint64_t deadline_ns)
{
	struct asking asking = begin(pages, copy, copy_memory, deadline_ns);

	asking.blindly = BLINDLY;
	find_all(&asking, mappings, num_mappings);
}
