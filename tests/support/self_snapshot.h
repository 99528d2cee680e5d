/*
 * A snapshot of the calling process, all other threads of which stand still:
 * what the back ends need of one, made by hand.
 */
#ifndef TESTS_SUPPORT_SELF_SNAPSHOT_H
#define TESTS_SUPPORT_SELF_SNAPSHOT_H

#include <gnu/libc-version.h>
#include <stdio.h>
#include <unistd.h>

#include "heapwalk/memory/self.h"
#include "mu/arch/cpu.h"
#include "mu/arena.h"
#include "ptrace/live/mappings.h"

struct self_snapshot {
	struct mu_snapshot snap;
	struct mu_memory_self memory;
	struct mu_arena arena; /* for the snapshot and what is made of it */
	struct mu_why why;
	struct mu_range own[64]; /* the arena, as far as it is mapped now */
};

static inline void
self_snapshot_own(void *ctx, struct mu_range piece)
{
	struct self_snapshot *self = ctx;

	if (self->snap.num_own < 64)
		self->own[self->snap.num_own++] = piece;
}

/* THREADS are kept, not copied; NULL is the calling thread alone. */
static inline enum mu_status
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
	mu_memory_self_look(&snap->memory);
	return status;
}

static inline void
self_snapshot_release(struct self_snapshot *self)
{
	mu_memory_self_close(&self->snap.memory);
	mu_arena_close(&self->arena);
}

#endif
