#include "tests/support/heaps/shimmed.h"

#include "heapwalk/heaps/found.h"
#include "heapwalk/subject/classify.h"
#include "mu/sys.h"
#include "tests/support/built.h"
#include "tests/support/suite.h"

#define TRIES 50

void
shimmed_start(struct shimmed *test, const char *threads, const char *rounds,
    const char *fork_word)
{
	char program[PATH_MAX], shim[PATH_MAX], preload[2 * PATH_MAX];
	char line[128];
	int out[2], file;

	built_path("tests/live/victims/victim_jemalloc", program);
	built_path("tests/support/heaps/jemalloc_shim.so", shim);
	snprintf(preload, sizeof(preload), "%s %s", shim, test->library);
	strcpy(test->path, "/tmp/mu-jemalloc-XXXXXX");
	file = mkstemp(test->path);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(ftruncate(file, sizeof(*test->table)), 0);
	test->table =
	    mmap(NULL, sizeof(*test->table), PROT_READ, MAP_SHARED, file, 0);
	ck_assert_ptr_ne(test->table, MAP_FAILED);
	close(file);
	ck_assert_int_eq(pipe(out), 0);
	test->pid = fork();
	if (test->pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		/* Its input is ours: a pipe without data. */
		ck_assert_int_eq(pipe(out), 0);
		dup2(out[0], STDIN_FILENO);
		setenv("SHIM_TABLE", test->path, 1);
		setenv("LD_PRELOAD", preload, 1);
		execl(program, program, threads, rounds, fork_word, NULL);
		_exit(127);
	}
	close(out[1]);
	test->out = fdopen(out[0], "r");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), test->out));
	ck_assert_int_eq(
	    sscanf(line, "ready %d %63s", &test->child, test->version), 2);
	snprintf(line, sizeof(line), "/proc/%d/mem", test->child);
	test->memory = open(line, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(test->memory, 0);
}

void
shimmed_stop(struct shimmed *test)
{
	if (test->pid == 0)
		return;
	kill(test->child, SIGKILL);
	kill(test->pid, SIGKILL);
	waitpid(test->pid, NULL, 0);
	unlink(test->path);
}

enum mu_status
shimmed_read(struct shimmed *test)
{
	enum mu_status status;

	mu_arena_open(&test->arena, SIZE_MAX / 2);
	test->why.text[0] = '\0';
	test->heap = (struct mu_heap) { .transient = false };
	test->member = (struct mu_heap_member) { .ops = test->ops };
	mu_blocks_open(&test->heap.blocks, &test->arena);
	mu_ranges_open(&test->heap.owned, &test->arena);
	test->keeper = (struct mu_keeper) {
		.target = test->child,
		.method = MU_KEEPER_AUTO,
		.deadline_ns = mu_sys_now_ns() + 60 * MU_NS_PER_SEC,
		.max_pause_ns = 60 * MU_NS_PER_SEC,
		.limit = SIZE_MAX / 2,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
	};
	status = mu_keeper_take(&test->keeper);
	ck_assert_msg(status == MU_OK, "%s", test->keeper.result.why.text);
	status = test->member.ops->detect(
	    &test->member, &test->keeper.snap, &test->arena, &test->why);
	if (status == MU_OK && test->member.state == NULL)
		status = MU_ERR_FOREIGN_ALLOCATOR;
	if (status == MU_OK)
		status = test->member.ops->list(&test->heap, &test->member,
		    &test->keeper.snap, &test->arena, &test->why);
	return status;
}

void
shimmed_end(struct shimmed *test)
{
	mu_keeper_end(&test->keeper);
	mu_arena_close(&test->arena);
}

struct own {
	const struct shimmed *test;
	size_t count;
};

/* An object that begins with the table of its functions. */
static bool
see_own(void *ctx, const struct mu_block *block)
{
	struct own *own = ctx;
	const struct mu_heap_found *found = own->test->member.state;
	const struct mu_mapping *mapping;
	uintptr_t word;

	if (mu_range_size(block->range) > 16)
		return true;
	memcpy(&word, block->view, sizeof(word));
	mapping = mu_snapshot_mapping(&own->test->keeper.snap, word);
	own->count +=
	    mapping != NULL && mu_mapping_same_file(mapping, found->file);
	return true;
}

/* The number of blocks that the allocator, in C++, has for itself. */
static size_t
count_own(const struct shimmed *test)
{
	struct own own = { .test = test };

	mu_blocks_each(&test->heap.blocks, see_own, &own);
	return own.count;
}

