#include "lib/state/under_way.h"

#include "lib/pass/pass.h"
#include "lib/state/left_out.h"
#include "mu/sys.h"

size_t
mu_under_way_add(struct mu_under_way *passes, struct mu_pass *pass)
{
	pid_t none;
	size_t i;

	for (i = 0; i < MU_UNDER_WAY && pass->pid > 0; i++) {
		none = 0;
		if (!__atomic_compare_exchange_n(&passes->places[i].pid, &none,
			pass->pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(
		    &passes->places[i].pass, pass, __ATOMIC_RELEASE);
		return i;
	}
	return MU_UNDER_WAY;
}

/*
 * A child that is forked before the wiping gives the stack back, one that is
 * forked later finds nothing in it. The pass lies on it, too: then it has no
 * memory.
 */
void
mu_under_way_remove(
    struct mu_under_way *passes, size_t place, struct mu_range stack)
{
	mu_sys_wipe((char *)stack.begin + MU_STACK_GUARD,
	    mu_range_size(stack) - MU_STACK_GUARD);
	if (place >= MU_UNDER_WAY)
		return;
	__atomic_store_n(&passes->places[place].pass, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&passes->places[place].pid, 0, __ATOMIC_RELEASE);
}

/* Its descriptors stay: the child may have closed them and opened others. */
static void
drop(const struct mu_pass *inherited, uintptr_t sp)
{
	struct mu_pass pass = *inherited;

	if (mu_range_has(pass.own_stack, sp))
		return;
	if (pass.stack != NULL)
		mu_sys_munmap(pass.stack, pass.stack_size);
	mu_left_out_close(&pass);
	mu_arena_close(&pass.arena);
	mu_sys_munmap(
	    (void *)pass.own_stack.begin, mu_range_size(pass.own_stack));
}

void
mu_under_way_drop_inherited(
    struct mu_under_way *passes, const struct mu_pass *pass)
{
	struct mu_pass *inherited;
	pid_t pid;
	size_t i;

	if (pass->pid <= 0)
		return;
	for (i = 0; i < MU_UNDER_WAY; i++) {
		pid = __atomic_load_n(&passes->places[i].pid, __ATOMIC_ACQUIRE);
		if (pid == 0 || pid == pass->pid)
			continue;
		inherited = passes->places[i].pass;
		passes->places[i].pass = NULL;
		__atomic_store_n(&passes->places[i].pid, 0, __ATOMIC_RELEASE);
		if (inherited != NULL)
			drop(inherited, pass->frames_begin);
	}
}
