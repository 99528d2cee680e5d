#include "lib/types/containers.h"

#include <string.h>

#include "lib/types/block_size.h"
#include "lib/types/declared.h"

#define WORD sizeof(uintptr_t)
#define SHORT_MAX 15                /* letters in a std::string itself */
#define CHUNK_MAX ((size_t)1 << 24) /* bytes of a deque's */
#define UNSURE_MAX 64               /* nodes of what may be no list */
#define ARRIVALS 3 /* at a node of a tree: from above, left, right */
#define FEW 8      /* steps, as from any pointer */
#define LARGE ((size_t)128 << 10)
#define PAGE ((size_t)4096)
#define LLVM_DEQUE_WORDS 6
#define LLVM_CHUNK_LEAST (4096 - 255) /* bytes */
#define SINGLE 1                      /* bucket is in the container itself */

/* Words of std::deque of libstdc++: the map, its size, two iterators. */
enum {
	MAP,
	MAP_SIZE,
	CURRENT,
	FIRST,
	LAST,
	NODE,
	END_CURRENT,
	END_FIRST,
	END_LAST,
	END_NODE,
	DEQUE_WORDS
};

/* Words of a hash table of both libraries. */
enum { BUCKETS, NUM_BUCKETS, FIRST_NODE, NUM_NODES, LOAD_FACTOR, HASH_WORDS };

/* Where the links of a node of a tree are. */
struct tree {
	uintptr_t header; /* what the root has as its parent */
	size_t left, right, parent;
};

bool
mu_containers_word(
    struct mu_containers *parts, uintptr_t address, uintptr_t *word)
{
	return address % WORD == 0 &&
	    parts->read(parts->ctx, address, word, sizeof(*word));
}

bool
mu_containers_is_block(
    struct mu_containers *parts, uintptr_t begin, size_t size)
{
	size_t usable = begin == 0 ? 0 : parts->size(parts->ctx, begin);

	if (usable == 0 || usable == MU_CONTAINER_ANY_SIZE)
		return usable != 0;
	return mu_block_fits(size, usable) ||
	    (usable >= LARGE && size <= usable && usable - size < PAGE);
}

void
mu_containers_found_self(struct mu_containers *parts, uintptr_t at, size_t size,
    enum mu_part_kind part)
{
	if (mu_containers_is_block(parts, at, size))
		parts->found(parts->ctx, at, part, 0);
}

static bool
is_string(struct mu_containers *parts, uintptr_t at)
{
	uintptr_t
	    words[MU_CONTAINER_STRING / WORD]; /* text, length, capacity */
	char end;

	if (!parts->read(parts->ctx, at, words, sizeof(words)))
		return false;
	if (words[0] == at + 2 * WORD)
		return words[1] <= SHORT_MAX &&
		    ((char *)&words[2])[words[1]] == '\0';
	return words[2] > SHORT_MAX && words[1] <= words[2] &&
	    words[2] < PTRDIFF_MAX &&
	    mu_containers_is_block(parts, words[0], words[2] + 1) &&
	    parts->read(parts->ctx, words[0] + words[1], &end, 1) &&
	    end == '\0';
}

static bool
are_strings(struct mu_containers *parts, uintptr_t begin, uintptr_t end)
{
	uintptr_t at;

	if (begin == end || (end - begin) % MU_CONTAINER_STRING != 0 ||
	    (end - begin) / MU_CONTAINER_STRING > parts->most)
		return false;
	for (at = begin; at != end; at += MU_CONTAINER_STRING)
		if (!is_string(parts, at))
			return false;
	return true;
}

/*
 * Begin, end, end of storage: the size of the block alone proves it. The put
 * area of a stdio stream is no vector.
 */
static bool
find_vector(struct mu_containers *parts, const uintptr_t *words, size_t count)
{
	bool strings;

	if (count < 3 || words[0] % WORD != 0 || words[1] < words[0] ||
	    words[2] < words[1] || words[2] == words[0] ||
	    (count > 3 && words[3] == words[0]) ||
	    parts->size(parts->ctx, words[0]) == MU_CONTAINER_ANY_SIZE ||
	    !mu_containers_is_block(parts, words[0], words[2] - words[0]))
		return false;
	strings = (words[2] - words[0]) % MU_CONTAINER_STRING == 0 &&
	    are_strings(parts, words[0], words[1]);
	parts->found(parts->ctx, words[0],
	    strings ? MU_PART_STRINGS : MU_PART_VECTOR,
	    strings ? (words[2] - words[0]) / MU_CONTAINER_STRING : 0);
	return true;
}