/*
 * The block of a slot. tcmalloc names no size before it is ready. Of an aligned
 * block the program may have an address behind its begin: the end is the same.
 */
static void
compare(struct shimmed *test, const struct shim_slot *slot)
{
	struct mu_block block;

	if (!mu_blocks_find(&test->heap.blocks, slot->address, &block) ||
	    (!test->inside && block.range.begin != slot->address)) {
		test->missing++;
		return;
	}
	test->differing += slot->usable != 0 &&
	    slot->address + slot->usable != block.range.end;
	test->extra -= mu_block_mark(&block);
}

void
shimmed_must_agree(struct shimmed *test)
{
	const struct shim_slot *slots = test->table->slots;
	struct mu_blocks *blocks = &test->heap.blocks;
	size_t i, live = 0, own = count_own(test);

	test->missing = test->differing = 0;
	test->extra = mu_blocks_number(blocks) - own;
	ck_assert(mu_blocks_unmark(blocks, &test->arena, blocks->count));
	for (i = 0; i < SHIM_SLOTS; i++) {
		if (slots[i].address <= SHIM_GONE)
			continue;
		compare(test, &slots[i]);
		live++;
	}
	printf("%d: %zu blocks, %zu missing, %zu too many, %zu of another"
	       " size\n",
	    (int)test->child, blocks->count, test->missing, test->extra,
	    test->differing);
	ck_assert_uint_eq(blocks->count - own, live);
	ck_assert_uint_gt(blocks->count, 100);
	ck_assert_uint_eq(test->missing + test->extra + test->differing, 0);
}

uintptr_t
shimmed_word(const struct shimmed *test, uintptr_t address)
{
	uintptr_t word = 0;

	ck_assert_int_eq(
	    pread(test->memory, &word, sizeof(word), (off_t)address),
	    sizeof(word));
	return word;
}

void
shimmed_set(const struct shimmed *test, uintptr_t address, uintptr_t word)
{
	ck_assert_int_eq(
	    pwrite(test->memory, &word, sizeof(word), (off_t)address),
	    sizeof(word));
}

/*
 * A thread of the loader or of libc may still be about to rest, and free a
 * block between the stop and the reading of the table.
 */
void
shimmed_must_be_read(struct shimmed *test)
{
	enum mu_status status = MU_ERR_HEAP_INCONSISTENT;
	unsigned tries;

	for (tries = 0; tries < TRIES &&
	     (status != MU_OK ||
		 test->heap.blocks.count - count_own(test) !=
		     test->table->live);
	     tries++) {
		if (tries > 0) {
			shimmed_end(test);
			usleep(20000);
		}
		status = shimmed_read(test);
	}
	ck_assert_msg(status == MU_OK, "%s", test->why.text);
}

void
shimmed_must_be_refused(
    struct shimmed *test, const struct shimmed_damage *damage, size_t count)
{
	uintptr_t old;
	size_t i;

	for (i = 0; i < count; i++) {
		old = shimmed_word(test, damage[i].address);
		shimmed_set(test, damage[i].address, old ^ damage[i].change);
		ck_assert_msg(shimmed_read(test) != MU_OK,
		    "damage %zu was not noticed", i);
		ck_assert_ptr_null(strstr(test->why.text, "been inside"));
		printf("%zu: %s\n", i, test->why.text);
		shimmed_end(test);
		shimmed_set(test, damage[i].address, old);
	}
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
any_place(const struct shimmed *test, const struct mu_range *range)
{
	size_t words = mu_range_size(*range) / sizeof(uintptr_t), tries;
	uintptr_t at = range->begin;

	for (tries = 0; tries < 64; tries++) {
		at = range->begin + any() % words * sizeof(uintptr_t);
		if (shimmed_word(test, at) != 0)
			break;
	}
	return at;
}

void
shimmed_damage_any(struct shimmed *test, const struct mu_range *ranges,
    size_t num_ranges, size_t count)
{
	uintptr_t place, old, word;
	size_t i;

	for (i = 0; i < count; i++) {
		place = any_place(test, &ranges[any() % num_ranges]);
		old = shimmed_word(test, place);
		word = shimmed_word(
		    test, any_place(test, &ranges[any() % num_ranges]));
		word = any() % 2 == 0 ? word : old ^ 1ull << any() % 64;
		shimmed_set(test, place, word);
		shimmed_read(test);
		shimmed_end(test);
		shimmed_set(test, place, old);
	}
}
