/*
 * What is read of gperftools' tcmalloc in another process, beside what a shim
 * between the program and tcmalloc saw: block by block, with the sizes that
 * tcmalloc names. And each of its structures, damaged, must be refused.
 */
#include "heapwalk/heaps/tcmalloc/heap.h"
#include "heapwalk/heaps/tcmalloc/pieces.h"
#include "heapwalk/heaps/tcmalloc/tcmalloc.h"
#include "tests/support/heaps/shimmed.h"
#include "tests/support/suite.h"

static struct shimmed test = { .ops = &mu_heap_tcmalloc };
static struct mu_tcmalloc tc; /* as found */

static const char *const libraries[] = { "libtcmalloc_minimal.so.4",
	"libtcmalloc.so.4" };

/* TCMALLOC names another build of it. */
static const char *
library(size_t i)
{
	static char path[64];
	const char *given = getenv("TCMALLOC");

	if (given != NULL)
		return given;
	snprintf(
	    path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", libraries[i]);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), "/usr/lib64/%s", libraries[i]);
	return access(path, R_OK) == 0 ? path : NULL;
}

/* Returns false, and says so, if there is no tcmalloc. */
static bool
start(size_t i, const char *threads, const char *rounds, const char *fork_word)
{
	test.library = library(i);
	if (test.library == NULL) {
		printf("SKIPPED: no %s\n", libraries[i]);
		return false;
	}
	shimmed_start(&test, threads, rounds, fork_word);
	printf("tcmalloc %s\n", test.version);
	return true;
}

static void
stop(void)
{
	shimmed_stop(&test);
}

static void
must_be_right(void)
{
	shimmed_must_be_read(&test);
	shimmed_must_agree(&test);
	shimmed_end(&test);
}

static const struct {
	const char *threads, *rounds;
} churns[] = { { "1", "8000" }, { "2", "4000" }, { "8", "1000" },
	{ "64", "120" } };

TEST_LOOP(blocks_are_those_of_the_shim, 0, 8)
{
	const char *threads = churns[_i / 2].threads;

	if (start(_i % 2, threads, churns[_i / 2].rounds, NULL))
		must_be_right();
}

/* Options of tcmalloc that change what its structures hold. */
static const char *const options[][2] = {
	{ "TCMALLOC_AGGRESSIVE_DECOMMIT", "1" },
	{ "TCMALLOC_RELEASE_RATE", "10" },
	{ "TCMALLOC_RELEASE_RATE", "0" },
	{ "TCMALLOC_TRANSFER_NUM_OBJ", "4096" },
	{ "TCMALLOC_TRANSFER_NUM_OBJ", "1" },
	{ "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", "1000000000" },
	{ "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", "1" },
	{ "TCMALLOC_SKIP_SBRK", "1" },
	{ "TCMALLOC_SKIP_MMAP", "1" },
	{ "TCMALLOC_SAMPLE_PARAMETER", "10000" },
};

TEST_LOOP(with_options, 0, sizeof(options) / sizeof(*options))
{
	setenv(options[_i][0], options[_i][1], 1);
	if (start(1, "3", "300", NULL))
		must_be_right();
}

/* A child has the caches of threads that it does not have. */
TEST_LOOP(a_fork, 0, 2)
{
	if (start(0, _i == 0 ? "0" : "4", _i == 0 ? "8000" : "300", "fork"))
		must_be_right();
}

/*
 * Addresses: of the central list of a size class, with a span of it that has
 * free objects and the first of these; of a chain that it has cached; of the
 * span of a large block; of a thread's cache, and its list of a class of more
 * than 8 bytes.
 */
struct places {
	uintptr_t central, span, object, slots, chain, large, entry;
	uintptr_t cache, list, stats, caches;
};

static uintptr_t
word_at(uintptr_t address)
{
	return shimmed_word(&test, address);
}

static uintptr_t
entry_of(uintptr_t page)
{
	size_t bits = mu_tc_leaf_bits(tc.shift);

	return word_at(tc.root + (page >> bits) * 8) +
	    (page & (((uintptr_t)1 << bits) - 1)) * 8;
}

static void
find_central(struct places *at)
{
	uintptr_t list = tc.central, span;
	size_t i;

	for (i = 1; i < tc.num_classes; i++) {
		list += MU_TC_CENTRAL;
		span = word_at(list + MU_TC_CENTRAL_NONEMPTY + MU_TC_SPAN_NEXT);
		if (span != list + MU_TC_CENTRAL_NONEMPTY &&
		    word_at(span + MU_TC_SPAN_LENGTH) > 1 && at->span == 0) {
			at->central = list;
			at->span = span;
			at->object = word_at(span + MU_TC_SPAN_OBJECTS);
		}
		if ((uint32_t)word_at(list + MU_TC_CENTRAL_USED) > 0)
			at->slots = list;
	}
	ck_assert_uint_ne(at->span, 0);
	ck_assert_uint_ne(at->slots, 0);
	at->chain = word_at(at->slots + MU_TC_CENTRAL_SLOTS);
}

/* One of the caches that were made; only if it is used its lists have objects.
 */
static void
find_pieces(struct places *at)
{
	struct mu_tc_walk walk = { .snap = &test.keeper.snap, .tc = tc };
	struct mu_tc_pieces pieces;

	ck_assert(mu_tc_pieces_find(&pieces, &walk, MU_TC_THREAD, SIZE_MAX));
	at->caches = pieces.at;
	at->cache = word_at(pieces.at);
}

static void
find_places(struct places *at)
{
	uintptr_t begin;
	size_t i;

	*at = (struct places) { 0 };
	tc = *(const struct mu_tcmalloc *)test.member.state;
	find_central(at);
	at->stats = tc.root + mu_tc_root_bytes(tc.shift) + 8 + MU_TC_SETS +
	    MU_TC_LISTS(tc.shift);
	for (i = 0; at->large == 0 && i < test.heap.blocks.num_listed; i++) {
		begin = test.heap.blocks.listed[i].range.begin;
		if (mu_range_size(test.heap.blocks.listed[i].range) >
		    ((size_t)1 << 20))
			at->large =
			    word_at(at->entry = entry_of(begin >> tc.shift));
	}
	ck_assert_uint_ne(at->large, 0);
	find_pieces(at);
	for (i = 0; at->list == 0; i = (i + 1) % tc.num_classes) {
		at->cache -= i == 0 ? MU_TC_THREAD : 0;
		if (i > 1 && word_at(at->cache + i * MU_TC_FREE_LIST) != 0)
			at->list = at->cache + i * MU_TC_FREE_LIST;
	}
	ck_assert_uint_ne(at->list, 0);
}

static size_t
next_offset(void)
{
	return atoi(test.version + 2) < 16 ? MU_TC_NEXT_OLD : MU_TC_NEXT_NEW;
}

/* A process whose heap is right, and what may be damaged of it. */
static bool
start_damaged(struct places *at)
{
	/* Chains are short, so that central lists have some. */
	setenv("TCMALLOC_TRANSFER_NUM_OBJ", "4", 1);
	if (!start(0, "8", "1000", NULL))
		return false;
	shimmed_must_be_read(&test);
	find_places(at);
	shimmed_end(&test);
	return true;
}

TEST(damage_is_refused)
{
	struct places at;

	if (!start_damaged(&at))
		return;
	const struct shimmed_damage damages[] = {
		{ at.span, 1 }, /* its first page */
		{ at.span + MU_TC_SPAN_LENGTH, 1 },
		{ at.span + MU_TC_SPAN_LENGTH, 1ull << 40 },
		{ at.span + MU_TC_SPAN_OBJECTS, 8 },
		{ at.span + MU_TC_SPAN_OBJECTS, 1ull << 40 },
		{ at.span + MU_TC_SPAN_BITS, 1 },       /* refcount */
		{ at.span + MU_TC_SPAN_BITS, 1 << 16 }, /* size class */
		{ at.span + MU_TC_SPAN_BITS, 1 << 23 },
		{ at.span + MU_TC_SPAN_BITS, 1 << 24 }, /* location */
		{ at.span + MU_TC_SPAN_BITS, 3 << 24 },
		{ at.object, 8 },
		{ at.object, 1ull << 40 },
		{ at.central, 1 }, /* lock */
		{ at.central + MU_TC_CENTRAL_CLASS, 1 },
		{ at.central + MU_TC_CENTRAL_SPANS, 1 },
		{ at.central + MU_TC_CENTRAL_COUNTER, 1 },
		{ at.slots + MU_TC_CENTRAL_USED, 1ull << 30 },
		{ at.slots + MU_TC_CENTRAL_SLOTS, 8 },
		{ at.slots + MU_TC_CENTRAL_SLOTS + 8, 8 },
		{ at.chain, 8 },
		{ at.chain, 1ull << 40 },
		{ at.large, 1 },
		{ at.large + MU_TC_SPAN_LENGTH, 1 },
		{ at.large + MU_TC_SPAN_BITS, 1 << 16 },
		{ at.large + MU_TC_SPAN_BITS, 1 << 24 },
		{ at.large + MU_TC_SPAN_BITS, 2 << 24 },
		{ at.entry, 64 },
		{ at.entry, word_at(at.entry) },
		{ at.stats + MU_TC_STATS_SYSTEM, 1 << 13 },
		{ at.stats + MU_TC_STATS_FREE, 1 << 13 },
		{ at.stats + MU_TC_STATS_RETURNED, 1 << 13 },
		{ at.list, 8 },
		{ at.list, word_at(at.list) },
		{ at.list, 1ull << 40 },
		{ at.list + MU_TC_FREE_LENGTH, 1 },
		{ at.list + MU_TC_FREE_LENGTH, 1u << 31 },
		{ at.list + MU_TC_FREE_SIZE, 8 },
		{ at.cache + next_offset(), 64 },
		{ at.cache + next_offset(),
		    word_at(at.cache + next_offset()) ^ at.cache },
		{ at.cache + next_offset() + 8, 64 },
		{ at.caches + MU_TC_ALLOCATOR_USED, 1 },
		{ tc.root + mu_tc_root_bytes(tc.shift), 1ull << 40 },
	};
	shimmed_must_be_refused(
	    &test, damages, sizeof(damages) / sizeof(*damages));
	must_be_right();
}

/* A list of free objects that returns to where it was. */
TEST(a_list_without_end_is_refused)
{
	struct places at;

	if (!start_damaged(&at))
		return;
	const struct shimmed_damage damages[] = {
		{ at.object, word_at(at.object) ^ at.object },
		{ at.chain, word_at(at.chain) ^ at.chain },
	};
	shimmed_must_be_refused(&test, damages, 2);
}

/* Is the large block a leak, if it is not referred to? */
static bool
may_be_lost(const struct places *at)
{
	struct mu_block block;

	test.heap = (struct mu_heap) { .transient = false };
	mu_blocks_open(&test.heap.blocks, &test.arena);
	mu_ranges_open(&test.heap.owned, &test.arena);
	ck_assert_int_eq(test.ops->list(&test.heap, &test.member,
			     &test.keeper.snap, &test.arena, &test.why),
	    MU_OK);
	ck_assert(mu_blocks_find(
	    &test.heap.blocks, word_at(at->large) << tc.shift, &block));
	return !block.listed->keep;
}

/* A thread was stopped when it had the Span of a block, not yet its address. */
TEST(a_block_on_its_way)
{
	uintptr_t code;
	struct mu_thread *thread;
	struct places at;

	if (!start_damaged(&at))
		return;
	code = word_at(tc.root + mu_tc_root_bytes(tc.shift));
	ck_assert_int_eq(shimmed_read(&test), MU_OK);
	thread = &test.keeper.snap.threads[0];
	ck_assert_uint_gt(thread->num_values, 0);
	((uintptr_t *)test.keeper.snap.values)[thread->first_value] = at.large;
	ck_assert(may_be_lost(&at));
	thread->pc = code;
	ck_assert(!may_be_lost(&at));
	shimmed_end(&test);
}

/* Any words, and what others hold: whatever is read of that, it ends. */
TEST(any_damage)
{
	size_t count = suite_rounds("TESTS_PASSES", 20);
	struct places at;

	if (!start_damaged(&at))
		return;
	const struct mu_range ranges[] = {
		{ at.span, at.span + MU_TC_SPAN },
		{ at.span, at.span + 32 * MU_TC_SPAN },
		{ at.large, at.large + MU_TC_SPAN },
		{ at.entry & ~(uintptr_t)0xfff, (at.entry | 0xfff) + 1 },
		{ at.central, at.central + MU_TC_CENTRAL },
		{ at.slots, at.slots + MU_TC_CENTRAL },
		{ at.stats, at.stats + MU_TC_STATS },
		{ at.cache, at.cache + MU_TC_THREAD },
		{ at.caches, at.caches + 32 },
		{ tc.root, tc.root + mu_tc_root_bytes(tc.shift) },
		{ at.object & ~(uintptr_t)0xfff, (at.object | 0xfff) + 1 },
	};
	shimmed_damage_any(
	    &test, ranges, sizeof(ranges) / sizeof(*ranges), count);
	must_be_right();
}

SUITE(.teardown = stop);
