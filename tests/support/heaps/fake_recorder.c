#include "tests/support/heaps/fake_recorder.h"
#define FAKE_DIRECTORY_SIZE ((size_t)MU_SHADOW_SPANS * sizeof(uint64_t))
#define FAKE_DEPOT_SIZE ((size_t)MU_DEPOT_UNIT << MU_DEPOT_BLOCK_SHIFT)

void *
fake_recorder_map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

void
fake_recorder_open(struct fake_recorder *fake)
{
	*fake = (struct fake_recorder) { .next = MU_STACK_FIRST };
	fake->directory = fake_recorder_map(FAKE_DIRECTORY_SIZE);
	fake->depot = fake_recorder_map(MU_DEPOT_BLOCKS * sizeof(*fake->depot));
	fake->depot[0] = (uint64_t)fake_recorder_map(FAKE_DEPOT_SIZE);
	fake->header = (struct mu_recorded) {
		.version = MU_RECORDED_VERSION,
		.size = sizeof(fake->header),
		.flags = MU_RECORDED_STACKS,
		.max_frames = 16,
		.directory = (uint64_t)fake->directory,
		.depot = (uint64_t)fake->depot,
		.lowest = UINT64_MAX,
	};
	memcpy(
	    fake->header.magic, MU_RECORDED_MAGIC, sizeof(fake->header.magic));
}

void
fake_recorder_close(struct fake_recorder *fake)
{
	size_t i;

	for (i = 0; i < MU_DEPOT_BLOCKS; i++)
		if (fake->depot[i] != 0)
			munmap((void *)fake->depot[i], FAKE_DEPOT_SIZE);
	for (i = fake->header.lowest >> MU_SHADOW_SPAN_SHIFT;
	     i <= fake->header.highest >> MU_SHADOW_SPAN_SHIFT; i++)
		if (fake->directory[i] != 0)
			munmap((void *)fake->directory[i], FAKE_SPAN_SIZE);
	munmap(fake->directory, FAKE_DIRECTORY_SIZE);
	munmap(fake->depot, MU_DEPOT_BLOCKS * sizeof(*fake->depot));
}

uint32_t *
fake_recorder_word(struct fake_recorder *fake, uintptr_t address)
{
	uint64_t *span = &fake->directory[address >> MU_SHADOW_SPAN_SHIFT];

	if (*span == 0)
		*span = (uint64_t)fake_recorder_map(FAKE_SPAN_SIZE);
	return (uint32_t *)*span +
	    (address >> MU_SHADOW_WORD_SHIFT & (MU_SHADOW_WORDS - 1));
}

uint32_t
fake_recorder_stack(
    struct fake_recorder *fake, const uintptr_t *frames, size_t count)
{
	struct mu_stack head = { .num_frames = (uint16_t)count };
	size_t size = sizeof(head) + count * sizeof(*frames);
	uint32_t unit,
	    units = (uint32_t)((size + MU_DEPOT_UNIT - 1) / MU_DEPOT_UNIT);
	uint64_t *block;
	char *at;

	unit = fake->next;
	/* An entry lies within one block. */
	if ((unit + units - 1) >> MU_DEPOT_BLOCK_SHIFT !=
	    unit >> MU_DEPOT_BLOCK_SHIFT)
		unit = ((unit >> MU_DEPOT_BLOCK_SHIFT) + 1)
		    << MU_DEPOT_BLOCK_SHIFT;
	fake->next = unit + units;
	block = &fake->depot[unit >> MU_DEPOT_BLOCK_SHIFT];
	if (*block == 0)
		*block = (uint64_t)fake_recorder_map(FAKE_DEPOT_SIZE);
	at = (char *)*block +
	    (size_t)(unit & ((1u << MU_DEPOT_BLOCK_SHIFT) - 1)) * MU_DEPOT_UNIT;
	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), frames, count * sizeof(*frames));
	return unit;
}

void
fake_recorder_block(struct fake_recorder *fake, const void *block, size_t size,
    uint32_t stack, bool freed)
{
	uintptr_t begin = (uintptr_t)block;

	if (size < 1u << 30) {
		*fake_recorder_word(fake, begin + 16) = (uint32_t)size << 1;
	} else {
		*fake_recorder_word(fake, begin + 16) = MU_SHADOW_LARGE;
		*fake_recorder_word(fake, begin + 32) =
		    (uint32_t)(size & ((1u << 30) - 1)) << 1;
		*fake_recorder_word(fake, begin + 48) = (uint32_t)(size >> 30)
		    << 1;
	}
	*fake_recorder_word(fake, begin) =
	    mu_shadow_word(stack, MU_BLOCK_MALLOC) |
	    (freed ? MU_SHADOW_FREED : 0);
	if (begin < fake->header.lowest)
		fake->header.lowest = begin;
	if (begin + size > fake->header.highest)
		fake->header.highest = begin + size;
}
