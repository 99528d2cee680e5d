/*
 * Copy each shared mapping page by page to new memory, which is then moved over
 * it. If several mappings show the same pages of a file, as ZGC maps all of its
 * heap, they are copied once, and the others become zeros.
 *
 * Runs in: sweeper.
 */
#include "heapwalk/memory/shared.h"

#include <errno.h>
#include <string.h>

#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

/*
 * Small mappings come first, so that a large one cannot take the time for all
 * others.
 */
#define SMALL ((size_t)4 << 20)

/* Bytes copied between two reads of the clock: about 1 ms. */
#define STEP ((size_t)1 << 20)

/*
 * From this size on ask for huge pages, which take a sixth of the time of
 * faults.
 */
#define HUGE_BYTES ((size_t)2 << 20)

#define SHOWN 4096

struct taking {
	struct mu_shared *shared;
	const struct mu_memory_self *self;
	struct mu_pages pages;
	struct mu_tmpfs tmpfs;

	/* Mappings that were copied, by file and offset: index + 1. */
	uint32_t shown[SHOWN];
};

static bool
is_shared(const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs,
    struct mu_range except)
{
	return mapping->range.begin != except.begin &&
	    mu_mapping_is_changing(mapping, tmpfs);
}

bool
mu_shared_any(
    const struct mu_mapping *mappings, size_t count, struct mu_range except)
{
	struct mu_tmpfs tmpfs = { .next = 0 };
	size_t i;

	for (i = 0; i < count; i++)
		if (is_shared(&mappings[i], &tmpfs, except))
			return true;
	return false;
}

/* True if copying BYTES more would exceed the time. */
static bool
is_late(const struct mu_shared *shared, size_t bytes)
{
	return mu_standstill_must_end(&shared->still, shared->taken + bytes);
}

/* Split off the next part of REST that has data. */
static bool
next_part(struct taking *taking, const struct mu_mapping *mapping,
    struct mu_range *rest, struct mu_range *part)
{
	if (!mu_pages_next(&taking->pages, mapping, *rest, part))
		return false;
	rest->begin = part->end;
	return true;
}

/* Copy MAPPING to TO. Returns false if the time is over. */
static bool
copy(struct taking *taking, const struct mu_mapping *mapping, char *to)
{
	struct mu_range rest = mapping->range, part;
	size_t size, done = 0;

	while (next_part(taking, mapping, &rest, &part)) {
		for (; part.begin < part.end; part.begin += size) {
			size = mu_range_size(part);
			size = size < STEP ? size : STEP;
			done += size;
			memcpy(to + (part.begin - mapping->range.begin),
			    (const char *)part.begin, size);
			if (is_late(taking->shared, done))
				return false;
		}
	}
	return true;
}

/*
 * Code stays executable: it may be ours, where the program or its libraries lie
 * in /dev/shm or a memfd. mremap() replaces it at once.
 */
static bool
keep_executable(const struct mu_mapping *mapping, long copy, size_t size)
{
	int protection = PROT_READ | PROT_EXEC;

	if (!mapping->executable || mapping->shared)
		return true;
	if (mapping->writable)
		protection |= PROT_WRITE;
	return mu_sys3(SYS_mprotect, copy, (long)size, protection) == 0;
}

/*
 * The kernel makes a second mapping of what is shared, but not of huge pages
 * (EINVAL, mm/mremap.c), of which copy() reads all.
 */
static uintptr_t
map_again(const struct mu_mapping *mapping)
{
	long at = mu_syscall6(SYS_mremap, (long)mapping->range.begin, 0,
	    (long)mu_range_size(mapping->range), MREMAP_MAYMOVE, 0, 0);

	if (at == -EINVAL)
		return MU_SHARED_READ;
	return mu_sys_failed(at) ? MU_SHARED_NOWHERE : (uintptr_t)at;
}

static void
keep(struct taking *taking, const struct mu_mapping *mapping, bool elsewhere)
{
	uintptr_t *kept = taking->shared->kept;

	if (kept == NULL)
		return;
	kept += mapping - taking->self->mappings;
	if (elsewhere)
		*kept = MU_SHARED_ELSEWHERE;
	else
		*kept =
		    mapping->shared ? map_again(mapping) : MU_SHARED_NOWHERE;
}

