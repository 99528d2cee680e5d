#include "heapwalk/heaps/glibc/foreign.h"

#include <string.h>

#include "heapwalk/heaps/glibc/data.h"
#include "heapwalk/heaps/glibc/libc.h"
#include "heapwalk/heaps/glibc/messages.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/classify.h"

/* malloc/mcheck.c: struct hdr, words */
#define MCHECK_MAGICWORD 0xfedabeebul
#define MCHECK_MAGIC 1
#define MCHECK_PREV 2
#define MCHECK_NEXT 3
#define MCHECK_BLOCK 4
#define MCHECK_MAGIC2 5
#define MCHECK_WORDS 6

#define DATA_MAX ((size_t)1 << 20) /* more than .data or .bss of libc */

/* Names of the files of allocators. */
static const char *const files[] = { "libjemalloc", "libmimalloc",
	"libtcmalloc", "libasan", "libhwasan", "liblsan", "libtsan", "libmsan",
	"libclang_rt.asan", "libclang_rt.hwasan", "libclang_rt.lsan",
	"libclang_rt.msan", "libclang_rt.tsan", "libclang_rt.scudo", "libscudo",
	"libsnmalloc", "libhoard", "librpmalloc", "libtbbmalloc_proxy",
	"libumem", "libdmalloc", "libefence", "libduma", "vgpreload_memcheck",
	"vgpreload_massif", "vgpreload_dhat", "ld-musl", "libc.musl" };

/*
 * Since 2.34 MALLOC_CHECK_ and mcheck() need this library (glibc's NEWS); the
 * malloc that it checks has a separate heap.
 */
static const char debug_file[] = "libc_malloc_debug";
#define DEBUG_FILE_SINCE 34

static bool
is_allocator_file(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (mu_starts_with(name, files[i]))
			return true;
	}
	return false;
}

/* True if MAPPING is of the file of an allocator that is read. */
static bool
is_read(const struct mu_heap_member *glibc, const struct mu_mapping *mapping)
{
	const struct mu_heap_member *other;
	size_t i;

	for (i = 0; glibc != NULL && i < glibc->num_others; i++) {
		other = &glibc->others[i];
		if (other->ops->has_file != NULL &&
		    other->ops->has_file(other, mapping))
			return true;
	}
	return false;
}

/* The file of a known allocator that is not read; or NULL. */
static const char *
foreign_file(const struct mu_snapshot *snap, const struct mu_heap_member *glibc)
{
	const char *name;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		name = mu_path_base(snap->mappings[i].name);
		if (is_allocator_file(name) &&
		    !is_read(glibc, &snap->mappings[i]))
			return name;
	}
	return NULL;
}

const char *
mu_glibc_foreign_file(const struct mu_snapshot *snap)
{
	return foreign_file(snap, NULL);
}

/* The file of the program's malloc, if it is not libc's and is not read. */
static const struct mu_mapping *
malloc_elsewhere(
    const struct mu_snapshot *snap, const struct mu_heap_member *glibc)
{
	const struct mu_mapping *mapping;
	struct mu_libc libcs[MU_LIBCS_MAX];
	size_t i, count;

	if (snap->malloc_address == 0)
		return NULL;
	mapping = mu_snapshot_mapping(snap, snap->malloc_address);
	if (mapping == NULL || mapping->inode == 0 || is_read(glibc, mapping))
		return NULL;
	count = mu_libcs_find(snap, libcs);
	for (i = 0; i < count; i++) {
		if (libcs[i].file != NULL &&
		    mu_mapping_same_file(libcs[i].file, mapping))
			return NULL;
	}
	return mapping;
}

/* True if every block that malloc gave us came from glibc's heap. */
static bool
passes_on(const struct mu_snapshot *snap, const struct mu_mapping *where,
    const struct mu_blocks *blocks)
{
	struct mu_block block;
	size_t i;

	/* Without MALLOC_CHECK_ it passes calls on to glibc's malloc. */
	if (mu_starts_with(mu_path_base(where->name), debug_file))
		return mu_glibc_data_is_unused(snap, where);
	for (i = 0; i < snap->num_probes; i++) {
		if (!mu_blocks_find(blocks, snap->probes[i], &block))
			return false;
	}
	return snap->num_probes > 0;
}

/*
 * The allocator that is linked into the file of WHERE, recognised by its
 * messages.
 */
