/*
 * Long lists of free chunks, which are followed from many places at once, give
 * the same result as one by one: mixed, in several arenas, and with one word
 * damaged.
 */
#include "heapwalk/heaps/glibc/free.h"
#include "heapwalk/heaps/glibc/lists.h"
#include "tests/support/heaps/made_chain.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

/*
 * Two arenas made by hand, with long lists of free chunks.
 */

#define PAGE 4096
#define ARENAS 2
#define HEAP_BYTES ((size_t)4 << 20) /* of each arena */
#define CHUNKS_MAX (HEAP_BYTES / 32)
#define SPAN_WORDS (HEAP_BYTES / 1024 + 1)

/* struct malloc_state, as the layout below says. */
#define FASTBINS 16
#define BINS 112

struct arena {
	size_t words[(BINS + MU_GLIBC_BINS * 16) / 8 + 2];
};

static struct arena arenas[ARENAS];
static const struct mu_glibc_layout layout = { .arena_fastbins = FASTBINS,
	.arena_bins = BINS,
	.tcache_size = 0x280,
	.safe_linking = true };

/* The arena that is being built. */
static size_t members[CHUNKS_MAX]; /* offsets of chunks */
static size_t num_members;

/* Chunks in lists, of all arenas: what may be damaged. */
static size_t listed[ARENAS * CHUNKS_MAX];
static size_t num_listed;

static void
shuffle(void)
{
	size_t i, j, member;

	for (i = num_members; i > 1; i--) {
		j = chain_random_below(i);
		member = members[i - 1];
		members[i - 1] = members[j];
		members[j] = member;
	}
}

static size_t
size_at(size_t at)
{
	return *chain_word_at(at + 8) & ~(size_t)7;
}

/* The chunks from AT to TOP that are free, or in use. */
static void
gather(size_t at, size_t top, bool in_use, size_t size, bool all)
{
	size_t next;

	num_members = 0;
	for (; at < top; at = next) {
		next = at + size_at(at);
		if (((*chain_word_at(next + 8) & MU_PREV_INUSE) != 0) !=
			in_use ||
		    (size != 0 && size_at(at) != size) ||
		    (!all && chain_random_below(2) == 0))
			continue;
		members[num_members++] = at;
		listed[num_listed++] = at;
	}
}

/* The value of a list's word that refers to chunk AT. */
static size_t
pointer_to(size_t at)
{
	return (size_t)chain_heap + at;
}

static size_t *
bin_of(size_t arena, size_t bin)
{
	return (size_t *)((char *)&arenas[arena] + BINS + (bin - 1) * 16);
}

/* Sorted or not, as a coin says; in that order. */
static void
link_bins(size_t arena)
{
	size_t bin, *head, i, at;

	for (bin = 1; bin <= MU_GLIBC_BINS; bin++) {
		head = bin_of(arena, bin);
		head[0] = head[1] = (size_t)(head - 2);
	}
	for (i = 0; i < num_members; i++) {
		at = members[i];
		bin =
		    chain_random_below(2) == 0 ? 1 : mu_glibc_bin(size_at(at));
		head = bin_of(arena, bin);
		*chain_word_at(at + 16) = (size_t)(head - 2);
		*chain_word_at(at + 24) = head[1];
		*(size_t *)(head[1] + 16) = pointer_to(at);
		head[1] = pointer_to(at);
	}
}

static void
link_fastbin(size_t arena, size_t bin)
{
	size_t *head = (size_t *)((char *)&arenas[arena] + FASTBINS) + bin;
	size_t i, at;

	*head = 0;
	for (i = 0; i < num_members; i++) {
		at = members[i];
		*chain_word_at(at + 16) = *head ^ (pointer_to(at + 16) >> 12);
		*head = pointer_to(at);
	}
}

static void
make_arena(size_t arena, size_t seed)
{
	size_t from = arena * HEAP_BYTES, top = from + HEAP_BYTES - 64, bin;

	fill(from, top, seed % 2 == 0 ? 0 : 2, arena != 0);
	*chain_word_at(top + 8) = 64 | MU_PREV_INUSE;
	gather(from, top, false, 0, true);
	if (seed / 2 % 2 == 0)
		shuffle();
	link_bins(arena);
	for (bin = 0; bin < MU_GLIBC_FASTBINS; bin++) {
		gather(from, top, true, (bin + 2) * 16, bin == 9);
		if (seed / 4 % 2 == 0)
			shuffle();
		if (seed / 8 % 2 != 0 && bin % 3 == 0)
			num_members = 0;
		link_fastbin(arena, bin);
	}
}

