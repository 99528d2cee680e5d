#include "lib/helpers/shared_pages.h"

#include <string.h>

#include "heapwalk/memory/map_file.h"
#include "heapwalk/memory/pages.h"
#include "heapwalk/memory/wiped.h"
#include "heapwalk/subject/classify.h"
#include "lib/helpers/stop_reads.h"
#include "mu/range.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

#define MAX_PARTS 65536
#define MAX_WIPED 4096

/* A hash table of runs of as many pages as a word has bits. */
#define KNOWN_SIZE ((size_t)1 << 18)
#define MAX_KNOWN (KNOWN_SIZE / 4 * 3)
#define MANY_KNOWN 1024
#define RUN 64

/* Small mappings first: one that is too large must not cost all the others. */
#define SMALL ((size_t)4 << 20)

/* So much is read in any case, by a busy machine too: about 10 ms. */
#define ALWAYS ((size_t)16 << 20)

/* How much is read between two looks at the clock: about 1 ms. */
#define STEP ((size_t)1 << 20)

/* Pages that the copy is asked for at a time, a byte of its memory each. */
#define ASKED 65536

/*
 * Where the copy does not answer, so many bytes are read all the same: of a
 * hole of the file the kernel makes a page, in the process, too.
 */
#define BLINDLY ((size_t)4 << 20)

struct mu_known_run {
	uint64_t key;   /* 0: unused */
	uint64_t pages; /* a bit for each that was found */
};

enum taking_when {
	BEFORE_STOP, /* bytes are counted only */
	IN_STOP,
	AFTER_STOP, /* pages are listed only */
};

struct taking {
	struct mu_shared_pages *pages;
	enum taking_when when;
	uint64_t begin_ns, end_ns, last_ns; /* of the stop */
	bool over;                          /* it has no more time */
	size_t counted;                     /* bytes */
	struct mu_stop_reads reads;
};

/* One copy that is asked; VEC is in its memory. */
struct asking {
	struct mu_shared_pages *pages;
	const struct mu_process_copy *copy;
	int memory;
	uint64_t deadline_ns;
	struct mu_tmpfs tmpfs;
	uintptr_t vec; /* 0: it does not answer */
	size_t blindly;
	unsigned char resident[4096];
};

/*
 * The number of the page at ADDRESS in its file. In a private mapping, whose
 * pages may be modified copies, the address itself is used.
 */
static uint64_t
number_of(const struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    uintptr_t address)
{
	uint64_t offset = mapping->offset + (address - mapping->range.begin);

	return (mapping->shared ? offset : address) / pages->page_size;
}

/* A hash of the run of pages that NUMBER is in; never 0. */
static uint64_t
key_of(const struct mu_mapping *mapping, uint64_t number)
{
	uint64_t key = mapping->inode * 0x9e3779b97f4a7c15u;

	key = (key ^ mapping->dev_major) * 0xff51afd7ed558ccdu;
	key = (key ^ mapping->dev_minor) * 0xc4ceb9fe1a85ec53u;
	key ^= number / RUN;
	/* A page of code is searched in another way. */
	key = (key * 4 + 2 * mapping->executable + mapping->shared) *
	    0x9e3779b97f4a7c15u;
	key ^= key >> 29;
	return key | 1;
}

/* NULL: there is no room for another one. */
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

/*
 * Has this page of a file been found before? From now on, it has. Where there
 * is no room to remember it, it is left out.
 */
