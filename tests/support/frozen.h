/*
 * Freeze and thaw malloc as a pass does, without the pass.
 */
#ifndef TESTS_SUPPORT_FROZEN_H
#define TESTS_SUPPORT_FROZEN_H

#include <check.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <unistd.h>

#include "heapwalk/memory/self.h"
#include "lib/state/allocator_freeze.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

/* What a pass refers to; one at a time. */
static struct mu_caller frozen_caller;
static struct mu_request frozen_request;
static struct mu_memory_self frozen_memory;

/* What lib/pass/pass.c has done before it freezes. */
static inline enum mu_status
prepare(struct mu_pass *pass)
{
	struct mu_snapshot *self = &pass->self;
	enum mu_status status;

	mu_caller_capture(&frozen_caller);
	frozen_request.caller = &frozen_caller;
	*pass =
	    (struct mu_pass) { .request = &frozen_request, .pid = getpid() };
	pass->tid = mu_sys_gettid();
	pass->deadline_ns = mu_sys_now_ns() + 30 * MU_NS_PER_SEC;
	mu_arena_open(&pass->arena, (size_t)1 << 24);
	status = mu_mappings_read(pass->pid, &self->mappings,
	    &self->num_mappings, &pass->arena, &pass->why);
	if (status != MU_OK)
		return status;
	sscanf(gnu_get_libc_version(), "%u.%u", &self->glibc_major,
	    &self->glibc_minor);
	self->libc_address = (uintptr_t)gnu_get_libc_version;
	mu_memory_self_open(
	    &self->memory, &frozen_memory, self->mappings, self->num_mappings);
	return MU_OK;
}

/* Again if an arena was made just after the mappings were read. */
static inline void
freeze(struct mu_pass *pass)
{
	enum mu_status status;
	int tries = 0;

	do {
		status = prepare(pass);
		ck_assert_int_eq(status, MU_OK);
		status = mu_allocator_find(pass);
		if (status == MU_OK)
			status = mu_allocator_freeze(pass);
		if (status != MU_OK) {
			mu_memory_self_close(&pass->self.memory);
			mu_arena_close(&pass->arena);
		}
	} while (status == MU_ERR_HEAP_INCONSISTENT && ++tries < 20);
	if (status != MU_OK)
		ck_abort_msg("%s", pass->why.words);
}

static inline void
thaw(struct mu_pass *pass)
{
	mu_allocator_thaw(pass);
	mu_memory_self_close(&pass->self.memory);
	mu_arena_close(&pass->arena);
}

#endif
