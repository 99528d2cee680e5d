#include "lib/malloc_debug/leaktracer/rows.h"

#include "lib/malloc_debug/leaktracer/late.h"
#include "lib/malloc_debug/leaktracer/reach.h"
#include "lib/malloc_debug/leaktracer/state.h"
#include "lib/malloc_debug/shadow/recorder.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/sort.h"
#include "mu/sys.h"

#define FIRST_ROOM 4096

struct search {
	struct leaktracer_rows *rows;
	const struct leaktracer_reach *reach;
	uint64_t since_ns;
};

static size_t
bytes(size_t rows)
{
	return rows * sizeof(struct leaktracer_row);
}

static bool
make_room(struct leaktracer_rows *rows)
{
	size_t room = rows->room == 0 ? FIRST_ROOM : rows->room * 2;
	long address;

	if (rows->rows == NULL)
		address = mu_sys_mmap(NULL, bytes(room), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	else
		address = mu_sys4(SYS_mremap, (long)rows->rows,
		    (long)bytes(rows->room), (long)bytes(room), MREMAP_MAYMOVE);
	if (mu_sys_failed(address)) {
		rows->missing = true;
		return false;
	}
	rows->rows = (struct leaktracer_row *)address;
	rows->room = room;
	return true;
}

static bool
add(struct leaktracer_rows *rows, struct leaktracer_row row)
{
	if (rows->count == rows->room && !make_room(rows))
		return false;
	rows->rows[rows->count++] = row;
	return true;
}

/*
 * A slot is freed after its word is cleared: while the word is unchanged, the
 * data that was read belongs to it.
 */
static bool
same_word(const struct recorded_block *block)
{
	struct recorded_block now;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return recorder_find((const void *)block->begin, &now) && !now.freed &&
	    now.stack == block->stack && now.size == block->size;
}

static bool
visit_block(void *ctx, const struct recorded_block *block)
{
	struct search *search = ctx;
	const struct mu_stack_slot *slot;
	struct leaktracer_row row;

	slot = block->freed ? NULL : stack_depot_slot_get(block->stack);
	if (slot == NULL)
		return true;
	row = (struct leaktracer_row) {
		.time_ns = slot->time_ns,
		.size = block->size,
		.begin = block->begin,
		.stack = slot->stack,
	};
	if (row.time_ns < search->since_ns || !same_word(block))
		return true;
	if (search->reach != NULL &&
	    !leaktracer_reach_lost(search->reach, row.begin))
		return true;
	return add(search->rows, row);
}

static bool
visit_late(void *ctx, uint32_t number, const struct leaktracer_late *late)
{
	struct search *search = ctx;

	return add(search->rows,
	    (struct leaktracer_row) {
		.time_ns = late->time_ns,
		.size = late->size,
		.stack = late->stack,
		.late = number,
	    });
}

static int
by_time(const void *a, const void *b)
{
	const struct leaktracer_row *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->begin > right->begin) - (left->begin < right->begin);
}

void
leaktracer_rows_find(
    struct leaktracer_rows *rows, const struct leaktracer_reach *reach)
{
	struct search search = { rows, reach, leaktracer_since() };

	*rows = (struct leaktracer_rows) { .held = true };
	leaktracer_late_hold();
	recorder_each(visit_block, &search);
	/* Whether a freed block was unreachable before cannot be known. */
	if (reach == NULL)
		leaktracer_late_each(visit_late, &search);
	mu_sort(rows->rows, rows->count, sizeof(*rows->rows), by_time);
}

void
leaktracer_rows_free(struct leaktracer_rows *rows)
{
	if (rows->rows != NULL)
		mu_sys_munmap(rows->rows, bytes(rows->room));
	if (rows->held)
		leaktracer_late_release();
	*rows = (struct leaktracer_rows) { 0 };
}
