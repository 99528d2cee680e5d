#include "lib/symbolize/symbol_table.h"

#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/ranges.h"
#include "lib/symbolize/demangled.h"

#define SYMBOLS_MAX (1 << 23) /* a large browser has 2^21 */
#define STEPS_MAX 256         /* back from an address to the symbol it is in */
#define NAME_COMPARED 64      /* bytes; a hostile file has names of megabytes */
#define NAME_SHOWN_MAX ((size_t)16 << 10) /* bytes */

/*
 * Rank of a name among several for one address: how a programmer would call it.
 */
static unsigned char
rank_of(const GElf_Sym *sym, const char *name)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	unsigned bind = GELF_ST_BIND(sym->st_info);
	unsigned rank = type == STT_NOTYPE ? 0 : 8;

	if (bind != STB_LOCAL)
		rank += bind == STB_WEAK ? 2 : 4;
	return (unsigned char)(rank + (name[0] != '_'));
}

/*
 * The ELF for the Arm 64-bit Architecture, 5.5.4: $x and $d, with or without a
 * tail, say only whether code or data begins.
 */
static bool
is_mark(const GElf_Sym *sym, const char *name)
{
	return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && name[0] == '$' &&
	    (name[1] == 'x' || name[1] == 'd' || name[1] == 'a' ||
		name[1] == 't') &&
	    (name[2] == '\0' || name[2] == '.');
}

/* What GNU ld defines at the begin and end of sections is no variable. */
static bool
is_of_linker(const GElf_Sym *sym, const char *name)
{
	static const char *const names[] = { "__bss_start", "__bss_start__",
		"__bss_end__", "_bss_end__", "__data_start", "data_start",
		"_edata", "edata", "_end", "end", "__end__" };
	size_t i;

	if (GELF_ST_TYPE(sym->st_info) != STT_NOTYPE || sym->st_size != 0)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* The value of a thread-local variable is not an address. */
static bool
has_address(const GElf_Sym *sym, GElf_Word section)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC &&
	    type != STT_GNU_IFUNC && type != STT_COMMON)
		return false;
	return section != SHN_UNDEF &&
	    (sym->st_shndx < SHN_LORESERVE || sym->st_shndx == SHN_XINDEX);
}

static void
add_symbol(
    struct mu_symbol_table *table, Dwfl_Module *module, int i, uintptr_t end)
{
	struct mu_table_symbol *symbol = &table->symbols[table->count];
	GElf_Word section = SHN_UNDEF;
	GElf_Addr address;
	GElf_Sym sym;
	const char *name = dwfl_module_getsym_info(
	    module, i, &sym, &address, &section, NULL, NULL);

	if (name == NULL || name[0] == '\0' || !has_address(&sym, section) ||
	    is_mark(&sym, name) || is_of_linker(&sym, name) || address >= end)
		return;
	*symbol = (struct mu_table_symbol) {
		.range = { address,
		    sym.st_size < end - address ? address + sym.st_size : end },
		.name = name,
		.rank = rank_of(&sym, name),
		.sized = sym.st_size != 0,
	};
	table->count++;
	table->functions += GELF_ST_TYPE(sym.st_info) == STT_FUNC;
}

static int
compare(const void *a, const void *b)
{
	const struct mu_table_symbol *x = a, *y = b;

	if (x->range.begin != y->range.begin)
		return x->range.begin < y->range.begin ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	return strncmp(y->name, x->name, NAME_COMPARED);
}

/*
 * Labels without a size, as in assembler code, end where the next symbol
 * begins.
 */
static void
bound_symbols(struct mu_symbol_table *table, uintptr_t end)
{
	struct mu_table_symbol *symbol;
	uintptr_t next = end, begin = end, reach = 0;
	size_t i;

	for (i = table->count; i-- > 0;) {
		symbol = &table->symbols[i];
		if (symbol->range.begin != begin)
			next = begin;
		begin = symbol->range.begin;
		if (!symbol->sized)
			symbol->range.end = next;
	}
	for (i = 0; i < table->count; i++) {
		symbol = &table->symbols[i];
		if (symbol->range.end > reach)
			reach = symbol->range.end;
		symbol->reach = reach;
	}
}

void
mu_symbol_table_fill(
    struct mu_symbol_table *table, Dwfl_Module *module, uintptr_t end)
{
	int count = dwfl_module_getsymtab(module), i;

	*table = (struct mu_symbol_table) { 0 };
	if (count <= 0)
		return;
	if (count > SYMBOLS_MAX)
		count = SYMBOLS_MAX;
	table->symbols = calloc((size_t)count, sizeof(*table->symbols));
	if (table->symbols == NULL)
		return;
	for (i = 0; i < count; i++)
		add_symbol(table, module, i, end);
	qsort(table->symbols, table->count, sizeof(*table->symbols), compare);
	bound_symbols(table, end);
}

/* "memcpy@@GLIBC_2.14" is memcpy; C++ and Rust names contain no '@'. */
static const char *
write_name(struct mu_table_symbol *symbol)
{
	size_t length = strnlen(symbol->name, NAME_SHOWN_MAX);

	if (symbol->written == NULL && length < NAME_SHOWN_MAX)
		symbol->written = mu_demangled(symbol->name);
	if (symbol->written == NULL) {
		symbol->written = strndup(symbol->name, length);
		if (symbol->written != NULL)
			symbol->written[strcspn(symbol->written, "@")] = '\0';
	}
	return symbol->written;
}

const char *
mu_symbol_table_find(
    struct mu_symbol_table *table, uintptr_t address, struct mu_range *range)
{
	struct mu_table_symbol *symbol, *best = NULL;
	size_t steps,
	    at = mu_ranges_upper(
		table->symbols, table->count, sizeof(*table->symbols), address);

	for (steps = 0; at > 0 && steps < STEPS_MAX; steps++) {
		symbol = &table->symbols[--at];
		if (symbol->reach <= address)
			break;
		if (symbol->range.end <= address)
			continue;
		if (best == NULL || symbol->sized)
			best = symbol;
		if (symbol->sized)
			break;
	}
	if (best == NULL)
		return NULL;
	*range = best->range;
	return write_name(best);
}

void
mu_symbol_table_close(struct mu_symbol_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		free(table->symbols[i].written);
	free(table->symbols);
	*table = (struct mu_symbol_table) { 0 };
}
