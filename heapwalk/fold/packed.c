#include "heapwalk/fold/packed.h"

#include <errno.h>
#include <string.h>

#include "mu/sys.h"

/* Size of the first piece: fits even if hardly any memory is left. */
#define FIRST_BYTES ((size_t)4 << 10)
#define MOST_BYTES ((size_t)64 << 10)

enum {
	HAS_REFERENCED = 1,
	HAS_SIMILAR = 2,
	HAS_FRAMES = 4,
	IS_CUT = 8,
	HAS_TOTAL = 16, /* the total is not the sum of the others */
	HAS_GROUP = 32,
	ALL_FLAGS = 63,
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
	if (entry->group != 0)
		flags |= HAS_GROUP;
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

static bool
write_piece(const struct mu_packed *packed, const struct mu_packed_piece *piece)
{
	size_t done = 0;
	long n;

	while (done < piece->used) {
		n = mu_sys_pwrite(*packed->file, piece->bytes + done,
		    piece->used - done, packed->filed + done);
		if (n <= 0 && n != -EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

bool
mu_packed_to_file(struct mu_packed *packed)
{
	for (; packed->first != NULL; packed->first = packed->first->next) {
		if (!write_piece(packed, packed->first))
			return false;
		packed->filed += packed->first->used;
		packed->first->used = 0;
	}
	packed->first = packed->last;
	return true;
}

static struct mu_packed_piece *
piece_with_room(struct mu_packed *packed, size_t need)
{
	struct mu_packed_piece *piece = packed->last;

	/* On a full disk everything from now on stays in memory. */
	if (packed->file != NULL && piece != NULL &&
	    piece->size >= MOST_BYTES && piece->size - piece->used < need &&
	    !mu_packed_to_file(packed))
		packed->file = NULL;
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

static size_t
most_of(const struct mu_leak *entry)
{
	return MU_PACKED_MOST_WITH(entry->num_frames + entry->num_more);
}

static void
put_entry(
    struct mu_packed *packed, unsigned char **at, const struct mu_leak *entry)
{
	unsigned flags = flags_of(entry);

	*(*at)++ = (unsigned char)flags;
	put_difference(at, packed->before, entry->range.begin);
	packed->before = entry->range.begin;
	put(at, mu_range_size(entry->range));
	if (flags & HAS_REFERENCED) {
		put(at, entry->referenced_count);
		put(at, entry->referenced_size);
	}
	if (flags & HAS_SIMILAR) {
		put(at, entry->similar_count);
		put(at, entry->similar_size);
		put(at, entry->similar_referenced_count);
		put(at, entry->similar_referenced_size);
	}
	if (flags & HAS_FRAMES)
		put_frames(at, entry);
	if (flags & HAS_TOTAL)
		put(at, entry->total_size);
	if (flags & HAS_GROUP)
		put(at, entry->group);
	put_contents(at, entry);
}

/* AT is the end of what was appended to PIECE. */
static void
appended(struct mu_packed *packed, struct mu_packed_piece *piece,
    const unsigned char *at)
{
	size_t used = (size_t)(at - piece->bytes);

	packed->size += used - piece->used;
	piece->used = used;
}

bool
mu_packed_add(struct mu_packed *packed, const struct mu_leak *entry)
{
	struct mu_packed_piece *piece = piece_with_room(packed, most_of(entry));
	unsigned char *at;

	if (piece == NULL)
		return false;
	at = piece->bytes + piece->used;
	put_entry(packed, &at, entry);
	appended(packed, piece, at);
	packed->entries_size = packed->size;
	packed->count++;
	return true;
}

static void
put_text(unsigned char **at, const char *text)
{
	size_t length = strnlen(text, MU_GROUP_TEXT - 1);

	put(at, length);
	memcpy(*at, text, length);
	*at += length;
}

static void
put_others(unsigned char **at, const struct mu_lost_group *group)
{
	uintptr_t before = group->example.range.begin;
	size_t i;

	put(at, group->num_others);
	for (i = 0; i < group->num_others; i++) {
		put_difference(at, before, group->others[i]);
		before = group->others[i];
	}
}

static void
put_hold(unsigned char **at, const struct mu_lost_hold *hold)
{
	put(at, hold->parent);
	put(at,
	    hold->offset << 2 | (unsigned)hold->element << 1 |
		(unsigned)hold->again);
	put(at, hold->size);
	put(at, hold->tag);
	put(at, hold->address);
	put(at, hold->count);
	put(at, hold->bytes);
	put_text(at, hold->text);
}

bool
mu_packed_add_group(struct mu_packed *packed, const struct mu_lost_group *group)
{
	struct mu_packed_piece *piece = piece_with_room(
	    packed, most_of(&group->example) + MU_PACKED_GROUP_MORE);
	unsigned char *at;
	size_t i;

	if (piece == NULL)
		return false;
	at = piece->bytes + piece->used;
	if (packed->num_groups == 0)
		packed->before = 0;
	put_entry(packed, &at, &group->example);
	put(&at, group->key);
	put(&at, group->size);
	put(&at, group->tag);
	put(&at,
	    group->module_address << 2 | group->uneven << 1 | group->mixed);
	put(&at, group->count);
	put(&at, group->bytes);
	put(&at, group->num_blocks);
	put(&at, group->total_bytes);
	put_others(&at, group);
	put(&at, group->back);
	put(&at, group->back_at);
	put(&at, group->num_holds);
	for (i = 0; i < group->num_holds; i++)
		put_hold(&at, &group->holds[i]);
	appended(packed, piece, at);
	packed->num_groups++;
	return true;
}

void
mu_packed_open(struct mu_packed_at *at, const unsigned char *bytes, size_t size)
{
	at->next = bytes;
	at->end = size == 0 ? bytes : bytes + size; /* of none it is NULL */
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
	if (flags & HAS_GROUP)
		entry->group = take(at);
	entry->cut = flags & IS_CUT;
	take_contents(at, entry);
	if (flags > ALL_FLAGS || entry->range.end < entry->range.begin)
		at->damaged = true;
	return !at->damaged;
}

static void
take_text(struct mu_packed_at *at, char text[MU_GROUP_TEXT])
{
	uint64_t length = take(at);

	if (length >= MU_GROUP_TEXT || length > (size_t)(at->end - at->next)) {
		at->damaged = true;
		return;
	}
	memcpy(text, at->next, length);
	at->next += length;
}

static void
take_others(struct mu_packed_at *at, struct mu_lost_group *group)
{
	uintptr_t before = group->example.range.begin;
	uint64_t i, count = take(at);

	if (count > MU_GROUP_OTHERS) {
		at->damaged = true;
		return;
	}
	for (i = 0; i < count; i++)
		group->others[i] = before = take_difference(at, before);
	group->num_others = count;
}

/* INDEX is that of HOLD, which can only hang on an earlier row. */
static void
take_hold(struct mu_packed_at *at, size_t index, struct mu_lost_hold *hold)
{
	uint64_t offset;

	hold->parent = take(at);
	offset = take(at);
	hold->offset = offset >> 2;
	hold->element = (offset & 2) != 0;
	hold->again = (offset & 1) != 0;
	hold->size = take(at);
	hold->tag = take(at);
	hold->address = take(at);
	hold->count = take(at);
	hold->bytes = take(at);
	take_text(at, hold->text);
	if (hold->parent > index)
		at->damaged = true;
}

bool
mu_packed_next_group(struct mu_packed_at *at, struct mu_lost_group *group)
{
	size_t i;

	*group = (struct mu_lost_group) { .count = 0 };
	if (!mu_packed_next(at, &group->example))
		return false;
	group->key = take(at);
	group->size = take(at);
	group->tag = take(at);
	group->module_address = take(at);
	group->mixed = group->module_address & 1;
	group->uneven = group->module_address >> 1 & 1;
	group->module_address >>= 2;
	group->count = take(at);
	group->bytes = take(at);
	group->num_blocks = take(at);
	group->total_bytes = take(at);
	take_others(at, group);
	group->back = take(at);
	group->back_at = take(at);
	group->num_holds = take(at);
	if (group->num_holds > MU_GROUP_HOLDS ||
	    group->back > group->num_holds) {
		group->num_holds = 0;
		at->damaged = true;
	}
	for (i = 0; i < group->num_holds; i++)
		take_hold(at, i, &group->holds[i]);
	return !at->damaged;
}

/* Each entry and each group has at least MU_PACKED_LEAST bytes. */
bool
mu_packed_fits(const struct mu_groups_info *info, size_t num_entries,
    size_t size, size_t lost, size_t bytes)
{
	size_t most = info->count > 0 ? MU_PACKED_GROUP_MOST : MU_PACKED_MOST;
	size_t least = size / MU_PACKED_LEAST;

	if (info->by > MU_BY_MODULE || info->count > least ||
	    num_entries > least - info->count ||
	    (num_entries + info->count == 0 && size > 0))
		return false;
	return size / most <= num_entries + info->count &&
	    info->count <= info->num_total && info->num_total <= lost &&
	    info->rest_blocks <= lost && info->rest_bytes <= bytes &&
	    (info->by != MU_BY_BLOCK || info->num_total == 0);
}
