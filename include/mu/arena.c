/*
 * Runs in: any.
 */
#include "mu/arena.h"

#include <string.h>

#include "mu/sys.h"

#define PAGE_MAX ((size_t)64 << 10) /* the largest page size of Linux */
#define PAGE_MIN ((size_t)4 << 10)
#define PIECE_SIZE (4 * PAGE_MAX)
#define ALIGNMENT 16
#define HUGE ((size_t)2 << 20)

struct mu_arena_piece {
	struct mu_arena_piece *next;
	size_t size; /* mapped bytes, this header included */
	size_t used; /* bytes, this header included */
	size_t last; /* offset of the newest object */
};

static bool
round_up(size_t *bytes, size_t to)
{
	if (__builtin_add_overflow(*bytes, to - 1, bytes))
		return false;
	*bytes -= *bytes % to;
	return true;
}

/*
 * Length of a new piece that holds at least BYTES; 0 if the limit forbids it.
 */
static size_t
piece_size(struct mu_arena *arena, size_t bytes)
{
	size_t room, size, wanted;

	room = arena->limit > arena->used ? arena->limit - arena->used : 0;
	if (!round_up(&bytes, PAGE_MAX) ||
	    __builtin_add_overflow(arena->used, bytes, &wanted))
		return 0;
	size = bytes < PIECE_SIZE && PIECE_SIZE <= room ? PIECE_SIZE : bytes;
	if (size <= room)
		return size;
	if (arena->refused < wanted)
		arena->refused = wanted;
	return 0;
}

/*
 * MAP_NORESERVE: memory that is never touched costs nothing, even where the
 * kernel counts commitments.
 */
static long
map_bytes(struct mu_arena *arena, size_t bytes)
{
	char *given = arena->given;

	if (given == NULL)
		return mu_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (bytes > arena->num_given)
		return -ENOMEM;
	arena->given += bytes;
	arena->num_given -= bytes;
	return (long)given;
}

/*
 * Given memory of fewer bytes is used in small pages: with few tables, clearing
 * huge pages of which little is used takes longer than faults.
 */
#define HUGE_GIVEN (16 * HUGE)

/* The last BYTES of the newest piece, from AT on. */
static void
unmap_bytes(struct mu_arena *arena, void *at, size_t bytes)
{
	if (arena->given == NULL) {
		mu_sys_munmap(at, bytes);
		return;
	}
	mu_sys_wipe(at, bytes);
	arena->given = at;
	arena->num_given += bytes;
}

/*
 * Map BYTES, of which all but the first PAGE_MAX are aligned to a huge page,
 * and ask for huge pages there (MADV_HUGEPAGE): the header is in a small page,
 * as to clear a huge one takes 0.2 to 0.9 ms.
 */
static long
map_huge(struct mu_arena *arena, size_t bytes)
{
	bool small = arena->given != NULL && arena->limit < HUGE_GIVEN;
	long address = small ? -ENOMEM : map_bytes(arena, bytes + HUGE);
	size_t before;

	if (mu_sys_failed(address))
		return map_bytes(arena, bytes);
	before = -((size_t)address + PAGE_MAX) % HUGE;
	if (before > 0 && arena->given == NULL)
		mu_sys_munmap((void *)address, before);
	address += (long)before;
	if (arena->given != NULL) {
		arena->given = (char *)address + bytes;
		arena->num_given += HUGE - before;
	} else if (before < HUGE) {
		mu_sys_munmap((char *)address + bytes, HUGE - before);
	}
	mu_sys3(SYS_madvise, address + (long)PAGE_MAX,
	    (long)((bytes - PAGE_MAX) / HUGE * HUGE), MADV_HUGEPAGE);
	return address;
}

