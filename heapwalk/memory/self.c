#include "heapwalk/memory/self.h"

#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

const struct mu_mapping *
mu_memory_self_mapping(const struct mu_memory_self *self, uintptr_t address)
{
	return mu_mapping_from(self->mappings, self->num_mappings, address);
}

/* Most views are of the mapping of the last one, which is memory. */
static bool
is_in_last(const struct mu_memory_self *self, struct mu_range range)
{
	const struct mu_mapping *last =
	    __atomic_load_n(&self->last, __ATOMIC_RELAXED);

	return last != NULL && range.begin >= last->range.begin &&
	    range.end <= last->range.end;
}

static const void *
self_view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	struct mu_memory_self *self = memory->ctx;
	struct mu_range range = { address, 0 };

	if (size == 0 || __builtin_add_overflow(address, size, &range.end))
		return NULL;
	if (is_in_last(self, range))
		return (const void *)address;
	if (!mu_mappings_are_memory(self->mappings, self->num_mappings, range))
		return NULL;
	__atomic_store_n(&self->last, mu_memory_self_mapping(self, address),
	    __ATOMIC_RELAXED);
	return (const void *)address;
}

static bool
self_populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	struct mu_memory_self *self = memory->ctx;
	const struct mu_mapping *mapping, *end;
	struct mu_range inside;

	if (mu_range_size(range) == 0)
		return false;
	mapping = mu_memory_self_mapping(self, range.begin);
	end = self->mappings + self->num_mappings;
	for (; mapping != NULL && mapping < end; mapping++) {
		if (mapping->range.begin >= range.end)
			break;
		inside = mu_range_common(mapping->range, range);
		if (!mu_mapping_is_memory(mapping))
			continue;
		*part = inside;
		if (self->pages == NULL ||
		    mu_pages_next(self->pages, mapping, inside, part))
			return true;
	}
	return false;
}

/* What the image does not have (MADV_DONTFORK) reads as zeros, and counts. */
static bool
fill_missing(struct mu_memory *memory, struct mu_range range)
{
	size_t size = mu_range_size(range);

	if (mu_sys_failed(mu_sys_mmap((void *)range.begin, size, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE)))
		return false;
	memory->skipped_pages += size / memory->page_size;
	return true;
}

/* Modify only an image of our own, never the memory of the original. */
static bool
self_unlock(struct mu_memory *memory, const struct mu_mapping *mapping)
{
	const struct mu_memory_self *self = memory->ctx;

	return self->guarded &&
	    (mu_sys3(SYS_mprotect, (long)mapping->range.begin,
		 (long)mu_range_size(mapping->range), PROT_READ) == 0 ||
		fill_missing(memory, mapping->range));
}

static const struct mu_memory_ops ops = {
	.name = "self",
	.view = self_view,
	.populated = self_populated,
	.unlock = self_unlock,
};

/*
 * madvise() of length 0 fails only if the address is not a multiple of the page
 * size: 4, 16 or 64 KiB. The auxiliary vector belongs to the original's libc.
 */
static size_t
find_page_size(void)
{
	size_t size;

	for (size = 4096; size < 65536; size *= 2) {
		/* Refused for another reason: assume the usual size. */
		if (mu_sys3(SYS_madvise, (long)size, 0, MADV_NORMAL) != -EINVAL)
			break;
	}
	return size;
}

void
mu_memory_self_open(struct mu_memory *memory, struct mu_memory_self *self,
    const struct mu_mapping *mappings, size_t num_mappings)
{
	*self = (struct mu_memory_self) {
		.mappings = mappings,
		.num_mappings = num_mappings,
	};
	*memory = (struct mu_memory) {
		.ops = &ops,
		.page_size = find_page_size(),
		.blind = true,
		.ctx = self,
	};
}

bool
mu_memory_self_look(struct mu_memory *memory, struct mu_pages *pages)
{
	struct mu_memory_self *self = memory->ctx;

	memory->blind = !mu_pages_open(pages, memory->page_size);
	self->pages = pages;
	return !memory->blind;
}

/* Behind the last writable mapping is memory of the kernel. */
static uintptr_t
end_of_memory(const struct mu_memory_self *self)
{
	size_t i = self->num_mappings;

	while (i > 0 && !self->mappings[i - 1].writable)
		i--;
	return i > 0 ? self->mappings[i - 1].range.end : 0;
}

/* The largest mapping without a file; empty if there is none. */
static struct mu_range
largest(const struct mu_memory_self *self)
{
	struct mu_range found = { 0, 0 };
	size_t i;

	for (i = 0; i < self->num_mappings; i++)
		if (mu_mapping_is_anonymous(&self->mappings[i]) &&
		    self->mappings[i].inode == 0 &&
		    mu_range_size(self->mappings[i].range) >
			mu_range_size(found))
			found = self->mappings[i].range;
	return found;
}

void
mu_memory_self_ask_at_once(struct mu_memory *memory)
{
	struct mu_memory_self *self = memory->ctx;
	struct mu_range heap = largest(self);

	if (self->pages != NULL &&
	    mu_pages_ask_up_to(self->pages, heap.begin, true) &&
	    mu_pages_ask_up_to(self->pages, heap.end, false))
		mu_pages_ask_up_to(self->pages, end_of_memory(self), true);
}

/* Without PAGEMAP_SCAN, searching more than this for pages takes too long. */
#define CLOSED_MAX ((size_t)4 << 30)

/* True if MAPPING has a page with data. */
static bool
is_written(struct mu_pages *pages, const struct mu_mapping *mapping)
{
	struct mu_range part;

	return (mu_range_size(mapping->range) <= CLOSED_MAX ||
		   mu_pages_can_skip(pages)) &&
	    mu_pages_next(pages, mapping, mapping->range, &part);
}

/* Private memory that holds data and is closed. */
static bool
is_locked(struct mu_memory *memory, const struct mu_mapping *mapping)
{
	struct mu_memory_self *self = memory->ctx;
	struct mu_mapping open = *mapping;

	open.readable = true;
	return !mapping->readable && self->pages != NULL && !memory->blind &&
	    mu_mapping_can_be_memory(mapping) && is_written(self->pages, &open);
}

void
mu_memory_self_unlock(
    struct mu_memory *memory, struct mu_mapping *mappings, size_t num_mappings)
{
	size_t i;

	for (i = 0; i < num_mappings; i++)
		if (is_locked(memory, &mappings[i]) &&
		    mu_sys3(SYS_mprotect, (long)mappings[i].range.begin,
			(long)mu_range_size(mappings[i].range), PROT_READ) == 0)
			mappings[i].readable = true;
}

bool
mu_memory_self_any_locked(struct mu_memory *memory,
    const struct mu_mapping *mappings, size_t num_mappings)
{
	size_t i;

	for (i = 0; i < num_mappings; i++)
		if (is_locked(memory, &mappings[i]))
			return true;
	return false;
}

bool
mu_memory_self_holds(struct mu_memory *memory, const struct mu_mapping *mapping)
{
	const struct mu_memory_self *self = memory->ctx;

	return self->pages != NULL && mu_mapping_is_anonymous(mapping) &&
	    mu_pages_any_written(self->pages, mapping->range);
}
