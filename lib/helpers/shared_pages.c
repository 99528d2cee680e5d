#include "lib/helpers/shared_pages.h"

#include <string.h>
#include <sys/types.h>

#include "heapwalk/memory/forked.h"
#include "heapwalk/memory/pages.h"
#include "heapwalk/memory/standstill.h"
#include "heapwalk/memory/wiped.h"
#include "heapwalk/subject/classify.h"
#include "lib/helpers/shared_parts.h"
#include "lib/helpers/shared_reads.h"
#include "mu/bits.h"
#include "mu/range.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

#define MAX_WIPED 4096

/* Listing so many mappings takes 4 ms. */
#define RELISTED_MAX 4096

/*
 * Small mappings come first, so that a large one cannot take the time for all
 * others.
 */
#define SMALL ((size_t)4 << 20)

/* From so many bytes on they are sifted; less takes a few milliseconds. */
#define MUCH MU_FORKED_LARGE

/* What is sifted has a rate after so many bytes: 15 ms. */
#define RATED ((size_t)64 << 20)

/* The part of it that is kept, at a guess. */
#define KEPT_PART 16

enum taking_when {
	BEFORE_STOP, /* only count bytes */
	IN_STOP,
	AFTER_STOP, /* only list pages */
};

struct taking {
	struct mu_shared_pages *pages;
	enum taking_when when;
	uint64_t begin_ns, end_ns, last_ns; /* of the stop */
	bool over;                          /* no time is left */
	size_t counted, counted_sifted;     /* bytes */
	struct mu_stop_reads reads;
};

/* Ranges beyond MAX_WIPED are not recorded. */
static void
list_wiped(struct mu_shared_pages *pages, pid_t pid)
{
	struct mu_range *found;
	size_t count, kept;

	found = mu_arena_alloc(pages->arena, MAX_WIPED, sizeof(*found));
	if (found == NULL)
		return;
	count = mu_wiped_of(pid, found, MAX_WIPED);
	kept = count < MAX_WIPED ? count : MAX_WIPED;
	pages->unasked += (count - kept) * pages->page_size;
	pages->wiped = (struct mu_ranges) { .items = found, .count = kept };
	mu_ranges_seal(&pages->wiped);
}

static void
list_mappings(struct mu_shared_pages *pages, pid_t pid)
{
	struct mu_tmpfs tmpfs = { .pid = pid };
	struct mu_mapping *mappings;
	size_t i, count = 0;

	pages->mapped = mu_mappings_pages(pid);
	if (mu_mappings_read(pid, &mappings, &count, pages->arena, NULL) !=
	    MU_OK)
		return;
	pages->all = count;
	pages->mappings = mappings;
	pages->num_mappings = 0;
	mu_sift_find(&pages->sift, mappings, count);
	for (i = 0; i < count; i++)
		if (mu_mapping_is_changing(&mappings[i], &tmpfs) ||
		    mu_ranges_has(&pages->wiped, mappings[i].range.begin))
			mappings[pages->num_mappings++] = mappings[i];
	if (pages->num_mappings > 0)
		mu_shared_parts_open(pages);
}

void
mu_shared_pages_list(struct mu_shared_pages *pages, pid_t pid)
{
	if (pages->ask_wiped)
		list_wiped(pages, pid);
	list_mappings(pages, pid);
}

void
mu_shared_pages_relist(struct mu_shared_pages *pages)
{
	if (pages->all <= RELISTED_MAX &&
	    (pages->num_mappings > 0 ||
		mu_mappings_pages(pages->tid) != pages->mapped))
		list_mappings(pages, pages->tid);
}

static void
add_missing(struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    struct mu_range range)
{
	struct mu_mapping *piece = &pages->missing[pages->num_missing];

	if (mu_range_size(range) == 0 || !mu_mapping_can_be_memory(mapping))
		return;
	*piece = *mapping;
	piece->range = range;
	piece->offset += range.begin - mapping->range.begin;
	pages->num_missing++;
}

