/*
 * For each module the dynamic thread vector (dtv_t in glibc's dl-dtv.h) has the
 * address of its variables in that thread, and what to free if they were
 * allocated. If a module is loaded later and its variables fit into the reserve
 * of static TLS, they are not recorded until they are used through the vector
 * (init_one_static_tls() in elf/dl-tls.c); until then they count as part of the
 * stack. The format of the entries is unchanged since 2.25.
 */
#include "heapwalk/subject/tls.h"

#include "heapwalk/heaps/glibc/pthread.h"
#include "mu/arch/cpu.h"

#define WORD sizeof(uintptr_t)
#define ENTRY (2 * WORD) /* struct dtv_pointer */
#define MAX_MODULES 65536

/* The first two entries are their number and a generation counter. */
#define FIRST (2 * ENTRY)

static struct mu_range
find_vector(const struct mu_snapshot *snap, uintptr_t tp)
{
	struct mu_range none = { 0, 0 }, vector;
	uintptr_t middle, count;

	if (!mu_snapshot_word(snap, tp + MU_TCB_DTV, &middle) ||
	    middle % WORD != 0 || middle < ENTRY ||
	    !mu_snapshot_word(snap, middle - ENTRY, &count) ||
	    count > MAX_MODULES)
		return none;
	vector.begin = middle - ENTRY;
	vector.end = vector.begin + FIRST + count * ENTRY;
	if (vector.end < vector.begin ||
	    mu_snapshot_view(snap, vector.begin, mu_range_size(vector)) == NULL)
		return none;
	return vector;
}

bool
mu_tls_module(const struct mu_tls *tls, const struct mu_snapshot *snap,
    size_t index, struct mu_tls_module *module)
{
	uintptr_t entry = tls->vector.begin + FIRST + index * ENTRY, to_free;

	if (entry >= tls->vector.end ||
	    !mu_snapshot_word(snap, entry, &module->address) ||
	    !mu_snapshot_word(snap, entry + WORD, &to_free))
		return false;
	module->allocated = to_free != 0;
	return true;
}

#if MU_TLS_BELOW_TP
/* The lowest variable in WITHIN, or its end. */
static uintptr_t
find_lowest(const struct mu_tls *tls, const struct mu_snapshot *snap,
    struct mu_range within)
{
	uintptr_t lowest = within.end;
	struct mu_tls_module module;
	size_t i;

	for (i = 0; mu_tls_module(tls, snap, i, &module); i++) {
		if (!module.allocated && mu_range_has(within, module.address) &&
		    module.address < lowest)
			lowest = module.address;
	}
	return lowest & ~(uintptr_t)(WORD - 1);
}

static void
find_storage(struct mu_tls *tls, const struct mu_snapshot *snap, uintptr_t tp,
    struct mu_range bounds)
{
	struct mu_range below = { bounds.begin, tp };

	tls->storage.begin = find_lowest(tls, snap, below);
	tls->storage.end = bounds.end - tp > MU_PTHREAD_BYTES
	    ? tp + MU_PTHREAD_BYTES
	    : bounds.end;
}
#else
/*
 * The size of the variables is not recorded: take everything up to the end of
 * the mapping.
 */
static void
find_storage(struct mu_tls *tls, const struct mu_snapshot *snap, uintptr_t tp,
    struct mu_range bounds)
{
	(void)snap;
	tls->storage = bounds;
	if (tp - bounds.begin > MU_PTHREAD_SEARCH)
		tls->storage.begin = tp - MU_PTHREAD_SEARCH;
}
#endif

void
mu_tls_find(struct mu_tls *tls, const struct mu_snapshot *snap,
    const struct mu_thread *thread, struct mu_range stack)
{
	const struct mu_mapping *mapping;
	uintptr_t tp = thread->tp;
	struct mu_range bounds;

	*tls = (struct mu_tls) { .vector = { 0, 0 } };
	mapping = tp == 0 ? NULL : mu_snapshot_mapping(snap, tp);
	if (mapping == NULL)
		return;
	tls->vector = find_vector(snap, tp);
	/*
	 * TLS lies at the top of a thread's stack; that of the main thread lies
	 * elsewhere.
	 */
	bounds = mapping->range;
	if (mu_range_has(stack, tp)) {
		bounds = stack;
		if (mu_range_has(stack, thread->sp) && thread->sp <= tp)
			bounds.begin = thread->sp;
	}
	find_storage(tls, snap, tp, bounds);
	if (mu_range_has(stack, tp))
		tls->storage.end = stack.end;
}
