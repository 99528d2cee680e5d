/*
 * An item is a header, without alignment, and its key. Runs are sorted parts of
 * the file; the items in memory are the last run.
 */
#include "lib/view/sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/term/nameless.h"
#include "lib/view/saturate.h"
#include "mu/array.h"

#define ROOM ((size_t)4 << 20)         /* bytes in memory */
#define ROOM_MOST ((size_t)UINT32_MAX) /* as offsets have 32 bits */
#define BLOCK_MIN ((size_t)4 << 10)    /* of a run, more than an item */
#define HEADER (2 * sizeof(uint64_t) + sizeof(uint16_t))
#define MERGED 0x8000 /* in a length: the item is part of another */

_Static_assert(BLOCK_MIN > HEADER + MU_SORTER_KEY_MAX, "an item fits");

struct mu_sorter_run {
	off_t begin, end;
};

struct mu_sorter_cursor {
	struct mu_sorted now;
	/* Of the file. */
	off_t at, end;
	unsigned char *block;
	size_t size, next, have; /* bytes of BLOCK */
	/* In memory. */
	size_t index;
};

static size_t
length_of(const unsigned char *item)
{
	uint16_t length;

	memcpy(&length, item + HEADER - sizeof(length), sizeof(length));
	return length;
}

static void
set_length(unsigned char *item, size_t length)
{
	uint16_t short_length = (uint16_t)length;

	memcpy(item + HEADER - sizeof(short_length), &short_length,
	    sizeof(short_length));
}

static struct mu_sorted
item_at(const unsigned char *item)
{
	struct mu_sorted sorted = {
		.key = item + HEADER,
		.length = length_of(item) & ~(size_t)MERGED,
	};

	memcpy(sorted.values, item, sizeof(sorted.values));
	return sorted;
}

static int
compare_keys(const struct mu_sorted *a, const struct mu_sorted *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->key, b->key, shorter);

	if (order != 0)
		return order;
	return (a->length > b->length) - (a->length < b->length);
}

static int
compare_offsets(const void *a, const void *b, void *items)
{
	struct mu_sorted x =
	    item_at((unsigned char *)items + *(const uint32_t *)a);
	struct mu_sorted y =
	    item_at((unsigned char *)items + *(const uint32_t *)b);

	return compare_keys(&x, &y);
}

static void
merge(const struct mu_sorter *sorter, uint64_t into[2], const uint64_t from[2])
{
	if (sorter->merge != NULL) {
		sorter->merge(into, from);
		return;
	}
	into[0] = mu_saturated_add(into[0], from[0]);
	into[1] = mu_saturated_add(into[1], from[1]);
}

/* Sort what is in memory. Returns its bytes without those merged. */
static size_t
sort_items(struct mu_sorter *sorter)
{
	struct mu_sorted last = { 0 }, item;
	size_t i, kept = 0, bytes = 0;
	unsigned char *at;

	if (sorter->count > 0)
		qsort_r(sorter->offsets, sorter->count,
		    sizeof(*sorter->offsets), compare_offsets, sorter->items);
	for (i = 0; i < sorter->count; i++) {
		at = sorter->items + sorter->offsets[i];
		item = item_at(at);
		if (kept > 0 && compare_keys(&last, &item) == 0) {
			merge(sorter, last.values, item.values);
			memcpy(sorter->items + sorter->offsets[kept - 1],
			    last.values, sizeof(last.values));
			set_length(at, item.length | MERGED);
			continue;
		}
		last = item;
		bytes += HEADER + item.length;
		sorter->offsets[kept++] = sorter->offsets[i];
	}
	sorter->count = kept;
	return bytes;
}

/* Remove the items that were merged; the others lose their order. */
static void
squeeze(struct mu_sorter *sorter)
{
	size_t at, size, to = 0, count = 0;
	unsigned char *item;

	for (at = 0; at < sorter->used; at += size) {
		item = sorter->items + at;
		size = HEADER + (length_of(item) & ~(size_t)MERGED);
		if ((length_of(item) & MERGED) != 0)
			continue;
		memmove(sorter->items + to, item, size);
		sorter->offsets[count++] = (uint32_t)to;
		to += size;
	}
	sorter->used = to;
}

static bool
open_file(struct mu_sorter *sorter)
{
	if (!sorter->has_file)
		sorter->fd = mu_nameless_open();
	sorter->has_file = sorter->fd >= 0;
	return sorter->has_file;
}

