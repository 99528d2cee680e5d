#include "heapwalk/fold/packed.h"

#include <string.h>

/* Size of the first piece: fits even if hardly any memory is left. */
#define FIRST_BYTES ((size_t)4 << 10)
#define MOST_BYTES ((size_t)64 << 10)

enum {
	HAS_REFERENCED = 1,
	HAS_SIMILAR = 2,
	HAS_FRAMES = 4,
	IS_CUT = 8,
	HAS_TOTAL = 16, /* the total is not the sum of the others */
	ALL_FLAGS = 31,
};

static void
put(unsigned char **at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*(*at)++ = (unsigned char)(number | 0x80);
	*(*at)++ = (unsigned char)number;
}

/* Short for small differences of either sign. */
static void
put_difference(unsigned char **at, uintptr_t from, uintptr_t to)
{
	uint64_t difference = to - from;

	put(at, difference << 1 ^ (0 - (difference >> 63)));
}

static uint64_t
take(struct mu_packed_at *at)
{
	uint64_t number = 0;
	unsigned shift;

	for (shift = 0; at->next < at->end && shift < 64; shift += 7) {
		number |= (uint64_t)(*at->next & 0x7f) << shift;
		if ((*at->next++ & 0x80) == 0)
			return number;
	}
	at->damaged = true;
	return 0;
}

static uintptr_t
take_difference(struct mu_packed_at *at, uintptr_t from)
{
	uint64_t number = take(at);

	return from + (number >> 1 ^ (0 - (number & 1)));
}

static size_t
sum_of(const struct mu_leak *entry)
{
	return mu_range_size(entry->range) + entry->referenced_size +
	    entry->similar_size + entry->similar_referenced_size;
}

static unsigned
flags_of(const struct mu_leak *entry)
{
	unsigned flags = 0;

	if ((entry->referenced_count | entry->referenced_size) != 0)
		flags |= HAS_REFERENCED;
	if ((entry->similar_count | entry->similar_size |
		entry->similar_referenced_count |
		entry->similar_referenced_size) != 0)
		flags |= HAS_SIMILAR;
	if (entry->num_frames > 0)
		flags |= HAS_FRAMES;
	if (entry->cut)
		flags |= IS_CUT;
	if (entry->total_size != sum_of(entry))
		flags |= HAS_TOTAL;
	return flags;
}

static uintptr_t
frame_of(const struct mu_leak *entry, size_t number)
{
	return number < entry->num_frames
	    ? entry->frames[number]
	    : entry->more[number - entry->num_frames];
}

static void
put_frames(unsigned char **at, const struct mu_leak *entry)
{
	size_t i, count = entry->num_frames + entry->num_more;
	uintptr_t before = 0, frame;

	put(at, count);
	for (i = 0; i < count; i++) {
		frame = frame_of(entry, i);
		put_difference(at, before, frame);
		before = frame;
	}
}

static void
put_contents(unsigned char **at, const struct mu_leak *entry)
{
	size_t length = MU_LEAK_CONTENTS;

	while (length > 0 && entry->contents[length - 1] == 0)
		length--;
	put(at, length);
	memcpy(*at, entry->contents, length);
	*at += length;
}

/* Twice the last piece, at least NEED; or just NEED, if memory is short. */
static struct mu_packed_piece *
make_piece(const struct mu_packed *packed, size_t need)
{
	struct mu_packed_piece *piece;
	size_t size = FIRST_BYTES;

	if (packed->last != NULL)
		size = 2 * packed->last->size;
	if (size > MOST_BYTES)
		size = MOST_BYTES;
	if (size < need)
		size = need;
	piece = mu_arena_alloc(packed->arena, 1, sizeof(*piece) + size);
	if (piece == NULL) {
		size = need;
		piece = mu_arena_alloc(packed->arena, 1, sizeof(*piece) + size);
	}
	if (piece != NULL)
		piece->size = size;
	return piece;
}

