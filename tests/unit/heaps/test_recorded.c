/*
 * heapwalk/recorded/recorded.c: reading a recorder's tables, also damaged ones.
 */
#include "heapwalk/recorded/recorded.h"
#include "tests/support/heaps/fake_heap.h"
#include "tests/support/heaps/fake_recorder.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

#define FRAMES 5

static struct fake_recorder fake;
static struct mu_recorder recorder;
static struct mu_snapshot snap;
static const uintptr_t calls[FRAMES] = { 0x1001, 0x2002, 0x3003, 0x4004,
	0x5005 };

static void
setup(void)
{
	image_setup();
	memset(&recorder, 0, sizeof(recorder)); /* it has the magic, too */
	fake_recorder_open(&fake);
	snap = (struct mu_snapshot) { .pid = getpid() };
}

static void
teardown(void)
{
	fake_recorder_close(&fake);
	image_teardown();
}

/* The mappings are those of now. */
static bool
open_recorder(void)
{
	image_open(&snap);
	return mu_recorder_open(
	    &recorder, &snap, (uintptr_t)&fake.header, &image.arena);
}

static struct mu_recorded_block
find(uintptr_t begin, size_t usable)
{
	struct mu_recorded_block found;

	ck_assert(mu_recorder_find(
	    &recorder, (struct mu_range) { begin, begin + usable }, &found));
	return found;
}

static void
expect_stack(uint32_t stack, size_t count)
{
	uintptr_t frames[MU_STACK_MAX_FRAMES];

	ck_assert_uint_eq(
	    mu_recorder_stack(&recorder, stack, frames, MU_STACK_MAX_FRAMES),
	    count);
	ck_assert_mem_eq(frames, calls, count * sizeof(*frames));
}

TEST(block_and_stack)
{
	uint32_t stack = fake_recorder_stack(&fake, calls, FRAMES);
	struct mu_recorded_block found;
	uintptr_t frames[2];

	fake_recorder_block(&fake, (void *)0x10000010, 100, stack, false);
	fake_recorder_block(
	    &fake, (void *)0x7f0000000040, 9, MU_STACK_EMPTY, true);
	ck_assert(open_recorder());
	found = find(0x10000010, 104);
	ck_assert_uint_eq(found.range.begin, 0x10000010);
	ck_assert_uint_eq(found.range.end, 0x10000010 + 100);
	ck_assert(!found.freed);
	expect_stack(found.stack, FRAMES);
	ck_assert_uint_eq(
	    mu_recorder_stack(&recorder, found.stack, frames, 2), 2);
	found = find(0x7f0000000040, 24);
	ck_assert(found.freed);
	expect_stack(found.stack, 0);
	ck_assert(!mu_recorder_find(
	    &recorder, (struct mu_range) { 0x10000080, 0x10000100 }, &found));
	ck_assert(!mu_recorder_find(
	    &recorder, (struct mu_range) { 0x20000080, 0x20000100 }, &found));
}

/* More than 30 bits of size; and a block at the end of a span. */
TEST(sizes_and_seams)
{
	uintptr_t large = 0x7f0000000010, seam = 0x12000000 - 16;
	size_t size = ((size_t)5 << 30) + 77;

	fake_recorder_block(&fake, (void *)large, size, MU_STACK_OFF, false);
	fake_recorder_block(&fake, (void *)seam, 20, MU_STACK_OFF, false);
	ck_assert(open_recorder());
	ck_assert_uint_eq(mu_range_size(find(large, size + 4000).range), size);
	ck_assert_uint_eq(mu_range_size(find(seam, 24).range), 20);
	/* No block is larger than what there is of it. */
	ck_assert_uint_eq(mu_range_size(find(seam, 18).range), 18);
}

