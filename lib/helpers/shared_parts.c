#include "lib/helpers/shared_parts.h"

#include <string.h>

#include "heapwalk/subject/classify.h"

#define MAX_PARTS ((size_t)1 << 18)

/* A hash table of runs of pages, as many as a word has bits. */
#define KNOWN_SIZE ((size_t)1 << 18)
#define MAX_KNOWN (KNOWN_SIZE / 4 * 3)
#define MANY_KNOWN 1024
#define RUN 64

struct mu_known_run {
	uint64_t key;   /* 0: unused */
	uint64_t pages; /* a bit for each page that was found */
};

/*
 * The number of the page at ADDRESS in its file. For a private mapping, whose
 * pages may be modified copies, the address itself is used.
 */
static uint64_t
number_of(const struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    uintptr_t address)
{
	uint64_t offset = mapping->offset + (address - mapping->range.begin);

	return (mapping->shared ? offset : address) / pages->page_size;
}

/* A hash of the run of pages that contains NUMBER; never 0. */
static uint64_t
key_of(const struct mu_mapping *mapping, uint64_t number)
{
	uint64_t key = mapping->inode * 0x9e3779b97f4a7c15u;

	key = (key ^ mapping->dev_major) * 0xff51afd7ed558ccdu;
	key = (key ^ mapping->dev_minor) * 0xc4ceb9fe1a85ec53u;
	key ^= number / RUN;
	/* Executable pages are searched in another way. */
	key = (key * 4 + 2 * mapping->executable + mapping->shared) *
	    0x9e3779b97f4a7c15u;
	key ^= key >> 29;
	return key | 1;
}

/* NULL if there is no room for another one. */
static struct mu_known_run *
known_run(struct mu_shared_pages *pages, uint64_t key)
{
	size_t mask = KNOWN_SIZE - 1, i = key >> 32 & mask;

	while (pages->known[i].key != 0 && pages->known[i].key != key)
		i = (i + 1) & mask;
	if (pages->known[i].key == 0) {
		if (pages->num_known >= MAX_KNOWN)
			return NULL;
		pages->known[i].key = key;
		pages->num_known++;
	}
	return &pages->known[i];
}

/* The run of page NUMBER; mostly that of the last call. */
static struct mu_known_run *
run_of(struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    uint64_t number)
{
	if (pages->last_run == NULL || pages->last_mapping != mapping ||
	    pages->last_number != number / RUN) {
		pages->last_run = known_run(pages, key_of(mapping, number));
		pages->last_mapping = mapping;
		pages->last_number = number / RUN;
	}
	return pages->last_run;
}

uintptr_t
mu_shared_pages_after_known(struct mu_shared_pages *pages,
    const struct mu_mapping *mapping, struct mu_range range)
{
	size_t run_size = RUN * pages->page_size;
	struct mu_known_run *run;
	uint64_t number;

	for (; mapping->inode != 0 && mu_range_size(range) >= run_size;
	     range.begin += run_size) {
		number = number_of(pages, mapping, range.begin);
		if (number % RUN != 0)
			break;
		run = run_of(pages, mapping, number);
		if (run == NULL || run->pages != UINT64_MAX)
			break;
	}
	return range.begin;
}

bool
mu_shared_page_known(struct mu_shared_pages *pages,
    const struct mu_mapping *mapping, uintptr_t address)
{
	struct mu_known_run *run;
	uint64_t number, page;
	bool was_known;

	if (mapping->inode == 0)
		return false;
	number = number_of(pages, mapping, address);
	run = run_of(pages, mapping, number);
	if (run == NULL) {
		pages->unasked += pages->page_size;
		return true;
	}
	page = (uint64_t)1 << number % RUN;
	was_known = (run->pages & page) != 0;
	run->pages |= page;
	return was_known;
}

static bool
has_room(const struct mu_shared_pages *pages)
{
	return pages->num_parts < pages->max_parts;
}

bool
mu_shared_parts_open(struct mu_shared_pages *pages)
{
	if (pages->max_parts > 0)
		return true;
	pages->parts =
	    mu_arena_alloc(pages->arena, MAX_PARTS, sizeof(*pages->parts));
	pages->known =
	    mu_arena_alloc(pages->arena, KNOWN_SIZE, sizeof(*pages->known));
	if (pages->parts != NULL && pages->known != NULL)
		pages->max_parts = MAX_PARTS;
	return pages->max_parts > 0;
}

void
mu_shared_parts_add(struct mu_shared_pages *pages, struct mu_range range,
    const char *bytes, bool live)
{
	if (has_room(pages))
		pages->parts[pages->num_parts++] =
		    (struct mu_remote_part) { range, bytes, live };
	else
		pages->unasked += mu_range_size(range);
}

bool
mu_shared_page_missing(const struct mu_shared_pages *pages, uintptr_t address)
{
	const struct mu_mapping *missing =
	    mu_mapping_from(pages->missing, pages->num_missing, address);

	return missing != NULL && mu_range_has(missing->range, address);
}

/* Touching its pages here saves time in the stop. */
void
mu_shared_pages_forget(struct mu_shared_pages *pages)
{
	if (pages->num_known > MANY_KNOWN)
		memset(pages->known, 0, KNOWN_SIZE * sizeof(*pages->known));
	else if (pages->num_known > 0)
		pages->known = mu_arena_alloc(
		    pages->arena, KNOWN_SIZE, sizeof(*pages->known));
	pages->num_known = 0;
	pages->last_run = NULL;
	if (pages->known == NULL)
		pages->max_parts = 0;
}
