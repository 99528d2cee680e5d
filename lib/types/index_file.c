#include "lib/types/index_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARTS 9
#define LEAST (1u << 17) /* entries that are read in about 15 ms */

struct counts {
	uint64_t deep;
	uint64_t count[PARTS];
};

/* An array of an index. */
struct part {
	void *items; /* the address of the pointer to it */
	size_t *count;
	size_t *max; /* or NULL */
	size_t size; /* bytes of an element */
};

#define PART(array, num, most)                           \
	{                                                \
		&(array), &(num), most, sizeof(*(array)) \
	}

static void
list_parts(struct mu_debug_index *index, struct part parts[PARTS])
{
	const struct part all[PARTS] = {
		PART(index->types, index->num_types, &index->max_types),
		PART(index->slots, index->num_slots, NULL),
		PART(index->dies, index->num_dies, &index->max_dies),
		PART(index->beginnings, index->num_beginnings,
		    &index->max_beginnings),
		PART(index->variables.list, index->variables.count,
		    &index->variables.max),
		PART(index->thread.list, index->thread.count,
		    &index->thread.max),
		PART(index->code, index->num_code, &index->max_code),
		PART(index->texts, index->num_texts, &index->max_texts),
		PART(index->skeletons, index->num_skeletons,
		    &index->max_skeletons),
	};

	memcpy(parts, all, sizeof(all));
}

static void *
items_of(const struct part *part)
{
	void *items;

	memcpy(&items, part->items, sizeof(items));
	return items;
}

static bool
read_all(int fd, void *to, size_t size)
{
	ssize_t n = 1;
	size_t done;

	for (done = 0; done < size && n > 0; done += (size_t)n)
		n = read(fd, (char *)to + done, size - done);
	return done == size && n > 0;
}

static bool
read_part(int fd, const struct part *part, uint64_t count)
{
	void *items;

	if (count > MU_CACHE_SIZE / part->size)
		return false;
	items = malloc((size_t)count * part->size + 1);
	if (items == NULL)
		return false;
	memcpy(part->items, &items, sizeof(items));
	*part->count = (size_t)count;
	if (part->max != NULL)
		*part->max = (size_t)count;
	return count == 0 || read_all(fd, items, (size_t)count * part->size);
}

/* True if no number in INDEX leads out of it, and no search is without end. */
static bool
is_sound(const struct mu_debug_index *index)
{
	size_t i, unused = 0;

	if ((index->num_slots & (index->num_slots - 1)) != 0 ||
	    index->num_texts == 0 || index->texts[index->num_texts - 1] != '\0')
		return false;
	for (i = 0; i < index->num_slots; i++) {
		if (index->slots[i] > index->num_types)
			return false;
		unused += index->slots[i] == 0;
	}
	for (i = 0; i < index->num_dies; i++)
		if (index->dies[i].type >= index->num_types)
			return false;
	return index->num_slots == 0 || unused > 0;
}

static bool
read_index(int fd, struct mu_debug_index *index, uint64_t wanted)
{
	struct part parts[PARTS];
	struct counts counts;
	uint64_t sum;
	size_t i;

	list_parts(index, parts);
	if (!read_all(fd, &counts, sizeof(counts)))
		return false;
	sum = mu_cache_sum(0, &counts, sizeof(counts));
	for (i = 0; i < PARTS; i++) {
		if (!read_part(fd, &parts[i], counts.count[i]))
			return false;
		sum = mu_cache_sum(
		    sum, items_of(&parts[i]), *parts[i].count * parts[i].size);
	}
	index->deep = counts.deep != 0;
	index->asked = true;
	return sum == wanted && is_sound(index);
}

bool
mu_index_file_read(struct mu_debug_index *index, const struct mu_cache *cache,
    const struct mu_debug_id *id)
{
	struct mu_debug_index found = { .asked = false };
	struct part parts[PARTS];
	struct mu_cache_tail tail;
	bool good;
	size_t i;
	int fd = mu_cache_find(cache, MU_CACHE_TYPES, id, &tail);

	if (fd < 0)
		return false;
	good = read_index(fd, &found, tail.sum);
	close(fd);
	list_parts(&found, parts);
	for (i = 0; !good && i < PARTS; i++)
		free(items_of(&parts[i]));
	if (good)
		*index = found;
	return good;
}

void
mu_index_file_write(const struct mu_debug_index *index, struct mu_cache *cache,
    const struct mu_debug_id *id)
{
	struct mu_debug_index written = *index;
	struct counts counts = { .deep = index->deep };
	struct part parts[PARTS];
	size_t i, size = sizeof(struct mu_cache_tail) + sizeof(counts);
	uint64_t sum;
	bool good;
	int fd;

	list_parts(&written, parts);
	for (i = 0; i < PARTS; i++) {
		counts.count[i] = *parts[i].count;
		size += *parts[i].count * parts[i].size;
	}
	if (index->failed || index->incomplete || index->seen < LEAST ||
	    size > MU_CACHE_SIZE)
		return;
	fd = mu_cache_begin(cache);
	good = fd >= 0 && mu_cache_write(fd, &counts, sizeof(counts));
	sum = mu_cache_sum(0, &counts, sizeof(counts));
	for (i = 0; good && i < PARTS; i++) {
		size = *parts[i].count * parts[i].size;
		sum = mu_cache_sum(sum, items_of(&parts[i]), size);
		good = mu_cache_write(fd, items_of(&parts[i]), size);
	}
	if (good)
		mu_cache_finish(cache, fd, MU_CACHE_TYPES, id, sum);
}
