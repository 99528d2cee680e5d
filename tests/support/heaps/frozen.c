#include "tests/support/heaps/frozen.h"
#include "tests/support/heaps/self_snapshot.h"

struct mu_caller frozen_caller;
struct mu_memory_self frozen_memory;

enum mu_status
prepare(struct mu_image *image)
{
	struct mu_snapshot *self = &image->stop.self;
	enum mu_status status;

	mu_caller_capture(&frozen_caller);
	*image =
	    (struct mu_image) { .caller = &frozen_caller, .job.pid = getpid() };
	image->job.tid = mu_sys_gettid();
	image->job.deadline_ns = mu_sys_now_ns() + 30 * MU_NS_PER_SEC;
	mu_arena_open(&image->job.arena, (size_t)1 << 24);
	status = mu_mappings_read(image->job.pid, &self->mappings,
	    &self->num_mappings, &image->job.arena, &image->job.why);
	if (status != MU_OK)
		return status;
	sscanf(gnu_get_libc_version(), "%u.%u", &self->glibc_major,
	    &self->glibc_minor);
	self->libc_address = (uintptr_t)gnu_get_libc_version;
	mu_memory_self_open(
	    &self->memory, &frozen_memory, self->mappings, self->num_mappings);
	return MU_OK;
}

void
freeze(struct mu_image *image)
{
	enum mu_status status;
	int tries = 0;

	do {
		status = prepare(image);
		ck_assert_int_eq(status, MU_OK);
		status = mu_allocator_find(image);
		if (status == MU_OK)
			status = mu_allocator_freeze(image);
		if (status != MU_OK) {
			close_self(&image->stop.self.memory);
			mu_arena_close(&image->job.arena);
		}
	} while (status == MU_ERR_HEAP_INCONSISTENT && ++tries < 20);
	if (status != MU_OK)
		ck_abort_msg("%s", image->job.why.text);
}

void
thaw(struct mu_image *image)
{
	mu_allocator_thaw(image);
	close_self(&image->stop.self.memory);
	mu_arena_close(&image->job.arena);
}
