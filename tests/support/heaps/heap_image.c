#include "tests/support/heaps/heap_image.h"

struct heap_image_run *
heap_image_run_of(struct heap_image *image, uintptr_t address)
{
	size_t i;

	for (i = 0; i < image->num_runs; i++)
		if (mu_range_has(image->runs[i].range, address))
			return &image->runs[i];
	return NULL;
}

static const void *
heap_image_view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	struct heap_image *image = memory->ctx;
	struct heap_image_run *run = heap_image_run_of(image, address);

	if (run == NULL)
		return image->live.ops->view(&image->live, address, size);
	if (size == 0 || size > run->range.end - address)
		return NULL;
	return run->copy + (address - run->range.begin);
}

static bool
heap_image_populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	struct heap_image *image = memory->ctx;
	size_t i;

	for (i = 0; i < image->num_parts; i++) {
		*part = image->parts[i];
		if (part->begin < range.begin)
			part->begin = range.begin;
		if (part->end > range.end)
			part->end = range.end;
		if (part->begin < part->end)
			return true;
	}
	return false;
}

static const struct mu_memory_ops heap_image_ops = {
	.name = "image",
	.view = heap_image_view,
	.populated = heap_image_populated,
};

static void
heap_image_copy(struct heap_image *image, struct heap_image_run *run)
{
	struct mu_range rest = run->range, part;

	run->copy =
	    mmap(NULL, mu_range_size(run->range), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(run->copy, MAP_FAILED);
	while (rest.begin < rest.end &&
	    image->live.ops->populated(&image->live, rest, &part)) {
		memcpy(run->copy + (part.begin - run->range.begin),
		    (const void *)part.begin, mu_range_size(part));
		ck_assert_uint_lt(image->num_parts, HEAP_IMAGE_PARTS);
		image->parts[image->num_parts++] = part;
		rest.begin = part.end;
	}
}

void
heap_image_take(
    struct heap_image *image, struct mu_thread *threads, size_t num_threads)
{
	struct mu_snapshot *snap = &image->self.snap;
	const struct mu_mapping *mapping;
	struct heap_image_run *run = NULL;
	size_t i;

	image->num_runs = image->num_parts = 0;
	ck_assert_int_eq(
	    self_snapshot_take(&image->self, threads, num_threads), MU_OK);
	image->live = snap->memory;
	for (i = 0; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		if (!mapping->writable || mapping->shared ||
		    !mu_mapping_is_memory(mapping))
			continue;
		if (run != NULL && run->range.end == mapping->range.begin) {
			run->range.end = mapping->range.end;
			continue;
		}
		ck_assert_uint_lt(image->num_runs, HEAP_IMAGE_RUNS);
		run = &image->runs[image->num_runs++];
		run->range = mapping->range;
	}
	for (i = 0; i < image->num_runs; i++)
		heap_image_copy(image, &image->runs[i]);
	snap->memory.ops = &heap_image_ops;
	snap->memory.ctx = image;
}

void
heap_image_release(struct heap_image *image)
{
	size_t i;

	for (i = 0; i < image->num_runs; i++)
		munmap(
		    image->runs[i].copy, mu_range_size(image->runs[i].range));
	image->self.snap.memory = image->live;
	self_snapshot_release(&image->self);
}

uintptr_t *
heap_image_word(struct heap_image *image, uintptr_t address)
{
	struct heap_image_run *run = heap_image_run_of(image, address);

	ck_assert_msg(run != NULL, "%p is not in the image", (void *)address);
	return (uintptr_t *)(run->copy + (address - run->range.begin));
}

struct heap_reading_fill {
	struct heap_reading *reading;
	size_t next;
};

static bool
heap_reading_add(void *ctx, const struct mu_block *block)
{
	struct heap_reading_fill *fill = ctx;
	struct heap_reading *reading = fill->reading;
	bool keep = block->listed != NULL && block->listed->keep;

	ck_assert_uint_lt(fill->next, reading->count);
	reading->blocks[fill->next] = block->range;
	reading->kept[fill->next++] = keep;
	reading->num_kept += keep;
	return true;
}

void
heap_image_read(struct heap_image *image, struct heap_reading *reading)
{
	struct heap_reading_fill fill = { reading, 0 };
	struct mu_heap heap;

	*reading = (struct heap_reading) { 0 };
	mu_arena_open(&reading->arena, (size_t)1 << 30);
	reading->status = mu_heaps_list(
	    &heap, &image->self.snap, &reading->arena, &reading->why);
	if (reading->status != MU_OK && reading->status != MU_PARTIAL)
		return;
	reading->count = heap.blocks.count;
	reading->unproven_bytes = heap.unproven_bytes;
	reading->blocks = mu_arena_alloc(
	    &reading->arena, reading->count + 1, sizeof(*reading->blocks));
	reading->kept = mu_arena_alloc(
	    &reading->arena, reading->count + 1, sizeof(*reading->kept));
	mu_blocks_each(&heap.blocks, heap_reading_add, &fill);
	ck_assert_uint_eq(fill.next, reading->count);
}

void
heap_reading_close(struct heap_reading *reading)
{
	mu_arena_close(&reading->arena);
}

ssize_t
heap_reading_find(const struct heap_reading *reading, uintptr_t address)
{
	size_t low = 0, high = reading->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (reading->blocks[middle].begin < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reading->count && reading->blocks[low].begin == address
	    ? (ssize_t)low
	    : -1;
}

bool
heap_reading_same(const struct heap_reading *a, const struct heap_reading *b)
{
	return a->count == b->count &&
	    (a->count == 0 ||
		memcmp(a->blocks, b->blocks, a->count * sizeof(*a->blocks)) ==
		    0);
}