static void
make_heap(size_t seed)
{
	size_t arena;

	random_seed(seed);
	memset(chain_heap, seed % 3 == 0 ? 0x5a : 0, ARENAS * HEAP_BYTES);
	num_listed = 0;
	for (arena = 0; arena < ARENAS; arena++)
		make_arena(arena, seed);
}

static const void *
view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	uintptr_t begin = (uintptr_t)chain_heap;

	(void)memory;
	if (address - (uintptr_t)arenas < sizeof(arenas) ||
	    (address - begin < ARENAS * HEAP_BYTES &&
		size <= ARENAS * HEAP_BYTES - (address - begin)))
		return (const void *)address;
	return NULL;
}

struct result {
	struct mu_arena memory;
	struct mu_why why;
	struct mu_heap heap;
	struct mu_glibc_walk walk;
	size_t num_free[ARENAS];
	enum mu_status status;
};

/* Memory is not in place, as that of another process; what it was asked for. */
static bool is_remote;
static size_t peeks;

static const void *
copy_some(
    struct mu_memory *memory, uintptr_t address, size_t size, void *buffer)
{
	const void *at = view(memory, address, size);

	__atomic_fetch_add(&peeks, 1, __ATOMIC_RELAXED);
	return at == NULL ? NULL : memcpy(buffer, at, size);
}

static bool
copy_pages(struct mu_memory *memory, struct mu_range range, void *buffer)
{
	size_t size = mu_range_size(range);

	if (size > 0)
		memcpy(buffer, view(memory, range.begin, size), size);
	return true;
}

/* As the rule has it: list by list. */
static enum mu_status
take_in_order(struct mu_glibc_walk *walk)
{
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; status == MU_OK && i < ARENAS; i++) {
		status = mu_glibc_bins_check(walk, i);
		if (status == MU_OK)
			status = mu_glibc_fastbins_take(walk, i);
	}
	return status;
}

static void
read_lists(struct result *result, unsigned workers)
{
	static const struct mu_memory_ops local = { .view = view };
	static const struct mu_memory_ops remote = {
		.view = view, .peek = copy_some, .read = copy_pages
	};
	static uintptr_t addresses[ARENAS];
	struct mu_workers threads = pthread_workers(workers);
	struct mu_snapshot snap = { .memory = { .ops = is_remote ? &remote
								 : &local,
					.page_size = PAGE },
		.workers = workers == 0 ? NULL : &threads };
	struct mu_glibc_chain chains[ARENAS] = { 0 };
	size_t i;

	*result = (struct result) { 0 };
	mu_arena_open(&result->memory, (size_t)1 << 30);
	mu_blocks_open(&result->heap.blocks, &result->memory);
	result->walk = (struct mu_glibc_walk) { .snap = &snap,
		.memory = &result->memory,
		.why = &result->why,
		.heap = &result->heap,
		.glibc = { .arenas = addresses,
		    .num_arenas = ARENAS,
		    .layout = &layout },
		.num_free = result->num_free };
	for (i = 0; i < ARENAS; i++) {
		addresses[i] = (uintptr_t)&arenas[i];
		chains[i].arena = i;
		chains[i].main = i == 0;
		chains[i].view = chain_heap + i * HEAP_BYTES;
		chains[i].limit =
		    (struct mu_range) { pointer_to(i * HEAP_BYTES),
			    pointer_to((i + 1) * HEAP_BYTES) };
		chains[i].top = chains[i].limit.end - 64;
	}
	mu_glibc_notes_open(&result->walk.notes, (size_t)1 << 30);
	result->status = mu_glibc_chains_walk(&result->walk, chains, ARENAS);
	mu_blocks_sort_spans(&result->heap.blocks);
	mu_glibc_notes_seal(&result->walk.notes);
	if (result->status == MU_OK)
		result->status = workers == 0
		    ? take_in_order(&result->walk)
		    : mu_glibc_lists_take(&result->walk);
	mu_glibc_notes_close(&result->walk.notes);
}

static void
expect_same(const struct result *a, const struct result *b)
{
	const struct mu_span *left, *right;
	size_t i;

	ck_assert_int_eq(a->status, b->status);
	ck_assert_str_eq(a->why.text, b->why.text);
	for (i = 0; a->status == MU_OK && i < ARENAS; i++) {
		left = &a->heap.blocks.spans[i];
		right = &b->heap.blocks.spans[i];
		ck_assert_uint_eq(left->count, right->count);
		ck_assert_uint_eq(left->bytes, right->bytes);
		ck_assert_mem_eq(left->bits, right->bits,
		    left->num_words * 2 * sizeof(*left->bits));
		ck_assert_mem_eq(left->summary, right->summary,
		    (left->num_words + 63) / 64 * sizeof(*left->summary));
	}
}

