#include "lib/types/gobject.h"

#include <string.h>

#include "lib/types/block_size.h"
#include "lib/types/declared.h"

#define WORD sizeof(uintptr_t)
#define FUNDAMENTAL_MAX (255u << 2) /* lower GTypes are numbers */
#define G_TYPE_PARAM (19u << 2)
#define G_TYPE_OBJECT MU_GTYPE_OBJECT
#define SUPERS 0xff       /* of struct node's bits: how many, without itself */
#define PRIVATE_ALIGN 16u /* of what is before an instance */
#define LOOKED_AT 512     /* words of a block */

#define GLIB "/libglib-2.0.so"
#define GOBJECT "/libgobject-2.0.so"
#define DATA_MAX ((size_t)1 << 18)       /* bytes of GLib's data */
#define TABLE_STEP ((size_t)2048 * WORD) /* by which the table grows */
#define FIRST_QUARKS 1024                /* the types of GLib are among them */
#define QUARKS_MAX ((uint32_t)1 << 24)

/* struct _TypeNode, as far as it is read */
struct node {
	uint32_t ref_count, instance_count;
	uintptr_t plugin;
	uint32_t num_children, bits;
	uintptr_t children, data;
	uint32_t qname, padding;
	uintptr_t global_data, entries, prerequisites;
	uintptr_t self; /* supers[0]; the last one is a fundamental type */
};

_Static_assert(offsetof(struct node, self) == MU_GTYPE_SELF, "see there");

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

/*
 * True if the table at ADDRESS has the strings that the hash table at HASHED
 * numbers: struct _GHashTable has its size, a prime and a mask, the number of
 * entries, and eleven words later the functions.
 */
static bool
is_numbered(const struct mu_symbols *symbols, uintptr_t address,
    uintptr_t hashed, struct mu_range data)
{
	uintptr_t words[9], string;
	size_t i, count;
	char text[2];

	if (hashed % WORD != 0 ||
	    !mu_symbols_read(symbols, hashed, words, sizeof(words)))
		return false;
	count = words[2] & UINT32_MAX;
	/* Strings are hashed and compared by functions of GLib. */
	if (words[0] == 0 || (words[0] & (words[0] - 1)) != 0 ||
	    words[1] >> 32 != words[0] - 1 || count >= words[0] ||
	    words[7] >= data.begin || words[8] >= data.begin ||
	    data.begin - words[7] > DATA_MAX * 16 ||
	    data.begin - words[8] > DATA_MAX * 16)
		return false;
	for (i = 1; i <= count; i++)
		if (!mu_subject_word(symbols, address + i * WORD, &string) ||
		    mu_subject_bytes(symbols, string, text, 1) == 0)
			return false;
	return true;
}

/*
 * The variable that holds the table's address is static, without a symbol; the
 * one behind it, in programs that have few strings, the hash table of these.
 */
