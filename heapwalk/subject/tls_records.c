/*
 * The number of a module's entry is a field of struct link_map that no header
 * declares, at another offset in each release. But what stands before it is
 * known from the file: address, size in the file and in memory, and alignment
 * of PT_TLS. Then come, as in glibc 2.36, the offset of the first byte, the
 * offset in static TLS, and the number. The vector must agree with them.
 */
#include "heapwalk/subject/tls_records.h"

#include <elf.h>
#include <string.h>

#include "heapwalk/subject/modules.h"
#include "mu/arch/cpu.h"

#define WORD sizeof(uintptr_t)
#define MODULES_MAX 4096
#define DYNAMIC_MAX 512 /* entries; a linker writes about 30 */
#define SEGMENTS_MAX 128
#define MAP_WORDS 256 /* of a struct link_map; 2.36 has 145 */

/* Of struct link_map and struct r_debug: <link.h>. */
enum { MAP_BIAS, MAP_NAME, MAP_DYNAMIC, MAP_NEXT, MAP_PUBLIC };
#define DEBUG_MAP WORD

static uintptr_t
word_at(const struct mu_snapshot *snap, uintptr_t at, size_t index)
{
	uintptr_t word;

	return mu_snapshot_word(snap, at + index * WORD, &word) ? word : 0;
}

/* The value of DT_DEBUG in the dynamic section at AT; 0: it has none. */
static uintptr_t
find_debug(const struct mu_snapshot *snap, uintptr_t at)
{
	const Elf64_Dyn *entry;
	size_t i;

	for (i = 0; i < DYNAMIC_MAX; i++, at += sizeof(*entry)) {
		entry = mu_snapshot_view(snap, at, sizeof(*entry));
		if (entry == NULL || entry->d_tag == DT_NULL)
			break;
		if (entry->d_tag == DT_DEBUG)
			return entry->d_un.d_ptr;
	}
	return 0;
}

/* The same of the module whose header is at BASE. */
static uintptr_t
debug_of(const struct mu_snapshot *snap, uintptr_t base)
{
	const Elf64_Ehdr *header =
	    mu_snapshot_view(snap, base, sizeof(*header));
	const Elf64_Phdr *segments;
	struct mu_module module;
	size_t i;

	if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phentsize != sizeof(*segments) ||
	    header->e_phnum > SEGMENTS_MAX ||
	    !mu_module_find(snap, base, &module))
		return 0;
	segments = mu_snapshot_view(
	    snap, base + header->e_phoff, header->e_phnum * sizeof(*segments));
	for (i = 0; segments != NULL && i < header->e_phnum; i++)
		if (segments[i].p_type == PT_DYNAMIC)
			return find_debug(
			    snap, module.bias + segments[i].p_vaddr);
	return 0;
}

/* The first link_map, which the program's dynamic section leads to. */
static uintptr_t
find_first(const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	uintptr_t debug = 0;

	for (; mapping < end && debug == 0; mapping++)
		if (mapping->offset == 0 && mapping->inode != 0 &&
		    mapping->readable && !mapping->shared)
			debug = debug_of(snap, mapping->range.begin);
	return debug == 0 ? 0 : word_at(snap, debug + DEBUG_MAP, 0);
}

/* The record of the module of the link_map at MAP; false: it has none. */
static bool
read_record(
    const struct mu_snapshot *snap, uintptr_t map, struct mu_tls_record *record)
{
	struct mu_module module;
	size_t i;

	if (!mu_module_find(snap, word_at(snap, map, MAP_DYNAMIC), &module) ||
	    module.bias != word_at(snap, map, MAP_BIAS) || module.tls.size == 0)
		return false;
	for (i = MAP_PUBLIC; i < MAP_WORDS; i++) {
		if (word_at(snap, map, i) != module.tls.image ||
		    word_at(snap, map, i + 1) != module.tls.image_size ||
		    word_at(snap, map, i + 2) != module.tls.size ||
		    word_at(snap, map, i + 3) != module.tls.align)
			continue;
		*record = (struct mu_tls_record) {
			.module = snap->mappings[module.mapping].range.begin,
			.size = module.tls.size,
			.offset = (intptr_t)word_at(snap, map, i + 5),
			.index = word_at(snap, map, i + 6) - 1,
		};
		return record->index < SIZE_MAX;
	}
	return false;
}

void
mu_tls_records_each(const struct mu_snapshot *snap,
    bool (*visit)(void *ctx, const struct mu_tls_record *record), void *ctx)
{
	uintptr_t map = find_first(snap);
	struct mu_tls_record record;
	size_t i;

	/* The first one is that of the program. */
	for (i = 0; i < MODULES_MAX && map != 0; i++) {
		if (i > 0 && read_record(snap, map, &record) &&
		    !visit(ctx, &record))
			break;
		map = word_at(snap, map, MAP_NEXT);
	}
}

bool
mu_tls_record_address(const struct mu_tls_record *record,
    const struct mu_tls *tls, const struct mu_snapshot *snap,
    const struct mu_thread *thread, uintptr_t *address)
{
	const uintptr_t offset = (uintptr_t)record->offset;
	struct mu_tls_module module;

	if (!mu_tls_module(tls, snap, record->index, &module) ||
	    mu_snapshot_view(snap, module.address, record->size) == NULL)
		return false;
	*address = module.address;
	/* NO_TLS_OFFSET, FORCED_DYNAMIC_TLS_OFFSET: 0 to -2, by CPU */
	if (module.allocated)
		return record->offset <= 0 && record->offset >= -2;
	return module.address ==
	    (MU_TLS_BELOW_TP ? thread->tp - offset : thread->tp + offset);
}
