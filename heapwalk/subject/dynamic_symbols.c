/* The tables are hostile input: every step is bounded. */
#include "heapwalk/subject/dynamic_symbols.h"

#include <elf.h>
#include <string.h>
#include <sys/syscall.h>

#include "heapwalk/subject/classify.h"
#include "mu/arch/cpu.h"

#define DYNAMIC_MAX 512   /* entries; a linker writes about 30 */
#define CHAIN_MAX 65536   /* symbols of one bucket */
#define IMPORTS_MAX 65536 /* undefined symbols of a module */
#define CODE_PIECE ((size_t)64 << 10)
#define MALLOC_HASH 0xd39ad3du /* of "malloc", by DT_GNU_HASH */

struct symbols {
	uintptr_t base; /* address of the ELF header */
	uintptr_t bias; /* load bias: address minus p_vaddr */
	uintptr_t table, strings, hash;
};

/* musl's library is its dynamic linker as well, by either name. */
static bool
is_libc(const char *file)
{
	return mu_starts_with(file, "libc.so") ||
	    mu_starts_with(file, "libc-2.") ||
	    mu_starts_with(file, "libc.musl") || mu_starts_with(file, "ld-") ||
	    mu_starts_with(file, "ld.so");
}

/* glibc's loader replaces most entries by addresses, other loaders none. */
static uintptr_t
relocated(const struct symbols *symbols, uintptr_t value)
{
	return value < symbols->base ? value + symbols->bias : value;
}

static bool
read_dynamic(
    const struct mu_snapshot *snap, struct symbols *symbols, uintptr_t at)
{
	const Elf64_Dyn *entry;
	size_t i;

	for (i = 0; i < DYNAMIC_MAX; i++, at += sizeof(*entry)) {
		entry = mu_snapshot_view(snap, at, sizeof(*entry));
		if (entry == NULL || entry->d_tag == DT_NULL)
			break;
		if (entry->d_tag == DT_SYMTAB)
			symbols->table = relocated(symbols, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			symbols->strings =
			    relocated(symbols, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			symbols->hash = relocated(symbols, entry->d_un.d_ptr);
	}
	return symbols->table != 0 && symbols->strings != 0 &&
	    symbols->hash != 0;
}

/*
 * Read the module whose header is at the start of MAPPING. Returns false if
 * that fails.
 */
static bool
read_module(const struct mu_snapshot *snap, const struct mu_mapping *mapping,
    struct symbols *symbols)
{
	uintptr_t base = mapping->range.begin, first = UINTPTR_MAX;
	const Elf64_Phdr *segment;
	const Elf64_Ehdr *header;
	size_t i, count;

	*symbols = (struct symbols) { .base = base };
	header = mu_snapshot_view(snap, base, sizeof(*header));
	if (header == NULL || header->e_phentsize != sizeof(*segment))
		return false;
	count = header->e_phnum;
	segment = mu_snapshot_view(
	    snap, base + header->e_phoff, count * sizeof(*segment));
	if (segment == NULL)
		return false;
	for (i = 0; i < count; i++) {
		if (segment[i].p_type == PT_LOAD && segment[i].p_vaddr < first)
			first = segment[i].p_vaddr;
	}
	symbols->bias = base - first;
	for (i = 0; i < count; i++) {
		if (segment[i].p_type == PT_DYNAMIC)
			return read_dynamic(
			    snap, symbols, symbols->bias + segment[i].p_vaddr);
	}
	return false;
}

static const Elf64_Sym *
symbol_at(const struct mu_snapshot *snap, const struct symbols *symbols,
    uint32_t index)
{
	return mu_snapshot_view(snap,
	    symbols->table + (uintptr_t)index * sizeof(Elf64_Sym),
	    sizeof(Elf64_Sym));
}

static bool
is_called(const struct mu_snapshot *snap, const struct symbols *symbols,
    const Elf64_Sym *symbol, const char *name)
{
	size_t size = strlen(name) + 1;
	const char *found =
	    mu_snapshot_view(snap, symbols->strings + symbol->st_name, size);

	return found != NULL && memcmp(found, name, size) == 0;
}

static bool
is_malloc(const struct mu_snapshot *snap, const struct symbols *symbols,
    uint32_t index)
{
	const Elf64_Sym *symbol = symbol_at(snap, symbols, index);

	return symbol != NULL && symbol->st_shndx != SHN_UNDEF &&
	    is_called(snap, symbols, symbol, "malloc");
}

/*
 * DT_GNU_HASH has four words (buckets, first symbol, words of the filter,
 * shift), the filter, the buckets, and a hash for each symbol, with bit 0 set
 * in the last one of a bucket.
 */
static bool
defines_malloc(const struct mu_snapshot *snap, const struct symbols *symbols)
{
	const uint32_t *head, *bucket, *hash;
	uintptr_t buckets, chains;
	uint32_t index, i;

	head = mu_snapshot_view(snap, symbols->hash, 4 * sizeof(*head));
	if (head == NULL || head[0] == 0)
		return head == NULL;
	buckets = symbols->hash + 4 * sizeof(*head) +
	    (uintptr_t)head[2] * sizeof(uintptr_t);
	chains = buckets + (uintptr_t)head[0] * sizeof(*head);
	bucket = mu_snapshot_view(snap,
	    buckets + MALLOC_HASH % head[0] * sizeof(*bucket), sizeof(*bucket));
	if (bucket == NULL)
		return true;
	index = *bucket;
	for (i = 0; index >= head[1] && index != 0 && i < CHAIN_MAX; i++) {
		hash = mu_snapshot_view(snap,
		    chains + (uintptr_t)(index - head[1]) * sizeof(*hash),
		    sizeof(*hash));
		if (hash == NULL)
			return true;
		if ((*hash | 1) == (MALLOC_HASH | 1) &&
		    is_malloc(snap, symbols, index))
			return true;
		if (*hash & 1)
			return false;
		index++;
	}
	return false;
}

/*
 * The second word of DT_GNU_HASH is the first symbol that has a hash; undefined
 * symbols come before it. If nothing is defined, linkers write 1 whatever the
 * table has, so all symbols are checked up to the strings, which linkers put
 * after the table.
 */
static bool
imports(const struct mu_snapshot *snap, const struct symbols *symbols,
    const char *name)
{
	const Elf64_Sym *symbol;
	size_t i, count = IMPORTS_MAX;

	if (symbols->strings > symbols->table &&
	    (symbols->strings - symbols->table) / sizeof(*symbol) < count)
		count = (symbols->strings - symbols->table) / sizeof(*symbol);
	for (i = 1; i < count; i++) {
		symbol = symbol_at(snap, symbols, (uint32_t)i);
		if (symbol == NULL)
			return true;
		if (symbol->st_shndx == SHN_UNDEF &&
		    is_called(snap, symbols, symbol, name))
			return true;
	}
	return false;
}

static bool
has_malloc(const struct mu_snapshot *snap, const struct symbols *symbols,
    const char *name)
{
	(void)name;
	return defines_malloc(snap, symbols);
}

/*
 * True if it holds for a module other than glibc's, or for one that cannot be
 * read.
 */
static bool
may_be_of_any(const struct mu_snapshot *snap,
    bool (*is_so)(const struct mu_snapshot *snap, const struct symbols *symbols,
	const char *name),
    const char *name)
{
	const struct mu_mapping *mapping;
	struct symbols symbols;
	const char *magic;
	bool linked = false;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		if (mapping->inode == 0 || mapping->offset != 0 ||
		    !mapping->readable)
			continue;
		magic = mu_snapshot_view(snap, mapping->range.begin, SELFMAG);
		if (magic == NULL || memcmp(magic, ELFMAG, SELFMAG) != 0)
			continue;
		if (is_libc(mu_path_base(mapping->name))) {
			linked = true;
			continue;
		}
		if (!read_module(snap, mapping, &symbols) ||
		    is_so(snap, &symbols, name))
			return true;
	}
	return !linked;
}

bool
mu_malloc_has_other(const struct mu_snapshot *snap)
{
	return may_be_of_any(snap, has_malloc, NULL);
}

bool
mu_program_is_static(const struct mu_snapshot *snap)
{
	bool files = false;
	const char *name;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		name = snap->mappings[i].name;
		if (name[0] == '/' && is_libc(mu_path_base(name)))
			return false;
		files |= name[0] == '/';
	}
	return files;
}