static bool
is_deque(struct mu_containers *parts, const uintptr_t *words, size_t count)
{
	uintptr_t first, end_first;

	return count >= DEQUE_WORDS && words[MAP_SIZE] > 2 &&
	    words[MAP_SIZE] < PTRDIFF_MAX / WORD && words[NODE] >= words[MAP] &&
	    words[END_NODE] >= words[NODE] &&
	    (words[END_NODE] - words[MAP]) / WORD < words[MAP_SIZE] &&
	    words[CURRENT] >= words[FIRST] && words[CURRENT] < words[LAST] &&
	    words[END_CURRENT] >= words[END_FIRST] &&
	    words[END_CURRENT] < words[END_LAST] &&
	    words[LAST] - words[FIRST] == words[END_LAST] - words[END_FIRST] &&
	    words[LAST] - words[FIRST] < CHUNK_MAX &&
	    mu_containers_is_block(parts, words[MAP], words[MAP_SIZE] * WORD) &&
	    mu_containers_word(parts, words[NODE], &first) &&
	    first == words[FIRST] &&
	    mu_containers_word(parts, words[END_NODE], &end_first) &&
	    end_first == words[END_FIRST];
}

static bool
find_deque(struct mu_containers *parts, const uintptr_t *words, size_t count)
{
	uintptr_t at, chunk;
	size_t size;

	if (!is_deque(parts, words, count))
		return false;
	size = words[LAST] - words[FIRST];
	parts->found(parts->ctx, words[MAP], MU_PART_DEQUE_MAP, 0);
	for (at = words[NODE];
	     at <= words[END_NODE] && mu_containers_word(parts, at, &chunk);
	     at += WORD)
		if (mu_containers_is_block(parts, chunk, size))
			parts->found(parts->ctx, chunk, MU_PART_DEQUE, 0);
	return true;
}

/*
 * libc++: all of the map and the part in use, the first element's index, the
 * number of elements. A chunk has 4096 bytes, or 16 elements that are larger.
 */
static bool
find_llvm_deque(
    struct mu_containers *parts, const uintptr_t *words, size_t count)
{
	uintptr_t at, chunk;

	if (count < LLVM_DEQUE_WORDS || words[1] < words[0] ||
	    words[2] <= words[1] || words[3] < words[2] ||
	    (words[2] - words[1]) % WORD != 0 ||
	    (words[2] - words[1]) / WORD > parts->most || words[5] == 0 ||
	    words[4] > CHUNK_MAX ||
	    !mu_containers_is_block(parts, words[0], words[3] - words[0]))
		return false;
	parts->found(parts->ctx, words[0], MU_PART_DEQUE_MAP, 0);
	for (at = words[1]; at < words[2]; at += WORD) {
		if (!mu_containers_word(parts, at, &chunk) ||
		    parts->size(parts->ctx, chunk) < LLVM_CHUNK_LEAST)
			return false;
		parts->found(parts->ctx, chunk, MU_PART_DEQUE, 0);
	}
	return true;
}

bool
mu_containers_node(
    struct mu_containers *parts, uintptr_t node, uintptr_t *links, size_t count)
{
	parts->steps -= parts->steps > 0;
	return node % WORD == 0 &&
	    parts->size(parts->ctx, node) >= count * WORD &&
	    parts->read(parts->ctx, node, links, count * WORD);
}

/* Follow as many nodes as there should be. */
static bool
walk_chain(struct mu_containers *parts, uintptr_t node, size_t count)
{
	uintptr_t next;

	for (; count > 0 && node != 0; count--, node = next) {
		if (!mu_containers_node(parts, node, &next, 1))
			return false;
		parts->found(parts->ctx, node, MU_PART_HASH_NODE, 0);
	}
	return count == 0 && node == 0;
}

static bool
find_hash_table(
    struct mu_containers *parts, const uintptr_t *words, size_t count)
{
	float factor;

	if (count < HASH_WORDS || words[NUM_NODES] == 0 ||
	    words[NUM_NODES] > parts->most || words[NUM_BUCKETS] == 0 ||
	    words[NUM_BUCKETS] > PTRDIFF_MAX / WORD)
		return false;
	memcpy(&factor, &words[LOAD_FACTOR], sizeof(factor));
	if (!(factor > 0.0625f && factor < 256.f))
		return false;
	if (words[NUM_BUCKETS] != SINGLE) {
		if (!mu_containers_is_block(
			parts, words[BUCKETS], words[NUM_BUCKETS] * WORD))
			return false;
		parts->found(parts->ctx, words[BUCKETS], MU_PART_HASH_TABLE, 0);
	}
	return walk_chain(parts, words[FIRST_NODE], words[NUM_NODES]);
}