static bool
write_block(int fd, const unsigned char *block, size_t size, off_t at)
{
	ssize_t written;

	while (size > 0) {
		written = pwrite(fd, block, size, at);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		block += written;
		size -= (size_t)written;
		at += written;
	}
	return true;
}

/* Write the items in their order to the end of the file. */
static bool
write_items(const struct mu_sorter *sorter, off_t *end)
{
	unsigned char block[16 * 1024];
	const unsigned char *item;
	size_t i, size, used = 0;

	for (i = 0; i < sorter->count; i++) {
		item = sorter->items + sorter->offsets[i];
		size = HEADER + length_of(item);
		if (used + size > sizeof(block)) {
			if (!write_block(sorter->fd, block, used, *end))
				return false;
			*end += (off_t)used;
			used = 0;
		}
		memcpy(block + used, item, size);
		used += size;
	}
	if (!write_block(sorter->fd, block, used, *end))
		return false;
	*end += (off_t)used;
	return true;
}

/* False: nothing has changed. What fills a disk is given back at once. */
static bool
write_run(struct mu_sorter *sorter)
{
	struct mu_sorter_run run = { sorter->end, sorter->end };

	if (!open_file(sorter) ||
	    !mu_array_room(
		sorter->runs, sorter->num_runs, sorter->max_runs, 16, SIZE_MAX))
		return false;
	if (!write_items(sorter, &run.end)) {
		(void)!ftruncate(sorter->fd, run.begin);
		return false;
	}
	sorter->runs[sorter->num_runs++] = run;
	sorter->end = run.end;
	sorter->used = sorter->count = 0;
	return true;
}

/* Make room for SIZE bytes beyond the limit. */
static bool
leave_memory(struct mu_sorter *sorter, size_t size)
{
	if (sort_items(sorter) + size > sorter->room / 2 && write_run(sorter))
		return true;
	squeeze(sorter);
	while (sorter->used + size > sorter->room / 2) {
		if (sorter->room > ROOM_MOST / 2)
			return false;
		sorter->room *= 2;
	}
	return true;
}

static bool
make_room(struct mu_sorter *sorter, size_t size)
{
	if (sorter->room == 0)
		sorter->room = ROOM;
	if (sorter->used + size > sorter->room && !leave_memory(sorter, size))
		return false;
	while (sorter->used + size > sorter->max) {
		if (!mu_array_more(&sorter->items, &sorter->max, 1,
			MU_SORTER_KEY_MAX * 2, SIZE_MAX))
			return false;
	}
	return mu_array_room(
	    sorter->offsets, sorter->count, sorter->max_offsets, 64, SIZE_MAX);
}

bool
mu_sorter_add(struct mu_sorter *sorter, const unsigned char *key, size_t length,
    uint64_t a, uint64_t b)
{
	size_t size = HEADER + length;
	unsigned char *item;

	if (!make_room(sorter, size))
		return false;
	item = sorter->items + sorter->used;
	memcpy(item, (uint64_t[]) { a, b }, 2 * sizeof(uint64_t));
	set_length(item, length);
	memcpy(item + HEADER, key, length);
	sorter->offsets[sorter->count++] = (uint32_t)sorter->used;
	sorter->used += size;
	return true;
}

/* Have SIZE bytes of the current item, or more, in the block. */
static bool
fill(struct mu_sorter *sorter, struct mu_sorter_cursor *cursor, size_t size)
{
	size_t room;
	ssize_t got;

	if (cursor->have - cursor->next >= size)
		return true;
	cursor->have -= cursor->next;
	memmove(cursor->block, cursor->block + cursor->next, cursor->have);
	cursor->next = 0;
	while (cursor->have < size) {
		room = cursor->size - cursor->have;
		if ((off_t)room > cursor->end - cursor->at)
			room = (size_t)(cursor->end - cursor->at);
		got = pread(
		    sorter->fd, cursor->block + cursor->have, room, cursor->at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			sorter->error = got < 0 ? errno : EIO;
			return false;
		}
		cursor->have += (size_t)got;
		cursor->at += got;
	}
	return true;
}

/* Returns false at the end, or with an error. */
static bool
advance(struct mu_sorter *sorter, struct mu_sorter_cursor *cursor)
{
	const unsigned char *item;

	if (cursor->block == NULL) {
		if (cursor->index == sorter->count)
			return false;
		item = sorter->items + sorter->offsets[cursor->index++];
		cursor->now = item_at(item);
		return true;
	}
	if (cursor->next == cursor->have && cursor->at == cursor->end)
		return false;
	if (!fill(sorter, cursor, HEADER))
		return false;
	cursor->now = item_at(cursor->block + cursor->next);
	if (cursor->now.length > MU_SORTER_KEY_MAX) {
		sorter->error = EIO;
		return false;
	}
	if (!fill(sorter, cursor, HEADER + cursor->now.length))
		return false;
	cursor->now = item_at(cursor->block + cursor->next);
	cursor->next += HEADER + cursor->now.length;
	return true;
}

