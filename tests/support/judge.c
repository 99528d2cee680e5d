/*
 * Judge an answer by brute force: search all memory of a process for each block
 * that is said to be lost, with no knowledge of roots, stacks or allocators.
 *
 * Usage: judge PID <BLOCKS    (lines "ADDRESS SIZE", the address in hex)
 *
 * Prints a line for each place that may refer to a block from outside of them
 * all, and whether it is in a free chunk. The process should stand still. These
 * count:
 *   aligned    a word that points into the block
 *   unaligned  the same at any other byte
 *   relative   a word that is the distance from itself to the block's begin
 *   low        in code: the lower 32 bits of the begin (below 4 GiB)
 *   distance   in code: 32 bits, the distance from their end to the begin
 * Exit status: 0 there is none outside of free chunks, 1 there are some.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BLOCKS 100000
#define PAGE ((size_t)4096)
#define PIECE ((size_t)1 << 20)
#define MAX_LINES 40 /* of a block */
#define RESERVED ((size_t)1 << 36)

struct block {
	uint64_t begin, end;
	unsigned places;
};

/* A mapping, and the file to read memory from. */
struct area {
	int memory, pagemap;
	uint64_t begin, end;
	bool code;
	char name[4096];
};

static struct block blocks[MAX_BLOCKS];
static size_t num_blocks;
static uint64_t lowest, highest;
static bool any;