/* Guards lie before what the program knows. */
TEST(guarded_blocks)
{
	struct mu_recorded_block found;

	fake_recorder_block(&fake, (void *)0x30000040, 50, MU_STACK_OFF, false);
	fake.header.max_guard = 0x30;
	ck_assert(open_recorder());
	ck_assert(!mu_recorder_find(
	    &recorder, (struct mu_range) { 0x30000010, 0x300000a0 }, &found));
	fake.header.flags |= MU_RECORDED_GUARDED;
	ck_assert(open_recorder());
	found = find(0x30000010, 0x90);
	ck_assert_uint_eq(found.range.begin, 0x30000040);
	ck_assert_uint_eq(found.range.end, 0x30000040 + 50);
	/* Too far behind the beginning. */
	ck_assert(!mu_recorder_find(
	    &recorder, (struct mu_range) { 0x30000000, 0x300000a0 }, &found));
	/* Another block's. */
	ck_assert(!mu_recorder_find(
	    &recorder, (struct mu_range) { 0x30000020, 0x30000040 }, &found));
}

/* LeakTracer's slots lead to stacks, not to slots. */
TEST(slot_leads_to_stack)
{
	struct mu_stack head = { .flags = MU_STACK_SLOT };
	uint32_t stack = fake_recorder_stack(&fake, calls, FRAMES);
	uint32_t slots[2], i, none[2];
	char *base = (char *)fake.depot[0];

	for (i = 0; i < 2; i++) {
		slots[i] = fake_recorder_stack(&fake, calls, 2);
		memcpy(base + slots[i] * MU_DEPOT_UNIT, &head, sizeof(head));
		none[0] = i == 0 ? stack : slots[1];
		memcpy(base + slots[i] * MU_DEPOT_UNIT +
			offsetof(struct mu_stack_slot, stack),
		    none, sizeof(none[0]));
	}
	fake_recorder_block(&fake, (void *)0x1000, 1, slots[0], false);
	ck_assert(open_recorder());
	expect_stack(slots[0], FRAMES);
	expect_stack(slots[1], 0); /* itself */
}

TEST(not_a_recorder)
{
	fake_recorder_block(&fake, (void *)0x1000, 1, MU_STACK_OFF, false);
	fake.header.magic[15] ^= 1;
	ck_assert(!open_recorder());
	fake.header.magic[15] ^= 1;
	fake.header.version++;
	ck_assert(!open_recorder());
	fake.header.version--;
	fake.header.size--;
	ck_assert(!open_recorder());
	fake.header.size++;
	fake.header.directory++;
	ck_assert(!open_recorder());
	fake.header.directory = UINT64_MAX - 7;
	ck_assert(!open_recorder());
	fake.header.directory = 0;
	ck_assert(!open_recorder());
	ck_assert(!mu_recorder_open(&recorder, &snap, 16, &image.arena));
	fake.header.directory = (uint64_t)fake.directory;
	ck_assert(open_recorder());
}

/* A depot that claims more than there is. */
TEST(stacks_that_are_cut)
{
	uint32_t last = (1u << MU_DEPOT_BLOCK_SHIFT) - 1;
	struct mu_stack head = { .num_frames = 1 };
	char *base = (char *)fake.depot[0];

	memcpy(base + (size_t)last * MU_DEPOT_UNIT, &head, sizeof(head));
	head.num_frames = MU_STACK_MAX_FRAMES + 1;
	memcpy(base + 100 * MU_DEPOT_UNIT, &head, sizeof(head));
	fake_recorder_block(&fake, (void *)0x1000, 1, 100, false);
	fake.depot[1] = 8;
	fake.depot[2] = UINT64_MAX - 7;
	fake.depot[MU_DEPOT_BLOCKS - 1] = (uint64_t)fake.directory + 4;
	ck_assert(open_recorder());
	expect_stack(last, 0);
	expect_stack(100, 0);
	expect_stack(1u << MU_DEPOT_BLOCK_SHIFT, 0);
	expect_stack(2u << MU_DEPOT_BLOCK_SHIFT, 0);
	expect_stack((MU_DEPOT_BLOCKS - 1) << MU_DEPOT_BLOCK_SHIFT, 0);
	expect_stack(UINT32_MAX >> 4, 0);
	expect_stack(UINT32_MAX, 0);
	expect_stack(0, 0);
	memset(fake.depot, 0, MU_DEPOT_BLOCKS * sizeof(*fake.depot));
}

