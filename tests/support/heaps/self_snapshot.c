#include "tests/support/heaps/self_snapshot.h"

static void
self_snapshot_own(void *ctx, struct mu_range piece)
{
	struct self_snapshot *self = ctx;

	if (self->snap.num_own < 64)
		self->own[self->snap.num_own++] = piece;
}

enum mu_status
self_snapshot_take(
    struct self_snapshot *self, struct mu_thread *threads, size_t num_threads)
{
	static struct mu_thread alone;
	struct mu_snapshot *snap = &self->snap;
	enum mu_status status;

	*self = (struct self_snapshot) { 0 };
	mu_arena_open(&self->arena, (size_t)4 << 30);
	alone = (struct mu_thread) { .tid = getpid(), .tp = mu_arch_tp() };
	*snap = (struct mu_snapshot) {
		.pid = getpid(),
		.threads = threads != NULL ? threads : &alone,
		.num_threads = threads != NULL ? num_threads : 1,
		.libc_address = (uintptr_t)gnu_get_libc_version,
	};
	if (sscanf(gnu_get_libc_version(), "%u.%u", &snap->glibc_major,
		&snap->glibc_minor) != 2)
		return MU_ERR_UNKNOWN_GLIBC;
	status = mu_mappings_read(snap->pid, &snap->mappings,
	    &snap->num_mappings, &self->arena, &self->why);
	snap->own = self->own;
	mu_arena_each(&self->arena, self_snapshot_own, self);
	mu_memory_self_open(
	    &snap->memory, &self->memory, snap->mappings, snap->num_mappings);
	mu_memory_self_look(&snap->memory, &self->pages);
	return status;
}

void
self_snapshot_release(struct self_snapshot *self)
{
	close_self(&self->snap.memory);
	mu_arena_close(&self->arena);
}