/* Replace MAPPING by private memory: with its contents, or EMPTY. */
static bool
replace(struct taking *taking, const struct mu_mapping *mapping, bool empty)
{
	size_t size = mu_range_size(mapping->range);
	long at;

	keep(taking, mapping, empty);
	at = mu_sys_mmap(empty ? (void *)mapping->range.begin : NULL, size,
	    PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		(empty ? MAP_FIXED : 0));

	if (mu_sys_failed(at) || empty)
		return !mu_sys_failed(at);
	if (size >= HUGE_BYTES)
		mu_sys3(SYS_madvise, at, (long)size, MADV_HUGEPAGE);
	if (copy(taking, mapping, (char *)at) &&
	    keep_executable(mapping, at, size) &&
	    !mu_sys_failed(mu_syscall6(SYS_mremap, at, (long)size, (long)size,
		MREMAP_MAYMOVE | MREMAP_FIXED, (long)mapping->range.begin, 0)))
		return true;
	mu_sys_munmap((void *)at, size);
	return false;
}

/* The slot for mappings that show the same pages. */
static uint32_t *
place_of(struct taking *taking, const struct mu_mapping *mapping)
{
	uint64_t key = (mapping->inode << 20) ^ (mapping->offset >> 12);

	return &taking->shown[key * 0x9e3779b97f4a7c15u >> 52];
}

/* True if a copied mapping shows all that MAPPING does. */
static bool
is_shown(struct taking *taking, const struct mu_mapping *mapping)
{
	uint32_t number = *place_of(taking, mapping);
	const struct mu_mapping *other;

	if (number == 0 || !mapping->shared)
		return false;
	other = &taking->self->mappings[number - 1];
	return mu_mapping_same_file(other, mapping) &&
	    other->executable >= mapping->executable &&
	    other->offset == mapping->offset &&
	    mu_range_size(other->range) >= mu_range_size(mapping->range);
}

/*
 * True if MAPPING can be read, perhaps after changing the protection in the
 * image.
 */
static bool
is_opened(const struct mu_mapping *mapping)
{
	return mapping->readable ||
	    mu_sys3(SYS_mprotect, (long)mapping->range.begin,
		(long)mu_range_size(mapping->range), PROT_READ) == 0;
}

static void
take(struct taking *taking, const struct mu_mapping *mapping)
{
	struct mu_shared *shared = taking->shared;
	struct mu_range rest = mapping->range, part;
	size_t bytes = 0;

	if (is_shown(taking, mapping) && replace(taking, mapping, true))
		return;
	while (next_part(taking, mapping, &rest, &part))
		bytes += mu_range_size(part);
	if (bytes == 0 || !is_opened(mapping))
		return;
	if (bytes > shared->limit - shared->taken || is_late(shared, bytes) ||
	    !replace(taking, mapping, false)) {
		shared->changing += bytes;
		return;
	}
	shared->taken += bytes;
	if (mapping->shared)
		*place_of(taking, mapping) =
		    (uint32_t)(mapping - taking->self->mappings) + 1;
}

void
mu_shared_take(struct mu_shared *shared, struct mu_memory *memory)
{
	const struct mu_memory_self *self = memory->ctx;
	struct taking taking = {
		.shared = shared,
		.self = self,
		.pages = { .pagemap = -1 },
	};
	const struct mu_mapping *mapping;
	size_t i, round;

	shared->taken = shared->changing = 0;
	mu_pages_open(&taking.pages, memory->page_size);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < self->num_mappings; i++) {
			mapping = &self->mappings[i];
			if ((mu_range_size(mapping->range) > SMALL) ==
				(round == 1) &&
			    is_shared(mapping, &taking.tmpfs, shared->except))
				take(&taking, mapping);
		}
	}
	mu_pages_close(&taking.pages);
}

bool
mu_shared_next(struct mu_pages *pages, uintptr_t kept,
    const struct mu_mapping *mapping, struct mu_range range,
    struct mu_range *part)
{
	struct mu_mapping now = *mapping;
	uintptr_t by = kept == 0 ? 0 : kept - mapping->range.begin;

	if (kept == MU_SHARED_ELSEWHERE || kept == MU_SHARED_NOWHERE)
		return false;
	if (kept == MU_SHARED_READ) {
		*part = range;
		return mu_range_size(range) > 0;
	}
	now.range =
	    (struct mu_range) { now.range.begin + by, now.range.end + by };
	range = (struct mu_range) { range.begin + by, range.end + by };
	if (!mu_pages_next(pages, &now, range, part))
		return false;
	*part = (struct mu_range) { part->begin - by, part->end - by };
	return true;
}