/* Every entry of the directory is the same span: no more are taken than fit. */
TEST(directory_full_of_one_span)
{
	size_t i, bytes = 0;

	fake_recorder_block(&fake, (void *)0x1000, 1, MU_STACK_OFF, false);
	fake.header.lowest = 0;
	fake.header.highest = UINT64_MAX;
	for (i = 1; i < MU_SHADOW_SPANS; i++)
		fake.directory[i] = fake.directory[0];
	ck_assert(open_recorder());
	for (i = 0; i < snap.num_mappings; i++)
		bytes += mu_range_size(snap.mappings[i].range);
	ck_assert_uint_le(recorder.num_spans, bytes / FAKE_SPAN_SIZE);
	memset(fake.directory + 1, 0, (MU_SHADOW_SPANS - 1) * 8);
	fake.header.lowest = fake.header.highest = 0x1000;
}

/* Tables are left out of the roots, but nothing else that is claimed to be. */
TEST(tables_are_anonymous)
{
	static char variables[1 << 20] __attribute__((aligned(16))) = "x";
	size_t i;

	fake_recorder_block(&fake, (void *)0x1000, 1, MU_STACK_OFF, false);
	fake.depot[3] = (uint64_t)variables;
	ck_assert(open_recorder());
	fake.depot[3] = 0;
	/* header, directory, span, depot's directory, one block of it */
	ck_assert_uint_eq(recorder.num_tables, 5);
	for (i = 0; i < recorder.num_tables; i++)
		ck_assert_uint_ne(
		    recorder.tables[i].begin, (uintptr_t)variables);
}

static void
damage(uint32_t *words, size_t count, size_t times)
{
	for (; times > 0; times--)
		words[(size_t)rand() % count] =
		    (uint32_t)rand() << 16 ^ (uint32_t)rand();
}

static void
damage_about(size_t at)
{
#ifdef __SANITIZE_ADDRESS__
	/* These would lead into what the sanitizer keeps for itself. */
	if (at >= offsetof(struct mu_recorded, directory) &&
	    at < offsetof(struct mu_recorded, sample_bytes))
		return;
#endif
	((unsigned char *)&fake.header)[at] = (unsigned char)rand();
}

static void
ask_anything(void)
{
	uintptr_t frames[MU_STACK_MAX_FRAMES], begin;
	struct mu_recorded_block found;
	struct mu_range range;
	size_t i;

	for (i = 0; i < 2000; i++) {
		begin = 0x40000000 + (size_t)rand() % 80000;
		range =
		    (struct mu_range) { begin, begin + (size_t)rand() % 4096 };
		if (!mu_recorder_find(&recorder, range, &found))
			continue;
		ck_assert_uint_ge(found.range.begin, range.begin);
		ck_assert_uint_le(found.range.begin, found.range.end);
		ck_assert_uint_le(found.range.end, range.end);
		ck_assert_uint_le(mu_recorder_stack(&recorder, found.stack,
				      frames, MU_STACK_MAX_FRAMES),
		    MU_STACK_MAX_FRAMES);
	}
}

/* Any damage anywhere: answers may be wrong, but come, and soon. */
TEST(random_damage)
{
	struct mu_recorded intact;
	uint32_t stack, i, round;

	stack = fake_recorder_stack(&fake, calls, FRAMES);
	for (i = 0; i < 1000; i++)
		fake_recorder_block(&fake,
		    (void *)(uintptr_t)(0x40000010 + i * 64), 40, stack, false);
	intact = fake.header;
	for (round = 0; round < 300; round++) {
		srand(round + 1);
		fake.header.flags |= (uint32_t)rand();
		fake.header.max_guard = (uint64_t)rand() << (rand() % 40);
		damage_about(16 + (size_t)rand() % (sizeof(intact) - 16));
		damage(fake_recorder_word(&fake, 0x40000000), 5000, 3000);
		damage((uint32_t *)fake.depot[0], 2000, 200);
		if (open_recorder())
			ask_anything();
		fake.header = intact;
		mu_arena_close(&image.arena);
	}
}

