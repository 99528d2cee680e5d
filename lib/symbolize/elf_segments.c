/*
 * Where a file's segments are in the subject: see elf_file.h.
 */
#include <gelf.h>

#include "lib/symbolize/elf_file.h"

#define PAGE ((uintptr_t)4096) /* no segment has a smaller one */

/* Does the segment PH have bytes of MAPPING? */
static bool
is_of(const GElf_Phdr *ph, const struct mu_mapping *mapping)
{
	uint64_t size = mu_range_size(mapping->range);

	return ph->p_type == PT_LOAD && ph->p_filesz != 0 &&
	    ph->p_offset < mapping->offset + size &&
	    mapping->offset < ph->p_offset + ph->p_filesz;
}

/* Of which segment is MAPPING? Two may share a page, with different rights. */
static bool
find_segment(
    Elf *elf, size_t count, const struct mu_mapping *mapping, GElf_Phdr *found)
{
	bool any = false;
	GElf_Phdr ph;
	size_t i;

	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) == NULL ||
		    !is_of(&ph, mapping))
			continue;
		if (((ph.p_flags & PF_X) != 0) == mapping->executable) {
			*found = ph;
			return true;
		}
		if (!any)
			*found = ph;
		any = true;
	}
	return any;
}

/* Sums of the file's numbers may wrap: such a segment has nothing. */
static void
add_segment(struct mu_elf_file *file, const GElf_Phdr *ph)
{
	uintptr_t begin = file->bias + ph->p_vaddr, end = begin + ph->p_memsz;

	if (file->num_segments == 0) /* libdwfl's open_elf() */
		file->base = file->bias + (ph->p_vaddr & -ph->p_align);
	file->segments[file->num_segments++] = (struct mu_segment) {
		.range = { begin & -PAGE, (end + PAGE - 1) & -PAGE },
		.ahead = begin - ph->p_offset,
	};
	if (end > file->end)
		file->end = end;
}

void
mu_elf_file_layout(
    struct mu_elf_file *file, Elf *elf, const struct mu_loaded *loaded)
{
	const struct mu_mapping *first = loaded->first;
	size_t count, i;
	GElf_Phdr ph;

	if (elf == NULL || elf_getphdrnum(elf, &count) != 0 ||
	    !find_segment(elf, count, first, &ph))
		return;
	file->bias =
	    first->range.begin - first->offset + ph.p_offset - ph.p_vaddr;
	for (i = 0; i < count && file->num_segments < MU_SEGMENTS_MAX; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) != NULL &&
		    ph.p_type == PT_LOAD)
			add_segment(file, &ph);
	}
}

bool
mu_elf_file_has(const struct mu_elf_file *file,
    const struct mu_mapping *mapping, uintptr_t address)
{
	const struct mu_segment *segment = file->segments;
	size_t i;

	for (i = 0; i < file->num_segments; i++, segment++) {
		if (mu_range_has(segment->range, address) &&
		    (mapping == NULL ||
			mapping->range.begin - mapping->offset ==
			    segment->ahead))
			return true;
	}
	return false;
}
