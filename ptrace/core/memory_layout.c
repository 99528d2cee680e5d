/*
 * Choose the addresses at which a core's memory lies in ours: see memory.h.
 *
 * Runs in: the command.
 */
#include <string.h>
#include <unistd.h>

#include "mu/sys.h"
#include "ptrace/core/memory.h"

#define WORD sizeof(uintptr_t)

struct opening {
	struct mu_core_memory *memory;
	const struct mu_core_modules *modules;
	struct mu_arena *arena;
	struct mu_why *why;
	size_t page; /* ours */
};

static bool
has_bytes(const struct mu_core_part *part)
{
	return part->source == MU_CORE_DUMPED ||
	    part->source == MU_CORE_ZEROS || part->source == MU_CORE_HOLE ||
	    part->source == MU_CORE_FILE;
}

/*
 * True if a view may continue from mapping INDEX into the next one. A view
 * never joins a file's own pages with others: no reader needs both at once, and
 * in a core by gcore, whose pages cannot be mapped in place, the file would be
 * copied for it.
 */
static bool
goes_on(const struct mu_core_memory *memory, size_t index)
{
	const struct mu_mapping *mapping = &memory->snap->mappings[index];
	const struct mu_core_part *part = &memory->parts[index];

	return index + 1 < memory->snap->num_mappings && has_bytes(&part[1]) &&
	    mapping[1].range.begin == mapping->range.end &&
	    (part->source == MU_CORE_FILE) == (part[1].source == MU_CORE_FILE);
}

/*
 * True if the mappings FIRST to LAST lie in the core in one piece, as in
 * memory.
 */
static bool
is_in_one_piece(const struct mu_core_memory *memory, size_t first, size_t last)
{
	const struct mu_mapping *mappings = memory->snap->mappings;
	const struct mu_core_part *parts = memory->parts;
	size_t i;

	for (i = first; i <= last; i++)
		if (parts[i].source != MU_CORE_DUMPED ||
		    parts[i].offset - parts[first].offset !=
			mappings[i].range.begin - mappings[first].range.begin)
			return false;
	return ((uintptr_t)memory->bytes + parts[first].offset) % WORD == 0;
}

/* Reserve SIZE bytes of zeros, at the same offset in a page as BEGIN. */
static char *
reserve(struct opening *opening, uintptr_t begin, size_t size)
{
	struct mu_core_memory *memory = opening->memory;
	size_t whole;
	long at;

	if (!mu_arena_room(opening->arena, memory->reserved,
		memory->num_reserved, memory->max_reserved, 64))
		return NULL;
	if (__builtin_add_overflow(size, opening->page, &whole))
		return NULL;
	at = mu_sys_mmap(NULL, whole, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(at))
		return NULL;
	memory->reserved[memory->num_reserved++] =
	    (struct mu_range) { (uintptr_t)at, (uintptr_t)at + whole };
	return (char *)at + begin % opening->page;
}

/* Map the file if its pages are aligned, otherwise copy it. */
static bool
put_file(
    struct opening *opening, char *to, size_t size, int fd, uint64_t offset)
{
	size_t used = 0;
	ssize_t n = 0;

	if (((uintptr_t)to | offset | size) % opening->page == 0)
		return !mu_sys_failed(
		    mu_syscall6(SYS_mmap, (long)to, (long)size, PROT_READ,
			MAP_PRIVATE | MAP_FIXED, fd, (long)offset));
	while (used < size) {
		n = mu_sys_pread(fd, to + used, size - used, offset + used);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break; /* zeros follow the end of the file */
		used += (size_t)n;
	}
	return n >= 0;
}

static bool
put(struct opening *opening, size_t index, char *to)
{
	struct mu_core_memory *memory = opening->memory;
	const struct mu_mapping *mapping = &memory->snap->mappings[index];
	struct mu_core_part *part = &memory->parts[index];
	size_t size = mu_range_size(mapping->range);
	const struct mu_core_module *module;

	part->base = to;
	switch (part->source) {
	case MU_CORE_FILE:
		module = mu_core_module_of(opening->modules, mapping->inode);
		return module != NULL &&
		    put_file(opening, to, size, module->fd, mapping->offset);
	case MU_CORE_DUMPED:
		if (memory->fd >= 0)
			return put_file(
			    opening, to, size, memory->fd, part->offset);
		memcpy(to, memory->bytes + part->offset, size);
		return true;
	default:
		return true;
	}
}

/* Set the bases of the mappings FIRST to LAST, which are adjacent. */
static enum mu_status
place(struct opening *opening, size_t first, size_t last)
{
	struct mu_core_memory *memory = opening->memory;
	const struct mu_mapping *mappings = memory->snap->mappings;
	uintptr_t begin = mappings[first].range.begin;
	size_t size = mappings[last].range.end - begin, i;
	char *base;

	if (is_in_one_piece(memory, first, last)) {
		for (i = first; i <= last; i++)
			memory->parts[i].base =
			    memory->bytes + memory->parts[i].offset;
		return MU_OK;
	}
	base = reserve(opening, begin, size);
	if (base == NULL)
		return mu_why(opening->why, MU_ERR_NO_MEMORY,
		    "no address space for %zu bytes of the core at %p" MU_CURE
		    "see "
		    "ulimit -v",
		    size, (void *)begin);
	for (i = first; i <= last; i++)
		if (!put(opening, i, base + (mappings[i].range.begin - begin)))
			return mu_why(opening->why, MU_ERR_NO_MEMORY,
			    "cannot map the core's memory at %p" MU_CURE
			    "raise "
			    "vm.max_map_count",
			    (void *)mappings[i].range.begin);
	return MU_OK;
}

enum mu_status
mu_core_memory_layout(struct mu_core_memory *memory,
    const struct mu_core_modules *modules, struct mu_arena *arena,
    struct mu_why *why)
{
	struct opening opening = { memory, modules, arena, why,
		(size_t)sysconf(_SC_PAGESIZE) };
	enum mu_status status = MU_OK;
	size_t i, last, count = memory->snap->num_mappings;

	for (i = 0; i < count && status == MU_OK; i = last + 1) {
		last = i;
		if (!has_bytes(&memory->parts[i]))
			continue;
		while (goes_on(memory, last))
			last++;
		status = place(&opening, i, last);
	}
	return status;
}