enum mu_status
mu_shared_pages_compare(struct mu_shared_pages *pages, pid_t tid, pid_t copy,
    uint64_t until_ns, struct mu_why *why)
{
	struct mu_mapping *had, *has;
	const struct mu_mapping *at;
	size_t num_had, num_has, i;
	struct mu_range rest, gap;
	enum mu_status status;

	status = mu_mappings_read_until(
	    tid, until_ns, &had, &num_had, pages->arena, why);
	if (status == MU_OK)
		status = mu_mappings_read_until(
		    copy, until_ns, &has, &num_has, pages->arena, why);
	if (status != MU_OK)
		return status;
	pages->missing = mu_arena_alloc(
	    pages->arena, num_had + num_has, sizeof(*pages->missing));
	if (pages->missing == NULL || !mu_shared_parts_open(pages))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for what a copy does not have");
	for (i = 0; i < num_had; i++) {
		rest = gap = had[i].range;
		at = mu_mapping_from(has, num_has, rest.begin);
		for (; at != NULL && at < has + num_has &&
		     at->range.begin < rest.end;
		     at++) {
			gap.end = at->range.begin;
			if (gap.end > gap.begin)
				add_missing(pages, &had[i], gap);
			gap.begin = at->range.end;
		}
		gap.end = rest.end;
		if (gap.end > gap.begin)
			add_missing(pages, &had[i], gap);
	}
	return MU_OK;
}

/*
 * True if the time suffices for everything, at the rate so far. If it does not,
 * the stop need not be long. The rate varies with the load: half as much again
 * is still tried.
 */
static bool
has_time(const struct taking *taking)
{
	const struct mu_shared_pages *pages = taking->pages;
	size_t done = pages->taken - taking->reads.bytes;
	uint64_t now = mu_sys_now_ns();
	double rest, rate;

	if (done < MU_STANDSTILL_ALWAYS)
		return now < taking->last_ns;
	/* The first run wakes the readers. */
	if (pages->sifting && done < RATED)
		return now < taking->end_ns;
	/* Small mappings are read as far as time permits. */
	if (now >= taking->end_ns || pages->expected <= done ||
	    pages->round == 0)
		return now < taking->end_ns;
	rest = (double)(pages->expected - done);
	rate = (double)done / (double)(now - taking->begin_ns + 1);
	return rest / rate <= (double)(taking->end_ns - now) * 3 / 2;
}

/* RANGE is not read in the stop. */
static void
leave(struct taking *taking, struct mu_range range, bool live)
{
	taking->over = true;
	taking->pages->changing += mu_range_size(range);
	mu_shared_parts_add(taking->pages, range, NULL, live);
}

/* Add the pages that were kept of ITEM, one part for each run of them. */
static void
add_kept(struct taking *taking, const struct mu_stop_read *item)
{
	struct mu_shared_pages *pages = taking->pages;
	size_t size = pages->page_size, i, first;
	size_t count = mu_range_size(item->range) / size;
	const char *bytes = item->to;
	struct mu_range run;

	for (i = 0; i < count; i++) {
		first = i;
		while (i < count && mu_bit(item->kept, i))
			i++;
		if (i == first)
			continue;
		run.begin = item->range.begin + first * size;
		run.end = item->range.begin + i * size;
		mu_shared_parts_add(pages, run, bytes, item->live);
		bytes += mu_range_size(run);
		pages->kept += mu_range_size(run);
	}
	pages->sifted += mu_range_size(item->range);
}

/* Read what is waiting. */
static void
run(struct taking *taking)
{
	struct mu_stop_reads *reads = &taking->reads;
	const struct mu_stop_read *item;

	if (reads->count == 0)
		return;
	mu_stop_reads_run(reads);
	for (item = reads->items; item < reads->items + reads->count; item++) {
		if (item->failed) {
			taking->pages->taken -= mu_range_size(item->range);
			leave(taking, item->range, item->live);
		} else if (item->sifted)
			add_kept(taking, item);
	}
	reads->count = reads->bytes = 0;
}

