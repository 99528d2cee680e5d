/*
 * What is read of jemalloc in another process, beside what a shim between the
 * program and jemalloc saw: address by address, with the sizes that jemalloc
 * names. And each of its structures, damaged, must be refused.
 */
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/jemalloc/jemalloc.h"
#include "lib/helpers/keeper.h"
#include "mu/sys.h"
#include "tests/support/built.h"
#include "tests/support/heaps/jemalloc_shim.h"
#include "tests/support/suite.h"

#define EDATA_OF_BIN 192 /* bin_t: slabcur */
#define EXTENT_OF_BIN 112
#define TRIES 50

static struct {
	pid_t pid, child; /* as started; who rests */
	int memory;
	FILE *out;
	char path[64];
	const struct shim_table *table;
	bool is_old; /* 5.2.1 */
	struct mu_keeper keeper;
	struct mu_arena arena;
	struct mu_heap heap;
	struct mu_heap_member member;
	struct mu_why why;
	size_t missing, extra, differing;
} test;

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

/*
 * Start it and wait until all its threads rest. Returns false, and says so, if
 * there is no jemalloc of the release that is read.
 */
static bool
start(const char *threads, const char *rounds, const char *fork_word)
{
	char program[PATH_MAX], shim[PATH_MAX], preload[2 * PATH_MAX];
	char line[128], version[64];
	int out[2], file;

	if (library() == NULL) {
		printf("SKIPPED: no libjemalloc.so.2\n");
		return false;
	}
	built_path("tests/live/victims/victim_jemalloc", program);
	built_path("tests/support/heaps/jemalloc_shim.so", shim);
	snprintf(preload, sizeof(preload), "%s %s", shim, library());
	strcpy(test.path, "/tmp/mu-jemalloc-XXXXXX");
	file = mkstemp(test.path);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(ftruncate(file, sizeof(*test.table)), 0);
	test.table =
	    mmap(NULL, sizeof(*test.table), PROT_READ, MAP_SHARED, file, 0);
	ck_assert_ptr_ne(test.table, MAP_FAILED);
	close(file);
	ck_assert_int_eq(pipe(out), 0);
	test.pid = fork();
	if (test.pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		/* Its input is ours: a pipe without data. */
		ck_assert_int_eq(pipe(out), 0);
		dup2(out[0], STDIN_FILENO);
		setenv("SHIM_TABLE", test.path, 1);
		setenv("LD_PRELOAD", preload, 1);
		execl(program, program, threads, rounds, fork_word, NULL);
		_exit(127);
	}
	close(out[1]);
	test.out = fdopen(out[0], "r");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), test.out));
	ck_assert_int_eq(
	    sscanf(line, "ready %d %63s", &test.child, version), 2);
	test.is_old = strncmp(version, "5.2.1-", 6) == 0;
	if (!test.is_old && strncmp(version, "5.3.0-", 6) != 0 &&
	    strncmp(version, "5.3.1-", 6) != 0) {
		printf("SKIPPED: jemalloc %s is not read\n", version);
		return false;
	}
	snprintf(line, sizeof(line), "/proc/%d/mem", test.child);
	test.memory = open(line, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(test.memory, 0);
	return true;
}

static void
stop(void)
{
	if (test.pid == 0)
		return;
	kill(test.child, SIGKILL);
	kill(test.pid, SIGKILL);
	waitpid(test.pid, NULL, 0);
	unlink(test.path);
}

static enum mu_status
read_heap(void)
{
	enum mu_status status;

	mu_arena_open(&test.arena, SIZE_MAX / 2);
	test.why.text[0] = '\0';
	test.heap = (struct mu_heap) { .transient = false };
	test.member = (struct mu_heap_member) { .ops = &mu_heap_jemalloc };
	mu_blocks_open(&test.heap.blocks, &test.arena);
	mu_ranges_open(&test.heap.owned, &test.arena);
	test.keeper = (struct mu_keeper) {
		.target = test.child,
		.method = MU_KEEPER_AUTO,
		.deadline_ns = mu_sys_now_ns() + 60 * MU_NS_PER_SEC,
		.max_pause_ns = 60 * MU_NS_PER_SEC,
		.limit = SIZE_MAX / 2,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
	};
	status = mu_keeper_take(&test.keeper);
	ck_assert_msg(status == MU_OK, "%s", test.keeper.result.why.text);
	status = test.member.ops->detect(
	    &test.member, &test.keeper.snap, &test.arena, &test.why);
	if (status == MU_OK && test.member.state == NULL)
		status = MU_ERR_FOREIGN_ALLOCATOR;
	if (status == MU_OK)
		status = test.member.ops->list(&test.heap, &test.member,
		    &test.keeper.snap, &test.arena, &test.why);
	return status;
}