static bool
is_known(struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    uintptr_t address)
{
	struct mu_known_run *run;
	uint64_t number, page;
	bool was_known;

	if (mapping->inode == 0)
		return false;
	number = number_of(pages, mapping, address);
	run = known_run(pages, key_of(mapping, number));
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

static bool
open_tables(struct mu_shared_pages *pages)
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

/* Beyond MAX_WIPED nothing is known of them. */
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
		open_tables(pages);
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
	if (pages->missing == NULL || !open_tables(pages))
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

static void
add_part(struct mu_shared_pages *pages, struct mu_range range,
    const char *bytes, bool live)
{
	if (has_room(pages))
		pages->parts[pages->num_parts++] =
		    (struct mu_remote_part) { range, bytes, live };
	else
		pages->unasked += mu_range_size(range);
}

/*
 * Will there be time for all of it, at the rate so far? What cannot be complete
 * need not make the stop long. The rate goes up and down with the load: half as
 * much again may yet do.
 */
static bool
has_time(const struct taking *taking)
{
	const struct mu_shared_pages *pages = taking->pages;
	size_t done = pages->taken - taking->reads.bytes;
	uint64_t now = mu_sys_now_ns();
	double rest, rate;

	if (done < ALWAYS)
		return now < taking->last_ns;
	/* Small mappings are read as far as there is time. */
	if (now >= taking->end_ns || pages->expected <= done ||
	    pages->round == 0)
		return now < taking->end_ns;
	rest = (double)(pages->expected - done);
	rate = (double)done / (double)(now - taking->begin_ns + 1);
	return rest / rate <= (double)(taking->end_ns - now) * 3 / 2;
}

/* Memory for RANGE, if it is to be read; NULL: it is not. */
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

/* RANGE, as it is now. What a copy has no part of is LIVE later on. */
static void
read_range(struct taking *taking, struct mu_range range, bool live)
{
	char *bytes = room_for(taking, range);

	if (bytes != NULL)
		mu_stop_reads_add(&taking->reads, range, bytes);
	add_part(taking->pages, range, bytes, live);
}

/* The front of REST that is not known yet, as far as STEP; cut off from it. */
static bool
next_unknown(struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    struct mu_range *rest, struct mu_range *range)
{
	size_t size = pages->page_size;

	while (rest->begin < rest->end && is_known(pages, mapping, rest->begin))
		rest->begin += size;
	*range = (struct mu_range) { rest->begin, rest->begin };
	while (rest->begin < rest->end && mu_range_size(*range) < STEP) {
		if (range->end > range->begin &&
		    is_known(pages, mapping, rest->begin)) {
			range->end = rest->begin;
			rest->begin += size;
			return true;
		}
		rest->begin += size;
		range->end = rest->begin;
	}
	return mu_range_size(*range) > 0;
}

/* Is it to be left at that, and gone on with after the stop? */
static bool
is_left(const struct taking *taking)
{
	return taking->when == IN_STOP && taking->over;
}

/* From pages->from on; if there is no more time that is where it was left. */
static void
take_mapping(struct taking *taking, const struct mu_mapping *mapping, bool live)
{
	struct mu_shared_pages *pages = taking->pages;
	struct mu_range rest = mapping->range, part, range;
	struct mu_mapping looked_at = *mapping;
	struct mu_pages touched;

	/* All that it has touched, also of a private mapping. */
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

/* Of many pages it is touched by now, which saves time in the stop. */
static void
forget_known(struct mu_shared_pages *pages)
{
	if (pages->num_known > MANY_KNOWN)
		memset(pages->known, 0, KNOWN_SIZE * sizeof(*pages->known));
	else if (pages->num_known > 0)
		pages->known = mu_arena_alloc(
		    pages->arena, KNOWN_SIZE, sizeof(*pages->known));
	pages->num_known = 0;
	if (pages->known == NULL)
		pages->max_parts = 0;
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
	forget_known(pages);
	pages->unasked = unasked;
	return taking.counted < most ? taking.counted : most;
}

static bool
is_missing(const struct mu_shared_pages *pages, uintptr_t address)
{
	const struct mu_mapping *missing =
	    mu_mapping_from(pages->missing, pages->num_missing, address);

	return missing != NULL && mu_range_has(missing->range, address);
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
	    (number < num && is_missing(pages, mapping->range.begin)))
		return;
	take_mapping(taking, mapping,
	    number >= num ||
		mu_ranges_has(&pages->wiped, mapping->range.begin));
}

/* All of them, or until there is no more time. */
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
	mu_stop_reads_run(&taking.reads);
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

/* In the copy, and nowhere else: room for the answers. */
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
		asking->vec = (uintptr_t)call.result;
}

/*
 * mincore() goes by the file for tmpfs and its like only. Of huge pages of the
 * pool it tells what this process has touched (mincore_hugetlb() in
 * mm/mincore.c).
 */
static bool
can_tell(struct asking *asking, const struct mu_mapping *mapping)
{
	return mapping->inode == 0 ||
	    mu_tmpfs_holds(
		&asking->tmpfs, mapping->dev_major, mapping->dev_minor);
}

/* Has the kernel told the copy which pages of RANGE are in memory? */
static bool
ask(struct asking *asking, struct mu_range range)
{
	struct mu_remote_call call = {
		.nr = SYS_mincore,
		.args = { range.begin, mu_range_size(range), asking->vec },
	};

	return asking->vec != 0 &&
	    mu_process_copy_call(
		asking->copy, &call, asking->deadline_ns, NULL) == MU_OK &&
	    call.result == 0;
}

/* That was not known before. */
static void
add_untouched(struct mu_shared_pages *pages, uintptr_t address)
{
	size_t size = pages->page_size;
	struct mu_remote_part *last;

	if (pages->num_parts > 0) {
		last = &pages->parts[pages->num_parts - 1];
		if (last->bytes == NULL && last->range.end == address) {
			last->range.end += size;
			return;
		}
	}
	add_part(pages, (struct mu_range) { address, address + size }, NULL,
	    is_missing(pages, address));
}

static void
take_page(struct mu_shared_pages *pages, const struct mu_mapping *mapping,
    uintptr_t address)
{
	if (!is_known(pages, mapping, address))
		add_untouched(pages, address);
}

/* Which pages of RANGE hold something. */
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
		n = mu_sys_pread(
		    asking->memory, asking->resident, some, asking->vec + at);
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
		if (is_known(pages, mapping, range.begin))
			continue;
		if (asking->blindly >= BLINDLY) {
			pages->unasked += size;
			continue;
		}
		add_untouched(pages, range.begin);
		asking->blindly += size;
	}
}

/* Does the file of MAPPING itself tell it? */
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
	if (asking->vec == 0)
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

void
mu_shared_pages_complete(struct mu_shared_pages *pages,
    const struct mu_mapping *mappings, size_t num_mappings,
    const struct mu_process_copy *copy, int copy_memory, uint64_t deadline_ns)
{
	struct asking asking = {
		.pages = pages,
		.copy = copy,
		.memory = copy_memory,
		.deadline_ns = deadline_ns,
		.tmpfs = { .pid = copy->pid },
	};
	size_t i;

	for (i = 0; i < num_mappings; i++) {
		if (!mu_mapping_is_changing(&mappings[i], &asking.tmpfs))
			continue;
		if (!was_listed(pages, &mappings[i]))
			pages->changing += mu_range_size(mappings[i].range);
		if (pages->max_parts == 0)
			continue;
		find_untouched(&asking, &mappings[i]);
	}
	mu_sort(pages->parts, pages->num_parts, sizeof(*pages->parts),
	    mu_range_compare);
}