/* Read RANGE as it is now. LIVE: a copy does not have it. */
static void
read_range(struct taking *taking, struct mu_range range, bool live, bool sifted)
{
	struct mu_shared_pages *pages = taking->pages;
	size_t size = mu_range_size(range);
	size_t kept = pages->taken - pages->sifted + pages->kept;
	char *bytes = NULL;

	if (taking->when != IN_STOP || taking->over ||
	    kept + size > pages->limit || !has_time(taking)) {
		leave(taking, range, live);
		return;
	}
	if (!sifted) {
		bytes = mu_arena_alloc(pages->arena, size, 1);
		if (bytes == NULL) {
			leave(taking, range, live);
			return;
		}
	}
	pages->taken += size;
	if (!sifted)
		mu_shared_parts_add(pages, range, bytes, live);
	mu_stop_reads_add(&taking->reads, range, bytes, live);
	if (mu_stop_reads_full(&taking->reads))
		run(taking);
}

/*
 * Split off the front of REST that was not read yet, up to
 * MU_READ_STEP bytes.
 */
static bool
next_unknown(struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    struct mu_range *rest, struct mu_range *range)
{
	size_t size = pages->page_size;

	while (rest->begin < rest->end &&
	    mu_shared_page_known(pages, mapping, rest->begin))
		rest->begin += size;
	*range = (struct mu_range) { rest->begin, rest->begin };
	while (
	    rest->begin < rest->end && mu_range_size(*range) < MU_READ_STEP) {
		if (range->end > range->begin &&
		    mu_shared_page_known(pages, mapping, rest->begin)) {
			range->end = rest->begin;
			rest->begin += size;
			return true;
		}
		rest->begin += size;
		range->end = rest->begin;
	}
	return mu_range_size(*range) > 0;
}

/* True if the reading has to stop here, to be continued after the stop. */
static bool
is_left(const struct taking *taking)
{
	return taking->when == IN_STOP && taking->over;
}

/*
 * The page map of another view of the same file is not read where all is known;
 * this is checked once for so many bytes. In larger mappings the kernel can
 * skip holes of any size.
 */
#define VIEW_STEP ((size_t)16 << 20)
#define SPARSE ((size_t)16 << 30)

static bool
has_stack(const struct mu_shared_pages *pages, struct mu_range range)
{
	const struct mu_thread *threads = pages->threads;
	size_t i;

	for (i = 0; i < pages->num_threads; i++)
		if (mu_range_has(range, threads[i].sp) ||
		    mu_range_has(range, threads[i].tp))
			return true;
	return false;
}

/*
 * True if of MAPPING only words matter that point to the heap. A stack has a
 * structure that is searched; code is searched at every byte.
 */
static bool
may_sift(const struct mu_shared_pages *pages, const struct mu_mapping *mapping)
{
	size_t size = mu_range_size(mapping->range);

	if (pages->keep_all || mapping->executable || size < MU_READ_STEP ||
	    strcmp(mapping->name, "[heap]") == 0 ||
	    has_stack(pages, mapping->range))
		return false;
	return mapping->shared || size >= MU_FORKED_LARGE;
}

/* Read from pages->from on; if the time is over that is where it stopped. */
static void
take_mapping(struct taking *taking, const struct mu_mapping *mapping, bool live)
{
	struct mu_shared_pages *pages = taking->pages;
	struct mu_range rest = mapping->range, part, range;
	struct mu_mapping looked_at = *mapping;
	struct mu_pages touched;
	bool sifted = may_sift(pages, mapping);

	/* All pages that it has touched, even of a private mapping. */
	looked_at.shared = true;
	mu_pages_of(&touched, pages->pagemap, pages->page_size);
	if (pages->from > rest.begin)
		rest.begin = pages->from;
	while (rest.begin < rest.end) {
		rest.begin = mu_shared_pages_after_known(pages, mapping, rest);
		part = rest;
		if (mapping->inode != 0 && mu_range_size(rest) > VIEW_STEP &&
		    mu_range_size(rest) < SPARSE)
			part.end = part.begin + VIEW_STEP;
		rest.begin = part.end;
		if (!mu_pages_next(&touched, &looked_at, part, &part))
			continue;
		rest.begin = part.end;
		while (next_unknown(pages, mapping, &part, &range)) {
			taking->counted += mu_range_size(range);
			if (sifted)
				taking->counted_sifted += mu_range_size(range);
			if (taking->when != BEFORE_STOP)
				read_range(taking, range, live,
				    sifted && pages->sifting);
			if (is_left(taking)) {
				pages->from = part.begin;
				return;
			}
		}
	}
	pages->from = 0;
}