static void
end_reading(void)
{
	mu_keeper_end(&test.keeper);
	mu_arena_close(&test.arena);
}

/* The slot of ADDRESS, or NULL. */
static const struct shim_slot *
slot_of(uintptr_t address)
{
	size_t i = shim_hash(address), tries;

	for (tries = 0; tries < SHIM_SLOTS; tries++, i++) {
		i %= SHIM_SLOTS;
		if (test.table->slots[i].address == address)
			return &test.table->slots[i];
		if (test.table->slots[i].address == 0)
			break;
	}
	return NULL;
}

static bool
compare(void *ctx, const struct mu_block *block)
{
	const struct shim_slot *slot = slot_of(block->range.begin);

	(void)ctx;
	if (slot == NULL)
		test.extra++;
	else
		test.differing += slot->usable != mu_range_size(block->range);
	return true;
}

static void
must_agree(void)
{
	const struct shim_slot *slots = test.table->slots;
	struct mu_block block;
	uintptr_t address;
	size_t i;

	test.missing = test.extra = test.differing = 0;
	mu_blocks_each(&test.heap.blocks, compare, NULL);
	for (i = 0; i < SHIM_SLOTS; i++) {
		address = slots[i].address;
		test.missing += address > SHIM_GONE &&
		    (!mu_blocks_find(&test.heap.blocks, address, &block) ||
			block.range.begin != address);
	}
	printf("%d: %zu blocks, %zu missing, %zu too many, %zu of another"
	       " size\n",
	    (int)test.child, test.heap.blocks.count, test.missing, test.extra,
	    test.differing);
	ck_assert_uint_eq(test.heap.blocks.count, test.table->live);
	ck_assert_uint_gt(test.heap.blocks.count, 100);
	ck_assert_uint_eq(test.missing + test.extra + test.differing, 0);
}

static uintptr_t
word_at(uintptr_t address)
{
	uintptr_t word = 0;

	ck_assert_int_eq(
	    pread(test.memory, &word, sizeof(word), (off_t)address),
	    sizeof(word));
	return word;
}

static void
set_word(uintptr_t address, uintptr_t word)
{
	ck_assert_int_eq(
	    pwrite(test.memory, &word, sizeof(word), (off_t)address),
	    sizeof(word));
}

/*
 * A thread of the loader or of libc may still be about to rest, and free a
 * block between the stop and the reading of the table.
 */
static void
must_be_read(void)
{
	enum mu_status status = MU_ERR_HEAP_INCONSISTENT;
	unsigned tries;

	for (tries = 0; tries < TRIES &&
	     (status != MU_OK || test.heap.blocks.count != test.table->live);
	     tries++) {
		if (tries > 0) {
			end_reading();
			usleep(20000);
		}
		status = read_heap();
	}
	ck_assert_msg(status == MU_OK, "%s", test.why.text);
}

static const struct {
	const char *threads, *rounds;
} churns[] = { { "1", "8000" }, { "2", "4000" }, { "8", "1000" },
	{ "64", "120" } };

TEST_LOOP(blocks_are_those_of_the_shim, 0, 4)
{
	if (!start(churns[_i].threads, churns[_i].rounds, NULL))
		return;
	must_be_read();
	must_agree();
	end_reading();
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
	must_be_read();
	must_agree();
	end_reading();
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
	if (_i == 1 && test.is_old) {
		printf("SKIPPED: 5.2 has no option hpa\n");
		return;
	}
	ck_assert_int_eq(read_heap(), MU_ERR_FOREIGN_ALLOCATOR);
	snprintf(words, sizeof(words), "its option %s,", refused[_i].name);
	ck_assert_msg(
	    strstr(test.why.text, words) != NULL, "%s", test.why.text);
	end_reading();
}

/*
 * A child has the tcaches of threads that it does not have, in no list: what
 * they hold cannot be told from blocks in use.
 */
