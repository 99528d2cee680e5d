/*
 * Single properties of blocks under the recorder: sizes, stacks, guards and
 * contents. See statements_play.h.
 */
#include <malloc.h>
#include <stdint.h>

#include "memunreachable/malloc_debug.h"
#include "tests/recorder/statements_own.h"
#include "tests/recorder/statements_play.h"

#pragma weak malloc_backtrace

#if defined(__x86_64__)
#define INTO_CALL 1
#elif defined(__aarch64__)
#define INTO_CALL 4
#else
#define INTO_CALL 2
#endif

static void *(*volatile resize)(void *, size_t) = realloc;

PLACED static void *
resize_here(void *old, size_t size)
{
	void *volatile block = resize(old, size);

	return block;
}

/* The return address, and the block. */
PLACED static uintptr_t
allocate_and_return(size_t size)
{
	kept[0] = malloc(size);
	return (uintptr_t)__builtin_return_address(0);
}

static void
tags(const char *unused)
{
	uint32_t head[16], i, found = 0;
	char *block = malloc(40);

	(void)unused;
	memcpy(head, block - sizeof(head), sizeof(head));
	for (i = 0; i < 16; i++)
		found += head[i] == 0x1ee7d00d;
	IS(found == 1);
	kept[0] = block;
	free(block);
	memcpy(head, (char *)kept[0] - sizeof(head), sizeof(head));
	for (found = i = 0; i < 16; i++)
		found += head[i] == 0x1cc7dccd;
	IS(found == 1);
}

/* Is there a stack for SIZE bytes, and for as many after realloc()? */
static void
filtered(const char *sizes)
{
	size_t size, wanted;
	uintptr_t pcs[4];
	char *end;

	for (size = 99; size <= 102; size++) {
		wanted = strchr(sizes, '0' + (int)(size - 99)) != NULL;
		kept[0] = malloc(size);
		IS((malloc_backtrace(kept[0], pcs, 4) != 0) == wanted);
		kept[1] = resize(malloc(5000), size);
		IS((malloc_backtrace(kept[1], pcs, 4) != 0) == wanted);
		kept[1] = resize(kept[1], 5001);
		IS(malloc_backtrace(kept[1], pcs, 4) == 0);
		end = kept[0];
		IS(malloc_usable_size(end) >= size);
	}
}

static void
refreshed(const char *unused)
{
	void *block = allocate_here(100), *again;
	uintptr_t pcs[4] = { 0 };

	(void)unused;
	IS(malloc_backtrace(block, pcs, 4) > 0);
	IS(pcs[0] - (uintptr_t)allocate_here < PLACE);
	again = resize_here(block, 100);
	IS(malloc_backtrace(again, pcs, 4) > 0);
	IS(pcs[0] - (uintptr_t)resize_here < PLACE);
	block = again;
	IS(resize(block, ~(size_t)0 >> 2) == NULL);
	IS(malloc_backtrace(block, pcs, 4) > 0);
	IS(pcs[0] - (uintptr_t)resize_here < PLACE);
}

static void
nothing_asked(const char *unused)
{
	void *block = NULL;
	size_t i;

	(void)unused;
	kept[0] = malloc(0);
	kept[1] = calloc(0, 8);
	kept[2] = memalign(64, 0);
	kept[3] = realloc(NULL, 0);
	kept[4] = reallocarray(NULL, 7, 0);
	IS(posix_memalign(&block, 64, 0) == 0);
	kept[5] = block;
	kept[6] = aligned_alloc(64, 0);
	kept[7] = valloc(0);
	for (i = 0; i < 8; i++) {
		IS(kept[i] != NULL);
		IS(malloc_usable_size(kept[i]) == 0);
		IS(*(unsigned char *)kept[i] == (i == 1 ? 0 : 0xeb));
	}
}

static void
inside_the_call(const char *unused)
{
	uintptr_t pcs[16] = { 0 }, back = allocate_and_return(100);
	ssize_t i, count = malloc_backtrace(kept[0], pcs, 16);
	struct own_code own = own_code_find();

	(void)unused;
	IS(count >= 3 && own.to != 0);
	IS(pcs[0] - (uintptr_t)allocate_and_return < PLACE);
	IS(pcs[1] == back - INTO_CALL);
	for (i = 0; i < count; i++)
		IS(pcs[i] >= 4096 && !own_code_has(&own, pcs[i]));
}

/* Behind a rear guard: what was asked for. Else as the allocator has it. */
static void
usable(const char *exact)
{
	size_t size, got;
	char *block = NULL, *old;

	for (size = 1; size < 3000; size += 37) {
		block = resize(block, size);
		got = malloc_usable_size(block);
		IS(*exact == '1' ? got == size : got >= size);
		/* The whole block is usable. */
		memset(block, 1, got);
	}
	block = resize(block, size);
	for (; size > 40; size -= 37) {
		old = block;
		block = resize(block, size);
		IS(*exact != '1' || block == old); /* In place */
		got = malloc_usable_size(block);
		IS(*exact == '1' ? got == size : got >= size);
		memset(block, 2, got);
	}
	free(block);
}

/* The allocator may use the first bytes of a freed block. */
static void
partly_filled(const char *from_to)
{
	unsigned char *block = malloc(64);
	int from = 0, to = 64, i;

	IS(sscanf(from_to, "%d-%d", &from, &to) == 2);
	memset(block, 1, 64);
	kept[0] = block;
	free(block);
	block = kept[0];
	for (i = from; i < 64; i++)
		IS(block[i] == (i < to ? 0xef : 1));
	block = malloc(40000);
	IS(block[0] == 0xeb && block[7] == 0xeb && block[8] == 0);
}

int
main(int argc, char **argv)
{
	static const struct play plays[] = {
		{ "tags", tags },
		{ "filtered", filtered },
		{ "refreshed", refreshed },
		{ "nothing-asked", nothing_asked },
		{ "inside-the-call", inside_the_call },
		{ "usable", usable },
		{ "partly-filled", partly_filled },
		{ NULL, NULL },
	};

	return play(plays, argc, argv);
}