/* True if RANGE, code, has an instruction for the number of system call NR. */
static bool
loads_call(
    const struct mu_snapshot *snap, struct mu_range range, unsigned char nr)
{
	struct mu_range piece = range;
	const unsigned char *code;
	size_t at, size;

	for (; piece.begin < range.end; piece.begin = piece.end) {
		size = range.end - piece.begin;
		size = size < CODE_PIECE ? size : CODE_PIECE;
		piece.end = piece.begin + size;
		code = mu_snapshot_view(snap, piece.begin, size);
		if (code == NULL)
			return true;
		for (at = 0; at + MU_CALL_LOAD_SIZE <= size; at++)
			if (mu_arch_loads(code + at, nr))
				return true;
		if (piece.end < range.end)
			piece.end -= MU_CALL_LOAD_SIZE - 1;
	}
	return false;
}

/* A static program imports nothing; it makes the call itself. */
static bool
makes_call(const struct mu_snapshot *snap, unsigned char nr)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;

	for (; mapping < end; mapping++)
		if (mapping->executable && mapping->inode != 0 &&
		    loads_call(snap, mapping->range, nr))
			return true;
	return false;
}

bool
mu_may_call_sigaltstack(const struct mu_snapshot *snap)
{
	return mu_program_is_static(snap)
	    ? makes_call(snap, SYS_sigaltstack)
	    : may_be_of_any(snap, imports, "sigaltstack");
}

bool
mu_may_set_stacks(const struct mu_snapshot *snap)
{
	static const char *const names[] = { "syscall", "dlsym", "dlvsym" };
	size_t i;

	if (mu_may_call_sigaltstack(snap))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]) &&
	     !mu_program_is_static(snap);
	     i++)
		if (may_be_of_any(snap, imports, names[i]))
			return true;
	return false;
}