/* What the program freed is no block; the others stay. */
TEST_LOOP(held_back_blocks_are_dropped, 0, FAKE_KINDS)
{
	struct mu_deadline deadline = { .ns = UINT64_MAX };
	struct mu_block block;
	struct fake_heap heap;
	void *made[40];
	size_t i, bytes = 0, count = 0;

	fake_heap_open(&heap, _i, 1 << 20);
	for (i = 0; i < 40; i++) {
		made[i] = fake_block(&heap, 48, false);
		if (i % 4 != 3)
			fake_recorder_block(
			    &fake, made[i], 48, MU_STACK_OFF, i % 2 != 0);
	}
	fake_heap_seal(&heap);
	ck_assert(open_recorder());
	for (i = 0; i < 40; i++)
		if (i % 4 == 1)
			bytes += fake_usable(&heap, 48);
	ck_assert_uint_eq(
	    mu_recorder_drop_freed(&recorder, &heap.blocks, &deadline), bytes);
	for (i = 0; i < 40; i++) {
		ck_assert(mu_blocks_find(&heap.blocks, (uintptr_t)made[i],
			      &block) == (i % 4 != 1));
		count += i % 4 != 1;
	}
	ck_assert_uint_eq(heap.blocks.count, count);
	ck_assert_uint_eq(heap.blocks.bytes, count * fake_usable(&heap, 48));
	fake_heap_close(&heap);
}

/* In .data or .bss of any module; a text in other memory is none. */
TEST(place_by_magic)
{
	static struct mu_recorded variable MU_RECORDED_ALIGNED;
	char *guarded = fake_recorder_map(3 * 4096);
	struct mu_recorded *mapped = (struct mu_recorded *)(guarded + 4096);

	/* A neighbour of a module's .bss would be one mapping with it. */
	mprotect(guarded, 4096, PROT_NONE);
	mprotect(guarded + 2 * 4096, 4096, PROT_NONE);
	image_open(&snap);
	ck_assert_uint_eq(mu_recorded_find(&snap), (uintptr_t)&fake.header);
	*mapped = variable = fake.header;
	memset(&fake.header, 0, sizeof(fake.header));
	image_open(&snap);
	ck_assert_uint_eq(mu_recorded_find(&snap), (uintptr_t)&variable);
	variable.version++;
	ck_assert_uint_eq(mu_recorded_find(&snap), 0);
	munmap(guarded, 3 * 4096);
}

static void
put_module(struct mu_recorded_module *module, uint64_t start, const char *path,
    uint32_t gone)
{
	*module = (struct mu_recorded_module) {
		.start = start,
		.end = start + 0x100,
		.offset = 0x1000,
		.path = (uintptr_t)path,
		.id = (uintptr_t) "ab12",
		.path_size = (uint32_t)strlen(path) + 1,
		.id_size = sizeof("ab12"),
		.gone = gone,
		.first = UINT32_MAX,
	};
}