static const char *
message_in(const struct mu_snapshot *snap, const struct mu_mapping *where)
{
	const char *name = NULL;
	size_t i;

	for (i = 0; i < snap->num_mappings && name == NULL; i++) {
		if (mu_mapping_same_file(&snap->mappings[i], where))
			name = mu_glibc_message_find(
			    snap, &snap->mappings[i], true);
	}
	return name;
}

/*
 * The library of MALLOC_CHECK_ if it checks: otherwise it passes calls on, and
 * its heap is empty. Preloaded, it is found also where it is not known whose
 * malloc is called.
 */
static const struct mu_mapping *
checked_malloc(const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;

	for (; mapping < end; mapping++)
		if (mapping->inode != 0 &&
		    mu_starts_with(mu_path_base(mapping->name), debug_file))
			return mu_glibc_data_is_unused(snap, mapping) ? NULL
								      : mapping;
	return NULL;
}

static enum mu_status
refuse_checked(const struct mu_mapping *where, struct mu_why *why)
{
	return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
	    "this process uses another allocator (%s)" MU_CURE
	    "run it without MALLOC_CHECK_ and glibc.malloc.check",
	    mu_path_base(where->name));
}

/* An error if WHERE has a malloc with a name that we know; otherwise MU_OK. */
static enum mu_status
refuse_known(const struct mu_snapshot *snap, const struct mu_mapping *where,
    struct mu_why *why)
{
	const char *file = mu_path_base(where->name), *name;

	if (mu_starts_with(file, debug_file))
		return refuse_checked(where, why);
	if (is_allocator_file(file))
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "this process uses another allocator (%s)", file);
	name = message_in(snap, where);
	if (name == NULL)
		return MU_OK;
	return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
	    "this process uses another allocator (%s, in %s)", name, file);
}

enum mu_status
mu_glibc_foreign_refuse(const struct mu_snapshot *snap,
    const struct mu_heap_member *glibc, struct mu_why *why)
{
	const struct mu_mapping *where = malloc_elsewhere(snap, glibc);
	const char *file = foreign_file(snap, glibc);
	struct mu_libc libcs[MU_LIBCS_MAX];
	enum mu_status status;

	if (where != NULL) {
		status = refuse_known(snap, where, why);
		if (status != MU_OK)
			return status;
	}
	if (file != NULL)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "this process uses another allocator (%s)", file);
	if (where != NULL)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "this process has its own allocator (malloc is that "
		    "of %s)",
		    mu_path_base(where->name));
	where = checked_malloc(snap);
	if (where != NULL)
		return refuse_checked(where, why);
	/* A static program: one file for all. */
	mu_libcs_find(snap, libcs);
	return libcs[0].file == NULL || is_read(glibc, libcs[0].file)
	    ? MU_OK
	    : refuse_known(snap, libcs[0].file, why);
}

enum mu_status
mu_glibc_foreign_name(const struct mu_snapshot *snap,
    const struct mu_heap_member *glibc, struct mu_why *why)
{
	const char *name = NULL;
	size_t i;

	for (i = 0; i < snap->num_mappings && name == NULL; i++)
		if (!mu_libc_is_named(&snap->mappings[i]) &&
		    !is_read(glibc, &snap->mappings[i]))
			name = mu_glibc_message_find(
			    snap, &snap->mappings[i], true);
	if (name == NULL && glibc != NULL && glibc->num_others > 0)
		return MU_OK;
	if (name == NULL)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "glibc's malloc was never used, so this process has "
		    "another allocator");
	return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
	    "this process uses another allocator (%s, in %s)", name,
	    mu_path_base(snap->mappings[i - 1].name));
}

/* Judge a malloc that is not libc's and does not pass calls on to it. */
static enum mu_status
judge_replaced(const struct mu_snapshot *snap,
    const struct mu_heap_member *glibc, const struct mu_blocks *blocks,
    const struct mu_mapping *where, struct mu_why *why)
{
	enum mu_status status = refuse_known(snap, where, why);

	if (status != MU_OK)
		return status;
	if (blocks->count == 0)
		return mu_glibc_foreign_refuse(snap, glibc, why);
	return mu_why(why, MU_PARTIAL,
	    "malloc is that of %s, whose blocks were not checked; only those "
	    "of glibc's own malloc were",
	    mu_path_base(where->name));
}

/* libc and our own libraries have no further allocator. */
static bool
has_none(const struct mu_mapping *mapping)
{
	return mu_libc_is_named(mapping) ||
	    mu_starts_with(mu_path_base(mapping->name), "libmemunreachable");
}

