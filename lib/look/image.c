#include "lib/look/image.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mu/bisect.h"

static const void *
view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	struct mu_range range = { address, address + size };

	return range.end < address ? NULL
				   : mu_look_image_at(memory->ctx, range);
}

/* What was never written is not even read: it has no pages. */
static bool
populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	(void)memory;
	*part = range;
	return range.begin < range.end;
}

static const struct mu_memory_ops ops = {
	.name = "look",
	.view = view,
	.populated = populated,
};

static bool
reserve(struct mu_image_run *run)
{
	void *view_at =
	    mmap(NULL, mu_range_size(run->range), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	run->view = view_at == MAP_FAILED ? NULL : view_at;
	return run->view != NULL;
}

bool
mu_look_image_open(struct mu_look_image *image, struct mu_snapshot *snap,
    size_t limit, struct mu_arena *arena)
{
	struct mu_range range;
	size_t i;

	*image = (struct mu_look_image) { .limit = limit,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.page = UINTPTR_MAX };
	snap->memory = (struct mu_memory) { .ops = &ops,
		.page_size = image->page_size,
		.blind = true,
		.ctx = image };
	image->runs =
	    mu_arena_alloc(arena, snap->num_mappings + 1, sizeof(*image->runs));
	if (image->runs == NULL)
		return false;
	for (i = 0; i < snap->num_mappings; i++) {
		range = snap->mappings[i].range;
		if (image->num_runs > 0 &&
		    image->runs[image->num_runs - 1].range.end == range.begin)
			image->runs[image->num_runs - 1].range.end = range.end;
		else
			image->runs[image->num_runs++].range = range;
	}
	for (i = 0; i < image->num_runs; i++)
		if (!reserve(&image->runs[i]))
			return false;
	return true;
}

char *
mu_look_image_at(const struct mu_look_image *image, struct mu_range range)
{
	const struct mu_image_run *run;
	size_t low = 0;

	mu_bisect(
	    low, image->num_runs, i, image->runs[i].range.end <= range.begin);
	run = &image->runs[low];
	if (range.begin >= range.end || low == image->num_runs ||
	    range.begin < run->range.begin || range.end > run->range.end)
		return NULL;
	return run->view + (range.begin - run->range.begin);
}

bool
mu_look_image_put(
    struct mu_look_image *image, uintptr_t address, uintptr_t word)
{
	struct mu_range range = { address, address + sizeof(word) };
	char *at = range.end < address ? NULL : mu_look_image_at(image, range);
	uintptr_t page = address & -image->page_size;

	if (at == NULL)
		return false;
	if (page != image->page) {
		image->page = page;
		image->written += image->page_size;
		if (image->written > image->limit)
			return false;
	}
	memcpy(at, &word, sizeof(word));
	return true;
}

void
mu_look_image_close(struct mu_look_image *image)
{
	size_t i;

	for (i = 0; i < image->num_runs; i++)
		if (image->runs[i].view != NULL)
			munmap(image->runs[i].view,
			    mu_range_size(image->runs[i].range));
	image->num_runs = 0;
}