size_t
mu_shared_pages_expect(struct mu_shared_pages *pages, size_t most)
{
	struct taking taking = { .pages = pages, .when = BEFORE_STOP };
	size_t i, unasked = pages->unasked;

	if (pages->max_parts == 0)
		return 0;
	for (i = 0; i < pages->num_mappings && taking.counted < most; i++)
		take_mapping(&taking, &pages->mappings[i], false);
	mu_shared_pages_forget(pages);
	pages->unasked = unasked;
	pages->expected_sifted = taking.counted_sifted;
	return taking.counted < most ? taking.counted : most;
}

bool
mu_shared_pages_sift(
    struct mu_shared_pages *pages, unsigned readers, size_t kept)
{
	size_t all = pages->expected_sifted;
	size_t most = all < pages->limit ? all : pages->limit;

	if (kept == 0)
		kept = all / KEPT_PART;
	pages->sifting = all >= MUCH && !pages->keep_all &&
	    mu_reader_rooms_open(pages->rooms,
		readers < MU_READERS_MAX ? readers : MU_READERS_MAX, most, kept,
		pages->arena);
	return pages->sifting;
}

static void
take_number(struct taking *taking, size_t number)
{
	struct mu_shared_pages *pages = taking->pages;
	size_t num = pages->num_mappings;
	const struct mu_mapping *mapping = number < num
	    ? &pages->mappings[number]
	    : &pages->missing[number - num];
	bool large = mu_range_size(mapping->range) > SMALL;

	if (large != (pages->round == 1) ||
	    (number < num &&
		mu_shared_page_missing(pages, mapping->range.begin)))
		return;
	take_mapping(taking, mapping,
	    number >= num ||
		mu_ranges_has(&pages->wiped, mapping->range.begin));
}

/* Read all mappings, or until the time is over. */
static void
take(struct taking *taking)
{
	struct mu_shared_pages *pages = taking->pages;
	size_t count = pages->num_mappings + pages->num_missing;

	for (; pages->round < 2 && pages->max_parts > 0; pages->round++) {
		for (; pages->next < count; pages->next++) {
			take_number(taking, pages->next);
			if (is_left(taking))
				return;
		}
		pages->next = 0;
	}
}

void
mu_shared_pages_take(
    struct mu_shared_pages *pages, uint64_t end_ns, uint64_t last_ns)
{
	struct taking taking = {
		.pages = pages,
		.when = IN_STOP,
		.begin_ns = mu_sys_now_ns(),
		.end_ns = end_ns,
		.last_ns = last_ns,
		.reads = {
			.tid = pages->tid,
			.memory = pages->memory,
			.pagemap = pages->pagemap,
			.page_size = pages->page_size,
			.workers = pages->workers,
			.sift = &pages->sift,
			.rooms = pages->sifting ? pages->rooms : NULL,
		},
	};

	take(&taking);
	run(&taking);
	pages->unread += taking.reads.unread;
	pages->taken_ns = mu_sys_now_ns() - taking.begin_ns;
}

void
mu_shared_pages_take_rest(struct mu_shared_pages *pages)
{
	struct taking taking = { .pages = pages, .when = AFTER_STOP };

	take(&taking);
}

bool
mu_shared_pages_merge(struct mu_shared_pages *pages,
    struct mu_mapping **mappings, size_t *num_mappings)
{
	size_t count = *num_mappings + pages->num_missing;
	struct mu_mapping *all;

	if (pages->num_missing == 0)
		return true;
	all = mu_arena_alloc(pages->arena, count, sizeof(*all));
	if (all == NULL)
		return false;
	memcpy(all, *mappings, *num_mappings * sizeof(*all));
	memcpy(all + *num_mappings, pages->missing,
	    pages->num_missing * sizeof(*all));
	mu_sort(all, count, sizeof(*all), mu_range_compare);
	*mappings = all;
	*num_mappings = count;
	return true;
}
