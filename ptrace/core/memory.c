#include "ptrace/core/memory.h"

#include <string.h>
#include <unistd.h>

#include "mu/sys.h"

#define WORD sizeof(uintptr_t)

struct opening {
	struct mu_core_memory *memory;
	const struct mu_core_modules *modules;
	struct mu_arena *arena;
	struct mu_why *why;
	size_t page; /* ours */
};

/*
 * Choose the addresses at which a core's memory lies in ours.
 */

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

/* The part of mu_core_memory_open() that sets the bases of PARTS. */
static enum mu_status
lay_out(struct mu_core_memory *memory, const struct mu_core_modules *modules,
    struct mu_arena *arena, struct mu_why *why)
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

/* Index of the mapping that holds ADDRESS, or of the next one. */
static size_t
index_of(const struct mu_snapshot *snap, uintptr_t address)
{
	const struct mu_mapping *mapping =
	    mu_mapping_from(snap->mappings, snap->num_mappings, address);

	return mapping == NULL ? snap->num_mappings
			       : (size_t)(mapping - snap->mappings);
}

static const void *
core_view(struct mu_memory *door, uintptr_t address, size_t size)
{
	const struct mu_core_memory *memory = door->ctx;
	const struct mu_snapshot *snap = memory->snap;
	size_t i = index_of(snap, address);
	const struct mu_mapping *mapping;
	const char *view = NULL, *base;
	uintptr_t at = address, stop;

	if (__builtin_add_overflow(address, size, &stop) || size == 0)
		return NULL;
	for (; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		base = memory->parts[i].base;
		if (mapping->range.begin > at || !mapping->readable ||
		    base == NULL)
			return NULL;
		base += at - mapping->range.begin;
		if (view == NULL)
			view = base;
		else if (view + (at - address) != base)
			return NULL;
		at = mapping->range.end;
		if (at >= stop)
			return view;
	}
	return NULL;
}

/* Like put_file(): bytes after the end of the file are zeros. */
static bool
read_file(int fd, char *to, size_t size, uint64_t offset)
{
	size_t used = 0;
	ssize_t n = 1;

	while (used < size && n != 0) {
		n = mu_sys_pread(fd, to + used, size - used, offset + used);
		if (n < 0 && n != -EINTR)
			return false;
		used += n > 0 ? (size_t)n : 0;
	}
	memset(to + used, 0, size - used);
	return true;
}

/*
 * Read the first part of RANGE, which lies in mapping INDEX, as view() would
 * show it. Returns the bytes read; 0 if they are not available.
 */
static size_t
read_front(const struct mu_core_memory *memory, size_t index,
    struct mu_range range, char *to)
{
	const struct mu_mapping *mapping = &memory->snap->mappings[index];
	const struct mu_core_part *part = &memory->parts[index];
	size_t size, from;

	if (index == memory->snap->num_mappings || !mapping->readable ||
	    part->base == NULL || mapping->range.begin > range.begin)
		return 0;
	size = mu_range_size(mu_range_common(mapping->range, range));
	from = range.begin - mapping->range.begin;
	if (part->source == MU_CORE_DUMPED)
		return read_file(memory->fd, to, size, part->offset + from)
		    ? size
		    : 0;
	memcpy(to, part->base + from, size);
	return size;
}

/*
 * Reads with system calls: pages of a mapped file that are touched stay in our
 * memory.
 */
static bool
core_read(struct mu_memory *door, struct mu_range range, void *buffer)
{
	const struct mu_core_memory *memory = door->ctx;
	size_t i, size;
	char *to = buffer;

	if (memory->fd < 0 || mu_range_size(range) == 0)
		return memory->fd >= 0;
	for (i = index_of(memory->snap, range.begin); range.begin < range.end;
	     i++) {
		size = read_front(memory, i, range, to);
		if (size == 0)
			return false;
		range.begin += size;
		to += size;
	}
	return true;
}

static const void *
core_peek(struct mu_memory *door, uintptr_t address, size_t size, void *buffer)
{
	struct mu_range range = { address, address + size };

	return range.begin < range.end && core_read(door, range, buffer)
	    ? buffer
	    : core_view(door, address, size);
}

/*
 * Find the first run of bytes of RANGE, in mapping INDEX, that is not a hole of
 * the file: the kernel leaves out pages that were never touched (dump_skip()).
 * Code of a program holds no variables, even if a debugger wrote to it.
 */