static bool
is_less(const struct mu_sorter *sorter, size_t a, size_t b)
{
	return compare_keys(&sorter->heap[a]->now, &sorter->heap[b]->now) < 0;
}

static void
sift_down(struct mu_sorter *sorter, size_t at)
{
	struct mu_sorter_cursor *cursor;
	size_t child;

	while ((child = 2 * at + 1) < sorter->num_heap) {
		if (child + 1 < sorter->num_heap &&
		    is_less(sorter, child + 1, child))
			child++;
		if (!is_less(sorter, child, at))
			break;
		cursor = sorter->heap[at];
		sorter->heap[at] = sorter->heap[child];
		sorter->heap[child] = cursor;
		at = child;
	}
}

static void
release_cursors(struct mu_sorter *sorter)
{
	size_t i;

	for (i = 0; i < sorter->num_cursors; i++)
		free(sorter->cursors[i].block);
	free(sorter->cursors);
	free(sorter->heap);
	sorter->cursors = NULL;
	sorter->heap = NULL;
	sorter->num_cursors = sorter->num_heap = 0;
}

/* The blocks have together the size of what is kept in memory. */
static bool
open_cursors(struct mu_sorter *sorter)
{
	struct mu_sorter_cursor *cursor;
	size_t i, size = ROOM / (sorter->num_runs + 1);

	sorter->cursors =
	    calloc(sorter->num_runs + 1, sizeof(*sorter->cursors));
	sorter->heap =
	    calloc(sorter->num_runs + 1, sizeof(struct mu_sorter_cursor *));
	if (sorter->cursors == NULL || sorter->heap == NULL)
		return false;
	for (i = 0; i < sorter->num_runs; i++) {
		cursor = &sorter->cursors[sorter->num_cursors++];
		cursor->at = sorter->runs[i].begin;
		cursor->end = sorter->runs[i].end;
		cursor->size = size > BLOCK_MIN ? size : BLOCK_MIN;
		cursor->block = malloc(cursor->size);
		if (cursor->block == NULL)
			return false;
	}
	sorter->num_cursors++; /* of the items in memory */
	return true;
}

void
mu_sorter_begin(struct mu_sorter *sorter)
{
	size_t i;

	release_cursors(sorter);
	sort_items(sorter);
	if (!open_cursors(sorter)) {
		sorter->error = ENOMEM;
		return;
	}
	for (i = 0; i < sorter->num_cursors; i++) {
		if (advance(sorter, &sorter->cursors[i]))
			sorter->heap[sorter->num_heap++] = &sorter->cursors[i];
	}
	for (i = sorter->num_heap / 2; i-- > 0;)
		sift_down(sorter, i);
}

/* Advance the first cursor. */
static void
step(struct mu_sorter *sorter)
{
	if (!advance(sorter, sorter->heap[0]))
		sorter->heap[0] = sorter->heap[--sorter->num_heap];
	sift_down(sorter, 0);
}

bool
mu_sorter_next(struct mu_sorter *sorter, struct mu_sorted *item)
{
	if (sorter->num_heap == 0 || sorter->error != 0)
		return false;
	*item = sorter->heap[0]->now;
	memcpy(sorter->key, item->key, item->length);
	item->key = sorter->key;
	step(sorter);
	while (sorter->num_heap > 0 &&
	    compare_keys(item, &sorter->heap[0]->now) == 0) {
		merge(sorter, item->values, sorter->heap[0]->now.values);
		step(sorter);
	}
	return sorter->error == 0;
}

enum mu_status
mu_sorter_end(const struct mu_sorter *sorter, struct mu_why *why)
{
	if (sorter->error == 0)
		return MU_OK;
	if (sorter->error == ENOMEM)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory to sort stacks");
	return mu_why(why, MU_ERR_NO_MEMORY, "cannot read a temporary file: %s",
	    strerror(sorter->error));
}

void
mu_sorter_release(struct mu_sorter *sorter)
{
	release_cursors(sorter);
	if (sorter->has_file)
		close(sorter->fd);
	free(sorter->items);
	free(sorter->offsets);
	free(sorter->runs);
	*sorter = (struct mu_sorter) { .room = 0 };
}