/* Find a further allocator that is not called as malloc. */
static enum mu_status
judge_others(const struct mu_snapshot *snap, const struct mu_heap_member *glibc,
    struct mu_why *why)
{
	const char *file = foreign_file(snap, glibc), *name = NULL;
	const struct mu_mapping *checked = checked_malloc(snap);
	size_t i;

	if (file == NULL && checked != NULL)
		file = mu_path_base(checked->name);
	if (file != NULL)
		return mu_why(why, MU_PARTIAL,
		    "this process also uses another allocator (%s), whose "
		    "blocks were not checked",
		    file);
	/* These are most of the read-only data of a small program. */
	for (i = 0; i < snap->num_mappings && name == NULL; i++)
		if (!has_none(&snap->mappings[i]) &&
		    !is_read(glibc, &snap->mappings[i]))
			name = mu_glibc_message_find(
			    snap, &snap->mappings[i], false);
	if (name == NULL)
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "this process also has another allocator (%s, in %s), whose "
	    "blocks were not checked",
	    name, mu_path_base(snap->mappings[i - 1].name));
}

/*
 * True if the header that mcheck() puts before a block is consistent. A word
 * can lead anywhere, also to a guard page that faults.
 */
static bool
is_mcheck_header(const struct mu_snapshot *snap, uintptr_t address)
{
	struct mu_memory *memory = (struct mu_memory *)&snap->memory;
	struct mu_range part,
	    all = { address, address + MCHECK_WORDS * sizeof(uintptr_t) };
	const uintptr_t *header;
	uintptr_t words[MCHECK_WORDS];

	if (address < 4096 || address % sizeof(*words) != 0 ||
	    all.end < address)
		return false;
	header = mu_snapshot_view(snap, address, sizeof(words));
	if (header == NULL || !memory->ops->populated(memory, all, &part) ||
	    part.begin != all.begin || part.end != all.end)
		return false;
	memcpy(words, header, sizeof(words));
	return words[MCHECK_MAGIC] ==
	    (MCHECK_MAGICWORD ^ (words[MCHECK_PREV] + words[MCHECK_NEXT])) &&
	    words[MCHECK_MAGIC2] == (MCHECK_MAGICWORD ^ words[MCHECK_BLOCK]);
}

/*
 * The list's head is a variable of libc or of libc_malloc_debug. Memory right
 * after .bss belongs to others: stacks and their guards, for example.
 */
static bool
has_mcheck_root(const struct mu_snapshot *snap, struct mu_range data)
{
	struct mu_memory *memory = (struct mu_memory *)&snap->memory;
	struct mu_range part;
	const char *view;
	uintptr_t word;
	size_t at;

	if (mu_range_size(data) > DATA_MAX)
		data.end = data.begin + DATA_MAX;
	for (; memory->ops->populated(memory, data, &part);
	     data.begin = part.end) {
		view = mu_snapshot_view(snap, part.begin, mu_range_size(part));
		for (at = 0; view != NULL && at < mu_range_size(part);
		     at += sizeof(word)) {
			word = mu_view_word(view + at);
			if (word != 0 && is_mcheck_header(snap, word))
				return true;
		}
	}
	return false;
}

static bool
is_mcheck_used(const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	const char *name;
	bool of_libc = false, old = snap->glibc_minor < DEBUG_FILE_SINCE;

	for (; mapping < end; mapping++) {
		name = mu_path_base(mapping->name);
		/* The unnamed mapping that follows is .bss. */
		if (mapping->inode != 0)
			of_libc = (old && mu_libc_is_named(mapping)) ||
			    mu_starts_with(name, debug_file);
		else if (mapping == snap->mappings || name[0] != '\0' ||
		    mapping[-1].inode == 0 ||
		    mapping[-1].range.end != mapping->range.begin)
			of_libc = false;
		if (of_libc && mapping->readable && mapping->writable &&
		    has_mcheck_root(snap, mapping->range))
			return true;
	}
	return false;
}

enum mu_status
mu_glibc_foreign_check(const struct mu_snapshot *snap,
    const struct mu_heap_member *glibc, const struct mu_blocks *blocks,
    struct mu_why *why)
{
	const struct mu_mapping *where = malloc_elsewhere(snap, glibc);

	if (where != NULL && !passes_on(snap, where, blocks))
		return judge_replaced(snap, glibc, blocks, where, why);
	if (is_mcheck_used(snap))
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "mcheck() is in use: it links all blocks together, so that "
		    "none can be told to be lost");
	return judge_others(snap, glibc, why);
}