static uintptr_t
find_table(const struct mu_symbols *symbols, struct mu_range data)
{
	const struct mu_mapping *mapping;
	uintptr_t at, word, first, next;

	for (at = data.begin; at < data.end; at += WORD) {
		if (mu_subject_word(symbols, at, &word) && word != 0 &&
		    !mu_symbols_in_file(symbols, word, &mapping) &&
		    mu_subject_word(symbols, word, &first) && first == 0 &&
		    (is_table(symbols, word) ||
			(mu_subject_word(symbols, at + WORD, &next) &&
			    is_numbered(symbols, word, next, data))))
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

/*
 * Search the data of the library that is called FILE: FIND returns 0 if it is
 * not there.
 */
static uintptr_t
find_in(const struct mu_symbols *symbols, const char *file,
    uintptr_t (*find)(const struct mu_symbols *symbols, struct mu_range data))
{
	size_t i, count;
	const struct mu_loaded *list = mu_symbols_loaded(symbols, &count);
	uintptr_t found = 0;

	for (i = 0; i < count && found == 0; i++)
		if (strstr(list[i].first->name, file) != NULL)
			found = find(symbols, data_of(&list[i]));
	return found;
}

static bool
read_node(const struct mu_symbols *symbols, uintptr_t at, uintptr_t type,
    struct node *node)
{
	return at % WORD == 0 &&
	    mu_symbols_read(symbols, at, node, sizeof(*node)) &&
	    node->self == type;
}

/*
 * The nodes of fundamental types, by number. The array is static, too: it is
 * known by two of them.
 */
static uintptr_t
find_fundamentals(const struct mu_symbols *symbols, struct mu_range data)
{
	const uintptr_t at_object = G_TYPE_OBJECT / 4 * WORD;
	uintptr_t at, object, param;
	struct node node;

	for (at = data.begin; at < data.end; at += WORD) {
		if (mu_subject_word(symbols, at + at_object, &object) &&
		    object != 0 &&
		    mu_subject_word(symbols, at + at_object - WORD, &param) &&
		    param != 0 &&
		    read_node(symbols, object, G_TYPE_OBJECT, &node) &&
		    read_node(symbols, param, G_TYPE_PARAM, &node))
			return at;
	}
	return 0;
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

/* The node of TYPE: its address, or the number of a fundamental type. */
static bool
find_node(const struct mu_gobjects *gobjects, const struct mu_symbols *symbols,
    uintptr_t type, struct node *node)
{
	uintptr_t at = type;

	if (type <= FUNDAMENTAL_MAX &&
	    (type % 4 != 0 || type == 0 || gobjects->fundamentals == 0 ||
		!mu_subject_word(
		    symbols, gobjects->fundamentals + type / 4 * WORD, &at)))
		return false;
	return read_node(symbols, at, type, node);
}

/* The node and the data of the type whose class is at CLASS. */
static bool
read_type(struct mu_gobjects *gobjects, const struct mu_symbols *symbols,
    uintptr_t class, struct node *node, struct instance_data *data)
{
	uintptr_t type;

	return mu_subject_word(symbols, class, &type) &&
	    find_node(gobjects, symbols, type, node) &&
	    mu_symbols_read(symbols, node->data, data, sizeof(*data)) &&
	    data->class == class && data->instance_size >= WORD &&
	    read_name(gobjects, symbols, node->qname);
}

/* True if what has NODE derives from GObject, and counts its references. */
static bool
is_gobject(const struct mu_symbols *symbols, const struct node *node)
{
	uintptr_t root;

	if (node->self <= FUNDAMENTAL_MAX)
		return node->self == G_TYPE_OBJECT;
	return mu_subject_word(symbols,
		   node->self + MU_GTYPE_SELF + (node->bits & SUPERS) * WORD,
		   &root) &&
	    root == G_TYPE_OBJECT;
}

static bool
find_instance(struct mu_gobjects *gobjects, const struct mu_symbols *symbols,
    const struct mu_block_head *head, struct mu_type *type)
{
	const struct mu_mapping *mapping;
	struct instance_data data;
	struct node node;
	size_t i, before;

	/* What is before an instance is a multiple of 16 bytes. */
	for (i = 0; i < head->count && i < LOOKED_AT;
	     i += PRIVATE_ALIGN / WORD) {
		if (head->words[i] == 0 ||
		    mu_symbols_in_file(symbols, head->words[i], &mapping) ||
		    !read_type(gobjects, symbols, head->words[i], &node, &data))
			continue;
		before = (data.private_size + PRIVATE_ALIGN - 1) &
		    ~(size_t)(PRIVATE_ALIGN - 1);
		if (before != i * WORD ||
		    before + data.instance_size > head->size)
			continue;
		*type = (struct mu_type) {
			.name = gobjects->name,
			.source = MU_TYPE_TAG,
			.counter = is_gobject(symbols, &node)
			    ? MU_COUNTER_GOBJECT
			    : MU_COUNTER_NONE,
			/* A larger block may be a structure with one in it. */
			.certain = mu_block_of_chunk(head->size) &&
			    mu_block_fits(
				before + data.instance_size, head->size),
			.offset = before,
		};
		gobjects->instance_size = data.instance_size;
		return true;
	}
	return false;
}

/*
 * What GLib has of a type: its class, its node or its data; or the table of
 * strings. NULL: none of these.
 */
static const char *
find_own(struct mu_gobjects *gobjects, const struct mu_symbols *symbols,
    const struct mu_block_head *head)
{
	const size_t at = offsetof(struct instance_data, class) / WORD;
	struct instance_data data;
	struct node node;

	/* GLib leaves the smaller table for those who may be reading it. */
	if (head->begin == gobjects->quarks ||
	    (head->size % TABLE_STEP == WORD && head->words[0] == 0 &&
		is_table(symbols, head->begin)))
		return "strings of GLib's quarks";
	if (read_type(gobjects, symbols, head->begin, &node, &data))
		return "GType class";
	if (head->size >= sizeof(node) &&
	    read_node(symbols, head->begin, head->begin, &node) &&
	    read_name(gobjects, symbols, node.qname))
		return "GType node";
	if (head->size >= sizeof(data) && head->count > at &&
	    read_type(gobjects, symbols, head->words[at], &node, &data) &&
	    node.data == head->begin)
		return "GType data";
	return NULL;
}

bool
mu_gobject_find(struct mu_gobjects *gobjects, struct mu_symbols *symbols,
    const struct mu_block_head *head, struct mu_type *type)
{
	const char *own;

	if (!gobjects->asked) {
		gobjects->quarks = find_in(symbols, GLIB, find_table);
		gobjects->fundamentals =
		    find_in(symbols, GOBJECT, find_fundamentals);
	}
	gobjects->asked = true;
	gobjects->instance_size = 0;
	if (gobjects->quarks == 0)
		return false;
	own = find_own(gobjects, symbols, head);
	if (own == NULL)
		return find_instance(gobjects, symbols, head, type);
	*type = (struct mu_type) {
		.name = own, .source = MU_TYPE_TAG, .certain = true
	};
	return true;
}
