/*
 * What lives: how many blocks of each size and type, and which of them have the
 * same text.
 */
#include <string.h>

#include "heapwalk/explain/keyed.h"
#include "heapwalk/recorded/recorded.h"
#include "lib/explain/explaining.h"
#include "lib/explain/stale.h"
#include "lib/explain/text_length.h"
#include "mu/hash.h"
#include "mu/sort.h"

#define SIZES_SHOWN ((size_t)1000)
#define TEXTS_SHOWN ((size_t)20)
#define TEXT_SHOWN ((size_t)64) /* bytes */
#define TYPE_SHIFT 48           /* of the type, above a size */
#define GRAIN ((size_t)16)      /* sizes of malloc differ by */
#define FIRST_ROOM ((size_t)1 << 10)

/* Blocks of one size and type, or with one text. */
struct kind {
	uint64_t key;    /* key_of(), or a hash of the text */
	uint32_t first;  /* number of the first block */
	uint32_t length; /* of the text */
	size_t count;
	size_t duplicates;
	size_t stale;
	uint32_t seconds; /* of the youngest of these */
};

struct census {
	struct mu_explaining *explaining;
	struct mu_keyed sizes, texts; /* struct kind */
	struct mu_stale_look stale;
	bool no_memory;
};

/* The kind of KEY, one block larger. NULL: there is no memory. */
static struct kind *
count_one(struct census *census, struct mu_keyed *kinds, uint64_t key,
    uint32_t number)
{
	bool added;
	struct kind *kind = mu_keyed_add(kinds, key, &added);

	if (kind == NULL) {
		census->no_memory = true;
		return NULL;
	}
	if (added)
		kind->first = number;
	kind->count++;
	return kind;
}

static uint64_t
key_of(const struct census *census, const struct mu_block *block)
{
	uint64_t type = census->explaining->types.of[block->number];

	return type << TYPE_SHIFT | mu_range_size(block->range);
}

static size_t
size_of(const struct kind *kind)
{
	return (size_t)(kind->key & (((uint64_t)1 << TYPE_SHIFT) - 1));
}

/* The contents decide: the subject may have chosen equal hashes. */
static bool
same_text(const struct census *census, const struct kind *kind,
    const struct mu_block *block, size_t length)
{
	struct mu_block first;

	return length == kind->length &&
	    mu_blocks_at(
		census->explaining->graph->blocks, kind->first, &first) &&
	    mu_range_size(first.range) > length &&
	    memcmp(first.view, block->view, length) == 0;
}

static void
count_text(
    struct census *census, struct kind *size, const struct mu_block *block)
{
	struct mu_explained *out = census->explaining->out;
	const struct mu_live_type *type =
	    mu_live_type_of(&census->explaining->types, block->number);
	size_t length = mu_block_text_length(block);
	struct kind *text;

	/* A pointer to a vtable may consist of letters. */
	if (length == 0 ||
	    (type->name != NULL && !type->content && type->stride != 1))
		return;
	text = count_one(census, &census->texts,
	    mu_hash_bytes(block->view, length) | 1, block->number);
	if (text == NULL || text->count == 1) {
		if (text != NULL)
			text->length = (uint32_t)length;
		return;
	}
	if (!same_text(census, text, block, length)) {
		text->count--;
		return;
	}
	size->duplicates++;
	out->duplicate_blocks++;
	out->duplicate_bytes += mu_range_size(block->range);
}

static void
count_asked(struct census *census, const struct mu_block *block)
{
	struct mu_explained *out = census->explaining->out;
	struct mu_recorded_block recorded;

	if (census->explaining->recorder == NULL ||
	    !mu_recorder_find(
		census->explaining->recorder, block->range, &recorded))
		return;
	out->recorded_blocks++;
	out->recorded_bytes += mu_range_size(block->range);
	out->asked_bytes += mu_range_size(recorded.range);
}

static bool
count_block(void *ctx, const struct mu_block *block)
{
	struct census *census = ctx;
	struct kind *size;

	if (!mu_block_marked(block))
		return true;
	size = count_one(
	    census, &census->sizes, key_of(census, block), block->number);
	if (size == NULL)
		return false;
	if (census->stale.stale != NULL)
		mu_stale_compare(&census->stale, block);
	count_text(census, size, block);
	count_asked(census, block);
	return !census->no_memory &&
	    !mu_deadline_passed(&census->explaining->deadline, 16);
}

static bool
count_stale(void *ctx, const struct mu_block *block)
{
	struct census *census = ctx;
	size_t blocks;
	uint32_t seconds;
	struct kind *size;

	if (!mu_block_marked(block))
		return true;
	seconds = mu_stale_seconds(&census->stale, block, &blocks);
	if (seconds == 0 ||
	    seconds < census->explaining->out->wanted.stale_seconds)
		return true;
	size = mu_keyed_find(&census->sizes, key_of(census, block));
	if (size != NULL) {
		size->stale += blocks;
		if (size->seconds == 0 || seconds < size->seconds)
			size->seconds = seconds;
	}
	return !mu_deadline_passed(&census->explaining->deadline, 16);
}

