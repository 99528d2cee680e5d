#include "lib/types/gobject.h"

#include <string.h>

#define WORD sizeof(uintptr_t)
#define FUNDAMENTAL_MAX (255u << 2) /* lower GTypes are numbers */
#define PRIVATE_ALIGN 16u           /* of what is before an instance */
#define LOOKED_AT 512               /* words of a block */

#define GLIB "/libglib-2.0.so"
#define DATA_MAX ((size_t)1 << 18) /* bytes of GLib's data */
#define FIRST_QUARKS 1024          /* the types of GLib are among them */
#define QUARKS_MAX ((uint32_t)1 << 24)

/* struct _TypeNode, as far as it is read */
struct node {
	uint32_t ref_count, instance_count;
	uintptr_t plugin;
	uint32_t num_children, bits;
	uintptr_t children, data;
	uint32_t qname, padding;
	uintptr_t global_data, entries, prerequisites;
	uintptr_t self; /* supers[0] */
};

/* struct _InstanceData, as far as it is read */
struct instance_data {
	uintptr_t value_table;
	uint16_t class_size, class_private_size;
	uint32_t init_state;
	uintptr_t functions[4], class_data, class;
	uint16_t instance_size, private_size;
};

static bool
is_type_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz"
				      "0123456789-_+";

	return name[0] != '\0' && name[strspn(name, allowed)] == '\0';
}

/*
 * True if there is GLib's table at ADDRESS: number 0 is unused, and the first
 * names include those of GLib's own types.
 */
static bool
is_table(const struct mu_symbols *symbols, uintptr_t address)
{
	static const char *const own[] = { "GObject", "GInterface", "gchar",
		"GParam" };
	uintptr_t quarks[FIRST_QUARKS];
	size_t i, j, count, found = 0;
	char text[16];

	count = mu_subject_bytes(symbols, address, quarks, sizeof(quarks)) /
	    sizeof(*quarks);
	if (count < 2 || quarks[0] != 0)
		return false;
	for (i = 1; i < count && quarks[i] != 0; i++) {
		if (mu_subject_bytes(symbols, quarks[i], text, 1) == 0)
			return false;
		if (mu_subject_string(symbols, quarks[i], text, sizeof(text)) ==
		    0)
			continue;
		for (j = 0; j < sizeof(own) / sizeof(*own); j++)
			found |= strcmp(text, own[j]) == 0 ? 1u << j : 0;
	}
	return found == (1u << sizeof(own) / sizeof(*own)) - 1;
}

/* The variable that holds the table's address is static, without a symbol. */
static uintptr_t
find_table(const struct mu_symbols *symbols, struct mu_range data)
{
	const struct mu_mapping *mapping;
	uintptr_t at, word, first;

	for (at = data.begin; at < data.end; at += WORD) {
		if (mu_subject_word(symbols, at, &word) && word != 0 &&
		    !mu_symbols_in_file(symbols, word, &mapping) &&
		    mu_subject_word(symbols, word, &first) && first == 0 &&
		    is_table(symbols, word))
			return word;
	}
	return 0;
}

static struct mu_range
data_of(const struct mu_loaded *loaded)
{
	const struct mu_mapping *mapping = loaded->first;
	struct mu_range data = { 0, 0 };

	while (mapping <= loaded->last && !mapping->writable)
		mapping++;
	if (mapping <= loaded->last)
		data = (struct mu_range) { mapping->range.begin, loaded->end };
	if (mu_range_size(data) > DATA_MAX)
		data.end = data.begin + DATA_MAX;
	return data;
}

static uintptr_t
find_quarks(const struct mu_symbols *symbols)
{
	size_t i, count;
	const struct mu_loaded *list = mu_symbols_loaded(symbols, &count);
	uintptr_t quarks = 0;

	for (i = 0; i < count && quarks == 0; i++)
		if (strstr(list[i].first->name, GLIB) != NULL)
			quarks = find_table(symbols, data_of(&list[i]));
	return quarks;
}

static bool
read_name(struct mu_gobjects *gobjects, const struct mu_symbols *symbols,
    uint32_t quark)
{
	uintptr_t string;

	return quark != 0 && quark < QUARKS_MAX &&
	    mu_subject_word(
		symbols, gobjects->quarks + quark * WORD, &string) &&
	    mu_subject_string(
		symbols, string, gobjects->name, sizeof(gobjects->name)) > 0 &&
	    is_type_name(gobjects->name);
}

/* The data of the type whose class is at CLASS. */
static bool
read_type(struct mu_gobjects *gobjects, const struct mu_symbols *symbols,
    uintptr_t class, struct instance_data *data)
{
	struct node node;
	uintptr_t type;

	return mu_subject_word(symbols, class, &type) &&
	    type > FUNDAMENTAL_MAX && type % WORD == 0 &&
	    mu_symbols_read(symbols, type, &node, sizeof(node)) &&
	    node.self == type &&
	    mu_symbols_read(symbols, node.data, data, sizeof(*data)) &&
	    data->class == class && data->instance_size >= WORD &&
	    read_name(gobjects, symbols, node.qname);
}

bool
mu_gobject_find(struct mu_gobjects *gobjects, struct mu_symbols *symbols,
    const struct mu_block_head *head, struct mu_type *type)
{
	const struct mu_mapping *mapping;
	struct instance_data data;
	size_t i, before;

	if (!gobjects->asked)
		gobjects->quarks = find_quarks(symbols);
	gobjects->asked = true;
	/* What is before an instance is a multiple of 16 bytes. */
	for (i = 0; gobjects->quarks != 0 && i < head->count && i < LOOKED_AT;
	     i += PRIVATE_ALIGN / WORD) {
		if (head->words[i] == 0 ||
		    mu_symbols_in_file(symbols, head->words[i], &mapping) ||
		    !read_type(gobjects, symbols, head->words[i], &data))
			continue;
		before = (data.private_size + PRIVATE_ALIGN - 1) &
		    ~(size_t)(PRIVATE_ALIGN - 1);
		if (before != i * WORD ||
		    before + data.instance_size > head->size)
			continue;
		*type = (struct mu_type) {
			.name = gobjects->name,
			.source = MU_TYPE_TAG,
			.certain = true,
			.offset = before,
		};
		return true;
	}
	return false;
}