/* Next, previous, number of nodes; libc++ has the first two the other way. */
static bool
walk_list(struct mu_containers *parts, uintptr_t at, const uintptr_t *words)
{
	uintptr_t node = words[0], before = at, links[2];
	size_t i;

	for (i = 0; i < words[2]; i++, before = node, node = links[0]) {
		if (node == at || !mu_containers_node(parts, node, links, 2) ||
		    links[1] != before)
			return false;
		parts->found(parts->ctx, node, MU_PART_LIST_NODE, 0);
	}
	return node == at && before == words[1];
}

/*
 * A block as large as the next one may be a node itself, whose value looks like
 * a number of nodes: then not many are followed.
 */
static bool
find_list(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	size_t most = parts->most, size = parts->size(parts->ctx, at);

	if (size != 0 && size != MU_CONTAINER_ANY_SIZE && most > UNSURE_MAX &&
	    size == parts->size(parts->ctx, words[0]))
		most = UNSURE_MAX;
	return count >= 3 && words[2] > 0 && words[2] <= most &&
	    walk_list(parts, at, words);
}

/*
 * Down to the left, then to the right, then back: COUNT nodes must be there,
 * and each lead to where the walk comes from.
 */
static bool
walk_tree(struct mu_containers *parts, const struct tree *tree, uintptr_t root,
    size_t count)
{
	uintptr_t node = root, from = tree->header, links[4], next;
	size_t seen = 0, left = ARRIVALS * count;

	while (node != tree->header) {
		if (left-- == 0 || !mu_containers_node(parts, node, links, 4) ||
		    (links[tree->parent] != from &&
			(seen == 0 ||
			    (links[tree->left] != from &&
				links[tree->right] != from))))
			return false;
		next = links[tree->parent];
		if (from == next) {
			if (++seen > count)
				return false;
			parts->found(parts->ctx, node, MU_PART_TREE_NODE, 0);
			if (links[tree->left] != 0)
				next = links[tree->left];
			else if (links[tree->right] != 0)
				next = links[tree->right];
		} else if (from == links[tree->left] &&
		    links[tree->right] != 0) {
			next = links[tree->right];
		}
		from = node;
		node = next;
	}
	return seen == count;
}

static bool
find_tree(struct mu_containers *parts, const struct tree *tree, uintptr_t root,
    size_t count)
{
	return count > 0 && count <= parts->most &&
	    walk_tree(parts, tree, root, count);
}

bool
mu_containers_settle(struct mu_containers *parts, bool proven)
{
	parts->end(parts->ctx, proven);
	return proven;
}

bool
mu_containers_function(struct mu_containers *parts, uintptr_t address)
{
	return address == 0 || parts->code(parts->ctx, address);
}

static bool
find_nodes(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	/* libstdc++: colour, parent (of the header: the root), left, right. */
	const struct tree gnu = { at, 2, 3, 1 };
	/* libc++: left (of the header: the root), right, parent, colour. */
	const struct tree llvm = { at + WORD, 0, 1, 2 };
	size_t steps = parts->steps;

	if (steps == 0)
		return false;
	if (mu_containers_settle(parts, find_hash_table(parts, words, count)) ||
	    mu_containers_settle(parts, find_list(parts, at, words, count)) ||
	    (count >= 5 && (uint32_t)words[0] == 0 &&
		mu_containers_settle(
		    parts, find_tree(parts, &gnu, words[1], words[4]))) ||
	    (count >= 3 &&
		mu_containers_settle(
		    parts, find_tree(parts, &llvm, words[1], words[2])))) {
		parts->steps = steps;
		return true;
	}
	if (steps - parts->steps <= FEW)
		parts->steps = steps;
	return false;
}

bool
mu_containers_find(struct mu_containers *parts, uintptr_t at,
    const uintptr_t *words, size_t count)
{
	if ((parts->libraries & MU_LIBRARY_GLIB) != 0 &&
	    mu_glib_parts_find(parts, at, words, count))
		return true;
	if ((parts->libraries & (MU_LIBRARY_QT5 | MU_LIBRARY_QT6)) != 0 &&
	    mu_qt_parts_find(parts, at, words, count))
		return true;
	if ((parts->libraries & MU_LIBRARY_CXX) == 0)
		return false;
	return mu_containers_settle(parts, find_deque(parts, words, count)) ||
	    mu_containers_settle(parts, find_llvm_deque(parts, words, count)) ||
	    mu_containers_settle(parts, find_vector(parts, words, count)) ||
	    find_nodes(parts, at, words, count);
}