static bool
next_data(const struct mu_core_memory *memory, size_t index,
    struct mu_range range, struct mu_range *part)
{
	const struct mu_core_part *about = &memory->parts[index];
	uint64_t begin = about->offset +
	    (range.begin - memory->snap->mappings[index].range.begin);
	uint64_t size = mu_range_size(range);
	long data, hole;

	*part = range;
	if (about->source != MU_CORE_DUMPED || about->base == NULL ||
	    about->code || size == 0)
		return false;
	if (memory->fd < 0)
		return true;
	data = mu_sys3(SYS_lseek, memory->fd, (long)begin, SEEK_DATA);
	if (data == -ENXIO || data >= (long)(begin + size))
		return false;
	/* The file system does not support SEEK_DATA: take all of it. */
	if (data < (long)begin)
		return true;
	hole = mu_sys3(SYS_lseek, memory->fd, data, SEEK_HOLE);
	part->begin = range.begin + ((uint64_t)data - begin);
	part->begin -= part->begin & 4095;
	if (part->begin < range.begin)
		part->begin = range.begin;
	if (hole > data && (uint64_t)hole < begin + size)
		part->end = range.begin + ((uint64_t)hole - begin);
	part->end += -part->end & 4095;
	if (part->end > range.end)
		part->end = range.end;
	return true;
}

/* Skips unchanged pages of files and pages that were never touched. */
static bool
core_populated(
    struct mu_memory *door, struct mu_range range, struct mu_range *part)
{
	const struct mu_core_memory *memory = door->ctx;
	const struct mu_snapshot *snap = memory->snap;
	const struct mu_mapping *mapping;
	struct mu_range inside;
	size_t i;

	if (mu_range_size(range) == 0)
		return false;
	for (i = index_of(snap, range.begin); i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		if (mapping->range.begin >= range.end)
			break;
		inside = mu_range_common(mapping->range, range);
		if (mapping->readable && next_data(memory, i, inside, part))
			return true;
	}
	return false;
}

static bool
core_unlock(struct mu_memory *door, const struct mu_mapping *mapping)
{
	const struct mu_core_memory *memory = door->ctx;

	return memory->parts[mapping - memory->snap->mappings].base != NULL;
}

static const struct mu_memory_ops ops = {
	.name = "core",
	.view = core_view,
	.peek = core_peek,
	.read = core_read,
	.populated = core_populated,
	.unlock = core_unlock,
};

/*
 * If the core has all code of programs, it has every page of every mapped file
 * (coredump_filter, bit 2), so presence does not show which pages were written.
 * Some code is in any core: where a debugger has set breakpoints.
 */
static bool
is_blind(const struct mu_core_memory *memory)
{
	const struct mu_core_part *part = memory->parts;
	const struct mu_core_part *end = part + memory->snap->num_mappings;
	bool dumped = false;

	for (; part < end; part++) {
		if (part->code && part->source != MU_CORE_DUMPED)
			return false;
		dumped |= part->code;
	}
	return dumped;
}

enum mu_status
mu_core_memory_open(struct mu_core_memory *memory, struct mu_snapshot *snap,
    struct mu_core_part *parts, const struct mu_core_file *core,
    const struct mu_core_modules *modules, size_t page_size,
    struct mu_arena *arena, struct mu_why *why)
{
	*memory = (struct mu_core_memory) { .snap = snap,
		.parts = parts,
		.fd = core->fd,
		.bytes = core->bytes };
	snap->memory = (struct mu_memory) { .ops = &ops,
		.page_size =
		    page_size != 0 ? page_size : (size_t)sysconf(_SC_PAGESIZE),
		.blind = is_blind(memory),
		.ctx = memory };
	return lay_out(memory, modules, arena, why);
}

void
mu_core_memory_close(struct mu_core_memory *memory)
{
	size_t i;

	for (i = memory->num_reserved; i-- > 0;)
		mu_sys_munmap((void *)memory->reserved[i].begin,
		    mu_range_size(memory->reserved[i]));
	*memory = (struct mu_core_memory) { .fd = -1 };
}

void
mu_core_memory_unlock(struct mu_core_memory *memory, struct mu_snapshot *snap)
{
	struct mu_mapping *mapping = snap->mappings;
	struct mu_range part;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++, mapping++)
		if (!mapping->readable && mapping->name[0] != '[' &&
		    next_data(memory, i, mapping->range, &part))
			mapping->readable = true;
}