TEST(a_fork_of_threads_is_refused)
{
	if (!start("4", "300", "fork"))
		return;
	ck_assert_int_eq(read_heap(), MU_ERR_HEAP_INCONSISTENT);
	ck_assert_ptr_nonnull(strstr(test.why.text, "threads forked"));
	end_reading();
}

/* One of a program without threads has all: its locks are new ones. */
TEST(a_fork_of_one_thread)
{
	if (!start("0", "8000", "fork"))
		return;
	must_be_read();
	must_agree();
	end_reading();
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

struct damage {
	uintptr_t address, change;
};

static void
must_be_refused(const struct damage *damage, size_t count)
{
	uintptr_t old;
	size_t i;

	for (i = 0; i < count; i++) {
		old = word_at(damage[i].address);
		set_word(damage[i].address, old ^ damage[i].change);
		ck_assert_msg(
		    read_heap() != MU_OK, "damage %zu was not noticed", i);
		ck_assert_ptr_null(strstr(test.why.text, "been inside"));
		printf("%zu: %s\n", i, test.why.text);
		end_reading();
		set_word(damage[i].address, old);
	}
}

static void
damage_tcache(const struct places *at)
{
	const struct damage damages[] = {
		{ at->slow, 16 }, { at->slow + MU_JE_SLOW_ARENA, 64 },
		{ at->stacks, 4096 }, { at->stacks + 8, 8 },
		{ at->slow + MU_JE_SLOW_DESCRIPTOR_BINS, 8 }, { at->stack, 1 },
		{ at->cache, 1 },               /* head */
		{ at->cache + 16, 8ull << 16 }, /* full */
		{ at->cache + 16, 8ull << 32 }, /* empty */
		{ word_at(at->cache), 8 },      /* a cached block */
	};

	must_be_refused(damages, sizeof(damages) / sizeof(*damages));
}

static void
damage_old_tcache(const struct places *at)
{
	uintptr_t end = at->slow + mu_je_small_end(at->sizes);
	uintptr_t count = word_at(at->cache) >> 32;
	const struct damage damages[] = {
		{ end, 16 }, { end + MU_JE_SMALL_ARENA, 64 },
		{ end + MU_JE_SMALL_DESCRIPTOR, 8 },
		{ end + MU_JE_SMALL_DESCRIPTOR + 8, 8 },
		{ at->cache, 1ull << 52 }, /* count */
		{ at->stacks, 1 }, { at->stacks, 1 << 20 },
		{ word_at(at->stacks) - count * 8, 8 }, /* a cached block */
	};

	must_be_refused(damages, sizeof(damages) / sizeof(*damages));
}

/* A process whose heap is right, and what may be damaged of it. */
static bool
start_damaged(struct places *at)
{
	if (!start("2", "2000", NULL))
		return false;
	must_be_read();
	find_places(at);
	end_reading();
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
	const struct damage damages[] = {
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
	must_be_refused(damages, sizeof(damages) / sizeof(*damages));
	if (release->extents)
		damage_old_tcache(&at);
	else
		damage_tcache(&at);
	must_be_read();
	must_agree();
	end_reading();
}

static uint64_t
any(void)
{
	static uint64_t seed = 88172645463325252ull;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* The address of a word of RANGE, of the first ones tried one that is not 0. */
static uintptr_t
any_place(const struct mu_range *range)
{
	size_t words = mu_range_size(*range) / sizeof(uintptr_t), tries;
	uintptr_t at = range->begin;

	for (tries = 0; tries < 64; tries++) {
		at = range->begin + any() % words * sizeof(uintptr_t);
		if (word_at(at) != 0)
			break;
	}
	return at;
}

/* Any words, and what others hold: whatever is read of that, it ends. */
TEST(any_damage)
{
	size_t count = suite_rounds("TESTS_PASSES", 20), i;
	uintptr_t place, old, word, block;
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
	for (i = 0; i < count; i++) {
		place = any_place(&ranges[any() % 7]);
		old = word_at(place);
		word = word_at(any_place(&ranges[any() % 7]));
		word = any() % 2 == 0 ? word : old ^ 1ull << any() % 64;
		set_word(place, word);
		read_heap();
		end_reading();
		set_word(place, old);
	}
	must_be_read();
	must_agree();
	end_reading();
}

SUITE(.teardown = stop);