bool
mu_containers_may_begin(
    const struct mu_containers *parts, uintptr_t word, uintptr_t next)
{
	/* The size of a GHashTable; a QObjectPrivate leads to its QObject. */
	if ((parts->libraries & MU_LIBRARY_GLIB) != 0 && word != 0 &&
	    word <= UINT32_MAX && (word & (word - 1)) == 0)
		return true;
	return (parts->libraries & (MU_LIBRARY_QT5 | MU_LIBRARY_QT6)) != 0 &&
	    next != 0 && next % WORD == 0;
}

unsigned
mu_containers_library(const char *name)
{
	static const struct {
		const char *file;
		unsigned library;
	} files[] = {
		{ "/libstdc++.so", MU_LIBRARY_CXX },
		{ "/libc++.so", MU_LIBRARY_CXX },
		{ "/libglib-2.0.so", MU_LIBRARY_GLIB },
		{ "/libQt5Core.so", MU_LIBRARY_QT5 },
		{ "/libQt6Core.so", MU_LIBRARY_QT6 },
	};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (strstr(name, files[i].file) != NULL)
			return files[i].library;
	return 0;
}

const char *
mu_part_name(enum mu_part_kind part)
{
	static const char *const names[MU_PARTS] = {
		[MU_PART_VECTOR] = "elements of a std::vector",
		[MU_PART_STRINGS] = "std::string",
		[MU_PART_DEQUE_MAP] = "map of a std::deque",
		[MU_PART_DEQUE] = "elements of a std::deque",
		[MU_PART_HASH_TABLE] =
		    "buckets of a std::unordered_map or std::unordered_set",
		[MU_PART_HASH_NODE] =
		    "std::unordered_map or std::unordered_set node",
		[MU_PART_LIST_NODE] = "std::list node",
		[MU_PART_TREE_NODE] = "std::map or std::set node",
		[MU_PART_GHASH] = "GHashTable",
		[MU_PART_GHASH_KEYS] = "keys of a GHashTable",
		[MU_PART_GHASH_HASHES] = "hashes of a GHashTable",
		[MU_PART_GHASH_VALUES] = "values of a GHashTable",
		[MU_PART_GPTRARRAY] = "GPtrArray",
		[MU_PART_GPTRARRAY_ELEMENTS] = "elements of a GPtrArray",
		[MU_PART_GARRAY] = "GArray",
		[MU_PART_GARRAY_ELEMENTS] = "elements of a GArray",
		[MU_PART_GSTRING] = "GString",
		[MU_PART_GLIST] = "GList",
		[MU_PART_GSLICES] = "slices of GLib",
		[MU_PART_GTYPE_NODE] = "GType node",
		[MU_PART_GTYPE_DATA] = "GType data",
		[MU_PART_QHASH] = "QHashData",
		[MU_PART_QHASH_BUCKETS] = "buckets of a QHash",
		[MU_PART_QHASH_NODE] = "QHash node",
		[MU_PART_QHASH_SPANS] = "spans of a QHash",
		[MU_PART_QHASH_ENTRIES] = "entries of a QHash",
		[MU_PART_QMAP] = "QMapData",
		[MU_PART_QMAP_NODE] = "QMap node",
		[MU_PART_QOBJECT_EXTRA] = "QObjectPrivate::ExtraData",
		[MU_PART_QOBJECT_CONNECTIONS] =
		    "QObjectPrivate::ConnectionData",
		[MU_PART_QOBJECT_SIGNALS] = "QObjectPrivate::SignalVector",
		[MU_PART_QOBJECT_CONNECTION] = "QObjectPrivate::Connection",
		[MU_PART_QOBJECT_SLOT] = "QtPrivate::QSlotObjectBase",
		[MU_PART_QTHREAD_DATA] = "QThreadData",
	};

	return names[part];
}

const char *
mu_part_below(const char *name, bool *same)
{
	enum mu_part_kind part = MU_PART_NONE + 1;

	while (part < MU_PARTS && strcmp(name, mu_part_name(part)) != 0)
		part++;
	*same = part == MU_PART_HASH_NODE || part == MU_PART_LIST_NODE ||
	    part == MU_PART_TREE_NODE;
	if (part == MU_PART_DEQUE_MAP)
		return mu_part_name(MU_PART_DEQUE);
	if (part == MU_PART_HASH_TABLE)
		return mu_part_name(MU_PART_HASH_NODE);
	return *same ? name : NULL;
}
