#include "heapwalk/heaps/glibc/tcache.h"

#include "heapwalk/heaps/glibc/free.h"
#include "heapwalk/heaps/glibc/mmapped.h"
#include "heapwalk/heaps/glibc/usage.h"
#include "heapwalk/heaps/spans.h"

#define COUNT_MAX 65536
#define KEY 8           /* offset in a tcache_entry */
#define LENGTH 7        /* TCACHE_FILL_COUNT up to 2.42, then 16 */
#define STRUCT_MAX 1024 /* bytes; a larger struct is viewed in place */
#define BINS_MAX 96     /* more than in any release */

/* A chunk in use, as an entry of a tcache. */
struct entry {
	size_t size;         /* of the chunk; 0 if there is none */
	bool readable;       /* the two words are in its block */
	uintptr_t next, key; /* the two words */
};

static void
read_words(struct entry *entry, const char *view)
{
	entry->readable = true;
	entry->next = mu_glibc_word(view, 0);
	entry->key = mu_glibc_word(view, KEY);
}

static struct entry
entry_at(const struct mu_glibc_walk *walk, uintptr_t address)
{
	const struct mu_glibc_mmapped *mmapped;
	const struct mu_span *span;
	struct entry entry = { .size = 0 };
	struct mu_glibc_head head;
	const char *view;
	uintptr_t word;

	if (address % MU_GRAIN != 0 || address == 0)
		return entry;
	span = mu_blocks_span(&walk->heap->blocks, address);
	if (span != NULL && mu_span_test(span, address)) {
		view =
		    mu_glibc_head(walk, span, address - MU_GLIBC_HEADER, &head);
		entry.size = mu_glibc_word(view, 8) & ~(uintptr_t)MU_SIZE_FLAGS;
		read_words(&entry, view + MU_GLIBC_HEADER);
		return entry;
	}
	mmapped = mu_glibc_mmapped_at(walk, address);
	if (mmapped != NULL)
		entry.size = mmapped->size;
	else if (mu_ranges_has(&walk->unproven, address) &&
	    mu_snapshot_word(walk->snap, address - 8, &word))
		entry.size = word & ~(uintptr_t)MU_SIZE_FLAGS;
	view = mu_snapshot_peek(walk->snap, address, 2 * KEY, head.bytes);
	if (entry.size != 0 && view != NULL)
		read_words(&entry, view);
	return entry;
}

/*
 * The size of the chunk in use whose block is at ADDRESS; 0 if there is none.
 */
static size_t
chunk_size(const struct mu_glibc_walk *walk, uintptr_t address)
{
	return entry_at(walk, address).size;
}

/*
 * Even a tcache struct is mmapped if mmap_threshold is that low or no arena has
 * memory; sysmalloc_mmap() rounds the size up to whole pages.
 */
static bool
is_mmapped_struct(const struct mu_glibc_walk *walk,
    const struct mu_glibc_mmapped *mmapped, size_t asked)
{
	size_t page = walk->snap->memory.page_size;
	size_t tail = walk->glibc.layout->mmapped_tail;
	size_t whole = asked + (tail != 0 ? tail : 8) + page - 1;

	return mmapped->chunk == mmapped->base &&
	    mmapped->size + tail == whole - whole % page;
}

bool
mu_glibc_tcache_plausible(const struct mu_glibc_walk *walk, uintptr_t address)
{
	size_t size = chunk_size(walk, address);
	size_t asked = mu_glibc_tcache_chunk(walk);
	const struct mu_glibc_mmapped *mmapped;

	if (size >= asked && size - asked <= mu_glibc_tcache_excess(walk))
		return true;
	mmapped = size != 0 ? mu_glibc_mmapped_at(walk, address) : NULL;
	return mmapped != NULL && is_mmapped_struct(walk, mmapped, asked);
}

/* Up to 2.42 an mmapped chunk is never put into a tcache. */
static bool
may_be_entry(const struct mu_glibc_walk *walk, uintptr_t address)
{
	return walk->glibc.layout->mmapped_tail != 0 ||
	    mu_glibc_mmapped_at(walk, address) == NULL;
}

/* The number of entries of bin BIN by its count; VIEW is the struct. */
static size_t
counted_entries(const struct mu_glibc_walk *walk, const char *view, size_t bin)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	size_t count = 0, most;

	__builtin_memcpy(&count, view + bin * layout->tcache_count_size,
	    layout->tcache_count_size);
	if (!layout->tcache_counts_free)
		return count;
	most =
	    mu_glibc_arena_word(walk, walk->glibc.mp, layout->par_tcache_count);
	return count <= most ? most - count : COUNT_MAX;
}

static uintptr_t
first_entry(const struct mu_glibc_walk *walk, const char *view, size_t bin)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;

	return mu_glibc_word(view,
	    (size_t)layout->tcache_count_size * layout->tcache_bins + bin * 8);
}

static const char *
check_bin(const struct mu_glibc_walk *walk, const char *view, size_t bin,
    bool counted, struct mu_glibc_tcache *result)
{
	size_t said = counted_entries(walk, view, bin), length = 0;
	size_t slack = mu_glibc_strict(walk) ? 0 : 1;
	size_t most = counted ? said + slack : COUNT_MAX;
	uintptr_t address = first_entry(walk, view, bin);
	struct entry entry;

	while (address != 0) {
		if (length == most)
			return "its list is longer than its count";
		entry = entry_at(walk, address);
		if (entry.size == 0 || !may_be_entry(walk, address))
			return "holds what is no chunk in use";
		if (entry.size < MU_GLIBC_MINSIZE ||
		    mu_glibc_tcache_bin(walk->glibc.layout, entry.size) != bin)
			return "holds a chunk of another size";
		if (!entry.readable)
			return "leads to unreadable memory";
		address = mu_glibc_link(walk, address, entry.next);
		length++;
	}
	result->entries += length;
	result->off += said != length;
	if (counted && said > length + slack)
		return "its count is higher than its list is long";
	return NULL;
}

