#include "lib/helpers/shared_pages.h"

#include <string.h>
#include <sys/types.h>

#include "heapwalk/memory/pages.h"
#include "heapwalk/memory/standstill.h"
#include "heapwalk/memory/wiped.h"
#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/workers.h"
#include "lib/helpers/shared_parts.h"
#include "mu/range.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

#define READS_MAX 256

struct stop_reads {
	/* Set by the caller. */
	pid_t tid;           /* a thread of the process that lives */
	int memory, pagemap; /* of the process */
	size_t page_size;
	struct mu_workers *workers; /* NULL: only the calling thread */

	/* Pages seen so far that only the process can read (memfd_secret()). */
	size_t unread;

	/* Memory that waits to be read. */
	struct stop_read {
		struct mu_range range;
		char *to;
	} items[READS_MAX];
	size_t count, bytes;
	size_t next; /* next item for a worker */
};

#define MAX_WIPED 4096

/*
 * Small mappings come first, so that a large one cannot take the time for all
 * others.
 */
#define SMALL ((size_t)4 << 20)

/* Bytes read between two reads of the clock: about 1 ms. */
#define STEP ((size_t)1 << 20)

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
	size_t counted;                     /* bytes */
	struct stop_reads reads;
};

#define BATCH ((size_t)4 << 20) /* bytes read at a time */
/* Waking a worker for less costs more than it saves. */
#define FOR_OTHERS ((size_t)2 << 20)

#define PRESENT_OR_SWAPPED 62 /* the upper bits of an entry of pagemap */

/*
 * Memory of a process to be read while it is stopped, collected so that several
 * threads can share the reading.
 */

/*
 * True if the page at ADDRESS is present but only the process can read it:
 * memfd_secret().
 */
static bool
is_secret(const struct stop_reads *reads, uintptr_t address)
{
	uint64_t entry = 0;

	return mu_sys_pread(reads->pagemap, &entry, sizeof(entry),
		   address / reads->page_size * sizeof(entry)) ==
	    sizeof(entry) &&
	    entry >> PRESENT_OR_SWAPPED != 0;
}

static void
read_one(struct stop_reads *reads, const struct stop_read *item)
{
	size_t size = mu_range_size(item->range), done = 0;
	uintptr_t at;
	ssize_t n;

	while (done < size) {
		at = item->range.begin + done;
		n = mu_sys_vm_read(
		    reads->tid, item->to + done, size - done, at);
		if (n <= 0)
			n = mu_sys_pread(
			    reads->memory, item->to + done, size - done, at);
		if (n == -EINTR)
			continue;
		/* Nothing is known about a page that cannot be read. */
		if (n <= 0 && is_secret(reads, at))
			__atomic_fetch_add(&reads->unread, 1, __ATOMIC_RELAXED);
		done += n > 0 ? (size_t)n : reads->page_size;
	}
}

/* The body of a worker. */
static void
read_items(void *ctx, unsigned worker)
{
	struct stop_reads *reads = ctx;
	size_t i;

	(void)worker;
	while ((i = __atomic_fetch_add(&reads->next, 1, __ATOMIC_RELAXED)) <
	    reads->count)
		read_one(reads, &reads->items[i]);
}

/*
 * Read everything that was added. Destinations of what cannot be read are
 * unchanged.
 */
static void
stop_reads_run(struct stop_reads *reads)
{
	reads->next = 0;
	mu_workers_run(reads->workers,
	    reads->bytes < FOR_OTHERS ? 1 : (unsigned)reads->count, read_items,
	    reads);
	reads->count = reads->bytes = 0;
}

/*
 * Read RANGE to TO, at the latest in the next run; there is a run every 4 MiB.
 */
static void
stop_reads_add(struct stop_reads *reads, struct mu_range range, char *to)
{
	reads->items[reads->count++] = (struct stop_read) { range, to };
	reads->bytes += mu_range_size(range);
	if (reads->count == READS_MAX || reads->bytes >= BATCH)
		stop_reads_run(reads);
}

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