/* In order, and by 1, 2 and 4 workers, near and far; what came of it. */
static enum mu_status
compare(void)
{
	struct result ordered, shared;
	unsigned workers;

	is_remote = false;
	read_lists(&ordered, 0);
	for (workers = 1; workers <= 8; workers *= 2) {
		is_remote = workers % 4 == 0;
		read_lists(&shared, workers % 8);
		expect_same(&ordered, &shared);
		mu_arena_close(&shared.memory);
	}
	mu_arena_close(&ordered.memory);
	return ordered.status;
}

TEST_LOOP(lists_are_as_in_order, 0, 16)
{
	make_heap((size_t)_i);
	ck_assert_int_eq(compare(), MU_OK);
}

/* The walk has seen what lists lead to. _i: by how many workers. */
TEST_LOOP(links_are_not_read_again, 0, 3)
{
	struct result result;

	make_heap(0);
	is_remote = true;
	peeks = 0;
	read_lists(&result, (unsigned)_i);
	ck_assert_int_eq(result.status, MU_OK);
	ck_assert_uint_gt(num_listed, 10000);
	ck_assert_uint_lt(peeks, num_listed / 8);
	mu_arena_close(&result.memory);
}

/*
 * Notes of one MiB end where those of the next begin: what does not fit is not
 * found in its place. Chunks of 64 bytes, every one of them noted.
 */
TEST(notes_of_a_full_part)
{
	const size_t part = (size_t)1 << 20, size = 64;
	const struct mu_range range = { 1 << 30, (1 << 30) + 2 * part };
	struct mu_glibc_links links;
	struct mu_glibc_notes notes;
	char head[MU_GLIBC_MINSIZE];
	size_t at, found = 0;

	mu_glibc_notes_open(&notes, (size_t)1 << 30);
	ck_assert_uint_eq(mu_glibc_notes_add(&notes, range), 0);
	for (at = 0; at < part - size; at += size) {
		links = (struct mu_glibc_links) { at, at + 1 };
		mu_glibc_note(&notes.stretches[0], at, size, &links);
	}
	for (at = 0; mu_glibc_note_of(&notes, range.begin + at, head);
	     at += size)
		found++;
	ck_assert_uint_gt(found, 10000);
	/* At the same distance, in the next. */
	mu_glibc_note(&notes.stretches[0], part + at, size, &links);
	ck_assert(mu_glibc_note_of(&notes, range.begin + part + at, head));
	for (at = 0; at < part - size; at += size) {
		found -= mu_glibc_note_of(&notes, range.begin + at, head);
		if (at / size < 10000)
			ck_assert_mem_eq(head + 16, &at, sizeof(at));
	}
	ck_assert_uint_eq(found, 0);
	mu_glibc_notes_close(&notes);
}

/* VALUE in place of the word at WORD, and the same as before afterwards. */
static bool
is_refused_with(size_t *word, size_t value)
{
	size_t before = *word;
	bool refused;

	*word = value;
	refused = compare() != MU_OK;
	*word = before;
	return refused;
}

static size_t *
random_link(void)
{
	return chain_word_at(listed[chain_random_below(num_listed)] + 16 +
	    8 * chain_random_below(2));
}

/* A link to another member, to none, nowhere, behind a header, to a head. */
TEST_LOOP(damaged_links, 0, 4)
{
	size_t i, refused = 0, *link;

	make_heap((size_t)_i);
	for (i = 0; i < 6; i++) {
		link = random_link();
		refused += is_refused_with(link, *random_link());
		link = random_link();
		refused += is_refused_with(link, 0);
		link = random_link();
		refused += is_refused_with(
		    link, pointer_to(listed[chain_random_below(num_listed)]));
		link = random_link();
		refused += is_refused_with(link,
		    pointer_to(listed[chain_random_below(num_listed)]) ^
			((size_t)link >> 12));
		refused += is_refused_with(link, *link + 16);
		refused += is_refused_with(
		    link, (size_t)(bin_of(i % ARENAS, 1 + i * 7) - 2));
		refused += is_refused_with(
		    bin_of(i % ARENAS, 1 + i) + i / 2 % 2, *random_link());
		refused += is_refused_with(
		    (size_t *)((char *)&arenas[i % 2] + FASTBINS) + i,
		    pointer_to(listed[chain_random_below(num_listed)]));
	}
	ck_assert_uint_gt(refused, 8);
	ck_assert_int_eq(compare(), MU_OK);
}