static int
compare(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The block that ADDRESS is in; at its begin if EXACT. */
static struct block *
find(uint64_t address, bool exact)
{
	size_t low = 0, high = num_blocks, middle;
	struct block *block;

	if (address < lowest || address >= highest)
		return NULL;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (blocks[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	block = &blocks[low - 1];
	if (address >= block->end || (exact && address != block->begin))
		return NULL;
	return block;
}

/* A chunk of glibc's main heap, from its header on. */
struct chunk {
	uint64_t at, next;
	uint64_t words[4]; /* previous size, size, and the block's first two */
};

static bool
read_chunk(const struct area *area, uint64_t at, struct chunk *chunk)
{
	chunk->at = at;
	if (pread(area->memory, chunk->words, sizeof(chunk->words),
		(off_t)at) != sizeof(chunk->words))
		return false;
	chunk->next = at + (chunk->words[1] & ~UINT64_C(7));
	return chunk->next > at && chunk->next < area->end;
}

/* A tcache links its blocks like this (glibc 2.32). */
static bool
is_linked(const struct area *area, const struct chunk *chunk)
{
	uint64_t block = chunk->at + 16;
	uint64_t link = chunk->words[2] ^ (block >> 12);

	return link % 16 == 0 &&
	    (link == 0 || (link >= area->begin && link < area->end));
}

/*
 * True if AT is in a free chunk: the next one has no PREV_INUSE, or it is in a
 * tcache, whose blocks all have the same random second word (glibc 2.34). A
 * chunk in a fastbin looks as if it were in use.
 */
static bool
is_free(const struct area *area, uint64_t at)
{
	struct chunk found = { 0 }, chunk;
	unsigned others = 0;
	uint64_t next;

	if (strcmp(area->name, "[heap]") != 0)
		return false;
	for (next = area->begin; read_chunk(area, next, &chunk);
	     next = chunk.next)
		if (at < chunk.next + 8) {
			found = chunk;
			break;
		}
	if (found.next == 0)
		return false;
	if (read_chunk(area, found.next, &chunk) && (chunk.words[1] & 1) == 0)
		return true;
	if (!is_linked(area, &found) || found.words[3] >> 48 == 0)
		return false;
	for (next = area->begin; read_chunk(area, next, &chunk);
	     next = chunk.next)
		others += chunk.at != found.at && is_linked(area, &chunk) &&
		    chunk.words[3] == found.words[3];
	return others >= 2;
}

static void
tell(struct block *block, const char *how, uint64_t at, const struct area *area)
{
	bool freed;

	if (block == NULL || find(at, false) != NULL ||
	    block->places++ >= MAX_LINES)
		return;
	freed = is_free(area, at);
	any |= !freed;
	printf("%" PRIx64 " %" PRIu64 " %s at %" PRIx64 " %s%s\n", block->begin,
	    block->end - block->begin, how, at, area->name,
	    freed ? ", in a free chunk" : "");
}

/* At BYTES, of which eight can be read, is address AT. */
static void
judge(const unsigned char *bytes, uint64_t at, const struct area *area)
{
	uint64_t word;
	uint32_t half;
	int32_t distance;

	memcpy(&word, bytes, sizeof(word));
	tell(
	    find(word, false), at % 8 == 0 ? "aligned" : "unaligned", at, area);
	if (at % 8 == 0)
		tell(find(at + word, true), "relative", at, area);
	if (!area->code)
		return;
	memcpy(&half, bytes, sizeof(half));
	tell(find(half, true), "low", at, area);
	memcpy(&distance, bytes, sizeof(distance));
	tell(find(at + 4 + (uint64_t)(int64_t)distance, true), "distance", at,
	    area);
}

/* Eight bytes more than SIZE, so that words may cross its end. */
static void
search_piece(const struct area *area, uint64_t at, size_t size)
{
	static unsigned char bytes[PAGE + 8];
	ssize_t got;
	size_t i;

	memset(bytes, 0, sizeof(bytes));
	got = pread(area->memory, bytes, size + (at + size < area->end ? 8 : 0),
	    (off_t)at);
	for (i = 0; i < size && got >= (ssize_t)size; i++)
		judge(bytes + i, at + i, area);
}

/*
 * Only pages in the page table: reading a hole of shared memory would allocate
 * it, and some programs reserve terabytes.
 */
static void
search(const struct area *area)
{
	static uint64_t entries[PIECE / PAGE];
	uint64_t at;
	size_t i, count;

	for (at = area->begin; at < area->end; at += count * PAGE) {
		count = (area->end - at) / PAGE;
		count = count < PIECE / PAGE ? count : PIECE / PAGE;
		if (pread(area->pagemap, entries, count * sizeof(*entries),
			(off_t)(at / PAGE * sizeof(*entries))) <= 0)
			return;
		for (i = 0; i < count; i++)
			if (entries[i] >> 62 != 0)
				search_piece(area, at + i * PAGE, PAGE);
	}
}

static bool
read_blocks(void)
{
	uint64_t begin, size;

	while (num_blocks < MAX_BLOCKS &&
	    scanf("%" SCNx64 " %" SCNu64, &begin, &size) == 2)
		blocks[num_blocks++] =
		    (struct block) { begin, begin + size, 0 };
	qsort(blocks, num_blocks, sizeof(*blocks), compare);
	if (num_blocks == 0)
		return false;
	lowest = blocks[0].begin;
	highest = blocks[num_blocks - 1].end;
	return true;
}

int
main(int argc, char **argv)
{
	static struct area area;
	char path[64], line[4096], access[8];
	FILE *maps;

	if (argc != 2)
		return 2;
	if (!read_blocks())
		return 0;
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	area.memory = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%s/pagemap", argv[1]);
	area.pagemap = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%s/maps", argv[1]);
	maps = fopen(path, "r");
	if (area.memory < 0 || area.pagemap < 0 || maps == NULL) {
		perror(path);
		return 2;
	}
	while (fgets(line, sizeof(line), maps) != NULL) {
		strcpy(area.name, "anonymous");
		if (sscanf(line,
			"%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %4095[^\n]",
			&area.begin, &area.end, access, area.name) < 3 ||
		    (access[0] == '-' && area.end - area.begin > RESERVED) ||
		    strcmp(area.name, "[vvar]") == 0 ||
		    strcmp(area.name, "[vsyscall]") == 0)
			continue;
		area.code = access[2] == 'x';
		search(&area);
	}
	return any ? 1 : 0;
}