/* Map a piece of at least BYTES, header included; NULL on failure. */
static struct mu_arena_piece *
map_piece(struct mu_arena *arena, size_t bytes, bool huge)
{
	struct mu_arena_piece *piece;
	long address;

	bytes = piece_size(arena, bytes);
	if (bytes == 0)
		return NULL;
	address = huge ? map_huge(arena, bytes) : map_bytes(arena, bytes);
	if (mu_sys_failed(address))
		return NULL;
	piece = (struct mu_arena_piece *)address;
	piece->size = bytes;
	piece->used = sizeof(*piece);
	piece->last = piece->used;
	piece->next = arena->pieces;
	arena->used += bytes;
	__atomic_store_n(&arena->pieces, piece, __ATOMIC_RELEASE);
	return piece;
}

void
mu_arena_open(struct mu_arena *arena, size_t limit)
{
	*arena = (struct mu_arena) { .limit = limit };
}

void
mu_arena_reserve(struct mu_arena *arena, size_t bytes)
{
	if (arena->pieces == NULL &&
	    !__builtin_add_overflow(bytes, PIECE_SIZE, &bytes))
		map_piece(arena, bytes, false);
}

void
mu_arena_open_in(struct mu_arena *arena, void *memory, size_t size)
{
	struct mu_arena_piece *piece = memory;

	*piece = (struct mu_arena_piece) {
		.size = size,
		.used = sizeof(*piece),
		.last = sizeof(*piece),
	};
	*arena = (struct mu_arena) {
		.pieces = piece,
		.used = size,
		.limit = size,
	};
}

void
mu_arena_open_on(struct mu_arena *arena, void *memory, size_t size)
{
	*arena = (struct mu_arena) {
		.limit = size,
		.given = memory,
		.num_given = size,
	};
}

void
mu_arena_touch(struct mu_arena *arena, size_t bytes)
{
	struct mu_arena_piece *piece = arena->pieces;
	volatile char *at = (char *)piece;
	size_t i, end;

	if (piece == NULL)
		return;
	end = bytes < piece->size - piece->used ? piece->used + bytes
						: piece->size;
	for (i = piece->used; i < end; i += PAGE_MIN)
		at[i] = 0;
}

static bool
must_fail(struct mu_arena *arena)
{
	return arena->fail_at != 0 && --arena->fail_at == 0;
}

void *
mu_arena_alloc(struct mu_arena *arena, size_t count, size_t size)
{
	struct mu_arena_piece *piece = arena->pieces;
	size_t bytes, wanted;

	if (must_fail(arena))
		return NULL;
	if (__builtin_mul_overflow(count, size, &bytes) ||
	    !round_up(&bytes, ALIGNMENT))
		return NULL;
	if (piece == NULL || bytes > piece->size - piece->used) {
		if (__builtin_add_overflow(bytes, sizeof(*piece), &wanted))
			return NULL;
		piece = map_piece(arena, wanted, false);
		if (piece == NULL)
			return NULL;
	}
	piece->last = piece->used;
	piece->used += bytes;
	return (char *)piece + piece->last;
}

void *
mu_arena_alloc_table(struct mu_arena *arena, size_t count, size_t size)
{
	struct mu_arena_piece *piece;
	size_t bytes;

	/*
	 * Small pages for the end, if that is less than half of a huge one;
	 * later objects use what remains.
	 */
	if (__builtin_mul_overflow(count, size, &bytes) || bytes < HUGE ||
	    !round_up(&bytes, bytes % HUGE < HUGE / 2 ? PAGE_MAX : HUGE) ||
	    __builtin_add_overflow(bytes, PAGE_MAX, &bytes) ||
	    bytes > arena->limit || arena->used > arena->limit - bytes)
		return mu_arena_alloc(arena, count, size);
	if (must_fail(arena))
		return NULL;
	piece = map_piece(arena, bytes, true);
	if (piece == NULL)
		return NULL;
	piece->last = PAGE_MAX;
	piece->used = piece->last + count * size + -(count * size) % ALIGNMENT;
	return (char *)piece + piece->last;
}

