#include "lib/report/exported.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>

#include "mu/sys.h"

#define MAX_SEGMENTS 64
#define MAX_DYNAMIC 256 /* entries; libraries have 30 */
#define MAX_BUCKETS (1u << 22)
#define MAX_SYMBOLS (1u << 22) /* also the longest chain */

/* Contents of the dynamic section. */
struct dynamic {
	uintptr_t symbols, names, hash, gnu_hash;
	size_t names_size;
};

static bool
read_at(uintptr_t address, void *buffer, size_t size)
{
	struct iovec to = { buffer, size }, from = { (void *)address, size };

	return mu_syscall6(SYS_process_vm_readv, mu_sys_getpid(), (long)&to, 1,
		   (long)&from, 1, 0) == (long)size;
}

/* glibc adds the load bias to most of these in memory, but not to all. */
static uintptr_t
absolute_address(uintptr_t value, uintptr_t begin, uintptr_t bias)
{
	return value < begin ? value + bias : value;
}

static bool
read_dynamic(
    struct dynamic *dynamic, uintptr_t at, uintptr_t begin, uintptr_t bias)
{
	Elf64_Dyn entry;
	size_t i;

	*dynamic = (struct dynamic) { 0 };
	for (i = 0; i < MAX_DYNAMIC; i++, at += sizeof(entry)) {
		if (!read_at(at, &entry, sizeof(entry)))
			return false;
		switch (entry.d_tag) {
		case DT_NULL:
			return true;
		case DT_SYMTAB:
			dynamic->symbols =
			    absolute_address(entry.d_un.d_ptr, begin, bias);
			break;
		case DT_STRTAB:
			dynamic->names =
			    absolute_address(entry.d_un.d_ptr, begin, bias);
			break;
		case DT_STRSZ:
			dynamic->names_size = entry.d_un.d_val;
			break;
		case DT_HASH:
			dynamic->hash =
			    absolute_address(entry.d_un.d_ptr, begin, bias);
			break;
		case DT_GNU_HASH:
			dynamic->gnu_hash =
			    absolute_address(entry.d_un.d_ptr, begin, bias);
			break;
		}
	}
	return true;
}

/* Count up to the last symbol of the last chain, that of the highest bucket. */
static size_t
count_gnu(uintptr_t table)
{
	uint32_t header[4], words[64], highest = 0, i, j, count;
	uintptr_t at;

	if (!read_at(table, header, sizeof(header)) || header[0] > MAX_BUCKETS)
		return 0;
	at = table + sizeof(header) + header[2] * sizeof(uint64_t);
	for (i = 0; i < header[0]; i += count, at += count * sizeof(*words)) {
		count = header[0] - i < 64 ? header[0] - i : 64;
		if (!read_at(at, words, count * sizeof(*words)))
			return 0;
		for (j = 0; j < count; j++)
			if (words[j] > highest)
				highest = words[j];
	}
	if (highest < header[1])
		return header[1];
	at += (uintptr_t)(highest - header[1]) * sizeof(*words);
	for (i = 0; i < MAX_SYMBOLS; i++, at += sizeof(*words)) {
		if (!read_at(at, words, sizeof(*words)))
			return 0;
		if (words[0] & 1)
			return (size_t)highest + i + 1;
	}
	return 0;
}

static size_t
count_symbols(const struct dynamic *dynamic)
{
	uint32_t header[2];

	if (dynamic->hash != 0 &&
	    read_at(dynamic->hash, header, sizeof(header)))
		return header[1];
	return dynamic->gnu_hash != 0 ? count_gnu(dynamic->gnu_hash) : 0;
}

bool
mu_exported_open(struct mu_exported *exported, uintptr_t begin)
{
	struct dynamic dynamic = { 0 };
	uintptr_t at, section = 0;
	Elf64_Phdr segment;
	Elf64_Ehdr header;
	bool first = false;
	size_t i;

	*exported = (struct mu_exported) { 0 };
	if (!read_at(begin, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(segment))
		return false;
	at = begin + header.e_phoff;
	for (i = 0; i < header.e_phnum && i < MAX_SEGMENTS; i++) {
		if (!read_at(
			at + i * sizeof(segment), &segment, sizeof(segment)))
			return false;
		if (segment.p_type == PT_LOAD && segment.p_offset == 0) {
			first = true;
			exported->bias = begin - segment.p_vaddr;
		}
		if (segment.p_type == PT_DYNAMIC)
			section = segment.p_vaddr;
	}
	if (!first)
		return false;
	if (section != 0 &&
	    read_dynamic(
		&dynamic, section + exported->bias, begin, exported->bias)) {
		exported->symbols = dynamic.symbols;
		exported->names = dynamic.names;
		exported->names_size = dynamic.names_size;
		exported->count = count_symbols(&dynamic);
		if (exported->count > MAX_SYMBOLS)
			exported->count = 0;
	}
	return true;
}

/*
 * True if ADDRESS, as in the file, is in the symbol, or follows it if it has no
 * size.
 */
static bool
is_in(const Elf64_Sym *symbol, uintptr_t address)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	    symbol->st_shndx != SHN_UNDEF && symbol->st_value <= address &&
	    (symbol->st_size == 0 ||
		address - symbol->st_value < symbol->st_size);
}

static bool
read_name(const struct mu_exported *exported, const Elf64_Sym *symbol,
    char *name, size_t size)
{
	size_t length, left;

	if (symbol->st_name >= exported->names_size)
		return false;
	left = exported->names_size - symbol->st_name;
	length = left < size - 1 ? left : size - 1;
	if (!read_at(exported->names + symbol->st_name, name, length))
		return false;
	name[length] = '\0';
	for (length = 0; name[length] != '\0'; length++)
		if ((unsigned char)name[length] <= ' ' || name[length] == 0x7f)
			name[length] = '?';
	return length > 0;
}

bool
mu_exported_find(const struct mu_exported *exported, uintptr_t address,
    char *chunk, char *name, size_t size, size_t *into)
{
	const size_t most = MU_EXPORTED_CHUNK / sizeof(Elf64_Sym);
	Elf64_Sym symbol, best = { .st_name = 0 };
	size_t i, j, count;
	bool found = false;

	address -= exported->bias;
	for (i = 0; i < exported->count; i += count) {
		count = exported->count - i < most ? exported->count - i : most;
		if (!read_at(exported->symbols + i * sizeof(symbol), chunk,
			count * sizeof(symbol)))
			return false;
		for (j = 0; j < count; j++) {
			memcpy(&symbol, chunk + j * sizeof(symbol),
			    sizeof(symbol));
			if (!is_in(&symbol, address) ||
			    (found && symbol.st_value <= best.st_value))
				continue;
			found = true;
			best = symbol;
		}
	}
	if (!found || !read_name(exported, &best, name, size)) {
		name[0] = '\0';
		return false;
	}
	*into = address - best.st_value;
	return true;
}