/* A cycle of two that the heads do not lead to, and one less in the list. */
TEST_LOOP(ring_apart_from_the_heads, 0, 2)
{
	size_t *a = NULL, *b, next, prev, i;

	make_heap((size_t)_i);
	for (i = 0; a == NULL; i++) {
		a = chain_word_at(listed[i] + 16);
		b = (size_t *)(a[0] + 16);
		if (a[0] - (size_t)chain_heap >= HEAP_BYTES ||
		    b[0] - (size_t)chain_heap >= HEAP_BYTES ||
		    a[1] - (size_t)chain_heap >= HEAP_BYTES)
			a = NULL;
	}
	prev = a[1];
	next = b[0];
	*(size_t *)(prev + 16) = next;
	*(size_t *)(next + 24) = prev;
	b[0] = a[1] = (size_t)(a - 2);
	a[0] = (size_t)(b - 2);
	a[1] = (size_t)(b - 2);
	b[1] = (size_t)(a - 2);
	ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
}

/* A free chunk in a bin of arena 0, its neighbours chunks, too. */
static size_t
between(void)
{
	size_t at, i;

	for (;;) {
		at = listed[chain_random_below(num_listed)];
		i = (*chain_word_at(at + 16) - (size_t)chain_heap) |
		    (*chain_word_at(at + 24) - (size_t)chain_heap);
		if (i < HEAP_BYTES && at < HEAP_BYTES &&
		    (*chain_word_at(at + size_at(at) + 8) & MU_PREV_INUSE) == 0)
			return at;
	}
}

/* Like free(), but in the wrong bin, or with the wrong chunk. */
TEST_LOOP(relinked_well, 0, 6)
{
	size_t at, i, *fd, *bk, *head, other;

	for (i = 0; i < 3; i++) {
		make_heap((size_t)_i);
		at = between();
		fd = (size_t *)*chain_word_at(at + 16);
		bk = (size_t *)*chain_word_at(at + 24);
		if (i < 2) {
			fd[3] = (size_t)bk;
			bk[2] = (size_t)fd;
			head = i == 0 ? bin_of(0, mu_glibc_bin(size_at(at)) + 1)
				      : bin_of(1, 1);
			*chain_word_at(at + 16) = (size_t)(head - 2);
			*chain_word_at(at + 24) = head[1];
			*(size_t *)(head[1] + 16) = pointer_to(at);
			head[1] = pointer_to(at);
		} else {
			other = at + size_at(at); /* is in use */
			fd[3] = bk[2] = pointer_to(other);
			*chain_word_at(other + 16) = (size_t)fd;
			*chain_word_at(other + 24) = (size_t)bk;
		}
		ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
	}
}

/* A chunk of a bin, of one size more, of the other arena: in a fastbin. */
TEST_LOOP(foreign_in_fastbin, 0, 2)
{
	size_t *head = (size_t *)((char *)&arenas[0] + FASTBINS) + 2;
	size_t i, at, before, member;

	for (i = 0; i < 3; i++) {
		make_heap((size_t)_i);
		member = at = *head - (size_t)chain_heap;
		do {
			at = i == 0 ? between()
				    : listed[chain_random_below(num_listed)];
		} while (i > 0 &&
		    ((at >= HEAP_BYTES) != (i == 2) ||
			size_at(at) != (i == 1 ? 80 : 64) ||
			(*chain_word_at(at + size_at(at) + 8) &
			    MU_PREV_INUSE) == 0));
		before = *chain_word_at(member + 16) ^
		    (pointer_to(member + 16) >> 12);
		*chain_word_at(member + 16) =
		    pointer_to(at) ^ (pointer_to(member + 16) >> 12);
		*chain_word_at(at + 16) = before ^ (pointer_to(at + 16) >> 12);
		ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
	}
}

/* Two faults: the first one is reported. */
TEST_LOOP(first_fault_is_told, 0, 2)
{
	size_t *fast = (size_t *)((char *)&arenas[0] + FASTBINS);
	size_t *bin = bin_of(1, 1) + 1;

	make_heap((size_t)_i);
	*fast = 16;
	ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
	*bin = 0;
	ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
	*fast = 0;
	ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
}

static void
begin(void)
{
	map_heap(ARENAS * HEAP_BYTES);
}

SUITE(.begin = begin);