static int
compare_sizes(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	uint64_t p = size_of(x) * x->count, q = size_of(y) * y->count;

	return p != q ? (p > q ? -1 : 1) : (x->key < y->key ? -1 : 1);
}

static int
compare_texts(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	uint64_t p = (x->count - 1) * ((x->length + GRAIN / 2) / GRAIN + 1);
	uint64_t q = (y->count - 1) * ((y->length + GRAIN / 2) / GRAIN + 1);

	return p != q ? (p > q ? -1 : 1) : (x->first < y->first ? -1 : 1);
}

/* Sort them to the front. */
static void
sort_kinds(struct mu_keyed *kinds, int (*compare)(const void *, const void *))
{
	if (kinds->count > 0)
		mu_sort(
		    mu_keyed_pack(kinds), kinds->count, kinds->size, compare);
}

static bool
take_sizes(struct census *census)
{
	struct mu_explained *out = census->explaining->out;
	const struct mu_live_types *live = &census->explaining->types;
	const struct kind *kind = census->sizes.items;
	size_t i, count = census->sizes.count;
	const struct mu_live_type *type;

	out->num_sizes = count;
	if (count > SIZES_SHOWN)
		count = SIZES_SHOWN;
	out->in_use =
	    mu_arena_alloc(&out->arena, count + 1, sizeof(*out->in_use));
	if (out->in_use == NULL)
		return false;
	for (i = 0; i < count; i++, kind++) {
		type = &live->types[kind->key >> TYPE_SHIFT];
		out->in_use[i] = (struct mu_in_use) {
			.size = size_of(kind),
			.type = mu_live_type_name(
			    &census->explaining->places, type, size_of(kind)),
			.certain = type->certain,
			.content = type->content,
			.count = kind->count,
			.duplicates = kind->duplicates,
			/* One that stands for others may have none. */
			.stale = kind->stale < kind->count ? kind->stale
							   : kind->count,
			.seconds = kind->seconds,
		};
	}
	out->num_in_use = count;
	return true;
}

static bool
take_text(struct census *census, const struct kind *kind,
    struct mu_duplicate *duplicate)
{
	struct mu_explained *out = census->explaining->out;
	size_t length = kind->length < TEXT_SHOWN ? kind->length : TEXT_SHOWN;
	struct mu_block block;
	char *text = mu_arena_alloc(&out->arena, length + 1, 1);

	if (text == NULL ||
	    !mu_blocks_at(
		census->explaining->graph->blocks, kind->first, &block))
		return false;
	*duplicate = (struct mu_duplicate) {
		.address = block.range.begin,
		.size = mu_range_size(block.range),
		.length = kind->length,
		.count = kind->count,
		.text = memcpy(text, block.view, length),
	};
	return true;
}

static bool
take_texts(struct census *census)
{
	struct mu_explained *out = census->explaining->out;
	const struct kind *kind = census->texts.items;
	size_t i;

	out->duplicates =
	    mu_arena_alloc(&out->arena, TEXTS_SHOWN, sizeof(*out->duplicates));
	if (out->duplicates == NULL)
		return false;
	for (i = 0;
	     i < census->texts.count && i < TEXTS_SHOWN && kind[i].count > 1;
	     i++) {
		if (!take_text(census, &kind[i],
			&out->duplicates[out->num_duplicates]))
			return false;
		out->num_duplicates++;
	}
	return true;
}

enum mu_status
mu_in_use_explain(struct mu_explaining *explaining)
{
	const struct mu_keyed kinds = { .arena = explaining->tables,
		.size = sizeof(struct kind),
		.first = FIRST_ROOM,
		.most = SIZE_MAX };
	struct census census = {
		.explaining = explaining, .sizes = kinds, .texts = kinds
	};
	struct mu_stale *stale = explaining->out->wanted.stale;

	if (stale != NULL &&
	    !mu_stale_look_open(&census.stale, stale, explaining))
		return MU_ERR_NO_MEMORY;
	mu_blocks_each(explaining->graph->blocks, count_block, &census);
	if (census.no_memory)
		return MU_ERR_NO_MEMORY;
	if (stale != NULL && !explaining->deadline.passed) {
		mu_stale_look_end(&census.stale);
		mu_blocks_each(explaining->graph->blocks, count_stale, &census);
	}
	if (explaining->deadline.passed)
		return MU_ERR_TIMEOUT;
	sort_kinds(&census.sizes, compare_sizes);
	sort_kinds(&census.texts, compare_texts);
	return take_sizes(&census) && take_texts(&census) ? MU_OK
							  : MU_ERR_NO_MEMORY;
}
