#include "lib/types/call_sites.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/types/block_size.h"
#include "lib/types/subject.h"
#include "mu/arch/call_site.h"
#include "mu/array.h"
#include "mu/bisect.h"

#define SITES_MAX ((size_t)1 << 22)
#define TARGETS_MAX ((size_t)1 << 12)
#define CONSTANT_MAX ((uint64_t)1 << 30) /* larger ones are none */
#define LINES_ASKED 64                   /* sites whose lines are looked at */

/* What allocates, and by how many of its arguments. */
static const struct allocator {
	const char *name;
	unsigned char arguments;
} allocators[] = {
	{ "malloc", 1 },
	{ "calloc", 2 },
	{ "valloc", 1 },
	{ "_Znwm", 1 }, /* operator new(unsigned long) */
	{ "_Znam", 1 },
	{ "_ZnwmRKSt9nothrow_t", 1 },
	{ "_ZnamRKSt9nothrow_t", 1 },
	{ "_ZnwmSt11align_val_t", 1 },
	{ "_ZnamSt11align_val_t", 1 },
	{ "g_malloc", 1 },
	{ "g_malloc0", 1 },
	{ "g_try_malloc", 1 },
	{ "g_try_malloc0", 1 },
	{ "g_malloc_n", 2 },
	{ "g_malloc0_n", 2 },
	{ "g_slice_alloc", 1 },
	{ "g_slice_alloc0", 1 },
	{ "xmalloc", 1 },
	{ "xzalloc", 1 },
	{ "xcalloc", 2 },
};

/* A function that allocates, its stub, or the word with its address. */
struct target {
	uint64_t address;
	unsigned char arguments;
};

struct reading {
	struct mu_call_sites *sites;
	GElf_Addr bias;
	struct target *targets; /* by address */
	size_t num_targets, max_targets;
};

/* 0: NAME, which may have a version, does not allocate. */
static unsigned char
arguments_of(const char *name)
{
	size_t i, length = strcspn(name, "@");

	for (i = 0; i < sizeof(allocators) / sizeof(*allocators); i++)
		if (strncmp(allocators[i].name, name, length) == 0 &&
		    allocators[i].name[length] == '\0')
			return allocators[i].arguments;
	return 0;
}

static void
add_target(struct reading *reading, uint64_t address, unsigned char arguments)
{
	if (arguments != 0 && address != 0 &&
	    mu_array_room(reading->targets, reading->num_targets,
		reading->max_targets, 64, TARGETS_MAX))
		reading->targets[reading->num_targets++] =
		    (struct target) { address, arguments };
}

static const struct target *
target_at(const struct reading *reading, uint64_t address)
{
	size_t low = 0;

	mu_bisect(low, reading->num_targets, i,
	    reading->targets[i].address < address);
	return low < reading->num_targets &&
		reading->targets[low].address == address
	    ? &reading->targets[low]
	    : NULL;
}

static int
compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void
sort_targets(struct reading *reading)
{
	if (reading->num_targets > 0)
		qsort(reading->targets, reading->num_targets,
		    sizeof(*reading->targets), compare_targets);
}

/* Call VISIT with the data of each section of TYPE. */
static void
each_section(struct reading *reading, Elf *elf, GElf_Word type,
    void (*visit)(struct reading *reading, Elf *elf, const GElf_Shdr *header,
	Elf_Data *data))
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL ||
		    header.sh_type != type)
			continue;
		data = elf_getdata(section, NULL);
		if (data != NULL && data->d_buf != NULL)
			visit(reading, elf, &header, data);
	}
}

/* The words that the dynamic linker fills with addresses of allocators. */
static void
add_words(
    struct reading *reading, Elf *elf, const GElf_Shdr *header, Elf_Data *data)
{
	Elf_Scn *section = elf_getscn(elf, header->sh_link);
	GElf_Shdr symbols;
	Elf_Data *table;
	GElf_Rela rela;
	GElf_Sym symbol;
	const char *name;
	int i;

	if (section == NULL || gelf_getshdr(section, &symbols) == NULL ||
	    (table = elf_getdata(section, NULL)) == NULL)
		return;
	for (i = 0; gelf_getrela(data, i, &rela) != NULL; i++) {
		if (GELF_R_SYM(rela.r_info) == 0 ||
		    gelf_getsym(table, (int)GELF_R_SYM(rela.r_info), &symbol) ==
			NULL)
			continue;
		name = elf_strptr(elf, symbols.sh_link, symbol.st_name);
		if (name != NULL)
			add_target(reading, rela.r_offset + reading->bias,
			    arguments_of(name));
	}
}

/* Stubs lead through the words that are known by now. */
static void
add_stubs(
    struct reading *reading, Elf *elf, const GElf_Shdr *header, Elf_Data *data)
{
	const size_t known = reading->num_targets;
	const uint64_t address = header->sh_addr + reading->bias;
	const struct target *target;
	struct reading words;
	uint64_t word;
	size_t at, begin;

	(void)elf;
	if ((header->sh_flags & SHF_EXECINSTR) == 0 ||
	    header->sh_addralign > 16 || known == 0)
		return;
	for (at = 0; at < data->d_size; at++) {
		if (!mu_call_stub(
			data->d_buf, data->d_size, address, at, &begin, &word))
			continue;
		words = (struct reading) { .targets = reading->targets,
			.num_targets = known };
		target = target_at(&words, word);
		if (target == NULL)
			continue;
		add_target(reading, address + begin, target->arguments);
	}
}