/*
 * Prefetch the entry at ADDRESS. Returns NULL if it is not in an arena's
 * memory.
 */
static const char *
prefetch_entry(const struct mu_glibc_walk *walk, uintptr_t address)
{
	const struct mu_span *span;
	const char *view;
	size_t word;

	if (address == 0 || address % MU_GRAIN != 0)
		return NULL;
	span = mu_blocks_span(&walk->heap->blocks, address);
	if (span == NULL)
		return NULL;
	view = span->view + (address - span->range.begin);
	word = (address - span->range.begin) / MU_GRAIN / MU_WORD_BITS;
	__builtin_prefetch(view);
	__builtin_prefetch(mu_span_starts(span, word));
	return view;
}

void
mu_glibc_tcache_expect(const struct mu_glibc_walk *walk, uintptr_t address)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	const char *view = prefetch_entry(walk, address);

	if (view == NULL)
		return;
	__builtin_prefetch(view - MU_GLIBC_HEADER);
	__builtin_prefetch(
	    view + (size_t)layout->tcache_count_size * layout->tcache_bins);
}

/*
 * Prefetch all lists of a struct side by side, up to the default length: one
 * after the other, each link would wait for memory. Checking and taking 1024
 * tcaches with 460,000 entries (2 cores Xeon, kernel 6.18) took 43 ms instead
 * of 80.
 */
static void
prefetch_entries(const struct mu_glibc_walk *walk, const char *view)
{
	size_t bin, round, bins = walk->glibc.layout->tcache_bins;
	uintptr_t at[BINS_MAX];
	const char *entry[BINS_MAX];

	if (bins > BINS_MAX || walk->snap->memory.ops->peek != NULL)
		return;
	for (bin = 0; bin < bins; bin++) {
		at[bin] = first_entry(walk, view, bin);
		entry[bin] = prefetch_entry(walk, at[bin]);
	}
	for (round = 1; round < LENGTH; round++)
		for (bin = 0; bin < bins; bin++) {
			if (entry[bin] == NULL)
				continue;
			at[bin] = mu_glibc_link(
			    walk, at[bin], mu_glibc_word(entry[bin], 0));
			entry[bin] = prefetch_entry(walk, at[bin]);
		}
}

void
mu_glibc_tcache_check(const struct mu_glibc_walk *walk, uintptr_t address,
    bool counted, struct mu_glibc_tcache *result)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	char copy[STRUCT_MAX];
	const char *view = layout->tcache_size > sizeof(copy)
	    ? mu_snapshot_view(walk->snap, address, layout->tcache_size)
	    : mu_snapshot_peek(walk->snap, address, layout->tcache_size, copy);

	*result = (struct mu_glibc_tcache) { 0 };
	if (view == NULL) {
		result->rule = "cannot be read";
		return;
	}
	if (counted)
		prefetch_entries(walk, view);
	for (; result->bin < layout->tcache_bins; result->bin++) {
		result->rule =
		    check_bin(walk, view, result->bin, counted, result);
		if (result->rule != NULL)
			return;
	}
}

static enum mu_status
take_one(struct mu_glibc_walk *walk, uintptr_t tcache, uintptr_t block)
{
	struct mu_glibc_mmapped *mmapped = mu_glibc_mmapped_at(walk, block);
	const char *rule;
	size_t size;

	if (mu_ranges_has(&walk->unproven, block))
		return MU_OK;
	if (mmapped != NULL && !mmapped->cached) {
		mmapped->cached = true;
		return MU_OK;
	}
	rule = mu_glibc_free_take(walk, block, &size);
	if (rule == NULL)
		return MU_OK;
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "tcache %p, chunk %p: %s", (void *)tcache,
	    (void *)(block - MU_GLIBC_HEADER), rule);
}

static void
note_key(struct mu_glibc_walk *walk, const struct entry *entry)
{
	uintptr_t key = entry->key;

	if (!walk->glibc.layout->tcache_key || !entry->readable)
		return;
	if (key == 0 || (walk->tcache_key != 0 && walk->tcache_key != key))
		walk->keys_differ = true;
	walk->tcache_key = key;
}

enum mu_status
mu_glibc_tcache_take(struct mu_glibc_walk *walk, uintptr_t address)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	const char *view =
	    mu_snapshot_view(walk->snap, address, layout->tcache_size);
	size_t size = chunk_size(walk, address), bin, left;
	enum mu_status status = take_one(walk, address, address);
	struct entry entry;
	uintptr_t at;

	if (status == MU_OK)
		mu_glibc_usage_struct(walk, address, size);
	if (view == NULL)
		return MU_OK;
	prefetch_entries(walk, view);
	for (bin = 0; bin < layout->tcache_bins; bin++) {
		at = first_entry(walk, view, bin);
		for (left = COUNT_MAX; status == MU_OK && at != 0 && left > 0;
		     left--) {
			/* A chunk that was taken is no longer in use. */
			entry = entry_at(walk, at);
			status = take_one(walk, address, at);
			note_key(walk, &entry);
			if (!entry.readable)
				break;
			at = mu_glibc_link(walk, at, entry.next);
		}
	}
	return status;
}
