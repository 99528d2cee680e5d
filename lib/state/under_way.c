#include "lib/state/under_way.h"

#include "lib/state/gap_sync.h"
#include "lib/state/image.h"
#include "mu/sys.h"

size_t
mu_under_way_add(struct mu_under_way *passes, struct mu_image *image)
{
	pid_t none;
	size_t i;

	for (i = 0; i < MU_UNDER_WAY && image->job.pid > 0; i++) {
		none = 0;
		if (!__atomic_compare_exchange_n(&passes->slots[i].pid, &none,
			image->job.pid, false, __ATOMIC_ACQ_REL,
			__ATOMIC_RELAXED))
			continue;
		__atomic_store_n(
		    &passes->slots[i].image, image, __ATOMIC_RELEASE);
		return i;
	}
	return MU_UNDER_WAY;
}

void
mu_under_way_wipe(struct mu_range stack)
{
	mu_sys_wipe((char *)stack.begin + MU_STACK_GUARD,
	    mu_range_size(stack) - MU_STACK_GUARD);
}

void
mu_under_way_remove(struct mu_under_way *passes, size_t slot)
{
	if (slot >= MU_UNDER_WAY)
		return;
	__atomic_store_n(&passes->slots[slot].image, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&passes->slots[slot].pid, 0, __ATOMIC_RELEASE);
}

/* Keep its descriptors: the child may have closed them and opened others. */
static void
drop(const struct mu_image *inherited, uintptr_t sp)
{
	struct mu_image image = *inherited;

	if (mu_range_has(image.own_stack, sp))
		return;
	if (image.stack != NULL)
		mu_sys_munmap(image.stack, image.stack_size);
	mu_gap_sync_close(&image);
	mu_arena_close(&image.job.arena);
	mu_sys_munmap(
	    (void *)image.own_stack.begin, mu_range_size(image.own_stack));
}

void
mu_under_way_drop_inherited(
    struct mu_under_way *passes, const struct mu_image *image)
{
	struct mu_image *inherited;
	pid_t pid;
	size_t i;

	if (image->job.pid <= 0)
		return;
	for (i = 0; i < MU_UNDER_WAY; i++) {
		pid = __atomic_load_n(&passes->slots[i].pid, __ATOMIC_ACQUIRE);
		if (pid == 0 || pid == image->job.pid)
			continue;
		inherited = passes->slots[i].image;
		passes->slots[i].image = NULL;
		__atomic_store_n(&passes->slots[i].pid, 0, __ATOMIC_RELEASE);
		if (inherited != NULL)
			drop(inherited, image->frames_begin);
	}
}