/* Address 0x9050 was in two modules, one after the other, and a third came. */
TEST(frames_of_modules)
{
	static struct mu_recorded_module modules[3];
	const uint64_t older = 0x9050 | (uint64_t)1 << 48;
	const uint64_t newer = 0x9050 | (uint64_t)2 << 48;

	put_module(&modules[0], 0x9000, "/older", 3);
	put_module(&modules[1], 0x9010, "/newer", 5);
	ck_assert_uint_eq(mu_recorded_frame(modules, 2, 0x9050), older);
	ck_assert_uint_eq(
	    mu_recorded_frame(modules, 2, 0x9050 | (uint64_t)3 << 48), newer);
	ck_assert_uint_eq(
	    mu_recorded_frame(modules, 2, 0x9050 | (uint64_t)5 << 48), 0x9050);
	ck_assert_uint_eq(
	    mu_recorded_frame(modules, 2, 0x9108), 0x9108 | (uint64_t)2 << 48);
	ck_assert_uint_eq(mu_recorded_frame(modules, 2, 0x8fff), 0x8fff);
	ck_assert_uint_eq(mu_recorded_frame(NULL, 0, newer), 0x9050);
	/* The vsyscall page. */
	ck_assert_uint_eq(mu_recorded_frame(modules, 2, 0xffffffffff600000),
	    0xffffffffff600000);
	/* Still there, and loaded again. */
	put_module(&modules[2], 0x9000, "/older", 0);
	ck_assert_uint_eq(
	    mu_recorded_frame(modules, 3, 0x9050 | (uint64_t)5 << 48), 0x9050);
	modules[2].gone = 6;
	modules[2].first = 0;
	ck_assert_uint_eq(
	    mu_recorded_frame(modules, 3, 0x9050 | (uint64_t)6 << 48), 0x9050);
	modules[2].again = MU_MODULE_SAME;
	ck_assert_uint_eq(
	    mu_recorded_frame(modules, 3, 0x9050 | (uint64_t)6 << 48), older);
	modules[2].again = MU_MODULE_OTHER;
	ck_assert_uint_eq(
	    mu_recorded_frame(modules, 3, 0x9050 | (uint64_t)6 << 48), 0x9050);
	ck_assert_uint_eq(
	    mu_recorded_frame(modules, 3, 0x9050 | (uint64_t)5 << 48), older);
}

TEST(unloaded_modules)
{
	static struct mu_recorded_module modules[9];

	put_module(&modules[0], 0x9000, "/older", 1);
	put_module(&modules[1], 0x9010, "/newer", 7);
	put_module(&modules[2], 0x5000, "/first", 2);
	put_module(&modules[3], 0x7000, "/there", 0);
	put_module(&modules[4], 0x3000, "relative", 3);
	put_module(&modules[5], 0x2000, "/unended", 4);
	modules[5].path_size--;
	put_module(&modules[6], 0x1000, "/nowhere", 5);
	modules[6].id = 8;
	put_module(&modules[7], 0x800, "/turned", 6);
	modules[7].end = modules[7].start;
	put_module(&modules[8], (uint64_t)1 << 48, "/high", 8);
	fake.header.modules = (uintptr_t)modules;
	fake.header.num_modules = 9;
	ck_assert(open_recorder());
	ck_assert_uint_eq(recorder.num_unloaded, 3);
	ck_assert_str_eq(recorder.unloaded[0].path, "/older");
	ck_assert_uint_eq(
	    recorder.unloaded[0].range.begin, 0x9000 | (uint64_t)1 << 48);
	ck_assert_str_eq(recorder.unloaded[1].path, "/newer");
	ck_assert_str_eq(recorder.unloaded[1].build_id, "ab12");
	ck_assert_uint_eq(
	    recorder.unloaded[1].range.end, 0x9110 | (uint64_t)2 << 48);
	ck_assert_str_eq(recorder.unloaded[2].path, "/first");
	ck_assert(mu_recorder_open_names(
	    &recorder, &snap, (uintptr_t)&fake.header, true, &image.arena));
	ck_assert_uint_eq(recorder.num_unloaded, 3);
	/*
	 * A list of modules that cannot be read does not make the recorder
	 * unusable.
	 */
	fake.header.modules = 8;
	ck_assert(open_recorder());
	ck_assert_uint_eq(recorder.num_unloaded, 0);
	fake.header.num_modules = UINT64_MAX;
	ck_assert(open_recorder());
	fake.header.modules = UINT64_MAX - 7;
	ck_assert(open_recorder());
	ck_assert_uint_eq(recorder.num_unloaded, 0);
}

SUITE(.setup = setup, .teardown = teardown);
