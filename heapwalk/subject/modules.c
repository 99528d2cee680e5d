/*
 * dl_iterate_phdr() is not used: it takes the dynamic linker's lock and omits
 * other namespaces (dlmopen).
 */
#include "heapwalk/subject/modules.h"

#include <elf.h>
#include <string.h>

#include "heapwalk/subject/classify.h"

/* Largest number of mappings from a module's first to its last. */
#define MODULE_REACH 16
#define MAX_SEGMENTS 128

static bool
read_header(const struct mu_snapshot *snap, uintptr_t begin, Elf64_Ehdr *header)
{
	const void *view = mu_snapshot_view(snap, begin, sizeof(*header));

	if (view == NULL)
		return false;
	memcpy(header, view, sizeof(*header));
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	    header->e_ident[EI_CLASS] == ELFCLASS64 &&
	    header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum > 0 &&
	    header->e_phnum <= MAX_SEGMENTS;
}

/*
 * The addresses of SEGMENT in the file, in whole pages. Returns false if they
 * wrap.
 */
static bool
extent(const Elf64_Phdr *segment, size_t page_size, struct mu_range *range)
{
	range->begin = segment->p_vaddr & ~(page_size - 1);
	return !__builtin_add_overflow(
		   segment->p_vaddr, segment->p_memsz, &range->end) &&
	    !__builtin_add_overflow(range->end, page_size - 1, &range->end);
}

/*
 * Read the extent of the module whose first byte is mapped at BEGIN, and check
 * that ADDRESS is in one of its segments: other memory may be mapped between
 * them.
 */
static bool
read_module(const struct mu_snapshot *snap, uintptr_t begin, uintptr_t address,
    struct mu_module *module)
{
	size_t page_size = snap->memory.page_size, i;
	struct mu_range all = { UINTPTR_MAX, 0 }, one;
	Elf64_Phdr segment;
	Elf64_Ehdr header;
	const char *view;
	uintptr_t at;
	bool first = false;

	*module = (struct mu_module) { .bias = 0 };
	if (!read_header(snap, begin, &header) ||
	    __builtin_add_overflow(begin, header.e_phoff, &at))
		return false;
	view = mu_snapshot_view(snap, at, header.e_phnum * sizeof(segment));
	for (i = 0; view != NULL && i < header.e_phnum; i++) {
		memcpy(&segment, view + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_TLS)
			module->tls = (struct mu_tls_segment) { segment.p_vaddr,
				segment.p_filesz, segment.p_memsz,
				segment.p_align };
		if (segment.p_type != PT_LOAD)
			continue;
		if (!extent(&segment, page_size, &one))
			return false;
		if (segment.p_offset < page_size && !first) {
			first = true;
			module->bias =
			    begin + segment.p_offset - segment.p_vaddr;
		}
		if (one.begin < all.begin)
			all.begin = one.begin;
		if (one.end > all.end)
			all.end = one.end;
		one.begin += module->bias;
		one.end = (one.end & ~(page_size - 1)) + module->bias;
		if (first && mu_range_has(one, address))
			module->segment = one;
	}
	module->tls.image += module->bias;
	module->range.begin = all.begin + module->bias;
	module->range.end = (all.end & ~(page_size - 1)) + module->bias;
	return first && module->range.begin < module->range.end &&
	    mu_range_has(module->segment, address);
}

/* A file that is only read has no executable mapping. */
static bool
has_code(const struct mu_snapshot *snap, size_t index)
{
	const struct mu_mapping *first = &snap->mappings[index];
	size_t i;

	for (i = index; i < snap->num_mappings && i <= index + MODULE_REACH;
	     i++)
		if (snap->mappings[i].executable &&
		    mu_mapping_same_file(first, &snap->mappings[i]))
			return true;
	return false;
}

bool
mu_module_find(
    const struct mu_snapshot *snap, uintptr_t address, struct mu_module *module)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);
	const struct mu_mapping *first;
	size_t i, index;

	if (mapping == NULL || mapping->shared)
		return false;
	index = (size_t)(mapping - snap->mappings);
	for (i = index + 1; i-- > 0 && index - i <= MODULE_REACH;) {
		first = &snap->mappings[i];
		if (first->inode == 0 || first->offset != 0 || first->shared ||
		    !first->readable)
			continue;
		if (mapping->inode != 0 &&
		    !mu_mapping_same_file(first, mapping))
			continue;
		if (has_code(snap, i) &&
		    read_module(snap, first->range.begin, address, module)) {
			module->mapping = i;
			return true;
		}
	}
	return false;
}