void
mu_shared_pages_list(struct mu_shared_pages *pages, pid_t pid)
{
	struct mu_tmpfs tmpfs = { .pid = pid };
	struct mu_mapping *mappings;
	size_t i, count = 0;

	if (pages->ask_wiped)
		list_wiped(pages, pid);
	if (mu_mappings_read(pid, &mappings, &count, pages->arena, NULL) !=
	    MU_OK)
		return;
	pages->all = count;
	pages->mappings = mappings;
	for (i = 0; i < count; i++)
		if (mu_mapping_is_changing(&mappings[i], &tmpfs) ||
		    mu_ranges_has(&pages->wiped, mappings[i].range.begin))
			mappings[pages->num_mappings++] = mappings[i];
	if (pages->num_mappings > 0)
		mu_shared_parts_open(pages);
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
mu_shared_pages_compare(
    struct mu_shared_pages *pages, pid_t tid, pid_t copy, struct mu_why *why)
{
	struct mu_mapping *had, *has;
	const struct mu_mapping *at;
	size_t num_had, num_has, i;
	struct mu_range rest, gap;
	enum mu_status status;

	status = mu_mappings_read(tid, &had, &num_had, pages->arena, why);
	if (status == MU_OK)
		status =
		    mu_mappings_read(copy, &has, &num_has, pages->arena, why);
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
	/* Small mappings are read as far as time permits. */
	if (now >= taking->end_ns || pages->expected <= done ||
	    pages->round == 0)
		return now < taking->end_ns;
	rest = (double)(pages->expected - done);
	rate = (double)done / (double)(now - taking->begin_ns + 1);
	return rest / rate <= (double)(taking->end_ns - now) * 3 / 2;
}

/* Memory for RANGE; NULL if it is not to be read. */
static char *
room_for(struct taking *taking, struct mu_range range)
{
	struct mu_shared_pages *pages = taking->pages;
	size_t size = mu_range_size(range);
	char *bytes = NULL;

	if (taking->when == IN_STOP && !taking->over &&
	    pages->taken + size <= pages->limit && has_time(taking))
		bytes = mu_arena_alloc(pages->arena, size, 1);
	if (bytes == NULL) {
		taking->over = true;
		pages->changing += size;
	} else
		pages->taken += size;
	return bytes;
}

/* Read RANGE as it is now. LIVE: a copy does not have it. */
static void
read_range(struct taking *taking, struct mu_range range, bool live)
{
	char *bytes = room_for(taking, range);

	if (bytes != NULL)
		stop_reads_add(&taking->reads, range, bytes);
	mu_shared_parts_add(taking->pages, range, bytes, live);
}

/* Split off the front of REST that was not read yet, up to STEP bytes. */
static bool
next_unknown(struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    struct mu_range *rest, struct mu_range *range)
{
	size_t size = pages->page_size;

	while (rest->begin < rest->end &&
	    mu_shared_page_known(pages, mapping, rest->begin))
		rest->begin += size;
	*range = (struct mu_range) { rest->begin, rest->begin };
	while (rest->begin < rest->end && mu_range_size(*range) < STEP) {
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

/* Read from pages->from on; if the time is over that is where it stopped. */
static void
take_mapping(struct taking *taking, const struct mu_mapping *mapping, bool live)
{
	struct mu_shared_pages *pages = taking->pages;
	struct mu_range rest = mapping->range, part, range;
	struct mu_mapping looked_at = *mapping;
	struct mu_pages touched;

	/* All pages that it has touched, even of a private mapping. */
	looked_at.shared = true;
	mu_pages_of(&touched, pages->pagemap, pages->page_size);
	if (pages->from > rest.begin)
		rest.begin = pages->from;
	while (rest.begin < rest.end &&
	    mu_pages_next(&touched, &looked_at, rest, &part)) {
		rest.begin = part.end;
		while (next_unknown(pages, mapping, &part, &range)) {
			taking->counted += mu_range_size(range);
			if (taking->when != BEFORE_STOP)
				read_range(taking, range, live);
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
	return taking.counted < most ? taking.counted : most;
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
		},
	};

	take(&taking);
	stop_reads_run(&taking.reads);
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
