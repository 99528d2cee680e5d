#include "lib/types/declarations.h"

#include <bsd/string.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/types/declaring.h"
#include "lib/types/entry.h"
#include "lib/types/index_file.h"

#define DEPTH_MAX 8 /* of pointers to pointers */

/* An id: the index of the module, plus 1, and the reference to the DIE. */
#define MODULE_SHIFT MU_DIE_REF_BITS
#define MODULES_MAX (((size_t)1 << (64 - MODULE_SHIFT)) - 1)
#define REF_MASK (((uint64_t)1 << MODULE_SHIFT) - 1)

struct asked {
	struct mu_declarations *all;
	size_t module;
	enum mu_declared_question question;
	uint64_t address;
	uint64_t hash; /* of a name that is looked up */
	mu_declared_id found;

	/* An entry that is wanted. */
	mu_die_ref ref;
	void (*read)(void *ctx, Dwarf_Die *die);
	void *ctx;
};

mu_declared_id
mu_declaring_id(const struct mu_declaring *declaring, Dwarf_Die *die)
{
	mu_die_ref ref = mu_die_ref_of(declaring->index, die);
	uint64_t module = (uint64_t)(declaring->module + 1) << MODULE_SHIFT;
	const struct mu_indexed_type *type;

	if (ref == MU_NO_DIE || declaring->module >= MODULES_MAX)
		return 0;
	type = mu_debug_index_at(declaring->index, ref);
	return module | (type == NULL ? ref : type->ref);
}

bool
mu_declaring_die(
    const struct mu_declaring *declaring, mu_declared_id id, Dwarf_Die *die)
{
	return mu_debug_entry(declaring->index, id & REF_MASK, die);
}

void
mu_declaring_define(const struct mu_declaring *declaring, Dwarf_Die *die)
{
	const struct mu_debug_index *index = declaring->index;
	const char *name = dwarf_diename(die);
	const struct mu_indexed_type *found = NULL;
	uint64_t own;
	size_t i;

	if (name == NULL || !dwarf_hasattr(die, DW_AT_declaration))
		return;
	own = mu_debug_name_hash("", name);
	for (i = 0; i < index->num_types; i++) {
		if (index->types[i].own != own)
			continue;
		if (found != NULL && found->hash != index->types[i].hash)
			return;
		found = &index->types[i];
	}
	if (found != NULL)
		mu_debug_entry(declaring->index, found->ref, die);
}

static void
join(const struct mu_debug_index *index, const struct mu_indexed_type *type,
    char *name, size_t size)
{
	const char *around = mu_debug_index_text(index, type->around);

	snprintf(name, size, "%s%s%s", around, around[0] == '\0' ? "" : "::",
	    mu_debug_index_text(index, type->name));
}

static void
write_name(const struct mu_declaring *declaring, Dwarf_Die *die, char *name,
    size_t size, int depth)
{
	const struct mu_indexed_type *type = mu_debug_index_at(
	    declaring->index, mu_die_ref_of(declaring->index, die));
	const char *own = dwarf_diename(die);
	char end[32] = "*";
	uint64_t whole, element;
	size_t length;
	Dwarf_Die target;

	name[0] = '\0';
	if (depth > DEPTH_MAX)
		return;
	switch (dwarf_tag(die)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		if (mu_entry_type(die, &target))
			write_name(
			    declaring, &target, name, size - 1, depth + 1);
		else
			snprintf(name, size, "void");
		break;
	case DW_TAG_array_type:
		strcpy(end, "[]");
		if (!mu_entry_type(die, &target))
			break;
		write_name(declaring, &target, name, size - 1, depth + 1);
		if (mu_entry_size(die, &whole) &&
		    mu_entry_size(&target, &element) && element > 0)
			snprintf(end, sizeof(end), "[%llu]",
			    (unsigned long long)(whole / element));
		break;
	case DW_TAG_subroutine_type:
		snprintf(name, size, "function");
		return;
	default:
		if (type != NULL)
			join(declaring->index, type, name, size);
		else if (own != NULL)
			snprintf(name, size, "%s", own);
		return;
	}
	length = strlen(name);
	if (length > 0 && length + strlen(end) < size)
		strlcpy(name + length, end, size - length);
}

void
mu_declaring_name(const struct mu_declaring *declaring, Dwarf_Die *die,
    char *name, size_t size)
{
	write_name(declaring, die, name, size, 0);
}

const char *
mu_declaring_keep(const struct mu_declaring *declaring, const char *name)
{
	struct mu_declarations *all = declaring->all;
	size_t size = strlen(name) + 1;
	char *copy = all->names + all->used;

	if (size > sizeof(all->names) - all->used)
		return "";
	all->used += size;
	return memcpy(copy, name, size);
}

