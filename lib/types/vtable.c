#include "lib/types/vtable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/symbolize/demangled.h"
#include "lib/symbolize/guard.h"
#include "lib/types/subject.h"

#define WORD sizeof(uintptr_t)
#define TOP_MAX ((intptr_t)1 << 24) /* bytes; no class is larger */
#define NAME_MAX_LENGTH 4096        /* of a mangled name */

/* The classes of type information of classes. */
#define PLAIN_CLASS "N10__cxxabiv117__class_type_infoE"
#define SI_CLASS "N10__cxxabiv120__si_class_type_infoE"
#define VMI_CLASS "N10__cxxabiv121__vmi_class_type_infoE"

struct info {
	uintptr_t vptr, name;
};

struct demangling {
	char mangled[NAME_MAX_LENGTH + 5];
	char *name;
};

static bool
is_code(struct mu_symbols *symbols, uintptr_t address)
{
	const struct mu_mapping *mapping;

	return mu_symbols_in_file(symbols, address, &mapping) &&
	    mapping != NULL && mapping->executable;
}

static bool
is_in_file(struct mu_symbols *symbols, uintptr_t address)
{
	const struct mu_mapping *mapping;

	return mu_symbols_in_file(symbols, address, &mapping);
}

/* Type information, and all that it refers to, is in loaded files. */
static bool
read_info(struct mu_symbols *symbols, uintptr_t at, struct info *info)
{
	return at % WORD == 0 && is_in_file(symbols, at) &&
	    mu_symbols_read(symbols, at, info, sizeof(*info)) &&
	    info->vptr % WORD == 0 && is_in_file(symbols, info->vptr) &&
	    is_in_file(symbols, info->name);
}

/* The type information of the class of the object whose vptr is VPTR. */
static bool
info_of_vptr(struct mu_symbols *symbols, uintptr_t vptr, struct info *info)
{
	uintptr_t at;

	return mu_subject_word(symbols, vptr - WORD, &at) &&
	    read_info(symbols, at, info);
}

static bool
is_named(struct mu_symbols *symbols, const struct info *info, const char *name)
{
	char text[sizeof(VMI_CLASS)];
	size_t length =
	    mu_subject_string(symbols, info->name, text, sizeof(text));

	return length == strlen(name) && memcmp(text, name, length) == 0;
}

/*
 * True if INFO is the type information of a class, which is an object of one
 * of three classes. Each of these has one base class and so has type
 * information of the second of them; the second one describes itself. Their
 * names are compared, which need no symbols.
 */
static bool
is_class(struct mu_symbols *symbols, const struct info *info)
{
	struct info kind, si;

	return info_of_vptr(symbols, info->vptr, &kind) &&
	    (is_named(symbols, &kind, SI_CLASS) ||
		is_named(symbols, &kind, PLAIN_CLASS) ||
		is_named(symbols, &kind, VMI_CLASS)) &&
	    info_of_vptr(symbols, kind.vptr, &si) && si.vptr == kind.vptr &&
	    is_named(symbols, &si, SI_CLASS);
}

static void
demangle(void *ctx)
{
	struct demangling *demangling = ctx;

	demangling->name = mu_demangled(demangling->mangled);
}

/*
 * The name in INFO, which GCC begins with a star if it compares only the
 * address. Free the result; NULL if it is no name of a type.
 */
static char *
name_of(struct mu_symbols *symbols, const struct info *info)
{
	static const char words[] = "typeinfo for ";
	struct demangling demangling = { .name = NULL };
	char text[NAME_MAX_LENGTH], *name = NULL;
	size_t length =
	    mu_subject_string(symbols, info->name, text, sizeof(text));

	if (length == 0)
		return NULL;
	snprintf(demangling.mangled, sizeof(demangling.mangled), "_ZTI%s",
	    text + (text[0] == '*'));
	if (!mu_guarded(demangle, &demangling) || demangling.name == NULL)
		return NULL;
	if (strncmp(demangling.name, words, strlen(words)) == 0)
		name = strdup(demangling.name + strlen(words));
	free(demangling.name);
	return name;
}

/* The class in the symbol "vtable for X" at VPTR, or NULL. */
static const char *
class_of_symbol(struct mu_symbols *symbols, uintptr_t vptr)
{
	static const char words[] = "vtable for ";
	struct mu_symbol symbol;

	if (!mu_symbols_find(symbols, vptr, &symbol) ||
	    symbol.function == NULL ||
	    strncmp(symbol.function, words, strlen(words)) != 0)
		return NULL;
	return symbol.function + strlen(words);
}

bool
mu_vtable_find(
    struct mu_symbols *symbols, uintptr_t vptr, struct mu_vtable *vtable)
{
	uintptr_t words[3]; /* top, type information, first function */
	struct info info;
	const char *symbol;

	*vtable = (struct mu_vtable) { .source = MU_TYPE_NONE };
	if (vptr % WORD != 0 || !is_in_file(symbols, vptr) ||
	    !mu_symbols_read(symbols, vptr - 2 * WORD, words, sizeof(words)) ||
	    (intptr_t)words[0] > 0 || (intptr_t)words[0] < -TOP_MAX)
		return false;
	vtable->top = (ptrdiff_t)words[0];
	if (words[1] != 0 && read_info(symbols, words[1], &info) &&
	    is_class(symbols, &info))
		vtable->name = name_of(symbols, &info);
	else if (words[1] != 0 || !is_code(symbols, words[2]))
		return false;
	symbol = class_of_symbol(symbols, vptr);
	if (vtable->name == NULL && symbol != NULL)
		vtable->name = strdup(symbol);
	if (vtable->name == NULL)
		return false;
	vtable->source = symbol != NULL && strcmp(symbol, vtable->name) == 0
	    ? MU_TYPE_VTABLE
	    : MU_TYPE_RTTI;
	/* A class with virtual bases alone has no functions. */
	vtable->certain = vtable->source == MU_TYPE_VTABLE ||
	    (symbol == NULL && is_code(symbols, words[2]));
	return true;
}
