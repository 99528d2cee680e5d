/*
 * Containers of Qt, and what it has of a QObject: the layouts of Qt 5.15 and of
 * Qt 6.2 to 6.5: QObjectPrivate and its ConnectionData, QHashData, QMapData,
 * QHashPrivate::Data.
 */
#include <string.h>

#include "lib/types/containers.h"
#include "lib/types/declared.h"

#define WORD sizeof(uintptr_t)
#define NODE_MAX 4096 /* bytes of a node */
#define BUCKETS_MAX ((uint32_t)1 << 28)
#define ARRIVALS 3 /* at a node of a map: from above, left, right */
#define SIGNALS_MAX ((uintptr_t)1 << 16)
#define EXTRA_MIN 40 /* bytes of QObjectPrivate::ExtraData */
#define EXTRA_MAX 200
#define THREAD_DATA_MIN 88 /* bytes */
#define SPAN_BUCKETS ((uintptr_t)128)
#define SPAN_SIZE ((size_t)144) /* bytes: offsets, entries, two numbers */
#define UNUSED 0xff             /* an offset */

/* Where QObjectPrivate has what only it leads to, in words. */
struct object {
	size_t extra, thread, connections;
};

/* Words of QObjectPrivate::Connection. */
enum {
	CONNECTION_NEXT = 2, /* of the same signal */
	CONNECTION_SENDER = 4,
	CONNECTION_SLOT = 7,
	CONNECTION_WORDS = 11
};

/* The connections of one signal of SENDER: each says who sends. */
static bool
walk_connections(struct mu_containers *parts, uintptr_t first, uintptr_t sender)
{
	uintptr_t words[CONNECTION_WORDS], slot[2];
	size_t left = parts->most;

	for (; first != 0; first = words[CONNECTION_NEXT]) {
		if (left-- == 0 || parts->steps == 0 ||
		    !mu_containers_node(
			parts, first, words, CONNECTION_WORDS) ||
		    words[CONNECTION_SENDER] != sender)
			return false;
		parts->found(parts->ctx, first, MU_PART_QOBJECT_CONNECTION, 0);
		if (words[CONNECTION_SLOT] % WORD == 0 &&
		    parts->size(parts->ctx, words[CONNECTION_SLOT]) > 0 &&
		    parts->read(parts->ctx, words[CONNECTION_SLOT], slot,
			sizeof(slot)) &&
		    mu_is_use_count(mu_word_low(slot[0])) &&
		    parts->code(parts->ctx, slot[1]))
			parts->found(parts->ctx, words[CONNECTION_SLOT],
			    MU_PART_QOBJECT_SLOT, 0);
	}
	return true;
}

/*
 * Number and uses, the signals' lists, whose first one is of all signals.
 */
static void
find_connections(struct mu_containers *parts, uintptr_t data, uintptr_t sender)
{
	uintptr_t words[2], count, first, i;

	if (data == 0 || parts->size(parts->ctx, data) < sizeof(words) ||
	    !parts->read(parts->ctx, data, words, sizeof(words)) ||
	    !mu_is_use_count(mu_word_high(words[0])))
		return;
	parts->found(parts->ctx, data, MU_PART_QOBJECT_CONNECTIONS, 0);
	if (words[1] == 0 ||
	    !mu_containers_word(parts, words[1] + WORD, &count) ||
	    count > SIGNALS_MAX ||
	    !mu_containers_is_block(
		parts, words[1], (2 + 2 * (count + 1)) * WORD))
		return;
	parts->found(parts->ctx, words[1], MU_PART_QOBJECT_SIGNALS, 0);
	for (i = 0; i <= count; i++)
		if (!mu_containers_word(
			parts, words[1] + (2 + 2 * i) * WORD, &first) ||
		    !walk_connections(parts, first, sender))
			return;
}

/* A QObject and its private data lead to each other. */
static bool
find_object(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	static const struct object qt5 = { 6, 7, 8 }, qt6 = { 10, 11, 12 };
	const struct object *object =
	    (parts->libraries & MU_LIBRARY_QT5) != 0 ? &qt5 : &qt6;
	uintptr_t public[2], parent[2];
	size_t size;

	if (count <= object->connections || words[0] % WORD != 0 ||
	    words[1] % WORD != 0 || words[1] == 0 ||
	    !parts->read(parts->ctx, words[1], public, sizeof(public)) ||
	    public[1] != at || public[0] % WORD != 0)
		return false;
	if (words[2] != 0 &&
	    (words[2] % WORD != 0 ||
		!parts->read(parts->ctx, words[2], parent, sizeof(parent)) ||
		!mu_containers_word(parts, parent[1] + WORD, &parent[0]) ||
		parent[0] != words[2]))
		return false;
	size = parts->size(parts->ctx, words[object->extra]);
	if (words[object->extra] != 0 && size >= EXTRA_MIN &&
	    (size <= EXTRA_MAX || size == MU_CONTAINER_ANY_SIZE))
		parts->found(
		    parts->ctx, words[object->extra], MU_PART_QOBJECT_EXTRA, 0);
	if (words[object->thread] != 0 &&
	    parts->size(parts->ctx, words[object->thread]) >= THREAD_DATA_MIN)
		parts->found(
		    parts->ctx, words[object->thread], MU_PART_QTHREAD_DATA, 0);
	find_connections(parts, words[object->connections], words[1]);
	return true;
}

/* The chain of one bucket ends with the table itself. */
static bool
walk_bucket(
    struct mu_containers *parts, uintptr_t node, uintptr_t end, size_t *nodes)
{
	uintptr_t next;