struct mu_declared_field *
mu_declaring_field(const struct mu_declaring *declaring)
{
	struct mu_declarations *all = declaring->all;
	struct mu_declared_field *field = &all->fields[all->answer.num_fields];

	if (all->answer.num_fields == MU_DECLARED_FIELDS) {
		all->answer.complete = false;
		return NULL;
	}
	all->answer.num_fields++;
	*field = (struct mu_declared_field) { .name = "", .count = 1 };
	return field;
}

void
mu_declaring_variable(const struct mu_declaring *declaring, Dwarf_Die *die,
    enum mu_declared_from from, int64_t offset)
{
	const char *name = dwarf_diename(die);
	struct mu_declared_field *field;
	Dwarf_Die type;
	int tag;

	if (name == NULL || !mu_entry_type(die, &type))
		return;
	field = mu_declaring_field(declaring);
	if (field == NULL)
		return;
	tag = dwarf_tag(&type);
	field->reference =
	    tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
	field->name = mu_declaring_keep(declaring, name);
	field->type = mu_declaring_id(declaring, &type);
	field->from = (uint8_t)from;
	field->offset = offset;
}

/* The variable that has ADDRESS. */
static bool
answer_variable(const struct mu_declaring *declaring, uintptr_t address)
{
	const uint64_t own = address - declaring->bias;
	const struct mu_indexed_variable *found =
	    mu_debug_index_variable(declaring->index, own);
	struct mu_declared *answer = &declaring->all->answer;
	Dwarf_Die die, type;

	if (found == NULL ||
	    !mu_debug_entry(declaring->index, found->ref, &die) ||
	    !mu_entry_type(&die, &type))
		return false;
	mu_declaring_define(declaring, &type);
	if (!mu_entry_size(&type, &answer->size) ||
	    own - found->address >= answer->size)
		return false;
	mu_declaring_variable(declaring, &die, MU_FROM_BEGIN,
	    (int64_t)(found->address + declaring->bias));
	return answer->num_fields > 0;
}

static void
answer_thread(const struct mu_declaring *declaring)
{
	const struct mu_indexed_variables *list = &declaring->index->thread;
	Dwarf_Die die;
	size_t i;

	for (i = 0; i < list->count; i++)
		if (mu_debug_entry(declaring->index, list->list[i].ref, &die))
			mu_declaring_variable(declaring, &die, MU_FROM_BEGIN,
			    (int64_t)list->list[i].address);
}

/* True if an index of this module may be in the user's cache, by ID. */
static bool
is_cached(const struct mu_declaring *declaring, struct mu_debug_id *id)
{
	struct mu_symbols *symbols = declaring->all->symbols;
	size_t count;
	const struct mu_loaded *list = mu_symbols_loaded(symbols, &count);

	return mu_symbols_cache(symbols) != NULL &&
	    mu_symbols_debug_id(symbols, &list[declaring->module], id);
}

static void
keep_index(const struct mu_declaring *declaring)
{
	struct mu_symbols *symbols = declaring->all->symbols;
	struct mu_debug_id id;

	if (declaring->index->late)
		mu_symbols_late(symbols);
	else if (is_cached(declaring, &id))
		mu_index_file_write(
		    declaring->index, mu_symbols_cache(symbols), &id);
}

static void
make_index(const struct mu_declaring *declaring)
{
	struct mu_symbols *symbols = declaring->all->symbols;
	struct mu_debug_id id;

	if (is_cached(declaring, &id) &&
	    mu_index_file_read(
		declaring->index, mu_symbols_cache(symbols), &id))
		return;
	mu_debug_index_make(declaring->index, mu_symbols_until(symbols));
	keep_index(declaring);
}

static void
deepen(const struct mu_declaring *declaring)
{
	mu_debug_index_deepen(
	    declaring->index, mu_symbols_until(declaring->all->symbols));
	keep_index(declaring);
}

static void
answer(const struct asked *asked, const struct mu_declaring *declaring)
{
	Dwarf_Die die;

	switch (asked->question) {
	case MU_DECLARED_VARIABLE:
		if (answer_variable(declaring, (uintptr_t)asked->address) ||
		    declaring->index->deep)
			break;
		deepen(declaring);
		answer_variable(declaring, (uintptr_t)asked->address);
		break;
	case MU_DECLARED_TYPE:
		if (mu_declaring_die(declaring, asked->address, &die))
			mu_declaring_flatten(declaring, &die);
		break;
	case MU_DECLARED_LOCALS:
		mu_declaring_locals(declaring, (Dwarf_Addr)asked->address);
		break;
	case MU_DECLARED_THREAD:
		if (!declaring->index->deep)
			deepen(declaring);
		answer_thread(declaring);
		break;
	default:
		break;
	}
}

