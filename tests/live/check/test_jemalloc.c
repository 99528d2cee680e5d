/*
 * What is read of jemalloc in another process, beside what a shim between the
 * program and jemalloc saw: address by address, with the sizes that jemalloc
 * names. And each of its structures, damaged, must be refused.
 */
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/jemalloc/jemalloc.h"
#include "tests/support/heaps/shimmed.h"
#include "tests/support/suite.h"

#define EDATA_OF_BIN 192 /* bin_t: slabcur */
#define EXTENT_OF_BIN 112

static bool is_old; /* 5.2.1 */
static struct shimmed test = { .ops = &mu_heap_jemalloc };

/* JEMALLOC names another build of it. */
static const char *
library(void)
{
	const char *given = getenv("JEMALLOC");
	static const char *const paths[] = {
		"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
		"/usr/lib64/libjemalloc.so.2"
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (given == NULL && access(paths[i], R_OK) == 0)
			given = paths[i];
	return given;
}

/* Returns false, and says so, if there is no jemalloc that is read. */
static bool
start(const char *threads, const char *rounds, const char *fork_word)
{
	const char *version = test.version;

	test.library = library();
	if (test.library == NULL) {
		printf("SKIPPED: no libjemalloc.so.2\n");
		return false;
	}
	shimmed_start(&test, threads, rounds, fork_word);
	is_old = strncmp(version, "5.2.1-", 6) == 0;
	if (!is_old && strncmp(version, "5.3.0-", 6) != 0 &&
	    strncmp(version, "5.3.1-", 6) != 0) {
		printf("SKIPPED: jemalloc %s is not read\n", version);
		return false;
	}
	return true;
}

static void
stop(void)
{
	shimmed_stop(&test);
}

static uintptr_t
word_at(uintptr_t address)
{
	return shimmed_word(&test, address);
}

static const struct {
	const char *threads, *rounds;
} churns[] = { { "1", "8000" }, { "2", "4000" }, { "8", "1000" },
	{ "64", "120" } };

TEST_LOOP(blocks_are_those_of_the_shim, 0, 4)
{
	if (!start(churns[_i].threads, churns[_i].rounds, NULL))
		return;
	shimmed_must_be_read(&test);
	shimmed_must_agree(&test);
	shimmed_end(&test);
}

/* Options of jemalloc that change what its structures hold. */
static const char *const options[] = { "tcache:false", "narenas:1",
	"background_thread:true", "percpu_arena:percpu",
	"dirty_decay_ms:0,muzzy_decay_ms:0", "retain:false",
	"retain:false,dirty_decay_ms:0,muzzy_decay_ms:0", "tcache_max:8",
	"lg_tcache_max:20", "dss:primary", "slab_sizes:16-4096:8",
	"metadata_thp:always", "tcache:false,cache_oblivious:false",
	"disable_large_size_classes:false", "tcache_ncached_max:16-512:0" };

TEST_LOOP(with_options, 0, sizeof(options) / sizeof(*options))
{
	setenv("MALLOC_CONF", options[_i], 1);
	if (!start("3", "300", NULL))
		return;
	shimmed_must_be_read(&test);
	shimmed_must_agree(&test);
	shimmed_end(&test);
}

/* With others the structures differ: refused by name. */
static const struct {
	const char *conf, *name;
} refused[] = { { "prof:true,lg_prof_sample:12", "prof" },
	{ "hpa:true", "hpa" }, { "bin_shards:16-128:4", "bin_shards" } };

TEST_LOOP(with_options_that_are_refused, 0, sizeof(refused) / sizeof(*refused))
{
	char words[64];

	if (_i == 0 && getenv("JEMALLOC") != NULL) {
		printf("SKIPPED: it may be built without prof\n");
		return;
	}
	setenv("MALLOC_CONF", refused[_i].conf, 1);
	if (!start("3", "300", NULL))
		return;
	if (_i == 1 && is_old) {
		printf("SKIPPED: 5.2 has no option hpa\n");
		return;
	}
	ck_assert_int_eq(shimmed_read(&test), MU_ERR_FOREIGN_ALLOCATOR);
	snprintf(words, sizeof(words), "its option %s,", refused[_i].name);
	ck_assert_msg(
	    strstr(test.why.text, words) != NULL, "%s", test.why.text);
	shimmed_end(&test);
}

/*
 * A child has the tcaches of threads that it does not have, in no list: what
 * they hold cannot be told from blocks in use.
 */
TEST(a_fork_of_threads_is_refused)
{
	if (!start("4", "300", "fork"))
		return;
	ck_assert_int_eq(shimmed_read(&test), MU_ERR_HEAP_INCONSISTENT);
	ck_assert_ptr_nonnull(strstr(test.why.text, "threads forked"));
	shimmed_end(&test);
}

/* One of a program without threads has all: its locks are new ones. */
TEST(a_fork_of_one_thread)
{
	if (!start("0", "8000", "fork"))
		return;
	shimmed_must_be_read(&test);
	shimmed_must_agree(&test);
	shimmed_end(&test);
}

/*
 * Words of the first arena that has a slab and a tcache with a cached block: of
 * 5.2 its tcache_t, else tcache_slow_t and tcache_t.
 */
struct places {
	const struct mu_je_release *release;
	const struct mu_je_sizes *sizes;
	uintptr_t arena, base, bin, edata, slow, tcache, cache;
	uintptr_t stacks, stack; /* address of the stacks, and one */
	uintptr_t child, last;   /* of the tree: in its root, and of that one */
};

/* Those of bin INDEX. Returns false if it has no slab or nothing is cached. */
static bool
find_bin(struct places *places, unsigned index)
{
	const struct mu_je_release *release = places->release;
	uintptr_t bins = places->arena + release->bins;

	if (release->extents) {
		places->tcache = places->slow + MU_JE_SMALL;
		places->cache = places->tcache + index * MU_JE_CACHE_SIZE;
		places->stacks = places->cache + MU_JE_CACHE_AVAIL;
		places->stack = word_at(places->stacks) - 64;
		places->bin = word_at(bins + index * sizeof(uintptr_t));
		places->edata = word_at(places->bin + EXTENT_OF_BIN);
		return places->edata != 0 && word_at(places->cache) >> 32 != 0;
	}
	places->stacks =
	    places->slow + mu_je_slow_stacks(release, places->sizes);
	places->stack = word_at(places->stacks);
	places->tcache = word_at(places->stacks + 8) + MU_JE_TCACHE_BINS;
	places->cache = places->tcache + index * MU_JE_CACHE_SIZE;
	places->bin = bins + index * MU_JE_BIN_SIZE;
	places->edata = word_at(places->bin + EDATA_OF_BIN);
	return places->edata != 0 &&
	    (uint16_t)word_at(places->cache) !=
	    (uint16_t)(word_at(places->cache + 16) >> 32);
}

static void
find_places(struct places *places)
{
	const struct mu_jemalloc *je = test.member.state;
	const struct mu_je_tree *tree = je->tree;
	unsigned i, j;

	places->release = je->release;
	places->sizes = je->sizes;
	for (i = 0; i < je->num_arenas; i++) {
		places->arena = word_at(je->arenas + i * sizeof(uintptr_t));
		places->slow = places->arena == 0
		    ? 0
		    : word_at(places->arena + je->release->tcaches);
		for (j = 1; places->slow != 0 && j < MU_JE_BINS_MIN; j++)
			if (find_bin(places, j))
				goto found;
	}
	ck_abort_msg("no arena with a slab and a tcache");
found:
	places->base = word_at(places->arena + je->release->base);
	for (places->child = je->root; word_at(places->child) == 0;)
		places->child += sizeof(uintptr_t);
	places->last = word_at(places->child) +
	    (tree->node > 0 ? (size_t)8 << tree->node
			    : tree->entry << tree->leaf) -
	    8;
}

static void
damage_tcache(const struct places *at)
{
	const struct shimmed_damage damages[] = {
		{ at->slow, 16 }, { at->slow + MU_JE_SLOW_ARENA, 64 },
		{ at->stacks, 4096 }, { at->stacks + 8, 8 },
		{ at->slow + MU_JE_SLOW_DESCRIPTOR_BINS, 8 }, { at->stack, 1 },
		{ at->cache, 1 },               /* head */
		{ at->cache + 16, 8ull << 16 }, /* full */
		{ at->cache + 16, 8ull << 32 }, /* empty */
		{ word_at(at->cache), 8 },      /* a cached block */
	};

	shimmed_must_be_refused(
	    &test, damages, sizeof(damages) / sizeof(*damages));
}

static void
damage_old_tcache(const struct places *at)
{
	uintptr_t end = at->slow + mu_je_small_end(at->sizes);
	uintptr_t count = word_at(at->cache) >> 32;
	const struct shimmed_damage damages[] = {
		{ end, 16 }, { end + MU_JE_SMALL_ARENA, 64 },
		{ end + MU_JE_SMALL_DESCRIPTOR, 8 },
		{ end + MU_JE_SMALL_DESCRIPTOR + 8, 8 },
		{ at->cache, 1ull << 52 }, /* count */
		{ at->stacks, 1 }, { at->stacks, 1 << 20 },
		{ word_at(at->stacks) - count * 8, 8 }, /* a cached block */
	};

	shimmed_must_be_refused(
	    &test, damages, sizeof(damages) / sizeof(*damages));
}

/* A process whose heap is right, and what may be damaged of it. */
static bool
start_damaged(struct places *at)
{
	if (!start("2", "2000", NULL))
		return false;
	shimmed_must_be_read(&test);
	find_places(at);
	shimmed_end(&test);
	return true;
}

TEST(damage_is_refused)
{
	const struct mu_je_release *release;
	unsigned lower; /* by so many bits: fields of an extent's first word */
	struct places at;

	if (!start_damaged(&at))
		return;
	release = at.release;
	lower = release->extents ? 2 : 0;
	const struct shimmed_damage damages[] = {
		{ at.bin + release->bin_regions, 1 },
		{ at.bin + release->bin_slabs, 1 },
		{ at.bin + release->lock, 1 },
		{ at.arena + release->large, 1 },
		{ at.arena + release->internal, 4096 },
		{ release->extents ? at.base : at.arena + release->ind, 1 },
		{ at.arena + release->base, 4096 },
		{ at.arena + release->tcaches + MU_JE_TCACHES_MUTEX +
			release->lock,
		    1 },
		{ word_at(at.base + release->base_blocks), 4096 },
		{ at.edata, 1 },                                    /* arena */
		{ at.edata, 1 << 12 },                              /* slab */
		{ at.edata, release->extents ? 1 << 16 : 1 << 17 }, /* state */
		{ at.edata, 1 << (20 - lower) },                    /* class */
		{ at.edata, 1 << (28 - lower) },                    /* free */
		{ at.edata + MU_JE_EDATA_ADDR, 4096 },              /* begin */
		{ at.edata + MU_JE_EDATA_BYTES, 4096 },
		{ at.edata + MU_JE_EDATA_BITMAP, 1 },
		{ at.child, 8 },
		{ at.last, 128 },
	};
	shimmed_must_be_refused(
	    &test, damages, sizeof(damages) / sizeof(*damages));
	if (release->extents)
		damage_old_tcache(&at);
	else
		damage_tcache(&at);
	shimmed_must_be_read(&test);
	shimmed_must_agree(&test);
	shimmed_end(&test);
}

/* Any words, and what others hold: whatever is read of that, it ends. */
TEST(any_damage)
{
	size_t count = suite_rounds("TESTS_PASSES", 20);
	uintptr_t block;
	struct places at;

	if (!start_damaged(&at))
		return;
	block = word_at(at.base + at.release->base_blocks);
	const struct mu_range ranges[] = {
		{ at.arena, at.arena + mu_je_arena_size(at.release) },
		{ at.edata & ~(uintptr_t)0xfff, (at.edata | 0xfff) + 1 },
		{ block, block + word_at(block) },
		{ at.base, at.base + 256 },
		{ at.slow, at.slow + 256 },
		{ at.tcache, at.tcache + 36 * MU_JE_CACHE_SIZE },
		{ at.stack, at.stack + 4096 },
	};
	shimmed_damage_any(&test, ranges, 7, count);
	shimmed_must_be_read(&test);
	shimmed_must_agree(&test);
	shimmed_end(&test);
}

SUITE(.teardown = stop);
