/*
 * Cells are identified by number; 0 is none. They lie in chunks that are mapped
 * on demand, each twice as large as the previous one.
 */
#include "lib/malloc_debug/leaktracer/late.h"

#include <string.h>

#include "lib/malloc_debug/leaktracer/state.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"

#define FIRST_SHIFT 10
#define CHUNKS 20
#define TAG (1ull << 32)

static struct leaktracer_late *chunks[CHUNKS];
static uint32_t made;    /* number of cells ever used */
static uint32_t listed;  /* the newest record */
static uint64_t unused;  /* the first free cell; above it a count of changes,
			    which detects that another thread popped in
			    between */
static uint32_t dropped; /* records that may still be read */
static uint32_t readers;

static size_t
chunk_cells(unsigned chunk)
{
	return (size_t)1 << (FIRST_SHIFT + chunk);
}

/* Number N is in the chunk of its highest bit. */
static struct leaktracer_late *
cell(uint32_t number)
{
	uint64_t n = (uint64_t)number + chunk_cells(0) - 1;
	unsigned chunk = 63 - FIRST_SHIFT - (unsigned)__builtin_clzll(n);
	struct leaktracer_late *cells;

	if (number == 0 || chunk >= CHUNKS)
		return NULL;
	cells = __atomic_load_n(&chunks[chunk], __ATOMIC_ACQUIRE);
	return cells == NULL ? NULL : &cells[n - chunk_cells(chunk)];
}

static bool
map_chunk(unsigned chunk)
{
	size_t size = chunk_cells(chunk) * sizeof(struct leaktracer_late);
	struct leaktracer_late *none = NULL;
	long address;

	address = mu_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(address))
		return false;
	if (!__atomic_compare_exchange_n(&chunks[chunk], &none,
		(struct leaktracer_late *)address, false, __ATOMIC_ACQ_REL,
		__ATOMIC_RELAXED))
		mu_sys_munmap((void *)address, size);
	return true;
}

static uint32_t
make_cell(void)
{
	uint32_t number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
	uint64_t n = (uint64_t)number + chunk_cells(0) - 1;
	unsigned chunk = 63 - FIRST_SHIFT - (unsigned)__builtin_clzll(n);

	if (number < UINT32_MAX / 2 && chunk < CHUNKS &&
	    (cell(number) != NULL || map_chunk(chunk)))
		return number;
	return 0;
}

static uint32_t
pop_unused(void)
{
	uint64_t head = __atomic_load_n(&unused, __ATOMIC_ACQUIRE), next;
	const struct leaktracer_late *late;

	do {
		late = cell((uint32_t)head);
		if (late == NULL)
			return 0;
		next = __atomic_load_n(&late->next, __ATOMIC_RELAXED);
		next |= (head + TAG) & ~(TAG - 1);
	} while (!__atomic_compare_exchange_n(
	    &unused, &head, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return (uint32_t)head;
}

static uint32_t *
last_link(uint32_t first)
{
	struct leaktracer_late *late = cell(first);

	while (late->next != 0)
		late = cell(late->next);
	return &late->next;
}

static void
push_unused(uint32_t first)
{
	uint64_t head = __atomic_load_n(&unused, __ATOMIC_RELAXED);
	uint32_t *link = last_link(first);

	do
		__atomic_store_n(link, (uint32_t)head, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&unused, &head,
	    first | ((head + TAG) & ~(TAG - 1)), false, __ATOMIC_ACQ_REL,
	    __ATOMIC_RELAXED));
}

static void
push(uint32_t *list, uint32_t first, uint32_t *link)
{
	uint32_t head = __atomic_load_n(list, __ATOMIC_RELAXED);

	do
		__atomic_store_n(link, head, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(
	    list, &head, first, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

/* Inverted, so that no pass takes the contents for references. */
static void
note_data(struct leaktracer_late *late, const unsigned char *block)
{
	size_t i;

	for (i = 0; i < sizeof(late->data) && i < late->size; i++)
		late->data[i] = (unsigned char)~block[i];
}

void
leaktracer_late_add(
    const struct mu_stack_slot *slot, const void *pointer, size_t size)
{
	uint32_t number = pop_unused();
	struct leaktracer_late *late;

	if (number == 0)
		number = make_cell();
	late = cell(number);
	if (late == NULL) {
		__atomic_or_fetch(&memunreachable_recorded.flags,
		    MU_RECORDED_STOPPED, __ATOMIC_RELAXED);
		return;
	}
	late->time_ns = slot->time_ns;
	late->stack = slot->stack;
	late->size = size;
	note_data(late, pointer);
	push(&listed, number, &late->next);
}

void
leaktracer_late_hold(void)
{
	__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);
}

void
leaktracer_late_release(void)
{
	__atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST);
}

void
leaktracer_late_each(
    bool (*visit)(void *ctx, uint32_t number, const struct leaktracer_late *),
    void *ctx)
{
	uint32_t number = __atomic_load_n(&listed, __ATOMIC_SEQ_CST);
	const struct leaktracer_late *late;

	for (; (late = cell(number)) != NULL; number = late->next) {
		if (late->time_ns >= leaktracer_since() &&
		    !visit(ctx, number, late))
			return;
	}
}

void
leaktracer_late_data(uint32_t number, unsigned char *data)
{
	const struct leaktracer_late *late = cell(number);
	size_t i;

	for (i = 0; i < sizeof(late->data) && i < late->size; i++)
		data[i] = (unsigned char)~late->data[i];
}

/* Readers that begin after the exchanges do not see these cells. */
void
leaktracer_late_drop(void)
{
	uint32_t lists[2];
	int i;

	lists[0] = __atomic_exchange_n(&dropped, 0, __ATOMIC_SEQ_CST);
	lists[1] = __atomic_exchange_n(&listed, 0, __ATOMIC_SEQ_CST);
	for (i = 0; i < 2; i++) {
		if (lists[i] == 0)
			continue;
		if (__atomic_load_n(&readers, __ATOMIC_SEQ_CST) == 0)
			push_unused(lists[i]);
		else
			push(&dropped, lists[i], last_link(lists[i]));
	}
}