static void
add_functions(struct reading *reading, Dwfl_Module *module)
{
	int i, count = dwfl_module_getsymtab(module);
	GElf_Addr address;
	GElf_Sym symbol;
	const char *name;

	for (i = 0; i < count; i++) {
		name = dwfl_module_getsym_info(
		    module, i, &symbol, &address, NULL, NULL, NULL);
		if (name != NULL && symbol.st_shndx != SHN_UNDEF &&
		    GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
			add_target(reading, address, arguments_of(name));
	}
}

static bool
size_at(const unsigned char *code, const struct mu_call *call,
    unsigned char arguments, uint64_t *size)
{
	uint64_t count = 1;

	return mu_call_constant(code, call->at, arguments - 1u, size) &&
	    (arguments == 1 || mu_call_constant(code, call->at, 0, &count)) &&
	    !__builtin_mul_overflow(*size, count, size) && *size > 0 &&
	    *size <= CONSTANT_MAX;
}

static void
add_sites(
    struct reading *reading, Elf *elf, const GElf_Shdr *header, Elf_Data *data)
{
	struct mu_call_sites *sites = reading->sites;
	const uint64_t address = header->sh_addr + reading->bias;
	const struct target *target;
	struct mu_call call;
	uint64_t size;
	size_t at = 0;

	(void)elf;
	if ((header->sh_flags & SHF_EXECINSTR) == 0)
		return;
	while (mu_call_next(data->d_buf, data->d_size, address, &at, &call)) {
		target = target_at(reading, call.target);
		if (target == NULL ||
		    !size_at(data->d_buf, &call, target->arguments, &size))
			continue;
		if (!mu_array_room(
			sites->list, sites->count, sites->max, 256, SITES_MAX))
			return;
		sites->list[sites->count++] = (struct mu_call_site) { size,
			(uintptr_t)(address + call.at) };
	}
}

static void
read_module(void *ctx, Dwfl_Module *module)
{
	struct reading reading = { .sites = ctx };
	Elf *elf = dwfl_module_getelf(module, &reading.bias);

	if (elf == NULL)
		return;
	each_section(&reading, elf, SHT_RELA, add_words);
	sort_targets(&reading);
	each_section(&reading, elf, SHT_PROGBITS, add_stubs);
	add_functions(&reading, module);
	sort_targets(&reading);
	each_section(&reading, elf, SHT_PROGBITS, add_sites);
	free(reading.targets);
}

static int
compare_sites(const void *a, const void *b)
{
	const struct mu_call_site *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void
read_sites(struct mu_call_sites *sites, struct mu_symbols *symbols)
{
	size_t i, count;
	const struct mu_loaded *list = mu_symbols_loaded(symbols, &count);

	if (sites->asked)
		return;
	sites->asked = true;
	for (i = 0; i < count; i++)
		if (mu_subject_is_own(&list[i]))
			mu_symbols_debug(symbols, &list[i], read_module, sites);
	if (sites->count > 0)
		qsort(sites->list, sites->count, sizeof(*sites->list),
		    compare_sites);
}

static size_t
first_of(const struct mu_call_sites *sites, uint64_t size)
{
	size_t low = 0;

	mu_bisect(low, sites->count, i, sites->list[i].size < size);
	return low;
}

bool
mu_call_sites_ask_for(
    struct mu_call_sites *sites, struct mu_symbols *symbols, uint64_t size)
{
	size_t i;

	read_sites(sites, symbols);
	i = first_of(sites, size);
	return i < sites->count && sites->list[i].size == size;
}

/* Headers of the C++ library, whose functions are inlined. */
static bool
is_library(const char *file)
{
	return strncmp(file, "/usr/include/", 13) == 0 ||
	    strstr(file, "/include/c++/") != NULL;
}

/* "parse.c:88": the first line at ADDRESS that is not the library's. */
static bool
line_at(struct mu_symbols *symbols, uintptr_t address, char *text, size_t size)
{
	struct mu_symbol symbol;
	const char *file, *slash;
	unsigned line;
	size_t i;

	if (!mu_symbols_find_call(symbols, address, &symbol) ||
	    symbol.file == NULL || symbol.line == 0)
		return false;
	file = symbol.file;
	line = symbol.line;
	for (i = 0; i < symbol.num_inlined && is_library(file) &&
	     symbol.inlined[i].file != NULL;
	     i++) {
		file = symbol.inlined[i].file;
		line = symbol.inlined[i].line;
	}
	slash = strrchr(file, '/');
	return !is_library(file) &&
	    snprintf(text, size, "%s:%u", slash == NULL ? file : slash + 1,
		line) < (int)size;
}

const char *
mu_call_sites_find(struct mu_call_sites *sites, struct mu_symbols *symbols,
    size_t usable, uint64_t size)
{
	char text[sizeof(sites->text)];
	size_t i, first, asked = 0;

	read_sites(sites, symbols);
	sites->text[0] = '\0';
	first = first_of(sites, size != 0 ? size : mu_block_least(usable));
	for (i = first; i < sites->count; i++) {
		if (size != 0 ? sites->list[i].size != size
			      : sites->list[i].size > usable)
			break;
		if (asked++ == LINES_ASKED ||
		    !line_at(
			symbols, sites->list[i].address, text, sizeof(text)) ||
		    (sites->text[0] != '\0' && strcmp(sites->text, text) != 0))
			return NULL;
		memcpy(sites->text, text, sizeof(text));
	}
	return sites->text[0] == '\0' ? NULL : sites->text;
}