static struct mu_packed_piece *
piece_with_room(struct mu_packed *packed, const struct mu_leak *entry)
{
	size_t need = MU_PACKED_MOST_WITH(entry->num_frames + entry->num_more);
	struct mu_packed_piece *piece = packed->last;

	if (piece != NULL && piece->size - piece->used >= need)
		return piece;
	piece = make_piece(packed, need);
	if (piece == NULL)
		return NULL;
	if (packed->last == NULL)
		packed->first = piece;
	else
		packed->last->next = piece;
	packed->last = piece;
	return piece;
}

bool
mu_packed_add(struct mu_packed *packed, const struct mu_leak *entry)
{
	struct mu_packed_piece *piece = piece_with_room(packed, entry);
	unsigned flags = flags_of(entry);
	unsigned char *at;
	size_t used;

	if (piece == NULL)
		return false;
	at = piece->bytes + piece->used;
	*at++ = (unsigned char)flags;
	put_difference(&at, packed->before, entry->range.begin);
	packed->before = entry->range.begin;
	put(&at, mu_range_size(entry->range));
	if (flags & HAS_REFERENCED) {
		put(&at, entry->referenced_count);
		put(&at, entry->referenced_size);
	}
	if (flags & HAS_SIMILAR) {
		put(&at, entry->similar_count);
		put(&at, entry->similar_size);
		put(&at, entry->similar_referenced_count);
		put(&at, entry->similar_referenced_size);
	}
	if (flags & HAS_FRAMES)
		put_frames(&at, entry);
	if (flags & HAS_TOTAL)
		put(&at, entry->total_size);
	put_contents(&at, entry);
	used = (size_t)(at - piece->bytes);
	packed->size += used - piece->used;
	piece->used = used;
	packed->count++;
	return true;
}

void
mu_packed_open(struct mu_packed_at *at, const unsigned char *bytes, size_t size)
{
	at->next = bytes;
	at->end = bytes + size;
	at->before = 0;
	at->damaged = false;
}

static void
take_frames(struct mu_packed_at *at, struct mu_leak *entry)
{
	uint64_t i, count = take(at);
	uintptr_t frame = 0;

	if (count > MU_STACK_MAX_FRAMES) {
		at->damaged = true;
		return;
	}
	for (i = 0; i < count; i++) {
		frame = take_difference(at, frame);
		if (i < MU_LEAK_FRAMES)
			entry->frames[i] = frame;
		else
			at->more[i - MU_LEAK_FRAMES] = frame;
	}
	entry->num_frames = count < MU_LEAK_FRAMES ? count : MU_LEAK_FRAMES;
	entry->num_more = count - entry->num_frames;
	entry->more = entry->num_more > 0 ? at->more : NULL;
}

static void
take_contents(struct mu_packed_at *at, struct mu_leak *entry)
{
	uint64_t length = take(at);

	if (length > MU_LEAK_CONTENTS ||
	    length > (size_t)(at->end - at->next)) {
		at->damaged = true;
		return;
	}
	memcpy(entry->contents, at->next, length);
	at->next += length;
}

bool
mu_packed_next(struct mu_packed_at *at, struct mu_leak *entry)
{
	unsigned flags;

	if (at->next == at->end || at->damaged)
		return false;
	*entry = (struct mu_leak) { .num_frames = 0 };
	flags = *at->next++;
	entry->range.begin = at->before = take_difference(at, at->before);
	entry->range.end = entry->range.begin + take(at);
	if (flags & HAS_REFERENCED) {
		entry->referenced_count = take(at);
		entry->referenced_size = take(at);
	}
	if (flags & HAS_SIMILAR) {
		entry->similar_count = take(at);
		entry->similar_size = take(at);
		entry->similar_referenced_count = take(at);
		entry->similar_referenced_size = take(at);
	}
	if (flags & HAS_FRAMES)
		take_frames(at, entry);
	entry->total_size = flags & HAS_TOTAL ? take(at) : sum_of(entry);
	entry->cut = flags & IS_CUT;
	take_contents(at, entry);
	if (flags > ALL_FLAGS || entry->range.end < entry->range.begin)
		at->damaged = true;
	return !at->damaged;
}