	for (; node != end; node = next) {
		if ((*nodes)-- == 0 ||
		    !mu_containers_node(parts, node, &next, 1))
			return false;
		parts->found(parts->ctx, node, MU_PART_QHASH_NODE, 0);
	}
	return true;
}

/*
 * QHashData of Qt 5: 0, buckets, uses and number, bytes of a node and bits,
 * number of buckets and seed, flags.
 */
static bool
find_hash5(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	size_t nodes, i;
	uintptr_t node;

	if (count < 6 || words[0] != 0 ||
	    !mu_is_use_count(mu_word_low(words[2])) ||
	    mu_word_low(words[3]) < 2 * WORD ||
	    mu_word_low(words[3]) > NODE_MAX || mu_word_low(words[4]) == 0 ||
	    mu_word_low(words[4]) > BUCKETS_MAX ||
	    mu_word_high(words[2]) > parts->most ||
	    !mu_containers_is_block(
		parts, words[1], mu_word_low(words[4]) * WORD))
		return false;
	nodes = mu_word_high(words[2]);
	for (i = 0; i < mu_word_low(words[4]); i++)
		if (!mu_containers_word(parts, words[1] + i * WORD, &node) ||
		    !walk_bucket(parts, node, at, &nodes))
			return false;
	if (nodes != 0)
		return false;
	mu_containers_found_self(parts, at, 6 * WORD, MU_PART_QHASH);
	parts->found(parts->ctx, words[1], MU_PART_QHASH_BUCKETS, 0);
	return true;
}

/* The entries of one span: their number is added to *SEEN. */
static bool
find_entries(struct mu_containers *parts, uintptr_t span, size_t *seen)
{
	unsigned char offsets[SPAN_SIZE];
	uintptr_t entries;
	size_t i, used = 0;

	if (!parts->read(parts->ctx, span, offsets, sizeof(offsets)))
		return false;
	for (i = 0; i < SPAN_BUCKETS; i++)
		used += offsets[i] != UNUSED;
	memcpy(&entries, offsets + SPAN_BUCKETS, sizeof(entries));
	if (used > 0 && parts->size(parts->ctx, entries) == 0)
		return false;
	if (entries != 0)
		parts->found(parts->ctx, entries, MU_PART_QHASH_ENTRIES, 0);
	*seen += used;
	return true;
}

/* QHashPrivate::Data of Qt 6: uses, number, buckets, seed, spans. */
static bool
find_hash6(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	uintptr_t spans, told, i;
	size_t seen = 0;

	if (count < 5 || !mu_is_use_count(mu_word_low(words[0])) ||
	    words[2] < SPAN_BUCKETS || words[2] > BUCKETS_MAX ||
	    (words[2] & (words[2] - 1)) != 0 || words[1] > words[2] ||
	    words[4] < WORD)
		return false;
	spans = words[2] / SPAN_BUCKETS;
	if (!mu_containers_word(parts, words[4] - WORD, &told) ||
	    told != spans ||
	    !mu_containers_is_block(
		parts, words[4] - WORD, WORD + spans * SPAN_SIZE))
		return false;
	for (i = 0; i < spans; i++)
		if (!find_entries(parts, words[4] + i * SPAN_SIZE, &seen))
			return false;
	if (seen != words[1])
		return false;
	mu_containers_found_self(parts, at, 5 * WORD, MU_PART_QHASH);
	parts->found(parts->ctx, words[4] - WORD, MU_PART_QHASH_SPANS, 0);
	return true;
}

/*
 * QMapData of Qt 5: uses and number, a node (parent and colour, left, right),
 * the first node; the tree is to the left of its node.
 */
static bool
find_map5(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	uintptr_t header = at + WORD, from = header, node, links[3], next;
	uintptr_t parent;
	size_t seen = 0, nodes, left;

	if (count < 5 || !mu_is_use_count(mu_word_low(words[0])) ||
	    words[1] > 3 || words[3] != 0 || mu_word_high(words[0]) == 0 ||
	    mu_word_high(words[0]) > parts->most)
		return false;
	nodes = mu_word_high(words[0]);
	left = ARRIVALS * nodes;
	for (node = words[2]; node != header; from = node, node = next) {
		if (left-- == 0 || !mu_containers_node(parts, node, links, 3))
			return false;
		next = parent = links[0] & ~(uintptr_t)3;
		if (from == parent) {
			if (seen++ == nodes)
				return false;
			parts->found(parts->ctx, node, MU_PART_QMAP_NODE, 0);
			if (links[1] != 0)
				next = links[1];
			else if (links[2] != 0)
				next = links[2];
		} else if (from == links[1] && links[2] != 0) {
			next = links[2];
		} else if (from != links[1] && from != links[2]) {
			return false;
		}
	}
	if (seen != nodes)
		return false;
	mu_containers_found_self(parts, at, 5 * WORD, MU_PART_QMAP);
	return true;
}

bool
mu_qt_parts_find(struct mu_containers *parts, uintptr_t at,
    const uintptr_t *words, size_t count)
{
	bool five = (parts->libraries & MU_LIBRARY_QT5) != 0;
	size_t steps = parts->steps;

	if (steps == 0)
		return false;
	if (mu_containers_settle(parts, find_object(parts, at, words, count)) ||
	    (five &&
		(mu_containers_settle(
		     parts, find_hash5(parts, at, words, count)) ||
		    mu_containers_settle(
			parts, find_map5(parts, at, words, count)))) ||
	    (!five &&
		mu_containers_settle(
		    parts, find_hash6(parts, at, words, count)))) {
		parts->steps = steps;
		return true;
	}
	return false;
}
