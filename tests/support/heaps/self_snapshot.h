/*
 * A snapshot of the calling process, whose other threads must wait: the fields
 * that the back ends need, filled by hand.
 */
#ifndef TESTS_SUPPORT_HEAPS_SELF_SNAPSHOT_H
#define TESTS_SUPPORT_HEAPS_SELF_SNAPSHOT_H

#include <gnu/libc-version.h>
#include <stdio.h>
#include <unistd.h>

#include "heapwalk/memory/self.h"
#include "mu/arch/cpu.h"
#include "mu/arena.h"
#include "ptrace/live/mappings.h"

/* Undo all that was done to MEMORY. Accepts one that was only opened. */
static inline void
close_self(struct mu_memory *memory)
{
	struct mu_memory_self *self = memory->ctx;

	mu_memory_self_unguard(memory);
	if (self->pages != NULL)
		mu_pages_close(self->pages);
	self->pages = NULL;
	memory->blind = true;
}

struct self_snapshot {
	struct mu_pages pages;
	struct mu_snapshot snap;
	struct mu_memory_self memory;
	struct mu_arena arena; /* for the snapshot and what is made of it */
	struct mu_why why;
	struct mu_range own[64]; /* the arena, as far as it is mapped now */
};

/* THREADS are kept, not copied; NULL is the calling thread alone. */
enum mu_status self_snapshot_take(
    struct self_snapshot *self, struct mu_thread *threads, size_t num_threads);

void self_snapshot_release(struct self_snapshot *self);

#endif