static void
find_named(struct asked *asked, const struct mu_declaring *declaring)
{
	const struct mu_indexed_type *type =
	    mu_debug_index_named(declaring->index, asked->hash);
	Dwarf_Die die;

	if (type != NULL && mu_debug_entry(declaring->index, type->ref, &die))
		asked->found = mu_declaring_id(declaring, &die);
}

static void
read_entry(const struct asked *asked, const struct mu_declaring *declaring)
{
	Dwarf_Die die;

	if (mu_debug_entry(declaring->index, asked->ref, &die))
		asked->read(asked->ctx, &die);
}

static void
read_module(void *ctx, Dwfl_Module *module)
{
	struct asked *asked = ctx;
	struct mu_declaring declaring = {
		.all = asked->all,
		.module = asked->module,
		.index = &asked->all->indexes[asked->module],
	};

	declaring.dwarf = dwfl_module_getdwarf(module, &declaring.bias);
	if (declaring.dwarf == NULL)
		return;
	declaring.index->dwarf = declaring.dwarf;
	if (!declaring.index->asked)
		make_index(&declaring);
	declaring.index->dwarf = declaring.dwarf;
	if (asked->read != NULL)
		read_entry(asked, &declaring);
	else if (asked->question == MU_DECLARED_NOTHING)
		find_named(asked, &declaring);
	else
		answer(asked, &declaring);
}

/* The index of the loaded file with ADDRESS; COUNT: there is none. */
static size_t
module_of(const struct mu_declarations *all, uintptr_t address)
{
	size_t i, count;
	const struct mu_loaded *list = mu_symbols_loaded(all->symbols, &count);

	for (i = 0; i < count && i < all->count; i++)
		if (address >= list[i].first->range.begin &&
		    address < list[i].end)
			break;
	return i;
}

static bool
open_declarations(struct mu_declarations *all)
{
	size_t count;

	mu_symbols_loaded(all->symbols, &count);
	if (all->indexes == NULL) {
		all->indexes = calloc(count + 1, sizeof(*all->indexes));
		all->count = count;
	}
	return all->indexes != NULL && count == all->count;
}

/* Ask module ASKED->module. */
static bool
ask(struct asked *asked)
{
	size_t count;
	const struct mu_loaded *list =
	    mu_symbols_loaded(asked->all->symbols, &count);

	if (asked->module >= count)
		return false;
	if (mu_symbols_debug(
		asked->all->symbols, &list[asked->module], read_module, asked))
		return true;
	/* What was read by then is damaged. */
	asked->all->indexes[asked->module] = (struct mu_debug_index) {
		.asked = true, .deep = true, .failed = true
	};
	return false;
}

const struct mu_declared *
mu_declarations_answer(struct mu_declarations *declarations,
    enum mu_declared_question question, uint64_t address)
{
	struct mu_declared *answered = &declarations->answer;
	struct asked asked = {
		.all = declarations, .question = question, .address = address
	};

	*answered = (struct mu_declared) { .fields = declarations->fields,
		.keys = declarations->keys };
	declarations->used = 0;
	if (!open_declarations(declarations))
		return NULL;
	asked.module = question == MU_DECLARED_TYPE
	    ? (size_t)(address >> MODULE_SHIFT) - 1
	    : module_of(declarations, (uintptr_t)address);
	if (!ask(&asked) ||
	    (answered->num_fields == 0 && answered->name == NULL))
		return NULL;
	return answered;
}

static void
read_nothing(void *ctx, Dwarf_Die *die)
{
	(void)ctx;
	(void)die;
}

const struct mu_debug_index *
mu_declarations_index(struct mu_declarations *declarations, size_t module)
{
	if (!open_declarations(declarations) || module >= declarations->count)
		return NULL;
	if (!declarations->indexes[module].asked)
		mu_declarations_entry(
		    declarations, module, 0, read_nothing, NULL);
	return &declarations->indexes[module];
}

bool
mu_declarations_entry(struct mu_declarations *declarations, size_t module,
    mu_die_ref ref, void (*read)(void *ctx, Dwarf_Die *die), void *ctx)
{
	struct asked asked = { .all = declarations,
		.module = module,
		.ref = ref,
		.read = read,
		.ctx = ctx };

	return open_declarations(declarations) && ask(&asked);
}

mu_declared_id
mu_declarations_named(
    struct mu_declarations *declarations, uintptr_t address, const char *name)
{
	struct asked asked = { .all = declarations,
		.question = MU_DECLARED_NOTHING,
		.hash = mu_debug_name_hash("", name) };
	size_t own, i;

	if (!open_declarations(declarations))
		return 0;
	asked.module = own = module_of(declarations, address);
	ask(&asked);
	for (i = 0; asked.found == 0 && i < declarations->count; i++) {
		asked.module = i;
		if (i != own && declarations->indexes[i].num_types > 0)
			ask(&asked);
	}
	return asked.found;
}