/* True if ARRAY is the newest object and can grow to BYTES where it is. */
static bool
extend_in_place(struct mu_arena *arena, void *array, size_t bytes)
{
	struct mu_arena_piece *piece = arena->pieces;

	if (piece == NULL || (char *)array != (char *)piece + piece->last ||
	    bytes > piece->size - piece->last)
		return false;
	piece->used = piece->last + bytes;
	return true;
}

void *
mu_arena_grow(struct mu_arena *arena, void *array, size_t old_count,
    size_t new_count, size_t size)
{
	size_t bytes;
	void *moved;

	if (array == NULL)
		return mu_arena_alloc(arena, new_count, size);
	if (__builtin_mul_overflow(new_count, size, &bytes) ||
	    !round_up(&bytes, ALIGNMENT))
		return NULL;
	if (arena->fail_at != 1 && extend_in_place(arena, array, bytes))
		return array;
	moved = mu_arena_alloc(arena, new_count, size);
	if (moved != NULL)
		memcpy(moved, array, old_count * size);
	return moved;
}

bool
mu_arena_extended(struct mu_arena *arena, void *items, size_t old_count,
    size_t new_count, size_t size)
{
	void *array;

	memcpy(&array, items, sizeof(array));
	array = mu_arena_grow(arena, array, old_count, new_count, size);
	if (array != NULL)
		memcpy(items, &array, sizeof(array));
	return array != NULL;
}

bool
mu_arena_more(
    struct mu_arena *arena, void *items, size_t *max, size_t size, size_t first)
{
	size_t more = *max == 0 ? first : *max * 2;

	if (!mu_arena_extended(arena, items, *max, more, size))
		return false;
	*max = more;
	return true;
}

void
mu_arena_trim(struct mu_arena *arena, void *array, size_t count, size_t size)
{
	struct mu_arena_piece *piece = arena->pieces;
	size_t kept;

	if (piece == NULL || (char *)array != (char *)piece + piece->last ||
	    __builtin_mul_overflow(count, size, &kept) ||
	    __builtin_add_overflow(kept, piece->last, &kept) ||
	    !round_up(&kept, PAGE_MAX) || kept >= piece->size)
		return;
	unmap_bytes(arena, (char *)piece + kept, piece->size - kept);
	arena->used -= piece->size - kept;
	/* The rest of the last page may have been written to. */
	piece->size = piece->used = kept;
}

/*
 * Pieces are unlinked before they are unmapped: a child forked at any moment
 * finds only mapped pieces in the list.
 */
void
mu_arena_rewind(struct mu_arena *arena, struct mu_arena_piece *pieces)
{
	struct mu_arena_piece *piece;

	while ((piece = arena->pieces) != pieces) {
		arena->used -= piece->size;
		__atomic_store_n(&arena->pieces, piece->next, __ATOMIC_RELEASE);
		unmap_bytes(arena, piece, piece->size);
	}
}

void
mu_arena_each(const struct mu_arena *arena,
    void (*visit)(void *ctx, struct mu_range piece), void *ctx)
{
	const struct mu_arena_piece *piece;

	for (piece = arena->pieces; piece != NULL; piece = piece->next)
		visit(ctx,
		    (struct mu_range) {
			(uintptr_t)piece, (uintptr_t)piece + piece->size });
}

void
mu_arena_wipe(struct mu_arena *arena)
{
	struct mu_arena_piece *piece;
	size_t first;

	for (piece = arena->pieces; piece != NULL; piece = piece->next) {
		first = piece->used < PAGE_MAX ? piece->used : PAGE_MAX;
		memset(piece + 1, 0, first - sizeof(*piece));
		if (piece->used > PAGE_MAX)
			mu_sys_wipe(
			    (char *)piece + PAGE_MAX, piece->size - PAGE_MAX);
	}
}

void
mu_arena_close(struct mu_arena *arena)
{
	mu_arena_rewind(arena, NULL);
}
